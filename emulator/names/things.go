package names

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
)

// Things are the ids of a world's resources, by kind.
type Things map[state.Kind][]string

// zones is the kind of zones, which are no rows of their own.
const zones state.Kind = "Zone"

// ThingsOf lists what a store holds.
func ThingsOf(v *state.View) Things {
	all := make(Things)
	for _, kind := range append(v.Schema().Kinds(), cloud.Regions.Kind(), cloud.ResourceGroups.Kind()) {
		all[kind] = v.IDs(kind)
	}
	for region := range cloud.Regions.All(v) {
		for _, zone := range region.Zones {
			all[zones] = append(all[zones], zone.ID)
		}
	}
	return all
}

// In returns the names together with the ids of a world, which it asks for once they are
// needed.
func (n *Names) In(things func() (Things, error)) *Names {
	in := *n
	in.things = things
	return &in
}

// idFields lists the kinds of what a field names by its id, by the last name of the field.
// Only what is here is checked: the ids of other fields are the cloud's own.
var idFields = map[string][]state.Kind{
	"RegionId":                 {cloud.Regions.Kind()},
	"ZoneId":                   {zones},
	"MasterZoneId":             {zones},
	"SlaveZoneId":              {zones},
	"VpcId":                    {cloud.VPCs.Kind()},
	"VSwitchId":                {cloud.VSwitches.Kind()},
	"ServerId":                 {cloud.Instances.Kind(), cloud.NetworkInterfaces.Kind()},
	"InstanceId":               nil, // of many kinds
	"NetworkInterfaceId":       {cloud.NetworkInterfaces.Kind()},
	"SecurityGroupId":          {cloud.SecurityGroups.Kind()},
	"ResourceGroupId":          {cloud.ResourceGroups.Kind()},
	"NewResourceGroupId":       {cloud.ResourceGroups.Kind()},
	"RouteTableId":             {cloud.RouteTables.Kind()},
	"AllocationId":             {cloud.EIPs.Kind()},
	"LoadBalancerId":           {cloud.LoadBalancers.Kind(), cloud.NLBLoadBalancers.Kind()},
	"ListenerId":               {cloud.NLBListeners.Kind()},
	"VServerGroupId":           {cloud.VServerGroups.Kind()},
	"MasterSlaveServerGroupId": {cloud.MasterSlaveServerGroups.Kind()},
	"ServerGroupId":            {cloud.NLBServerGroups.Kind()},
	"RuleId":                   {cloud.Rules.Kind()},
	"AclId":                    {cloud.AccessControlLists.Kind()},
	"ServerCertificateId":      {cloud.ServerCertificates.Kind()},
	"CACertificateId":          {cloud.CACertificates.Kind()},
	"DomainExtensionId":        {cloud.DomainExtensions.Kind()},
	"NatGatewayId":             {cloud.NATGateways.Kind()},
	"ResourceId":               nil,
	AnyThing:                   nil,
}

// AnyThing is a field that may name a resource of any kind.
const AnyThing = "Id"

// CheckID refuses the id of something that the world does not have, or a list of such. The
// field is a parameter or a field of the objects in it, such as ZoneMappings.1.VSwitchId.
func (n *Names) CheckID(field, id string) error {
	kinds, checked := idFields[idField(field)]
	if n.things == nil || !checked {
		return nil
	}
	var list []string
	if json.Unmarshal([]byte(id), &list) != nil {
		list = strings.Split(id, ",")
	}
	for _, one := range list {
		if err := n.checkID(kinds, strings.TrimSpace(one)); err != nil {
			return err
		}
	}
	return nil
}

func (n *Names) checkID(kinds []state.Kind, id string) error {
	if _, err := netip.ParseAddr(id); err == nil || id == "" { // a server may be an address
		return nil
	}
	things, err := n.things()
	if err != nil {
		return err
	}
	var known []string
	for kind, ids := range things {
		if kinds == nil || slices.Contains(kinds, kind) {
			known = append(known, ids...)
		}
	}
	if slices.Contains(known, id) {
		return nil
	}
	return fmt.Errorf("the world has no %s%s", id, DidYouMean(id, known, "save the id of what a step creates, or name the world file by --world"))
}

// idConditions lists the fields that conditions have in their names.
var idConditions = map[string]string{
	"vswitch.<id>.freeAddresses": "VSwitchId",
	"server.<id>.health":         "ServerId",
	"instance.<id>.reachAt":      "ServerId",
	"stock.<zone>":               "ZoneId",
}

// CheckConditionID refuses a condition of something that the world does not have.
func (n *Names) CheckConditionID(name string) error {
	row, named, ok := conditions.Find(name)
	if !ok {
		return nil
	}
	field, has := idConditions[row.Name]
	if !has {
		return nil
	}
	if field == "ZoneId" {
		named, _, _ = strings.Cut(named, ".") // of one kind of address
	}
	return n.CheckID(field, named)
}

// idField is the last name of a field, in the singular and without numbers.
func idField(field string) string {
	field = strings.TrimSuffix(number().ReplaceAllString(field, ".N$1"), ".N")
	field = field[strings.LastIndex(field, ".")+1:]
	return strings.TrimSuffix(field, "s")
}
