package clb

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var tlsCipherPolicyActions = []gateway.Action{
	gateway.Write("CreateTLSCipherPolicy", createTLSCipherPolicy).Refusing(errCiphersMissing, errPolicyNameMissing, errTLSVersionsMissing),
	gateway.Write("SetTLSCipherPolicyAttribute", setTLSCipherPolicyAttribute).
		Refusing(errCiphersMissing, errPolicyIDMissing, errPolicyNameMissing, errTLSVersionsMissing),
	gateway.Write("DeleteTLSCipherPolicy", deleteTLSCipherPolicy).Refusing(errPolicyIDMissing),
	gateway.Read("ListTLSCipherPolicies", listTLSCipherPolicies),
}

// The refusals of this file.
var (
	errPolicyNameMissing = refusals.New("PolicyNameMissing", 400, "MissingParam.Name",
		"The param Name is missing.", "CLB-0200")
	errPolicyIDMissing = refusals.New("PolicyIDMissing", 400, "MissingParam.TLSCipherPolicyId",
		"The param TLSCipherPolicyId is missing.", "CLB-0200")
	errCiphersMissing = refusals.New("CiphersMissing", 400, "MissingParam.Ciphers",
		"The param Ciphers is missing.", "CLB-0200")
	errTLSVersionsMissing = refusals.New("TLSVersionsMissing", 400, "MissingParam.TlsVersions",
		"The param TlsVersions is missing.", "CLB-0200")
	errCiphersTwice = refusals.New("CiphersTwice", 400, "ParamDuplicateError.Ciphers",
		"The param Ciphers is duplicate in request.", "CLB-0200")
	errTLSVersionsTwice = refusals.New("TLSVersionsTwice", 400, "ParamDuplicateError.TlsVersions",
		"The param TlsVersions is duplicate in request.", "CLB-0200")
	errTLSVersionUnknown = refusals.New("TLSVersionUnknown", 400, "TLSPolicyNoSupportVersion",
		"The specified TLS version is not supported.", "CLB-0200")
	errCipherUnknown = refusals.New("CipherUnknown", 400, "TLSPolicyNoSupportCipher",
		"The specified TLS cipher is not supported.", "CLB-0200")
	errPolicyUnchanged = refusals.New("PolicyUnchanged", 400, "TLSPolicyUnchanged",
		"The specified TLS cipher policy is unchanged.", "CLB-0200")
	errPolicyBusy = refusals.New("PolicyBusy", 400, "TLSPolicyConfiguring",
		"The specified TLS cipher policy is configuring.", "CLB-0200")
	// The code could be either of two: CLB-0186.
	errPolicyInUse = refusals.New("PolicyInUse", 400, "TLSPolicyRelated",
		"The specified TLS cipher policy is related with listeners.", "CLB-0200")
)

// checkCipherChoice wants known versions, each named once, and ciphers that one
// of them has.
func checkCipherChoice(versions, ciphers []string) error {
	for _, version := range versions {
		if kinds.TLSCiphers[version] == nil {
			return errTLSVersionUnknown
		}
	}
	switch {
	case kinds.UnknownCipher(versions, ciphers) != "":
		return errCipherUnknown
	case len(listing.Unique(versions)) < len(versions):
		return errTLSVersionsTwice
	case len(listing.Unique(ciphers)) < len(ciphers):
		return errCiphersTwice
	}
	return nil
}

type createTLSCipherPolicyRequest struct {
	RegionID    string   `rpc:"RegionId,required"`
	Name        string   `rpc:"Name,required,len=2..200,form=letterFirst,missing=PolicyNameMissing"`
	Ciphers     []string `rpc:"Ciphers,required,max=30,missing=CiphersMissing"`
	TLSVersions []string `rpc:"TLSVersions,required,max=5,missing=TLSVersionsMissing"`
}

// Validate enforces the rules of shape.
func (req *createTLSCipherPolicyRequest) Validate() error {
	return checkCipherChoice(req.TLSVersions, req.Ciphers)
}

type createTLSCipherPolicyResponse struct {
	TLSCipherPolicyID string `rpc:"TLSCipherPolicyId"`
}

func createTLSCipherPolicy(tx *state.Tx, req *createTLSCipherPolicyRequest) (*createTLSCipherPolicyResponse, error) {
	region := tx.Scope().RegionID
	if err := tx.Use(kinds.QuotaTLSCipherPolicies, region, 1); err != nil {
		return nil, err
	}
	p := &kinds.TLSCipherPolicy{
		Owner:       tx.Scope(),
		ID:          tx.NewID(kinds.TLSCipherPolicies.Kind()),
		Name:        req.Name,
		TLSVersions: req.TLSVersions,
		Ciphers:     req.Ciphers,
		CreateTime:  tx.Now(),
	}
	kinds.TLSCipherPolicies.Put(tx, p)
	return &createTLSCipherPolicyResponse{p.ID}, nil
}

type setTLSCipherPolicyAttributeRequest struct {
	RegionID          string   `rpc:"RegionId,required"`
	TLSCipherPolicyID string   `rpc:"TLSCipherPolicyId,required,missing=PolicyIDMissing"`
	Name              string   `rpc:"Name,required,len=2..128,form=letterFirst,missing=PolicyNameMissing"`
	Ciphers           []string `rpc:"Ciphers,required,max=30,missing=CiphersMissing"`
	TLSVersions       []string `rpc:"TLSVersions,required,max=5,missing=TLSVersionsMissing"`
}

