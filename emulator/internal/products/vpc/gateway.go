package vpc

import (
	"cmp"

	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// What refuses changes of gateways of all kinds.
var (
	errNameIllegal = refusals.New("NameIllegal", 400, "IllegalParam.Name",
		"The name %s is too long, or begins like an address.", "CLB-0560")
	errDescriptionIllegal = refusals.New("DescriptionIllegal", 400, "IllegalParam.Description",
		"The description is too long, or begins like an address.", "CLB-0560")
	errGatewayHasRoute = refusals.New("GatewayHasRoute", 400, "DependencyViolation.RouteEntry",
		"The route entry %s leads to the gateway.", "CLB-0560")
)

// anywhere is the destination of a default route.
const anywhere = "0.0.0.0/0"

// checkText refuses names and descriptions that begin like an address.
func checkText(name, description string) error {
	return cmp.Or(plainText(name, errNameIllegal), plainText(description, errDescriptionIllegal))
}

// leadsNowhere refuses a next hop that routes lead to.
func leadsNowhere(v *state.View, id string) error {
	if e, ok := kinds.RouteEntriesByNextHop.First(v, id); ok {
		return errGatewayHasRoute.Of(e.ID)
	}
	return nil
}

// listTagged is tagged for lists, whose parameter has another name.
type listTagged struct {
	Tags []tagging.Tag `rpc:"Tags,max=20,invalid=TagKeyInvalid"`
}

func (r *listTagged) filter(v *state.View, kind state.TagResourceType) func(id string) bool {
	return tagging.Filter(v, kind, r.Tags)
}
