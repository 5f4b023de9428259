package control_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/routes"
)

// TestParameters proves that a path refuses query parameters that it does not
// take, and takes just those that the OpenAPI document names.
func TestParameters(t *testing.T) {
	f := newFixture(t, withCloud)
	for path, want := range map[string]string{
		"/v1/world?acount=a":    "do you mean account?",
		"/v1/quotas?regoin=a":   "do you mean region?",
		"/v1/faults?name=a":     "it takes none",
		"/v1/clock?advance=24h": "it takes none",
		"/v1/journal/marks?a=b": "it takes none",
	} {
		f.mustRefuse("GET", path, "", 422, want)
	}
	// What is to be cleared is all of it, whatever a query would have chosen.
	f.mustRefuse("DELETE", "/v1/journal?action=CreateLoadBalancer", "", 422, "takes no parameter action")
	paths := at(t, mustDocument(t), "paths")
	for _, route := range routes.All {
		item := at(t, paths, route.Path)
		documented := append(parametersIn(t, item), parametersIn(t, item[strings.ToLower(route.Method)])...)
		slices.Sort(documented)
		taken := slices.Sorted(slices.Values(route.Parameters))
		if i := slices.Index(taken, routes.AnyField); i >= 0 {
			taken[i] = "fields"
			slices.Sort(taken)
		}
		if !slices.Equal(documented, taken) {
			t.Errorf("%s %s takes %q, and the document names %q", route.Method, route.Path, taken, documented)
		}
	}
}

// parametersIn are the query parameters of a path or a call in the document.
func parametersIn(t *testing.T, of any) (names []string) {
	n, _ := of.(node)
	list, _ := n["parameters"].([]any)
	for _, p := range list {
		if parameter := at(t, p); parameter["in"] == "query" {
			names = append(names, parameter["name"].(string))
		}
	}
	return names
}

// TestWorldOfAnother proves that the account and region of a change come from
// its query, too.
func TestWorldOfAnother(t *testing.T) {
	f := newFixture(t, withCloud)
	f.mustRefuse("PATCH", "/v1/world?region=cn-none", `{"settings":[{"name":"stock.shared","value":"true"}]}`, 404, "cn-none")
	f.mustRefuse("PATCH", "/v1/world", `{"settings":[{"name":"throttle.action.CreateLoadBalancr","value":"1"}]}`, 400, "do you mean throttle.action.CreateLoadBalancer?")
	f.mustRefuse("PATCH", "/v1/world", `{"settings":[{"name":"account.arears","value":"true"}]}`, 400, "do you mean account.arrears?")
}
