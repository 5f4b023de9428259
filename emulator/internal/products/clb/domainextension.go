package clb

import (
	"regexp"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var domainExtensionActions = []gateway.Action{
	change("CreateDomainExtension", createDomainExtension),
	change("SetDomainExtensionAttribute", setDomainExtensionAttribute),
	change("DeleteDomainExtension", deleteDomainExtension),
	gateway.Read("DescribeDomainExtensions", describeDomainExtensions),
	gateway.Read("DescribeDomainExtensionAttribute", describeDomainExtensionAttribute).Refusing(errExtensionMissing),
}

// The refusals of this file.
var (
	errExtensionMissing = refusals.New("ExtensionMissing", 400, "MissingParameter.DomainExtensionId",
		"The param DomainExtensionId is missing", "CLB-0200")
	errExtensionExists = refusals.New("ExtensionExists", 400, "InvalidParameter.Domain",
		"The specified Domain exists.", "CLB-0200")
	errExtensionOnSharedInstance = refusals.New("ExtensionOnSharedInstance", 400, "DomainExtensionNotSupport",
		"The instance with shared loadBalancerSpec does not support domainExtension.", "CLB-0200")
	errExtensionHasRules = refusals.New("ExtensionHasRules", 400, "DomainExtensionRelatedRuleExist",
		"The DomainExtension is related with rules.", "CLB-0200")
	errExtensionCertificateMissing = refusals.New("ExtensionCertificateMissing", 400, "MissingParam.ServerCertificates",
		"The param ServerCertificates is missing.", "CLB-0200")
	errExtensionBusy = refusals.New("ExtensionBusy", 400, "DomainExtensionProcessing",
		"A previous configuration of the DomainExtension is pending, please try again later.", "CLB-0583")
	errExtensionCertificateUnknown = refusals.New("ExtensionCertificateUnknown", 400, "InvalidParameter.ServerCertificateId",
		"The specified ServerCertificateId does not exist.", "CLB-0200")
)

type createDomainExtensionRequest struct {
	RegionID            string `rpc:"RegionId,required"`
	LoadBalancerID      string `rpc:"LoadBalancerId,required"`
	ListenerPort        int    `rpc:"ListenerPort,required,min=1,max=65535"`
	Domain              string `rpc:"Domain,required,len=3..80"`
	ServerCertificateID string `rpc:"ServerCertificateId"`
}

func (req *createDomainExtensionRequest) LoadBalancerOf(v *state.View) (string, error) {
	l, err := findListener(v, req.LoadBalancerID, req.ListenerPort, kinds.HTTPS)
	if err != nil {
		return "", err
	}
	return l.LoadBalancerID, nil
}

// domainName has at least two labels; the first may be a wildcard.
var domainName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\*\.)?([0-9A-Za-z]([0-9A-Za-z-]*[0-9A-Za-z])?\.)+[0-9A-Za-z-]*[A-Za-z][0-9A-Za-z-]*$`)
})

// Validate enforces the rules of shape.
func (req *createDomainExtensionRequest) Validate() error {
	if !domainName().MatchString(req.Domain) {
		return gateway.Invalid("Domain")
	}
	if req.ServerCertificateID == "" {
		return errExtensionCertificateMissing
	}
	return nil
}

type createDomainExtensionResponse struct {
	DomainExtensionID string `rpc:"DomainExtensionId"`
	ListenerPort      int    `rpc:"ListenerPort"`
}

func createDomainExtension(tx *state.Tx, req *createDomainExtensionRequest) (*createDomainExtensionResponse, error) {
	l, err := findListener(tx.View, req.LoadBalancerID, req.ListenerPort, kinds.HTTPS)
	if err != nil {
		return nil, err
	}
	lb, err := kinds.LoadBalancers.Get(tx.View, l.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	if isShared(lb) {
		return nil, errExtensionOnSharedInstance
	}
	if _, taken := kinds.DomainExtensionsByListener.First(tx.View, l.ID(), req.Domain); taken {
		return nil, errExtensionExists
	}
	if _, ok := kinds.ServerCertificates.Find(tx.View, req.ServerCertificateID); !ok {
		return nil, errExtensionCertificateUnknown
	}
	if extensionsBusy(tx.View, l.ID()) {
		return nil, errExtensionBusy
	}
	if err := tx.Use(kinds.QuotaDomainExtensions, l.ID(), 1); err != nil {
		return nil, err
	}
	d := &kinds.DomainExtension{
		Owner:               tx.Scope(),
		ID:                  tx.NewID(kinds.DomainExtensions.Kind()),
		LoadBalancerID:      lb.ID,
		ListenerPort:        l.Port,
		Domain:              req.Domain,
		ServerCertificateID: req.ServerCertificateID,
		CreateTime:          tx.Now(),
	}
	kinds.DomainExtensions.Put(tx, d)
	state.Enter(tx, kinds.StageDomainExtensionConfiguring, d.ID)
	return &createDomainExtensionResponse{d.ID, l.Port}, nil
}

// extensionsBusy reports whether a change of one of a listener's extensions is taking effect.
// Clients also wait for it before they create one, for which there was no earlier change: CLB-0583.
func extensionsBusy(v *state.View, listenerID string) bool {
	for d := range kinds.DomainExtensionsByListener.List(v, listenerID) {
		if d.Activity == state.Busy {
			return true
		}
	}
	return false
}

type setDomainExtensionAttributeRequest struct {
	RegionID            string `rpc:"RegionId,required"`
	DomainExtensionID   string `rpc:"DomainExtensionId,required"`
	ServerCertificateID string `rpc:"ServerCertificateId"`
}

func (req *setDomainExtensionAttributeRequest) LoadBalancerOf(v *state.View) (string, error) {
	return owner(v, kinds.DomainExtensions, req.DomainExtensionID, func(d *kinds.DomainExtension) string { return d.LoadBalancerID })
}

// Validate enforces the rules of shape.
func (req *setDomainExtensionAttributeRequest) Validate() error {
	if req.ServerCertificateID == "" {
		return errExtensionCertificateMissing
	}
	return nil
}

func setDomainExtensionAttribute(tx *state.Tx, req *setDomainExtensionAttributeRequest) (*gateway.Empty, error) {
	err := kinds.DomainExtensions.Edit(tx, req.DomainExtensionID, func(d *kinds.DomainExtension) error {
		if extensionsBusy(tx.View, d.ListenerID()) {
			return errExtensionBusy
		}
		if _, ok := kinds.ServerCertificates.Find(tx.View, req.ServerCertificateID); !ok {
			return errExtensionCertificateUnknown
		}
		d.ServerCertificateID = req.ServerCertificateID
		return nil
	})
	if err != nil {
		return nil, err
	}
	state.Enter(tx, kinds.StageDomainExtensionConfiguring, req.DomainExtensionID)
	return &gateway.Empty{}, nil
}

type deleteDomainExtensionRequest struct {
	RegionID          string `rpc:"RegionId,required"`
	DomainExtensionID string `rpc:"DomainExtensionId,required"`
}

func (req *deleteDomainExtensionRequest) LoadBalancerOf(v *state.View) (string, error) {
	return owner(v, kinds.DomainExtensions, req.DomainExtensionID, func(d *kinds.DomainExtension) string { return d.LoadBalancerID })
}

func deleteDomainExtension(tx *state.Tx, req *deleteDomainExtensionRequest) (*gateway.Empty, error) {
	d, err := kinds.DomainExtensions.Get(tx.View, req.DomainExtensionID)
	if err != nil {
		return nil, err
	}
	if extensionsBusy(tx.View, d.ListenerID()) {
		return nil, errExtensionBusy
	}
	for r := range kinds.RulesByListener.List(tx.View, kinds.ListenerID(d.LoadBalancerID, kinds.HTTPS, d.ListenerPort)) {
		if r.Domain == d.Domain {
			return nil, errExtensionHasRules
		}
	}
	kinds.DomainExtensions.Remove(tx, req.DomainExtensionID)
	return &gateway.Empty{}, nil
}

type describeDomainExtensionsRequest struct {
	RegionID          string `rpc:"RegionId,required"`
	LoadBalancerID    string `rpc:"LoadBalancerId,required"`
	ListenerPort      int    `rpc:"ListenerPort,required,min=1,max=65535"`
	DomainExtensionID string `rpc:"DomainExtensionId"`
}

type describeDomainExtensionsResponse struct {
	DomainExtensions []domainExtensionItem `rpc:"DomainExtensions>DomainExtension"`
}

type domainExtensionItem struct {
	DomainExtensionID   string `rpc:"DomainExtensionId"`
	Domain              string `rpc:"Domain"`
	ServerCertificateID string `rpc:"ServerCertificateId"`
}

func describeDomainExtensions(v *state.View, req *describeDomainExtensionsRequest) (*describeDomainExtensionsResponse, error) {
	l, err := findListener(v, req.LoadBalancerID, req.ListenerPort, kinds.HTTPS)
	if err != nil {
		return nil, err
	}
	resp := &describeDomainExtensionsResponse{}
	for _, item := range domainExtensionsOf(v, l.LoadBalancerID, l.Port) {
		if req.DomainExtensionID == "" || item.DomainExtensionID == req.DomainExtensionID {
			resp.DomainExtensions = append(resp.DomainExtensions, item)
		}
	}
	return resp, nil
}

func domainExtensionsOf(v *state.View, loadBalancerID string, port int) []domainExtensionItem {
	var list []domainExtensionItem
	for d := range kinds.DomainExtensionsByListener.List(v, kinds.ListenerID(loadBalancerID, kinds.HTTPS, port)) {
		list = append(list, viewDomainExtension(d))
	}
	return list
}

func viewDomainExtension(d *kinds.DomainExtension) domainExtensionItem {
	return domainExtensionItem{d.ID, d.Domain, d.ServerCertificateID}
}

type describeDomainExtensionAttributeRequest struct {
	RegionID          string `rpc:"RegionId,required"`
	DomainExtensionID string `rpc:"DomainExtensionId,required,missing=ExtensionMissing"`
}

type describeDomainExtensionAttributeResponse struct {
	domainExtensionItem
	LoadBalancerID string `rpc:"LoadBalancerId"`
	ListenerPort   int    `rpc:"ListenerPort"`
}

func describeDomainExtensionAttribute(v *state.View, req *describeDomainExtensionAttributeRequest) (*describeDomainExtensionAttributeResponse, error) {
	d, err := kinds.DomainExtensions.Get(v, req.DomainExtensionID)
	if err != nil {
		return nil, err
	}
	return &describeDomainExtensionAttributeResponse{viewDomainExtension(d), d.LoadBalancerID, d.ListenerPort}, nil
}
