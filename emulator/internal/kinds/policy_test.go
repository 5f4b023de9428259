package kinds_test

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

func parsePolicy(t testing.TB, text string) kinds.PolicyDocument {
	t.Helper()
	document, err := kinds.ParsePolicy(text)
	if err != nil {
		t.Fatalf("ParsePolicy(%s): %v", text, err)
	}
	return document
}

// Parts of a policy that clbemu does not understand are an error, not ignored: an ignored
// condition would allow too much.
func TestParsePolicyRefuses(t *testing.T) {
	const allow = `{"Effect":"Allow","Action":"*","Resource":"*"}`
	cases := []struct{ name, text, want string }{
		{"no JSON", "allow all", "not a policy document: invalid character"},
		{"nothing", "", "not a policy document: EOF"},
		{"more behind it", `{"Statement":[` + allow + `]} {}`, "there is more behind it"},
		{"no statement", `{"Version":"1","Statement":[]}`, "the policy has no Statement"},
		{"another effect", `{"Statement":[` + allow + `,{"Effect":"Maybe","Action":"*","Resource":"*"}]}`, `statement 2: Effect is "Maybe", want Allow or Deny`},
		{"no action", `{"Statement":[{"Effect":"Allow","Resource":"*"}]}`, "statement 1: Action and Resource are mandatory"},
		{"no resource", `{"Statement":[{"Effect":"Allow","Action":"*","Resource":[]}]}`, "statement 1: Action and Resource are mandatory"},
		{"empty action", `{"Statement":[{"Effect":"Allow","Action":["*",""],"Resource":"*"}]}`, "an empty text in Action or Resource"},
		{"condition", `{"Statement":[{"Effect":"Allow","Action":"*","Resource":"*","Condition":{}}]}`, `unknown field "Condition"`},
		{"action of another type", `{"Statement":[{"Effect":"Allow","Action":1,"Resource":"*"}]}`, "not a policy document: Statement.Action can't be of the kind number"},
	}
	for _, c := range cases {
		if _, err := kinds.ParsePolicy(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: ParsePolicy = %v, want %q", c.name, err, c.want)
		}
	}
}

// A denial wins over any permission, and what nothing allows is denied.
func TestPolicyDecide(t *testing.T) {
	document := parsePolicy(t, `{"Version":"1","Statement":[
		{"Effect":"Allow","Action":["slb:Describe*","slb:DeleteLoadBalancer"],"Resource":"*"},
		{"Effect":"Allow","Action":"slb:Set*","Resource":"acs:slb:cn-hangzhou:*:loadbalancer/lb-1?"},
		{"Effect":"Deny","Action":"slb:DescribeZones","Resource":"*"},
		{"Effect":"Deny","Action":"slb:Delete*","Resource":"*loadbalancer/lb-kept"}]}`)
	cases := []struct {
		action, resource string
		want             kinds.Decision
	}{
		{"slb:DescribeRegions", "anything", kinds.Allowed},
		{"SLB:describeregions", "anything", kinds.Allowed},
		{"slb:DescribeZones", "anything", kinds.ExplicitDeny},
		{"slb:CreateLoadBalancer", "anything", kinds.ImplicitDeny},
		{"slb:DeleteLoadBalancer", "acs:slb:cn-hangzhou:1:loadbalancer/lb-1", kinds.Allowed},
		{"slb:DeleteLoadBalancer", "acs:slb:cn-hangzhou:1:loadbalancer/lb-kept", kinds.ExplicitDeny},
		{"slb:SetLoadBalancerName", "acs:slb:cn-hangzhou:1:loadbalancer/lb-12", kinds.Allowed},
		{"slb:SetLoadBalancerName", "acs:slb:cn-hangzhou:1:loadbalancer/lb-1", kinds.ImplicitDeny},
		{"slb:SetLoadBalancerName", "acs:slb:cn-hangzhou:1:loadbalancer/lb-123", kinds.ImplicitDeny},
		{"slb:SetLoadBalancerName", "acs:slb:cn-shanghai:1:loadbalancer/lb-12", kinds.ImplicitDeny},
		{"vpc:DescribeVpcs", "anything", kinds.ImplicitDeny},
	}
	for _, c := range cases {
		if got := document.Decide(c.action, c.resource); got != c.want {
			t.Errorf("Decide(%s, %s) = %s, want %s", c.action, c.resource, got, c.want)
		}
	}
}

// Patterns of many stars end soon, whatever the text.
func TestPolicyPatternsAreFast(t *testing.T) {
	document := parsePolicy(t, `{"Statement":[{"Effect":"Allow","Action":"`+strings.Repeat("a*", 200)+`b","Resource":"*"}]}`)
	if got := document.Decide(strings.Repeat("a", 5000), ""); got != kinds.ImplicitDeny {
		t.Errorf("Decide = %s", got)
	}
}

// A document prints as the text that parses back to it.
func FuzzParsePolicy(f *testing.F) {
	f.Add(`{"Version":"1","Statement":[{"Effect":"Allow","Action":"slb:*","Resource":["a","b"]}]}`, "slb:DescribeZones")
	f.Fuzz(func(t *testing.T, text, action string) {
		document, err := kinds.ParsePolicy(text)
		if err != nil {
			return
		}
		again := parsePolicy(t, document.String())
		if again.String() != document.String() || again.Decide(action, "*") != document.Decide(action, "*") {
			t.Errorf("%s parses back to %s", document, again)
		}
	})
}
