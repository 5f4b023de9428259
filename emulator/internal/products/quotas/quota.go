package quotas

import (
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var quotaActions = []gateway.Action{
	gateway.Read("ListProducts", listProducts),
	gateway.Read("ListProductQuotas", listProductQuotas).Refusing(errCategoryUnsupported),
	gateway.Read("GetProductQuota", getProductQuota),
}

// The refusals of this file.
var (
	errProductUnknown = refusals.New("ProductUnknown", 400, "PARAMETER.ILLEGALL",
		"The specified parameter is invalid.", "CLB-0415")
	errQuotaUnknown = refusals.New("QuotaUnknown", 400, "QUOTA.NOT.FOUND",
		"The quota does not exist.", "CLB-0415")
	errDimensionUnsupported = refusals.New("DimensionUnsupported", 400, "QUOTA.DIMENSION.UNSUPPORT",
		"The entered quota dimension key is not supported.", "CLB-0415")
	errDimensionValueUnsupported = refusals.New("DimensionValueUnsupported", 400, "QUOTA.DIMENSION.VALUE.UNSUPPORT",
		"The entered quota dimension value is not supported.", "CLB-0415")
	errCategoryUnsupported = refusals.New("CategoryUnsupported", 400, "CATEGORY.NOT.SUPPORTED",
		"Quota category does not supported yet.", "CLB-0415")
)

// The products that have quotas here: their codes, which begin the names of their quotas,
// and their names.
var products = map[string]product{
	"slb":   {"Classic Load Balancer", "传统型负载均衡"},
	"nlb":   {"Network Load Balancer", "网络型负载均衡"},
	"vpc":   {"Virtual Private Cloud", "专有网络"},
	"cbwp":  {"Internet Shared Bandwidth", "共享带宽"},
	"natgw": {"NAT Gateway", "NAT 网关"},
}

type product struct{ english, chinese string }

// productOf returns the code of a quota's product.
func productOf(name state.QuotaName) string {
	code, _, _ := strings.Cut(string(name), "_quota_")
	return code
}

// ceiling returns the most that an application can get, or 0 for what can't be raised: CLB-0415.
func ceiling(name state.QuotaName) int {
	switch name {
	case kinds.QuotaRules, kinds.QuotaNLBECIsBehind, kinds.QuotaNLBServerGroups, kinds.QuotaNLBECIs, kinds.QuotaNLBSecurityPolicies, kinds.QuotaNLBGroups:
		return 0
	case kinds.QuotaDomainExtensions:
		return 10
	}
	return maxDesired
}

// maxDesired is more than any store holds.
const maxDesired = 1_000_000_000

type productsRequest struct {
	MaxResults int    `rpc:"MaxResults,min=1,max=100,default=30"`
	NextToken  string `rpc:"NextToken"`
}

type listProductsResponse struct {
	listing.Paging
	ProductInfo []productInfo `rpc:"ProductInfo"`
}

type productInfo struct {
	ProductCode                string `rpc:"ProductCode"`
	ProductName                string `rpc:"ProductName"`
	ProductNameEn              string `rpc:"ProductNameEn"`
	Dynamic                    bool   `rpc:"Dynamic"`
	CommonQuotaSupport         string `rpc:"CommonQuotaSupport"`
	FlowControlSupport         string `rpc:"FlowControlSupport"`
	WhiteListLabelQuotaSupport string `rpc:"WhiteListLabelQuotaSupport"`
}

func listProducts(_ *state.View, req *productsRequest) (*listProductsResponse, error) {
	codes := slices.Sorted(maps.Keys(products))
	part, page, err := listing.Cut(codes, listing.ByToken{MaxResults: req.MaxResults, NextToken: req.NextToken}, func(code string) string { return code })
	if err != nil {
		return nil, err
	}
	resp := &listProductsResponse{Paging: page}
	for _, code := range part {
		resp.ProductInfo = append(resp.ProductInfo, productInfo{ProductCode: code, ProductName: products[code].chinese, ProductNameEn: products[code].english,
			CommonQuotaSupport: "support", FlowControlSupport: "unsupport", WhiteListLabelQuotaSupport: "unsupport"})
	}
	return resp, nil
}

// dimension says of what a quota is: regionId is the only key.
type dimension struct {
	Key   string `rpc:"Key"`
	Value string `rpc:"Value"`
}

type dimensions struct {
	Dimensions []dimension `rpc:"Dimensions,max=10"`
}

// regionKey is the only key that the quotas here have.
const regionKey = "regionId"

// region returns the region that the dimensions name, or "" for none.
func (d *dimensions) region(v *state.View) (id string, err error) {
	for _, one := range d.Dimensions {
		if one.Key != regionKey {
			return "", errDimensionUnsupported
		}
		if _, ok := kinds.Regions.Find(v, one.Value); !ok {
			return "", errDimensionValueUnsupported
		}
		id = one.Value
	}
	return id, nil
}

type listProductQuotasRequest struct {
	dimensions
	ProductCode     string `rpc:"ProductCode,required"`
	QuotaActionCode string `rpc:"QuotaActionCode"`
	QuotaCategory   string `rpc:"QuotaCategory,enum=CommonQuota,invalid=CategoryUnsupported"`
	KeyWord         string `rpc:"KeyWord"`
	GroupCode       string `rpc:"GroupCode"`
	SortField       string `rpc:"SortField"`
	SortOrder       string `rpc:"SortOrder"`
	MaxResults      int    `rpc:"MaxResults,min=1,max=100,default=30"`
	NextToken       string `rpc:"NextToken"`
}

type listProductQuotasResponse struct {
	listing.Paging
	Quotas []quota `rpc:"Quotas"`
}

// quota shows a quota in answers. The limit and the use are those that the handlers of
// its product enforce and count.
type quota struct {
	ProductCode        string         `rpc:"ProductCode"`
	QuotaActionCode    string         `rpc:"QuotaActionCode"`
	QuotaName          string         `rpc:"QuotaName"`
	QuotaArn           string         `rpc:"QuotaArn"`
	QuotaCategory      string         `rpc:"QuotaCategory"`
	QuotaType          string         `rpc:"QuotaType"`
	QuotaUnit          string         `rpc:"QuotaUnit"`
	TotalQuota         int            `rpc:"TotalQuota"`
	TotalUsage         int            `rpc:"TotalUsage"`
	Adjustable         bool           `rpc:"Adjustable"`
	UnadjustableDetail string         `rpc:"UnadjustableDetail,omitempty"`
	ApplicableType     string         `rpc:"ApplicableType"`
	ApplicableRange    []int          `rpc:"ApplicableRange"`
	Consumable         bool           `rpc:"Consumable"`
	GlobalQuota        bool           `rpc:"GlobalQuota"`
	Dimensions         shownDimension `rpc:"Dimensions"`
}

type shownDimension struct {
	RegionID string `rpc:"regionId,omitempty"`
}

// listProductQuotas lists the quotas of a product. What sorts and groups the quotas of ECS
// by instance types changes nothing here, where no quota has one.
func listProductQuotas(v *state.View, req *listProductQuotasRequest) (*listProductQuotasResponse, error) {
	if _, ok := products[req.ProductCode]; !ok {
		return nil, errProductUnknown
	}
	region, err := req.region(v)
	if err != nil {
		return nil, err
	}
	var found []quota
	for _, use := range state.QuotaUses(v) {
		name := string(use.Name)
		if productOf(use.Name) == req.ProductCode && (req.QuotaActionCode == "" || req.QuotaActionCode == name) && strings.Contains(name, req.KeyWord) {
			found = append(found, newQuota(v, use, region))
		}
	}
	slices.SortFunc(found, func(a, b quota) int { return strings.Compare(a.QuotaActionCode, b.QuotaActionCode) })
	part, page, err := listing.Cut(found, listing.ByToken{MaxResults: req.MaxResults, NextToken: req.NextToken}, func(q quota) string { return q.QuotaActionCode })
	if err != nil {
		return nil, err
	}
	return &listProductQuotasResponse{Paging: page, Quotas: part}, nil
}

func newQuota(v *state.View, use state.QuotaUse, region string) quota {
	q := quota{
		ProductCode: productOf(use.Name), QuotaActionCode: string(use.Name), QuotaName: string(use.Name), QuotaArn: arn(v, use.Name, region),
		QuotaCategory: "CommonQuota", QuotaType: "normal", QuotaUnit: "count", TotalQuota: use.Limit, TotalUsage: used(use, region),
		Adjustable: ceiling(use.Name) > use.Limit, ApplicableType: "continuous", Consumable: true, Dimensions: shownDimension{region},
	}
	if q.Adjustable {
		q.ApplicableRange = []int{use.Limit + 1, ceiling(use.Name)}
	} else {
		q.UnadjustableDetail = "NON_ADJUSTABLE"
	}
	return q
}

// used returns the use of the named region, if the quota counts by region; else the use of the
// largest holder: CLB-0416.
func used(use state.QuotaUse, region string) int {
	for _, h := range use.Holders {
		if h.ID == region {
			return h.Used
		}
	}
	if len(use.Holders) == 0 {
		return 0
	}
	return use.Holders[0].Used
}

func arn(v *state.View, name state.QuotaName, region string) string {
	return "acs:quotas:" + region + ":" + v.Scope().AccountID + ":quota/" + productOf(name) + "/" + string(name) + "/"
}

type getProductQuotaRequest struct {
	dimensions
	ProductCode     string `rpc:"ProductCode,required"`
	QuotaActionCode string `rpc:"QuotaActionCode,required"`
}

type getProductQuotaResponse struct {
	Quota quota `rpc:"Quota"`
}

func getProductQuota(v *state.View, req *getProductQuotaRequest) (*getProductQuotaResponse, error) {
	use, err := find(v, req.ProductCode, req.QuotaActionCode)
	if err != nil {
		return nil, err
	}
	region, err := req.region(v)
	if err != nil {
		return nil, err
	}
	return &getProductQuotaResponse{newQuota(v, use, region)}, nil
}

// find returns the quota of a product with its use.
func find(v *state.View, code, name string) (state.QuotaUse, error) {
	for _, use := range state.QuotaUses(v) {
		if string(use.Name) == name && productOf(use.Name) == code {
			return use, nil
		}
	}
	return state.QuotaUse{}, errQuotaUnknown
}
