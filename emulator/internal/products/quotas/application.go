package quotas

import (
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var applicationActions = []gateway.Action{
	gateway.Write("CreateQuotaApplication", createQuotaApplication).Refusing(errCategoryUnsupported),
	gateway.Read("ListQuotaApplications", listQuotaApplications).Refusing(errCategoryUnsupported),
	gateway.Read("GetQuotaApplication", getQuotaApplication),
}

var errDesiredIllegal = refusals.New("DesiredIllegal", 400, "QUOTA.DESIREVALUE.ILLEGAL",
	"The applied quota value is invalid.", "CLB-0415")

type createQuotaApplicationRequest struct {
	dimensions
	ProductCode     string `rpc:"ProductCode,required"`
	QuotaActionCode string `rpc:"QuotaActionCode,required"`
	DesireValue     string `rpc:"DesireValue,required"` // a number with or without a point
	Reason          string `rpc:"Reason,required"`
	QuotaCategory   string `rpc:"QuotaCategory,enum=CommonQuota,invalid=CategoryUnsupported"`
	NoticeType      int    `rpc:"NoticeType,min=0,max=3"`
}

// Validate enforces the rules of shape.
func (req *createQuotaApplicationRequest) Validate() error {
	_, err := req.desired()
	return err
}

func (req *createQuotaApplicationRequest) desired() (int, error) {
	f, err := strconv.ParseFloat(req.DesireValue, 64)
	if err != nil || f != float64(int(f)) || f < 1 || f > maxDesired {
		return 0, errDesiredIllegal
	}
	return int(f), nil
}

// application shows an application in answers.
type application struct {
	ApplicationID   string         `rpc:"ApplicationId"`
	ProductCode     string         `rpc:"ProductCode"`
	QuotaActionCode string         `rpc:"QuotaActionCode"`
	QuotaName       string         `rpc:"QuotaName"`
	QuotaArn        string         `rpc:"QuotaArn"`
	QuotaUnit       string         `rpc:"QuotaUnit"`
	DesireValue     int            `rpc:"DesireValue"`
	ApproveValue    int            `rpc:"ApproveValue,omitempty"`
	Reason          string         `rpc:"Reason"`
	AuditReason     string         `rpc:"AuditReason"`
	Status          string         `rpc:"Status"`
	NoticeType      int            `rpc:"NoticeType"`
	ApplyTime       string         `rpc:"ApplyTime"`
	EffectiveTime   string         `rpc:"EffectiveTime,omitempty"`
	Dimension       shownDimension `rpc:"Dimension"`
}

func newApplication(v *state.View, a *kinds.QuotaApplication) application {
	show := application{
		ApplicationID: a.ID, ProductCode: productOf(a.Quota), QuotaActionCode: string(a.Quota), QuotaName: string(a.Quota), QuotaArn: arn(v, a.Quota, a.RegionID),
		QuotaUnit: "count", DesireValue: a.Desired, ApproveValue: a.Approved, Reason: a.Reason, AuditReason: a.AuditReason, Status: a.Status,
		NoticeType: a.NoticeType, ApplyTime: gateway.Second(a.ApplyTime), Dimension: shownDimension{a.RegionID},
	}
	if a.Status == kinds.ApplicationAgree {
		show.EffectiveTime = gateway.Second(a.ReviewTime)
	}
	return show
}

// createQuotaApplication asks for a higher limit, which the handlers enforce as soon as
// the review grants it. A limit holds for the account in all regions: CLB-0416.
func createQuotaApplication(tx *state.Tx, req *createQuotaApplicationRequest) (*application, error) {
	use, err := find(tx.View, req.ProductCode, req.QuotaActionCode)
	if err != nil {
		return nil, err
	}
	region, err := req.region(tx.View)
	if err != nil {
		return nil, err
	}
	desired, err := req.desired()
	if err != nil {
		return nil, err
	}
	if desired <= use.Limit || desired > ceiling(use.Name) {
		return nil, errDesiredIllegal
	}
	a := &kinds.QuotaApplication{AccountID: tx.Scope().AccountID, Quota: use.Name, Desired: desired, Reason: req.Reason, NoticeType: req.NoticeType, RegionID: region}
	kinds.ApplyForQuota(tx, a)
	a, err = kinds.QuotaApplications.Get(tx.View, a.ID)
	if err != nil {
		return nil, err
	}
	answer := newApplication(tx.View, a)
	return &answer, nil
}

type listQuotaApplicationsRequest struct {
	dimensions
	ProductCode     string `rpc:"ProductCode"`
	QuotaActionCode string `rpc:"QuotaActionCode"`
	QuotaCategory   string `rpc:"QuotaCategory,enum=CommonQuota,invalid=CategoryUnsupported"`
	KeyWord         string `rpc:"KeyWord"`
	Status          string `rpc:"Status"`
	MaxResults      int    `rpc:"MaxResults,min=1,max=100,default=30"`
	NextToken       string `rpc:"NextToken"`
}

type listQuotaApplicationsResponse struct {
	listing.Paging
	QuotaApplications []application `rpc:"QuotaApplications"`
}

func listQuotaApplications(v *state.View, req *listQuotaApplicationsRequest) (*listQuotaApplicationsResponse, error) {
	region, err := req.region(v)
	if err != nil {
		return nil, err
	}
	is := func(filter, value string) bool { return filter == "" || filter == value }
	found := listing.Pick(kinds.QuotaApplicationsByAccount.List(v, v.Scope().AccountID), func(a *kinds.QuotaApplication) bool {
		return is(req.ProductCode, productOf(a.Quota)) && is(req.QuotaActionCode, string(a.Quota)) && is(req.Status, a.Status) && is(region, a.RegionID) &&
			strings.Contains(string(a.Quota), req.KeyWord)
	})
	part, page, err := listing.Cut(found, listing.ByToken{MaxResults: req.MaxResults, NextToken: req.NextToken}, func(a *kinds.QuotaApplication) string { return a.ID })
	if err != nil {
		return nil, err
	}
	return &listQuotaApplicationsResponse{Paging: page, QuotaApplications: listing.Views(v, part, newApplication)}, nil
}

type getQuotaApplicationRequest struct {
	ApplicationID string `rpc:"ApplicationId,required"`
}

type getQuotaApplicationResponse struct {
	QuotaApplication application `rpc:"QuotaApplication"`
}

func getQuotaApplication(v *state.View, req *getQuotaApplicationRequest) (*getQuotaApplicationResponse, error) {
	a, err := kinds.QuotaApplications.Get(v, req.ApplicationID)
	if err != nil {
		return nil, err
	}
	return &getQuotaApplicationResponse{newApplication(v, a)}, nil
}
