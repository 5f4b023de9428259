package clb

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

var aclActions = []gateway.Action{
	gateway.Write("CreateAccessControlList", createAccessControlList),
	gateway.Write("DeleteAccessControlList", deleteAccessControlList),
	gateway.Write("SetAccessControlListAttribute", setAccessControlListAttribute),
	gateway.Write("AddAccessControlListEntry", addAccessControlListEntry).Refusing(errAclEntriesMalformed),
	gateway.Write("RemoveAccessControlListEntry", removeAccessControlListEntry).Refusing(errAclEntriesMalformed),
	gateway.Read("DescribeAccessControlLists", describeAccessControlLists),
	gateway.Read("DescribeAccessControlListAttribute", describeAccessControlListAttribute),
}

// The refusals of this file.
var (
	errAclInUse = refusals.New("AclInUse", 400, "OperationFailed.AclBindedWithVip",
		"The ACL has binded with vip.", "CLB-0200")
	errAclEntriesMalformed = refusals.New("AclEntriesMalformed", 400, "InvalidEntry",
		"The %s is not a list of entries.", "CLB-0200")
	errAclEntryInvalid = refusals.New("AclEntryInvalid", 400, "InvalidEntry",
		"%s.", "CLB-0200")
	errAclCommentInvalid = refusals.New("AclCommentInvalid", 400, "InvalidParam.Comment",
		"The specified comment is invalid.", "CLB-0200")
	errAclEntryVersion = refusals.New("AclEntryVersion", 400, "IllegalEntry",
		"Entry version is conflict to the acl version.", "CLB-0200")
	errAclEntryExists = refusals.New("AclEntryExists", 400, "InvalidParam.AclEntryExists",
		"The specified aclEntry already exists in the acl.", "CLB-0200")
	errAclEntryUnknown = refusals.New("AclEntryUnknown", 400, "AclEntryEmpty",
		"The specified entries are not in the acl.", "CLB-0203")
	errAclEntryBusy = refusals.New("AclEntryBusy", 400, "AclEntryProcessing",
		"A previous configuration of the acl entry is pending, please try again later.", "CLB-0583")
	errTooManyACLEntries = refusals.New("TooManyACLEntries", 400, "AclEntryExceedLimit",
		"The maximum number of ACL entries is exceeded.", "CLB-0200")
)

const (
	maxACLEntriesPerCall = 50
	maxCommentLength     = 128 // bytes
)

type createAccessControlListRequest struct {
	RegionID         string        `rpc:"RegionId,required"`
	AclName          string        `rpc:"AclName,required,len=1..80"`
	AddressIPVersion string        `rpc:"AddressIPVersion,enum=ipv4|ipv6,default=ipv4"`
	ResourceGroupID  string        `rpc:"ResourceGroupId"`
	Tags             []tagging.Tag `rpc:"Tag"`
}

// Validate enforces the rules of shape.
func (req *createAccessControlListRequest) Validate() error { return checkTags(req.Tags) }

type aclIDResponse struct {
	AclID string `rpc:"AclId"`
}

func createAccessControlList(tx *state.Tx, req *createAccessControlListRequest) (*aclIDResponse, error) {
	group, err := kinds.ResourceGroupOf(tx.View, req.ResourceGroupID)
	if err != nil {
		return nil, err
	}
	account := tx.Scope().AccountID
	if err := tx.Use(kinds.QuotaACLs, account, 1); err != nil {
		return nil, err
	}
	acl := &kinds.AccessControlList{
		Owner:            tx.Scope(),
		ID:               tx.NewID(kinds.AccessControlLists.Kind()),
		Name:             req.AclName,
		AddressIPVersion: req.AddressIPVersion,
		ResourceGroupID:  group,
		CreateTime:       tx.Now(),
	}
	kinds.AccessControlLists.Put(tx, acl)
	tagging.Set(tx, kinds.TagAccessControlList, acl.ID, req.Tags)
	return &aclIDResponse{acl.ID}, nil
}

type aclRequest struct {
	RegionID string `rpc:"RegionId,required"`
	AclID    string `rpc:"AclId,required"`
}

func deleteAccessControlList(tx *state.Tx, req *aclRequest) (*gateway.Empty, error) {
	if _, err := kinds.AccessControlLists.Get(tx.View, req.AclID); err != nil {
		return nil, err
	}
	if _, bound := kinds.ListenersByAccessControlList.First(tx.View, req.AclID); bound {
		return nil, errAclInUse
	}
	kinds.AccessControlLists.Remove(tx, req.AclID)
	return &gateway.Empty{}, nil
}

type setAccessControlListAttributeRequest struct {
	aclRequest
	AclName string `rpc:"AclName,required,len=1..80"`
}

