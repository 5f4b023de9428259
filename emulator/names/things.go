package names

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
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
	for _, kind := range append(v.Schema().Kinds(), kinds.Regions.Kind(), kinds.ResourceGroups.Kind()) {
		all[kind] = v.IDs(kind)
	}
	for region := range kinds.Regions.All(v) {
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
	"RegionId":                 {kinds.Regions.Kind()},
	"ZoneId":                   {zones},
	"MasterZoneId":             {zones},
	"SlaveZoneId":              {zones},
	"VpcId":                    {kinds.VPCs.Kind()},
	"VSwitchId":                {kinds.VSwitches.Kind()},
	"ServerId":                 {kinds.Instances.Kind(), kinds.NetworkInterfaces.Kind()},
	"InstanceId":               nil, // of many kinds
	"NetworkInterfaceId":       {kinds.NetworkInterfaces.Kind()},
	"SecurityGroupId":          {kinds.SecurityGroups.Kind()},
	"ResourceGroupId":          {kinds.ResourceGroups.Kind()},
	"NewResourceGroupId":       {kinds.ResourceGroups.Kind()},
	"RouteTableId":             {kinds.RouteTables.Kind()},
	"AllocationId":             {kinds.EIPs.Kind()},
	"LoadBalancerId":           {kinds.LoadBalancers.Kind(), kinds.NLBLoadBalancers.Kind()},
	"ListenerId":               {kinds.NLBListeners.Kind()},
	"VServerGroupId":           {kinds.VServerGroups.Kind()},
	"MasterSlaveServerGroupId": {kinds.MasterSlaveServerGroups.Kind()},
	"ServerGroupId":            {kinds.NLBServerGroups.Kind()},
	"RuleId":                   {kinds.Rules.Kind()},
	"AclId":                    {kinds.AccessControlLists.Kind()},
	"ServerCertificateId":      {kinds.ServerCertificates.Kind()},
	"CACertificateId":          {kinds.CACertificates.Kind()},
	"DomainExtensionId":        {kinds.DomainExtensions.Kind()},
	"NatGatewayId":             {kinds.NATGateways.Kind()},
	"ResourceId":               nil,
	anyThing:                   nil,
}

// anyThing is a field that may name a resource of any kind.
const anyThing = "Id"

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

// idField returns the last part of a field's name, in the singular and without numbers.
func idField(field string) string {
	field = strings.TrimSuffix(number().ReplaceAllString(field, ".N$1"), ".N")
	field = field[strings.LastIndex(field, ".")+1:]
	return strings.TrimSuffix(field, "s")
}