// Validate enforces the rules of shape.
func (req *setTLSCipherPolicyAttributeRequest) Validate() error {
	return checkCipherChoice(req.TLSVersions, req.Ciphers)
}

type setTLSCipherPolicyAttributeResponse struct {
	TaskID string `rpc:"TaskId"`
}

func setTLSCipherPolicyAttribute(tx *state.Tx, req *setTLSCipherPolicyAttributeRequest) (*setTLSCipherPolicyAttributeResponse, error) {
	err := kinds.TLSCipherPolicies.Edit(tx, req.TLSCipherPolicyID, func(p *kinds.TLSCipherPolicy) error {
		switch {
		case p.Activity == state.Busy:
			return errPolicyBusy
		case p.Name == req.Name && slices.Equal(p.TLSVersions, req.TLSVersions) && slices.Equal(p.Ciphers, req.Ciphers):
			return errPolicyUnchanged
		}
		p.Name, p.TLSVersions, p.Ciphers = req.Name, req.TLSVersions, req.Ciphers
		return nil
	})
	if err != nil {
		return nil, err
	}
	state.Enter(tx, kinds.StageTLSCipherPolicyConfiguring, req.TLSCipherPolicyID)
	return &setTLSCipherPolicyAttributeResponse{tx.NewSecret(32)}, nil
}

type deleteTLSCipherPolicyRequest struct {
	RegionID          string `rpc:"RegionId,required"`
	TLSCipherPolicyID string `rpc:"TLSCipherPolicyId,required,missing=PolicyIDMissing"`
}

func deleteTLSCipherPolicy(tx *state.Tx, req *deleteTLSCipherPolicyRequest) (*gateway.Empty, error) {
	p, err := kinds.TLSCipherPolicies.Get(tx.View, req.TLSCipherPolicyID)
	if err != nil {
		return nil, err
	}
	if p.Activity == state.Busy {
		return nil, errPolicyBusy
	}
	if _, used := kinds.ListenersByTLSCipherPolicy.First(tx.View, p.ID); used {
		return nil, errPolicyInUse
	}
	kinds.TLSCipherPolicies.Remove(tx, p.ID)
	return &gateway.Empty{}, nil
}

type listTLSCipherPoliciesRequest struct {
	RegionID          string `rpc:"RegionId,required"`
	TLSCipherPolicyID string `rpc:"TLSCipherPolicyId"`
	Name              string `rpc:"Name,len=2..128"`
	IncludeListener   bool   `rpc:"IncludeListener"`
	NextToken         string `rpc:"NextToken"`
	MaxItems          int    `rpc:"MaxItems,min=1,max=100,default=20"`
}

type listTLSCipherPoliciesResponse struct {
	NextToken         string                `rpc:"NextToken,omitempty"`
	TotalCount        int                   `rpc:"TotalCount"`
	IsTruncated       bool                  `rpc:"IsTruncated"`
	TLSCipherPolicies []tlsCipherPolicyItem `rpc:"TLSCipherPolicies"`
}

type tlsCipherPolicyItem struct {
	InstanceID         string            `rpc:"InstanceId"`
	Name               string            `rpc:"Name"`
	Status             string            `rpc:"Status"`
	ServiceManagedMode string            `rpc:"ServiceManagedMode"`
	CreateTime         int64             `rpc:"CreateTime"`
	TLSVersions        []string          `rpc:"TLSVersions"`
	Ciphers            []string          `rpc:"Ciphers"`
	RelateListeners    []relatedToPolicy `rpc:"RelateListeners"`
}

type relatedToPolicy struct {
	LoadBalancerID string `rpc:"LoadBalancerId"`
	Port           int    `rpc:"Port"`
	Protocol       string `rpc:"Protocol"`
}

// listTLSCipherPolicies lists the account's own: clients know the cloud's by name.
func listTLSCipherPolicies(v *state.View, req *listTLSCipherPoliciesRequest) (*listTLSCipherPoliciesResponse, error) {
	found := listing.Pick(kinds.TLSCipherPoliciesByRegion.InScope(v), func(p *kinds.TLSCipherPolicy) bool {
		return (req.TLSCipherPolicyID == "" || p.ID == req.TLSCipherPolicyID) && strings.Contains(p.Name, req.Name)
	})
	part, next, err := listing.After(found, req.NextToken, req.MaxItems, func(p *kinds.TLSCipherPolicy) string { return p.ID })
	if err != nil {
		return nil, err
	}
	resp := &listTLSCipherPoliciesResponse{NextToken: next, TotalCount: len(found), IsTruncated: next != ""}
	for _, p := range part {
		resp.TLSCipherPolicies = append(resp.TLSCipherPolicies, viewTLSCipherPolicy(v, p, req.IncludeListener))
	}
	return resp, nil
}

func viewTLSCipherPolicy(v *state.View, p *kinds.TLSCipherPolicy, withListeners bool) tlsCipherPolicyItem {
	item := tlsCipherPolicyItem{
		InstanceID: p.ID, Name: p.Name, Status: "normal", ServiceManagedMode: unmanaged,
		CreateTime: p.CreateTime.UnixMilli(), TLSVersions: p.TLSVersions, Ciphers: p.Ciphers,
	}
	if p.Activity == state.Busy {
		item.Status = "configuring"
	}
	if withListeners {
		for l := range kinds.ListenersByTLSCipherPolicy.List(v, p.ID) {
			item.RelateListeners = append(item.RelateListeners, relatedToPolicy{l.LoadBalancerID, l.Port, string(l.Protocol)})
		}
	}
	return item
}