func setAccessControlListAttribute(tx *state.Tx, req *setAccessControlListAttributeRequest) (*aclIDResponse, error) {
	return &aclIDResponse{req.AclID}, kinds.AccessControlLists.Edit(tx, req.AclID, func(acl *kinds.AccessControlList) error {
		acl.Name = req.AclName
		return nil
	})
}

// aclEntryParam is an element of the JSON text AclEntrys.
type aclEntryParam struct {
	Entry   string
	Comment string
}

type aclEntriesRequest struct {
	RegionID  string          `rpc:"RegionId,required"`
	AclID     string          `rpc:"AclId,required"`
	AclEntrys []aclEntryParam `rpc:"AclEntrys,json,invalid=AclEntriesMalformed"` // the cloud's spelling
}

// Validate enforces the rules of shape.
func (req *aclEntriesRequest) Validate() error {
	switch {
	case len(req.AclEntrys) == 0:
		return gateway.Missing("AclEntrys")
	case len(req.AclEntrys) > maxACLEntriesPerCall:
		return errTooManyACLEntries
	}
	for _, e := range req.AclEntrys {
		if _, err := parseEntry(e.Entry); err != nil {
			return errAclEntryInvalid.Of("The entry " + e.Entry + " is not a CIDR block")
		}
		if len(e.Comment) > maxCommentLength {
			return errAclCommentInvalid
		}
	}
	return nil
}

