package clb

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// The refusals of this file.
var (
	errTagsMalformed = refusals.New("TagsMalformed", 400, "InvalidTag",
		"The specified tags is invalid.", "CLB-0200")
)

type describeLoadBalancersRequest struct {
	RegionID              string           `rpc:"RegionId,required"`
	ServerID              string           `rpc:"ServerId"`
	AddressIPVersion      string           `rpc:"AddressIPVersion,enum=ipv4|ipv6"`
	LoadBalancerStatus    string           `rpc:"LoadBalancerStatus,enum=inactive|active|locked"`
	LoadBalancerID        string           `rpc:"LoadBalancerId"`
	LoadBalancerName      string           `rpc:"LoadBalancerName"`
	ServerIntranetAddress string           `rpc:"ServerIntranetAddress"`
	AddressType           string           `rpc:"AddressType,enum=internet|intranet"`
	InternetChargeType    string           `rpc:"InternetChargeType,enum=paybybandwidth|paybytraffic"`
	VPCID                 string           `rpc:"VpcId"`
	VSwitchID             string           `rpc:"VSwitchId"`
	NetworkType           string           `rpc:"NetworkType,enum=vpc|classic"`
	Address               string           `rpc:"Address"`
	MasterZoneID          string           `rpc:"MasterZoneId"`
	SlaveZoneID           string           `rpc:"SlaveZoneId"`
	TagsJSON              []jsonTag        `rpc:"Tags,json,invalid=TagsMalformed"`
	PayType               string           `rpc:"PayType"`
	ResourceGroupID       string           `rpc:"ResourceGroupId"`
	Tags                  []tagFilterParam `rpc:"Tag,max=20"`
	page
}

// page is the paging by number that most Describe actions share.
type page struct {
	PageNumber int `rpc:"PageNumber,min=1,max=1000,default=1"`
	PageSize   int `rpc:"PageSize,min=1,max=100,default=10"`
}

// maxListed limits how many ids, names or tags a filter takes.
const maxListed = 10

// Validate bounds the lists of ids and names.
func (req *describeLoadBalancersRequest) Validate() error {
	if len(commaList(req.LoadBalancerID)) > maxListed {
		return gateway.Invalid("LoadBalancerId")
	}
	names := commaList(req.LoadBalancerName)
	if len(names) > maxListed || slices.ContainsFunc(names, isTooLong) {
		return gateway.Invalid("LoadBalancerName")
	}
	if len(req.TagsJSON) > maxListed {
		return gateway.Invalid("Tags")
	}
	for _, t := range req.TagsJSON {
		if t.TagKey == "" && t.TagValue == "" {
			return errTagsMalformed
		}
	}
	return nil
}

const maxLoadBalancerName = 80

// isTooLong reports whether a name is too long for any load balancer.
func isTooLong(name string) bool { return utf8.RuneCountInString(name) > maxLoadBalancerName }

// commaList splits a comma list; an empty text is an empty list.
func commaList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

type describeLoadBalancersResponse struct {
	PageNumber    int                `rpc:"PageNumber"`
	PageSize      int                `rpc:"PageSize"`
	TotalCount    int                `rpc:"TotalCount"`
	LoadBalancers []loadBalancerItem `rpc:"LoadBalancers>LoadBalancer"`
}

// loadBalancerSummary holds the fields that the list and the attribute answer share.
type loadBalancerSummary struct {
	LoadBalancerID               string          `rpc:"LoadBalancerId"`
	LoadBalancerName             string          `rpc:"LoadBalancerName"`
	LoadBalancerStatus           string          `rpc:"LoadBalancerStatus"`
	Address                      string          `rpc:"Address"`
	AddressType                  string          `rpc:"AddressType"`
	AddressIPVersion             string          `rpc:"AddressIPVersion"`
	NetworkType                  string          `rpc:"NetworkType"`
	VPCID                        string          `rpc:"VpcId"`
	VSwitchID                    string          `rpc:"VSwitchId"`
	RegionID                     string          `rpc:"RegionId"`
	RegionIDAlias                string          `rpc:"RegionIdAlias"`
	MasterZoneID                 string          `rpc:"MasterZoneId"`
	SlaveZoneID                  string          `rpc:"SlaveZoneId"`
	LoadBalancerSpec             string          `rpc:"LoadBalancerSpec"`
	InstanceChargeType           string          `rpc:"InstanceChargeType"`
	InternetChargeType           string          `rpc:"InternetChargeType"`
	Bandwidth                    int             `rpc:"Bandwidth"`
	PayType                      string          `rpc:"PayType"`
	ResourceGroupID              string          `rpc:"ResourceGroupId"`
	BusinessStatus               string          `rpc:"BusinessStatus"`
	ServiceManagedMode           string          `rpc:"ServiceManagedMode"`
	DeleteProtection             string          `rpc:"DeleteProtection"`
	ModificationProtectionStatus string          `rpc:"ModificationProtectionStatus"`
	ModificationProtectionReason string          `rpc:"ModificationProtectionReason"`
	SpecBpsFlag                  bool            `rpc:"SpecBpsFlag"`
	CreateTime                   string          `rpc:"CreateTime"`
	CreateTimeStamp              int64           `rpc:"CreateTimeStamp"`
	Tags                         []tagging.Shown `rpc:"Tags>Tag"`
}

