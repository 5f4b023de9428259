package control_test

import (
	"testing"
)

// TestParameters proves that a path refuses query parameters that it does not
// take.
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
}

// TestWorldOfAnother proves that the account and region of a change come from
// its query, too.
func TestWorldOfAnother(t *testing.T) {
	f := newFixture(t, withCloud)
	f.mustRefuse("PATCH", "/v1/world?region=cn-none", `{"settings":[{"name":"stock.shared","value":"true"}]}`, 404, "cn-none")
	f.mustRefuse("PATCH", "/v1/world", `{"settings":[{"name":"throttle.action.CreateLoadBalancr","value":"1"}]}`, 400, "do you mean throttle.action.CreateLoadBalancer?")
	f.mustRefuse("PATCH", "/v1/world", `{"settings":[{"name":"account.arears","value":"true"}]}`, 400, "do you mean account.arrears?")
}