// parseEntry reads a CIDR block, or an address, which is a block of one.
func parseEntry(text string) (netip.Prefix, error) {
	if strings.Contains(text, "/") {
		return netip.ParsePrefix(text)
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	return addr.Prefix(addr.BitLen())
}

func hasEntry(entries []kinds.AccessControlListEntry, text string) bool {
	return slices.ContainsFunc(entries, func(e kinds.AccessControlListEntry) bool { return sameEntry(e.Entry, text) })
}

// sameEntry compares blocks, not their spelling.
func sameEntry(a, b string) bool {
	x, errX := parseEntry(a)
	y, errY := parseEntry(b)
	return errX == nil && errY == nil && x.Masked() == y.Masked()
}

// addAccessControlListEntry also asks the listeners that have the list, whose lists have
// limits in common: CLB-0170.
func addAccessControlListEntry(tx *state.Tx, req *aclEntriesRequest) (*gateway.Empty, error) {
	err := kinds.AccessControlLists.Edit(tx, req.AclID, func(acl *kinds.AccessControlList) error {
		if acl.Activity == state.Busy {
			return errAclEntryBusy
		}
		entries := slices.Clone(acl.Entries)
		for _, e := range req.AclEntrys {
			block, _ := parseEntry(e.Entry) // Validate has parsed it
			switch {
			case block.Addr().Is4() != (acl.AddressIPVersion == ipv4):
				return errAclEntryVersion
			case hasEntry(entries, e.Entry):
				return errAclEntryExists
			}
			entries = append(entries, kinds.AccessControlListEntry{Entry: e.Entry, Comment: e.Comment})
		}
		acl.Entries = entries
		return tx.Use(kinds.QuotaACLEntries, acl.ID, len(req.AclEntrys))
	})
	if err != nil {
		return nil, err
	}
	for l := range kinds.ListenersByAccessControlList.List(tx.View, req.AclID) {
		if err := checkACLEntries(tx.View, l); err != nil {
			return nil, err
		}
	}
	state.Enter(tx, kinds.StageACLConfiguring, req.AclID)
	return &gateway.Empty{}, nil
}

// removeAccessControlListEntry takes entries out; when none of them is in the
// list it is refused, which clients take for success. CLB-0150.
func removeAccessControlListEntry(tx *state.Tx, req *aclEntriesRequest) (*gateway.Empty, error) {
	err := kinds.AccessControlLists.Edit(tx, req.AclID, func(acl *kinds.AccessControlList) error {
		if acl.Activity == state.Busy {
			return errAclEntryBusy
		}
		left := slices.DeleteFunc(slices.Clone(acl.Entries), func(e kinds.AccessControlListEntry) bool {
			return slices.ContainsFunc(req.AclEntrys, func(gone aclEntryParam) bool { return sameEntry(gone.Entry, e.Entry) })
		})
		if len(left) == len(acl.Entries) {
			return errAclEntryUnknown
		}
		acl.Entries = left
		return nil
	})
	if err != nil {
		return nil, err
	}
	state.Enter(tx, kinds.StageACLConfiguring, req.AclID)
	return &gateway.Empty{}, nil
}

type describeAccessControlListsRequest struct {
	RegionID         string           `rpc:"RegionId,required"`
	AclName          string           `rpc:"AclName,len=1..80"`
	AddressIPVersion string           `rpc:"AddressIPVersion,enum=ipv4|ipv6"`
	ResourceGroupID  string           `rpc:"ResourceGroupId"`
	Tags             []tagFilterParam `rpc:"Tag,max=20"`
	page
}

type describeAccessControlListsResponse struct {
	PageNumber int       `rpc:"PageNumber"`
	PageSize   int       `rpc:"PageSize"`
	TotalCount int       `rpc:"TotalCount"`
	Count      int       `rpc:"Count"`
	Acls       []aclItem `rpc:"Acls>Acl"`
}

type aclItem struct {
	AclID              string          `rpc:"AclId"`
	AclName            string          `rpc:"AclName"`
	AddressIPVersion   string          `rpc:"AddressIPVersion"`
	ResourceGroupID    string          `rpc:"ResourceGroupId"`
	ServiceManagedMode string          `rpc:"ServiceManagedMode"`
	CreateTime         string          `rpc:"CreateTime"`
	Tags               []tagging.Shown `rpc:"Tags>Tag"`
}

func newACLItem(v *state.View, acl *kinds.AccessControlList) aclItem {
	return aclItem{
		AclID: acl.ID, AclName: acl.Name, AddressIPVersion: acl.AddressIPVersion,
		ResourceGroupID: acl.ResourceGroupID, ServiceManagedMode: unmanaged, CreateTime: gateway.Second(acl.CreateTime),
		Tags: tagging.ShownOf(v, kinds.TagAccessControlList, acl.ID),
	}
}

// describeAccessControlLists finds a name by any part of it (CLB-0151), and nothing
// in a resource group that does not exist: CLB-0191.
func describeAccessControlLists(v *state.View, req *describeAccessControlListsRequest) (*describeAccessControlListsResponse, error) {
	var found []*kinds.AccessControlList
	for acl := range kinds.AccessControlListsByRegion.InScope(v) {
		if strings.Contains(acl.Name, req.AclName) &&
			(req.AddressIPVersion == "" || acl.AddressIPVersion == req.AddressIPVersion) &&
			(req.ResourceGroupID == "" || acl.ResourceGroupID == req.ResourceGroupID) &&
			state.HasTags(v, kinds.TagAccessControlList, acl.ID, tagFilters(req.Tags)) {
			found = append(found, acl)
		}
	}
	resp := &describeAccessControlListsResponse{PageNumber: req.PageNumber, PageSize: req.PageSize, TotalCount: len(found)}
	for _, acl := range listing.Page(found, req.PageNumber, req.PageSize) {
		resp.Acls = append(resp.Acls, newACLItem(v, acl))
	}
	resp.Count = len(resp.Acls)
	return resp, nil
}

type describeAccessControlListAttributeRequest struct {
	aclRequest
	AclEntryComment string `rpc:"AclEntryComment"`
	Page            int    `rpc:"Page,min=1"`
	PageSize        int    `rpc:"PageSize,min=1,max=1000"`
}

type describeAccessControlListAttributeResponse struct {
	aclItem
	TotalAclEntry    int               `rpc:"TotalAclEntry"`
	AclEntrys        []aclEntryItem    `rpc:"AclEntrys>AclEntry"` // the cloud's spelling
	RelatedListeners []relatedListener `rpc:"RelatedListeners>RelatedListener"`
}

type aclEntryItem struct {
	AclEntryIP      string `rpc:"AclEntryIP"`
	AclEntryComment string `rpc:"AclEntryComment"`
}

type relatedListener struct {
	LoadBalancerID string `rpc:"LoadBalancerId"`
	ListenerPort   int    `rpc:"ListenerPort"`
	AclType        string `rpc:"AclType"`
	Protocol       string `rpc:"Protocol"`
}

// describeAccessControlListAttribute pages the entries only when the call asks
// for: clients older than the paging expect them all. CLB-0152.
func describeAccessControlListAttribute(v *state.View, req *describeAccessControlListAttributeRequest) (*describeAccessControlListAttributeResponse, error) {
	acl, err := kinds.AccessControlLists.Get(v, req.AclID)
	if err != nil {
		return nil, err
	}
	resp := &describeAccessControlListAttributeResponse{aclItem: newACLItem(v, acl)}
	var entries []aclEntryItem
	for _, e := range acl.Entries {
		if strings.Contains(e.Comment, req.AclEntryComment) {
			entries = append(entries, aclEntryItem{e.Entry, e.Comment})
		}
	}
	resp.TotalAclEntry = len(entries)
	resp.AclEntrys = entries
	if req.Page > 0 || req.PageSize > 0 {
		resp.AclEntrys = listing.Page(entries, max(req.Page, 1), cmp.Or(req.PageSize, 10))
	}
	for l := range kinds.ListenersByAccessControlList.List(v, acl.ID) {
		resp.RelatedListeners = append(resp.RelatedListeners,
			relatedListener{l.LoadBalancerID, l.Port, l.AclType, string(l.Protocol)})
	}
	return resp, nil
}