type loadBalancerItem struct {
	loadBalancerSummary
	InternetChargeTypeAlias string   `rpc:"InternetChargeTypeAlias"`
	IneffectiveOrderList    []string `rpc:"IneffectiveOrderList>IneffectiveOrder"`
}

func summarize(v *state.View, lb *kinds.LoadBalancer) loadBalancerSummary {
	return loadBalancerSummary{
		LoadBalancerID:               lb.ID,
		LoadBalancerName:             lb.Name,
		LoadBalancerStatus:           string(lb.Status),
		Address:                      lb.Address,
		AddressType:                  string(lb.AddressType),
		AddressIPVersion:             lb.AddressIPVersion,
		NetworkType:                  lb.NetworkType,
		VPCID:                        lb.VPCID,
		VSwitchID:                    lb.VSwitchID,
		RegionID:                     lb.RegionID,
		RegionIDAlias:                lb.RegionID,
		MasterZoneID:                 lb.MasterZoneID,
		SlaveZoneID:                  lb.SlaveZoneID,
		LoadBalancerSpec:             lb.Spec,
		InstanceChargeType:           string(lb.InstanceChargeType),
		InternetChargeType:           string(lb.InternetChargeType),
		Bandwidth:                    lb.Bandwidth,
		PayType:                      lb.PayType,
		ResourceGroupID:              lb.ResourceGroupID,
		BusinessStatus:               businessStatus(lb),
		ServiceManagedMode:           managedMode(lb),
		DeleteProtection:             lb.DeleteProtection,
		ModificationProtectionStatus: lb.ModificationProtectionStatus,
		ModificationProtectionReason: lb.ModificationProtectionReason,
		CreateTime:                   gateway.Second(lb.CreateTime),
		CreateTimeStamp:              lb.CreateTime.UnixMilli(),
		Tags:                         tagging.ShownOf(v, kinds.TagLoadBalancer, lb.ID),
	}
}

// businessStatus returns FinancialLocked for a locked load balancer, as in a public record of
// 2026-07.
func businessStatus(lb *kinds.LoadBalancer) string {
	if lb.Status == kinds.LoadBalancerLocked {
		return "FinancialLocked"
	}
	return "Normal"
}

// chargeNumbers holds the numbers that the list, and it alone, returns as
// InternetChargeType: CLB-0105.
var chargeNumbers = map[kinds.InternetChargeType]string{kinds.PayByBandwidth: "3", kinds.PayByTraffic: "4"}

func newLoadBalancerItem(v *state.View, lb *kinds.LoadBalancer) loadBalancerItem {
	item := loadBalancerItem{loadBalancerSummary: summarize(v, lb)}
	item.InternetChargeTypeAlias = item.InternetChargeType
	item.InternetChargeType = chargeNumbers[kinds.InternetChargeType(item.InternetChargeTypeAlias)]
	if lb.Ineffective != nil {
		item.IneffectiveOrderList = []string{string(lb.Ineffective.InternetChargeType)}
	}
	return item
}

// describeLoadBalancers filters first and pages then: a CCM sends no page and
// must find its load balancer among many.
func describeLoadBalancers(v *state.View, req *describeLoadBalancersRequest) (*describeLoadBalancersResponse, error) {
	if field, value, ok := req.one(); ok {
		found, all := kinds.LoadBalancersInOrder.Window(v, nil, (req.PageNumber-1)*req.PageSize, req.PageSize, field, value)
		return &describeLoadBalancersResponse{PageNumber: req.PageNumber, PageSize: req.PageSize, TotalCount: all, LoadBalancers: listing.Views(v, found, newLoadBalancerItem)}, nil
	}
	var found []*kinds.LoadBalancer
	for lb := range req.candidates(v) {
		if req.matches(v, lb) {
			found = append(found, lb)
		}
	}
	slices.SortFunc(found, func(a, b *kinds.LoadBalancer) int {
		return cmp.Or(a.CreateTime.Compare(b.CreateTime), cmp.Compare(a.ID, b.ID))
	})
	return &describeLoadBalancersResponse{
		PageNumber: req.PageNumber, PageSize: req.PageSize, TotalCount: len(found),
		LoadBalancers: listing.Views(v, listing.Page(found, req.PageNumber, req.PageSize), newLoadBalancerItem),
	}, nil
}

