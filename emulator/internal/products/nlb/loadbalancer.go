package nlb

import (
	"cmp"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

var loadBalancerActions = []gateway.Action{
	gateway.Write("CreateLoadBalancer", createLoadBalancer).Refusing(errNotPostPaid),
	changes.ByJob(changing, "DeleteLoadBalancer", deleteLoadBalancer, changes.OfJob),
	gateway.Read("GetLoadBalancerAttribute", getLoadBalancerAttribute),
	gateway.Read("ListLoadBalancers", listLoadBalancers),
}

// The refusals of this file.
var (
	errNameIllegal = refusals.New("NameIllegal", 400, "IllegalParam.loadBalancerName",
		"Param loadBalancerName is illegal.", "NLB-0001")
	errUnpaidBill = refusals.New("UnpaidBill", 400, "OperationFailed.UnpaidBill",
		"The operation failed because of UnpaidBill.", "NLB-0001")
	errOrderFailed = refusals.New("OrderFailed", 400, "OperationFailed.CreateOrderError",
		"Operation failed because CreateOrderError.", "NLB-0001")
	errNotPostPaid = refusals.New("NotPostPaid", 400, "OperationDenied.OnlyPostPaidSupported",
		"The operation is not allowed because of OnlyPostPaidSupported.", "NLB-0001")
	errDeletionProtected = refusals.New("DeletionProtected", 400, "OperationDenied.DeletionProtectionEnabled",
		"The operation is not allowed because of DeletionProtectionEnabled.", "NLB-0001")
)

const (
	ipv4      = "Ipv4"
	dualStack = "DualStack"

	// networkType is the only type of load balancers.
	networkType = "Network"

	nonProtection     = "NonProtection"
	consoleProtection = "ConsoleProtection"
)

// loadBalancerRequest changes a load balancer.
type loadBalancerRequest struct {
	changes.Order
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
}

func (req *loadBalancerRequest) LoadBalancerOf(*state.View) (string, error) {
	return req.LoadBalancerID, nil
}

type createLoadBalancerRequest struct {
	changes.Order
	tagged
	LoadBalancerType           string             `rpc:"LoadBalancerType,default=Network,words=Network,invalid=Illegal"`
	LoadBalancerName           string             `rpc:"LoadBalancerName,len=2..128,invalid=NameIllegal"`
	AddressType                string             `rpc:"AddressType,required,words=Internet|Intranet,invalid=Illegal"`
	AddressIPVersion           string             `rpc:"AddressIpVersion,default=Ipv4,words=Ipv4|DualStack,invalid=Illegal"`
	VPCID                      string             `rpc:"VpcId,required"`
	ZoneMappings               []zoneMappingParam `rpc:"ZoneMappings,required,max=10,invalid=Illegal"`
	BandwidthPackageID         string             `rpc:"BandwidthPackageId"`
	PayType                    string             `rpc:"LoadBalancerBillingConfig.PayType,enum=PostPay,invalid=NotPostPaid"`
	ResourceGroupID            string             `rpc:"ResourceGroupId"`
	SecurityGroupIDs           []string           `rpc:"SecurityGroupIds,max=4,invalid=Illegal"`
	DeletionProtection         bool               `rpc:"DeletionProtectionConfig.Enabled"`
	DeletionProtectionReason   string             `rpc:"DeletionProtectionConfig.Reason,len=2..128,form=letterFirst,invalid=Illegal"`
	ModificationProtection     string             `rpc:"ModificationProtectionConfig.Status,enum=NonProtection|ConsoleProtection,invalid=Illegal"`
	ModificationProtectionText string             `rpc:"ModificationProtectionConfig.Reason,len=2..128,form=letterFirst,invalid=Illegal"`
}

// Validate enforces the rules of shape.
func (req *createLoadBalancerRequest) Validate() error {
	if err := checkName(req.LoadBalancerName, errNameIllegal); err != nil {
		return err
	}
	if req.BandwidthPackageID != "" && req.AddressType != kinds.NLBInternet {
		return errNotInternet
	}
	return req.check()
}

// resourceName matches a valid name in this API. The names that a CCM gives have no
// slashes, and clbemu accepts them as they are: NLB-0022.
var resourceName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL][\pL\pN\-._/ ]*$`) })

func checkName(name string, refusal gateway.Refusal) error {
	if name != "" && !resourceName().MatchString(name) {
		return refusal
	}
	return nil
}

type createLoadBalancerResponse struct {
	LoadBalancerID string `rpc:"LoadbalancerId"` // the cloud's spelling
	OrderID        int64  `rpc:"OrderId"`
}

// createLoadBalancer answers once the instance has its id and addresses. The instance works once it
// is Active.
func createLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (*createLoadBalancerResponse, error) {
	lb, err := state.OnceMade(tx, "CreateLoadBalancer", req.ClientToken, req, kinds.NLBLoadBalancers, func() (string, error) {
		return putLoadBalancer(tx, req)
	})
	if err != nil {
		return nil, err
	}
	return &createLoadBalancerResponse{lb.ID, lb.OrderID}, nil
}

func putLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (string, error) {
	if err := checkPurchase(tx.View); err != nil {
		return "", err
	}
	lb, err := newLoadBalancer(tx, req)
	if err != nil {
		return "", err
	}
	if err := checkZones(tx.View, lb, req.ZoneMappings); err != nil {
		return "", err
	}
	for i := range req.ZoneMappings {
		if err := join(tx, lb, &req.ZoneMappings[i]); err != nil {
			return "", err
		}
	}
	kinds.NLBLoadBalancers.Put(tx, lb)
	req.set(tx, kinds.TagNLBLoadBalancer, lb.ID)
	kinds.TagCreator(tx, kinds.TagNLBLoadBalancer, lb.ID)
	state.Enter(tx, kinds.StageNLBProvisioning, lb.ID)
	return lb.ID, nil
}

// checkPurchase holds what the account must be like to buy an instance.
func checkPurchase(v *state.View) error {
	if err := kinds.CheckPayment(v, errUnpaidBill, errOrderFailed); err != nil {
		return err
	}
	return v.Use(kinds.QuotaNLBLoadBalancers, v.Scope().RegionID, 1)
}

func newLoadBalancer(tx *state.Tx, req *createLoadBalancerRequest) (*kinds.NLBLoadBalancer, error) {
	vpc, err := kinds.VPCs.Get(tx.View, req.VPCID)
	if err != nil {
		return nil, err
	}
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	if err := checkSecurityGroups(tx.View, vpc.ID, nil, req.SecurityGroupIDs); err != nil {
		return nil, err
	}
	lb := &kinds.NLBLoadBalancer{
		Owner: tx.Scope(), ID: tx.NewID(kinds.NLBLoadBalancers.Kind()), Name: req.LoadBalancerName, Status: kinds.NLBProvisioning,
		AddressType: req.AddressType, AddressIPVersion: req.AddressIPVersion, IPv6AddressType: kinds.NLBIntranet, VPCID: vpc.ID, BandwidthPackageID: req.BandwidthPackageID,
		SecurityGroupIDs: req.SecurityGroupIDs, CrossZoneEnabled: true, ResourceGroupID: group, OrderID: tx.NewOrderID(), CreateTime: tx.Now(),
	}
	lb.DeletionProtection = protection(tx, req.DeletionProtection, req.DeletionProtectionReason)
	lb.ModificationProtection = protection(tx, req.ModificationProtection == consoleProtection, req.ModificationProtectionText)
	return lb, nil
}

func protection(tx *state.Tx, on bool, reason string) kinds.NLBProtection {
	if !on {
		return kinds.NLBProtection{}
	}
	return kinds.NLBProtection{Enabled: true, Reason: reason, EnabledTime: tx.Now()}
}

type deleteLoadBalancerRequest struct {
	changes.Order
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
}

// deleteLoadBalancer takes the listeners along; server groups and EIPs stay. One
// locked for an unpaid bill stays: page "NLB instances", 2026-03-06.
func deleteLoadBalancer(tx *state.Tx, req *deleteLoadBalancerRequest) (*changes.Work, error) {
	lb, err := kinds.NLBLoadBalancers.Get(tx.View, req.LoadBalancerID)
	if err == nil && lb.LockedBy() != kinds.NLBResidualLocked { // which is left to be deleted
		err = checkOpen(tx.View, lb.ID)
	}
	if err == nil && lb.DeletionProtection.Enabled {
		err = errDeletionProtected
	}
	if err != nil {
		return nil, err
	}
	return removing(tx, "loadbalancer", kinds.NLBLoadBalancers, lb.ID), nil
}

// loadBalancer shows a load balancer in answers.
type loadBalancer struct {
	LoadBalancerID         string          `rpc:"LoadBalancerId"`
	LoadBalancerName       string          `rpc:"LoadBalancerName"`
	LoadBalancerType       string          `rpc:"LoadBalancerType"`
	LoadBalancerStatus     string          `rpc:"LoadBalancerStatus"`
	BusinessStatus         string          `rpc:"LoadBalancerBusinessStatus"`
	AddressType            string          `rpc:"AddressType"`
	AddressIPVersion       string          `rpc:"AddressIpVersion"`
	IPv6AddressType        string          `rpc:"Ipv6AddressType"` // also of IPv4: NLB-0034
	RegionID               string          `rpc:"RegionId"`
	VPCID                  string          `rpc:"VpcId"`
	DNSName                string          `rpc:"DNSName"`
	CreateTime             string          `rpc:"CreateTime"`
	ResourceGroupID        string          `rpc:"ResourceGroupId"`
	BandwidthPackageID     string          `rpc:"BandwidthPackageId"`
	CrossZoneEnabled       bool            `rpc:"CrossZoneEnabled"`
	Cps                    int             `rpc:"Cps,omitempty"`
	SecurityGroupIDs       []string        `rpc:"SecurityGroupIds"`
	BillingConfig          billingConfig   `rpc:"LoadBalancerBillingConfig"`
	DeletionProtection     deletionConfig  `rpc:"DeletionProtectionConfig"`
	ModificationProtection protectConfig   `rpc:"ModificationProtectionConfig"`
	OperationLocks         []operationLock `rpc:"OperationLocks"`
	ZoneMappings           []zoneMapping   `rpc:"ZoneMappings"`
}

type billingConfig struct {
	PayType string `rpc:"PayType"`
}

type deletionConfig struct {
	Enabled     bool   `rpc:"Enabled"`
	Reason      string `rpc:"Reason,omitempty"`
	EnabledTime string `rpc:"EnabledTime,omitempty"`
}

type protectConfig struct {
	Status      string `rpc:"Status"`
	Reason      string `rpc:"Reason,omitempty"`
	EnabledTime string `rpc:"EnabledTime,omitempty"`
}

type operationLock struct {
	LockType   string `rpc:"LockType"`
	LockReason string `rpc:"LockReason"`
}

type zoneMapping struct {
	ZoneID    string                `rpc:"ZoneId"`
	VSwitchID string                `rpc:"VSwitchId"`
	Status    string                `rpc:"Status"`
	Addresses []loadBalancerAddress `rpc:"LoadBalancerAddresses"`
}

type loadBalancerAddress struct {
	ENIID              string `rpc:"EniId"`
	PrivateIPv4Address string `rpc:"PrivateIPv4Address"`
	IPv6Address        string `rpc:"Ipv6Address,omitempty"`
	AllocationID       string `rpc:"AllocationId,omitempty"`
	PublicIPv4Address  string `rpc:"PublicIPv4Address,omitempty"`
	// Answered where they were given.
	IPv4Local []string `rpc:"Ipv4LocalAddresses,omitempty"`
	IPv6Local []string `rpc:"Ipv6LocalAddresses,omitempty"`
	// Answered of a zone that is Active: comments of the SDK.
	PrivateIPv4Status string `rpc:"PrivateIPv4HcStatus,omitempty"`
	PrivateIPv6Status string `rpc:"PrivateIPv6HcStatus,omitempty"`
}

func newZoneMapping(v *state.View, loadBalancerID string, z *kinds.NLBZoneMapping) zoneMapping {
	address := loadBalancerAddress{
		ENIID: z.ENIID, PrivateIPv4Address: z.PrivateIPv4Address, IPv6Address: z.IPv6Address, AllocationID: z.AllocationID,
		PublicIPv4Address: z.PublicIPv4Address, IPv4Local: z.IPv4Local, IPv6Local: z.IPv6Local,
	}
	if z.Status == kinds.NLBZoneActive {
		address.PrivateIPv4Status = addressHealth(topology.Answers(v, loadBalancerID, z.ZoneID, z.PrivateIPv4Address) &&
			(z.PublicIPv4Address == "" || topology.Answers(v, loadBalancerID, z.ZoneID, z.PublicIPv4Address)))
		if z.IPv6Address != "" {
			address.PrivateIPv6Status = addressHealth(topology.Answers(v, loadBalancerID, z.ZoneID, z.IPv6Address))
		}
	}
	return zoneMapping{z.ZoneID, z.VSwitchID, z.Status, []loadBalancerAddress{address}}
}

// addressHealth returns the finding of the cloud's own probe of an address: NLB-0044.
func addressHealth(answers bool) string {
	if answers {
		return "Healthy"
	}
	return "Unhealthy"
}

func newLoadBalancerView(v *state.View, lb *kinds.NLBLoadBalancer) loadBalancer {
	show := loadBalancer{
		LoadBalancerID: lb.ID, LoadBalancerName: lb.Name, LoadBalancerType: networkType, LoadBalancerStatus: lb.ShownStatus(), BusinessStatus: "Normal",
		AddressType: lb.AddressType, AddressIPVersion: lb.AddressIPVersion, IPv6AddressType: ipv6AddressType(lb), RegionID: lb.RegionID,
		VPCID: lb.VPCID, DNSName: lb.DNSName(), CreateTime: formatTime(lb.CreateTime), ResourceGroupID: lb.ResourceGroupID,
		BandwidthPackageID: lb.BandwidthPackageID, CrossZoneEnabled: lb.CrossZoneEnabled, Cps: lb.Cps, SecurityGroupIDs: lb.SecurityGroupIDs,
		BillingConfig:          billingConfig{"PostPay"},
		DeletionProtection:     deletionConfig{lb.DeletionProtection.Enabled, lb.DeletionProtection.Reason, formatTime(lb.DeletionProtection.EnabledTime)},
		ModificationProtection: protectConfig{nonProtection, lb.ModificationProtection.Reason, formatTime(lb.ModificationProtection.EnabledTime)},
	}
	if lb.ModificationProtection.Enabled {
		show.ModificationProtection.Status = consoleProtection
	}
	if lock := lb.LockedBy(); lock != "" {
		show.BusinessStatus = "Abnormal"
		show.OperationLocks = []operationLock{{string(lock), strings.ToLower(strings.TrimSuffix(string(lock), "Locked"))}}
	}
	for i := range lb.ZoneMappings {
		show.ZoneMappings = append(show.ZoneMappings, newZoneMapping(v, lb.ID, &lb.ZoneMappings[i]))
	}
	return show
}

// ipv6AddressType returns the type of the load balancer's IPv6 address, Intranet at first: rows of
// older states have none.
func ipv6AddressType(lb *kinds.NLBLoadBalancer) string {
	return cmp.Or(lb.IPv6AddressType, kinds.NLBIntranet)
}

type getLoadBalancerAttributeRequest struct {
	changes.Order
	LoadBalancerID string `rpc:"LoadBalancerId,required"`
}

// getLoadBalancerAttributeResponse has tags with other names than the list's.
type getLoadBalancerAttributeResponse struct {
	loadBalancer
	Tags []tagging.Shown `rpc:"Tags"`
}

func getLoadBalancerAttribute(v *state.View, req *getLoadBalancerAttributeRequest) (*getLoadBalancerAttributeResponse, error) {
	lb, err := kinds.NLBLoadBalancers.Get(v, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	return &getLoadBalancerAttributeResponse{newLoadBalancerView(v, lb), tagging.ShownOf(v, kinds.TagNLBLoadBalancer, lb.ID)}, nil
}

type listLoadBalancersRequest struct {
	listRequest
	LoadBalancerIDs   []string `rpc:"LoadBalancerIds,max=20,invalid=Illegal"`
	LoadBalancerNames []string `rpc:"LoadBalancerNames,max=20,invalid=Illegal"`
	VPCIDs            []string `rpc:"VpcIds,max=10,invalid=Illegal"`
	LoadBalancerType  string   `rpc:"LoadBalancerType"`
	AddressType       string   `rpc:"AddressType"`
	AddressIPVersion  string   `rpc:"AddressIpVersion"`
	IPv6AddressType   string   `rpc:"Ipv6AddressType"`
	Status            string   `rpc:"LoadBalancerStatus"`
	BusinessStatus    string   `rpc:"LoadBalancerBusinessStatus"`
	ResourceGroupID   string   `rpc:"ResourceGroupId"`
	ZoneID            string   `rpc:"ZoneId"`
	DNSName           string   `rpc:"DNSName"`
}

type listLoadBalancersResponse struct {
	LoadBalancers []listedLoadBalancer `rpc:"LoadBalancers"`
	listing.Paging
}

type listedLoadBalancer struct {
	loadBalancer
	Tags []tagging.Tag `rpc:"Tags"`
}

// listLoadBalancers takes those that have any of the tags: NLB-0023.
func listLoadBalancers(v *state.View, req *listLoadBalancersRequest) (*listLoadBalancersResponse, error) {
	part, page, err := req.part(v, func(lb *kinds.NLBLoadBalancer) string { return kinds.Newest(lb.CreateTime) + "/" + lb.ID })
	if err != nil {
		return nil, err
	}
	resp := &listLoadBalancersResponse{Paging: page}
	for _, lb := range part {
		resp.LoadBalancers = append(resp.LoadBalancers, listedLoadBalancer{newLoadBalancerView(v, lb), tagging.Of(v, kinds.TagNLBLoadBalancer, lb.ID)})
	}
	return resp, nil
}

func (req *listLoadBalancersRequest) part(v *state.View, place func(*kinds.NLBLoadBalancer) string) ([]*kinds.NLBLoadBalancer, listing.Paging, error) {
	if field, value, ok := req.one(); ok {
		return listing.InOrder(v, kinds.NLBLoadBalancersInOrder, req.ByToken, place, field, value)
	}
	var found []*kinds.NLBLoadBalancer
	for lb := range req.candidates(v) {
		if req.asksFor(lb) && anyTag(v, kinds.TagNLBLoadBalancer, lb.ID, req.Tags) {
			found = append(found, lb)
		}
	}
	return listing.Cut(found, req.ByToken, place)
}

// one returns the field and its value of a request for all load balancers, or for those with
// one value, that an index has in order.
func (req *listLoadBalancersRequest) one() (field, value string, ok bool) {
	rest := *req
	rest.Region, rest.ByToken, rest.VPCIDs, rest.AddressType, rest.Status = gateway.Region{}, listing.ByToken{}, nil, "", ""
	if !reflect.ValueOf(rest).IsZero() || len(req.VPCIDs) > 1 {
		return "", "", false
	}
	return listing.One("VpcIds", strings.Join(req.VPCIDs, ""), "AddressType", strings.ToLower(req.AddressType), "LoadBalancerStatus", req.Status)
}

// candidates yields those that an index finds for the request, each once.
func (req *listLoadBalancersRequest) candidates(v *state.View) func(func(*kinds.NLBLoadBalancer) bool) {
	return func(yield func(*kinds.NLBLoadBalancer) bool) {
		switch {
		case len(req.LoadBalancerIDs) > 0:
			for _, id := range listing.Unique(req.LoadBalancerIDs) {
				if lb, ok := kinds.NLBLoadBalancers.Find(v, id); ok && !yield(lb) {
					return
				}
			}
		case len(req.LoadBalancerNames) > 0:
			for _, name := range listing.Unique(req.LoadBalancerNames) {
				for lb := range kinds.NLBLoadBalancersByName.InScope(v, name) {
					if !yield(lb) {
						return
					}
				}
			}
		case len(req.Tags) > 0:
			for _, id := range taggedWithAny(v, kinds.TagNLBLoadBalancer, req.Tags) {
				if lb, ok := kinds.NLBLoadBalancers.Find(v, id); ok && !yield(lb) {
					return
				}
			}
		default:
			for lb := range kinds.NLBLoadBalancersByRegion.InScope(v) {
				if !yield(lb) {
					return
				}
			}
		}
	}
}

func (req *listLoadBalancersRequest) asksFor(lb *kinds.NLBLoadBalancer) bool {
	business := "Normal"
	if lb.LockedBy() != "" {
		business = "Abnormal"
	}
	return listing.Among(req.LoadBalancerNames, lb.Name) && listing.Among(req.VPCIDs, lb.VPCID) && (req.LoadBalancerType == "" || strings.EqualFold(req.LoadBalancerType, networkType)) &&
		(req.AddressType == "" || strings.EqualFold(req.AddressType, lb.AddressType)) &&
		(req.AddressIPVersion == "" || strings.EqualFold(req.AddressIPVersion, lb.AddressIPVersion)) &&
		listing.Matches(req.IPv6AddressType, ipv6AddressType(lb)) && listing.Matches(req.Status, lb.ShownStatus()) && listing.Matches(req.BusinessStatus, business) &&
		listing.Matches(req.ResourceGroupID, lb.ResourceGroupID) && (req.ZoneID == "" || mappingOf(lb, req.ZoneID) != nil) &&
		listing.Matches(req.DNSName, lb.DNSName())
}
