package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// AccessControlList is a list of addresses that listeners admit or refuse.
type AccessControlList struct {
	state.Owner
	ID               string
	Name             string
	AddressIPVersion string
	ResourceGroupID  string
	Entries          []AccessControlListEntry `json:",omitempty"`
	CreateTime       time.Time
	// Activity is Busy while a change of the entries takes effect.
	Activity string `json:",omitempty"`
}

// AccessControlListEntry is a CIDR block, as the caller spelled it.
type AccessControlListEntry struct {
	Entry   string
	Comment string `json:",omitempty"`
}

// TagAccessControlList is the type of the tags of AccessControlLists.
const TagAccessControlList state.TagResourceType = "acl"

// AccessControlLists by id.
var AccessControlLists = state.NewTable(Schema, "AccessControlList", func(a *AccessControlList) string { return a.ID },
	state.IDForm("acl-", 18), state.Tagged(TagAccessControlList, ProductCLB, "acl"),
	state.Life(func(a *AccessControlList) *string { return &a.Activity }))

// StageACLConfiguring is while a change of a list's entries takes effect. How long that takes is
// unpublished, and Terraform sends more than 50 entries in several calls: no time, unless a world
// says otherwise. CLB-0583.
var StageACLConfiguring = AccessControlLists.Stage("accesscontrollist.configuring", state.Busy, state.Idle, 0)

var _ = moved(ProductCLB, "acl", AccessControlLists, func(a *AccessControlList) *string { return &a.ResourceGroupID })

// AccessControlListsByRegion finds lists by account and region.
var AccessControlListsByRegion = AccessControlLists.Index("region", func(a *AccessControlList) [][]string {
	return state.Key(a.AccountID, a.RegionID)
})

// QuotaACLs limits an account.
var QuotaACLs = state.NewQuota(Schema, "slb_quota_acls_num", 200,
	state.Of(AccessControlLists, func(a *AccessControlList, add func(string, int)) { add(a.AccountID, 1) }))

// QuotaACLEntries limits an access control list.
var QuotaACLEntries = state.NewQuota(Schema, "slb_quota_acl_entries_num", 300,
	state.Within(AccessControlLists, func(a *AccessControlList) int { return len(a.Entries) }))