// candidates narrows the search by the best index that the filters allow, so
// that a filtered call costs what it finds and not what exists.
func (req *describeLoadBalancersRequest) candidates(v *state.View) iter.Seq[*kinds.LoadBalancer] {
	switch {
	case req.LoadBalancerID != "":
		return loadBalancersByID(v, commaList(req.LoadBalancerID))
	case len(req.Tags) > 0:
		return loadBalancersByID(v, state.ResourcesTagged(v, kinds.TagLoadBalancer, tagFilters(req.Tags)))
	case len(req.TagsJSON) > 0:
		return loadBalancersByID(v, anyTagged(v, req.TagsJSON))
	case req.LoadBalancerName != "":
		return func(yield func(*kinds.LoadBalancer) bool) {
			for _, name := range listing.Unique(commaList(req.LoadBalancerName)) {
				for lb := range kinds.LoadBalancersByName.InScope(v, name) {
					if !yield(lb) {
						return
					}
				}
			}
		}
	case req.VSwitchID != "":
		return kinds.LoadBalancersByVSwitch.List(v, req.VSwitchID)
	}
	return kinds.LoadBalancersByRegion.InScope(v)
}

func loadBalancersByID(v *state.View, ids []string) iter.Seq[*kinds.LoadBalancer] {
	return func(yield func(*kinds.LoadBalancer) bool) {
		for _, id := range listing.Unique(ids) {
			if lb, ok := kinds.LoadBalancers.Find(v, id); ok && !yield(lb) {
				return
			}
		}
	}
}

// anyTagged finds what carries any of the tags: the conditions of the older
// Tags parameter are alternatives. CLB-0106.
func anyTagged(v *state.View, tags []jsonTag) []string {
	var ids []string
	for _, t := range tags {
		ids = append(ids, state.ResourcesTagged(v, kinds.TagLoadBalancer, []state.TagFilter{t.filter()})...)
	}
	return ids
}

// one returns the field and its value of a request for all load balancers, or for those with
// one value, that an index has in order.
func (req *describeLoadBalancersRequest) one() (field, value string, ok bool) {
	rest := *req
	rest.RegionID, rest.page, rest.VPCID, rest.AddressType, rest.LoadBalancerStatus = "", page{}, "", "", ""
	if !reflect.ValueOf(rest).IsZero() {
		return "", "", false
	}
	return listing.One("VpcId", req.VPCID, "AddressType", req.AddressType, "LoadBalancerStatus", req.LoadBalancerStatus)
}

func (req *describeLoadBalancersRequest) matches(v *state.View, lb *kinds.LoadBalancer) bool {
	for _, f := range []struct{ asked, is string }{
		{req.AddressIPVersion, lb.AddressIPVersion},
		{req.LoadBalancerStatus, string(lb.Status)},
		{req.AddressType, string(lb.AddressType)},
		{req.InternetChargeType, string(lb.InternetChargeType)},
		{req.VPCID, lb.VPCID},
		{req.VSwitchID, lb.VSwitchID},
		{req.NetworkType, lb.NetworkType},
		{req.Address, lb.Address},
		{req.MasterZoneID, lb.MasterZoneID},
		{req.SlaveZoneID, lb.SlaveZoneID},
		{req.PayType, lb.PayType},
		{req.ResourceGroupID, lb.ResourceGroupID},
	} {
		if f.asked != "" && f.asked != f.is {
			return false
		}
	}
	return (req.LoadBalancerName == "" || slices.Contains(commaList(req.LoadBalancerName), lb.Name)) &&
		req.matchesTags(v, lb) && req.matchesServer(v, lb)
}

// matchesTags checks the tags also where another index gave the candidates.
func (req *describeLoadBalancersRequest) matchesTags(v *state.View, lb *kinds.LoadBalancer) bool {
	if len(req.Tags) > 0 && !state.HasTags(v, kinds.TagLoadBalancer, lb.ID, tagFilters(req.Tags)) {
		return false
	}
	return len(req.TagsJSON) == 0 || slices.ContainsFunc(req.TagsJSON, func(t jsonTag) bool {
		return state.HasTags(v, kinds.TagLoadBalancer, lb.ID, []state.TagFilter{t.filter()})
	})
}

// matchesServer asks for a backend, in the default group or any other, by its
// id or its address.
func (req *describeLoadBalancersRequest) matchesServer(v *state.View, lb *kinds.LoadBalancer) bool {
	if req.ServerID == "" && req.ServerIntranetAddress == "" {
		return true
	}
	fits := func(s kinds.BackendServer) bool {
		return (req.ServerID == "" || s.ServerID == req.ServerID) &&
			(req.ServerIntranetAddress == "" || s.Address(v) == req.ServerIntranetAddress)
	}
	if slices.ContainsFunc(lb.BackendServers, fits) {
		return true
	}
	for g := range kinds.VServerGroupsByLoadBalancer.List(v, lb.ID) {
		if slices.ContainsFunc(g.BackendServers, fits) {
			return true
		}
	}
	return false
}

