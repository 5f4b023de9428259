package state

import (
	"cmp"
	"slices"
)

// TagResourceType is the kind of thing that carries a tag. The values of the
// Slb kinds are the wire's; the other products' carry the product's name.
type TagResourceType string

// What can be tagged.
const (
	TagLoadBalancer      TagResourceType = "instance"
	TagServerCertificate TagResourceType = "certificate"
	TagAccessControlList TagResourceType = "acl"
	TagCACertificate     TagResourceType = "slb:cacertificate" // set on upload only
	TagListener          TagResourceType = "listener"
	TagVServerGroup      TagResourceType = "vservergroup"
	TagInstance          TagResourceType = "ecs:instance"
	TagNetworkInterface  TagResourceType = "ecs:eni"
	TagSecurityGroup     TagResourceType = "ecs:securitygroup"
	TagVPC               TagResourceType = "vpc:vpc"
	TagVSwitch           TagResourceType = "vpc:vswitch"
	TagRouteTable        TagResourceType = "vpc:routetable"
	TagEIP               TagResourceType = "vpc:eip"
)

// Tag is a key with a value on a resource. ResourceID is the resource's table
// id, for listeners ListenerID.
type Tag struct {
	Owner
	ResourceType TagResourceType
	ResourceID   string
	Key          string
	Value        string `json:",omitempty"`
}

// TagID is the id of a Tag.
func TagID(t TagResourceType, resourceID, key string) string {
	return string(t) + "/" + resourceID + "/" + key
}

// Tags by TagID.
var Tags = newTable("Tag", func(t *Tag) string { return TagID(t.ResourceType, t.ResourceID, t.Key) })

// TagsByResource finds tags by resource type, resource, key.
var TagsByResource = Tags.index("resource", func(t *Tag) [][]string {
	return one(string(t.ResourceType), t.ResourceID, t.Key)
})

// TagsByKey finds tags by resource type, account, region, key, value.
var TagsByKey = Tags.index("key", func(t *Tag) [][]string {
	return one(string(t.ResourceType), t.AccountID, t.RegionID, t.Key, t.Value)
})

// SetTag puts a tag on a resource of the scope, over one with the same key.
func SetTag(tx *Tx, t TagResourceType, resourceID, key, value string) {
	Tags.Put(tx, &Tag{Owner: tx.Scope(), ResourceType: t, ResourceID: resourceID, Key: key, Value: value})
}

// TagsOf returns the tags of a resource in order of key.
func TagsOf(v *View, t TagResourceType, resourceID string) []*Tag {
	return slices.Collect(TagsByResource.List(v, string(t), resourceID))
}

// DeleteTagsOf takes all tags off a resource.
func DeleteTagsOf(tx *Tx, t TagResourceType, resourceID string) {
	for tag := range TagsByResource.List(tx.View, string(t), resourceID) {
		Tags.Delete(tx, TagID(t, resourceID, tag.Key))
	}
}

// TagFilter asks for a key, with a value or, where Value is nil, with any.
type TagFilter struct {
	Key   string
	Value *string
}

// ResourcesTagged returns the ids of the scope's resources that carry all the
// tags, sorted. Filters must not be empty.
func ResourcesTagged(v *View, t TagResourceType, filters []TagFilter) []string {
	scope := v.Scope()
	var ids []string
	for i, f := range filters {
		values := []string{string(t), scope.AccountID, scope.RegionID, f.Key}
		if f.Value != nil {
			values = append(values, *f.Value)
		}
		if i > 0 {
			ids = slices.DeleteFunc(ids, func(id string) bool { return !HasTags(v, t, id, filters[i:i+1]) })
			continue
		}
		for tag := range TagsByKey.List(v, values...) {
			ids = append(ids, tag.ResourceID)
		}
	}
	slices.SortFunc(ids, cmp.Compare[string])
	return slices.Compact(ids)
}

// HasTags tells whether a resource carries all the tags.
func HasTags(v *View, t TagResourceType, resourceID string, filters []TagFilter) bool {
	for _, f := range filters {
		tag, ok := Tags.Find(v, TagID(t, resourceID, f.Key))
		if !ok || f.Value != nil && tag.Value != *f.Value {
			return false
		}
	}
	return true
}

// taggable finds the resource that a tag is on.
var taggable = map[TagResourceType]func(v *View, id string) (Owner, bool){
	TagLoadBalancer:      ownerIn(LoadBalancers),
	TagServerCertificate: ownerIn(ServerCertificates),
	TagAccessControlList: ownerIn(AccessControlLists),
	TagCACertificate:     ownerIn(CACertificates),
	TagListener:          ownerIn(Listeners),
	TagVServerGroup:      ownerIn(VServerGroups),
	TagInstance:          ownerIn(Instances),
	TagNetworkInterface:  ownerIn(NetworkInterfaces),
	TagSecurityGroup:     ownerIn(SecurityGroups),
	TagVPC:               ownerIn(VPCs),
	TagVSwitch:           ownerIn(VSwitches),
	TagRouteTable:        ownerIn(RouteTables),
	TagEIP:               ownerIn(EIPs),
}

func ownerIn[T owned](t *Table[T]) func(v *View, id string) (Owner, bool) {
	return func(v *View, id string) (owner Owner, ok bool) {
		r, ok := t.Find(v, id)
		if ok {
			owner = any(r).(owned).owner()
		}
		return owner, ok
	}
}

// Taggable tells whether the scope has such a resource to put tags on.
func Taggable(v *View, t TagResourceType, resourceID string) bool {
	_, ok := taggedOwner(v, t, resourceID)
	return ok
}

// taggedOwner is whose the resource is.
func taggedOwner(v *View, t TagResourceType, resourceID string) (Owner, bool) {
	find, ok := taggable[t]
	if !ok {
		return Owner{}, false
	}
	return find(v, resourceID)
}