type describeLoadBalancerAttributeResponse struct {
	loadBalancerSummary
	EndTime                  string                    `rpc:"EndTime"`
	EndTimeStamp             int64                     `rpc:"EndTimeStamp"`
	RenewalStatus            string                    `rpc:"RenewalStatus,omitempty"`
	AutoReleaseTime          int64                     `rpc:"AutoReleaseTime,omitempty"`
	ListenerPorts            []int                     `rpc:"ListenerPorts>ListenerPort"`
	ListenerPortsAndProtocal []listenerPortAndProtocal `rpc:"ListenerPortsAndProtocal>ListenerPortAndProtocal"` // the cloud's spelling
	ListenerPortsAndProtocol []listenerPortAndProtocol `rpc:"ListenerPortsAndProtocol>ListenerPortAndProtocol"`
	BackendServers           []defaultGroupServer      `rpc:"BackendServers>BackendServer"`
	ReservedBandwidth        string                    `rpc:"ReservedInfoBandwidth,omitempty"`
	ReservedChargeType       string                    `rpc:"ReservedInfoInternetChargeType,omitempty"`
	ReservedOrderType        string                    `rpc:"ReservedInfoOrderType,omitempty"`
	ReservedActiveTime       string                    `rpc:"ReservedInfoActiveTime,omitempty"`
	HasReservedInfo          string                    `rpc:"HasReservedInfo"`
}

type listenerPortAndProtocal struct {
	ListenerPort     int    `rpc:"ListenerPort"`
	ListenerProtocal string `rpc:"ListenerProtocal"` // the cloud's spelling
}

type listenerPortAndProtocol struct {
	ListenerPort     int    `rpc:"ListenerPort"`
	ListenerProtocol string `rpc:"ListenerProtocol"`
	ListenerForward  string `rpc:"ListenerForward,omitempty"`
	ForwardPort      int    `rpc:"ForwardPort,omitempty"`
	Description      string `rpc:"Description"`
}

func describeLoadBalancerAttribute(v *state.View, req *loadBalancerRequest) (*describeLoadBalancerAttributeResponse, error) {
	lb, err := kinds.LoadBalancers.Get(v, req.LoadBalancerID)
	if err != nil {
		return nil, err
	}
	end := lb.EndTime
	if lb.PayType == payOnDemand {
		end = foreverEnd
	}
	resp := &describeLoadBalancerAttributeResponse{
		loadBalancerSummary: summarize(v, lb),
		EndTime:             gateway.Second(end),
		EndTimeStamp:        end.UnixMilli(),
		BackendServers:      defaultGroupServers(v, lb),
		HasReservedInfo:     "false",
	}
	if lb.PayType == prePay {
		resp.RenewalStatus = "Normal"
	}
	if at, ok := kinds.ReleaseTime(v, lb.AccountID); ok && lb.LockedFrom != "" {
		resp.AutoReleaseTime = at.UnixMilli()
	}
	if lb.Ineffective != nil {
		resp.reserve(lb.Ineffective)
	}
	for l := range kinds.ListenersByLoadBalancer.List(v, lb.ID) {
		resp.addListener(l)
	}
	return resp, nil
}

// foreverEnd is the end that pay-as-you-go instances return. CLB-0107.
var foreverEnd = time.Date(2999, time.September, 8, 16, 0, 0, 0, time.UTC)

func (resp *describeLoadBalancerAttributeResponse) reserve(change *kinds.InternetSpecChange) {
	resp.HasReservedInfo = "true"
	resp.ReservedBandwidth = strconv.Itoa(change.Bandwidth)
	resp.ReservedChargeType = string(change.InternetChargeType)
	resp.ReservedOrderType = "MODIFY"
	resp.ReservedActiveTime = gateway.Second(change.EffectiveAt)
}

func (resp *describeLoadBalancerAttributeResponse) addListener(l *kinds.Listener) {
	resp.ListenerPorts = append(resp.ListenerPorts, l.Port)
	resp.ListenerPortsAndProtocal = append(resp.ListenerPortsAndProtocal,
		listenerPortAndProtocal{l.Port, string(l.Protocol)})
	resp.ListenerPortsAndProtocol = append(resp.ListenerPortsAndProtocol, listenerPortAndProtocol{
		ListenerPort:     l.Port,
		ListenerProtocol: string(l.Protocol),
		ListenerForward:  l.ListenerForward,
		ForwardPort:      l.ForwardPort,
		Description:      l.Description,
	})
}
