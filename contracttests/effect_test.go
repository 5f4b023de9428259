package contracttests

import (
	"encoding/json"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/scenarios"
)

// withoutEffect are parameters that are accepted and change nothing that can be read, as
// patterns of product, action and name, by why.
var withoutEffect = map[string][]string{
	"what is read is the same, with a token and without":                            {"Nlb.DescribeRegions.ClientToken", "Nlb.DescribeZones.ClientToken", "Nlb.Get*.ClientToken"},
	"nothing published says what the tags of these older calls do":                  {"Slb.SetAccessLogsDownloadAttribute.Tags", "Slb.DeleteAccessLogsDownloadAttribute.Tags", "Slb.*HighDefinationMonitor.Tags"},
	"regions and zones have their names in one language":                            {"*.DescribeRegions.AcceptLanguage", "*.DescribeZones.AcceptLanguage"},
	"an order is paid at once (CLB-0185)":                                           {"Slb.Modify*.AutoPay"},
	"there is one service":                                                          {"Nlb.*.ServiceCode"},
	"without names of tags all are taken off, also where it is not said (CLB-0130)": {"*.UntagResources.All"},
	"it says where the resource was":                                                {"Slb.MoveResourceGroup.ResourceGroupId"},
	"a server that goes is found by its id, address and port":                       {"Nlb.RemoveServersFromServerGroup.Servers.N.Weight"},
	"one listener is one result":                                                    {"Nlb.GetListenerHealthStatus.NextToken"},
	"the certificate has its name in the certificate service":                       {"Slb.UploadServerCertificate.AliCloudCertificateName"},
	"it needs an account that may go back to specs, which statements play":          {"Slb.ModifyLoadBalancerInstanceChargeType.LoadBalancerSpec"},
}

// effectlessTable is the section of withoutEffect, and of what products say to ignore.
func effectlessTable() string {
	var b strings.Builder
	b.WriteString("\n## Accepted, without effect\n\nA walk of all parameters by different values finds that these change nothing that can be read:\n\n| parameters | why |\n|---|---|\n")
	for _, why := range slices.Sorted(maps.Keys(withoutEffect)) {
		b.WriteString("| `" + strings.Join(withoutEffect[why], "`, `") + "` | " + why + " |\n")
	}
	for _, p := range products.All() {
		for _, e := range p.Idle {
			if name := e.Parameter; p.Name == "Slb" || p.Name == "Nlb" {
				if name == "" {
					name = "those of one another"
				}
				b.WriteString("| `" + p.Name + "`: " + name + " of `" + strings.Join(e.Actions, "`, `") + "` | " + e.Why + " |\n")
			}
		}
	}
	return b.String()
}

// settings are calls in which parameters make a difference that no golden case has.
var settings = []apiCase{
	{product: "Nlb", action: "UpdateLoadBalancerAddressTypeConfig", before: slices.Concat(nlbFixtures, []step{
		{"Vpc", "AllocateEipAddress", params{"InternetChargeType": "PayByTraffic"}, saveAs("ownEip", "AllocationId")},
	}), params: params{"LoadBalancerId": "{spareNlb}", "AddressType": "Internet",
		"ZoneMappings.1.ZoneId": "cn-hangzhou-h", "ZoneMappings.1.VSwitchId": vsw1, "ZoneMappings.1.AllocationId": "{ownEip}"}},
	{product: "Nlb", action: "UpdateListenerAttribute", before: nlbFixtures, params: params{"ListenerId": "{tlsLsn}", "SecurityPolicyId": "tls_cipher_policy_1_0",
		"AlpnEnabled": "true", "AlpnPolicy": "HTTP2Only", "CaEnabled": "true", "CertificateIds.1": "{spareCert}", "CaCertificateIds.1": "{spareCA}"}},
	{product: "Nlb", action: "CreateListener", before: nlbFixtures, params: params{"LoadBalancerId": "{nlb}", "ListenerProtocol": "TCPSSL", "ListenerPort": "444",
		"ServerGroupId": "{tlsSgp}", "CertificateIds.1": "{cert}", "AlpnEnabled": "true", "AlpnPolicy": "HTTP2Only"}},
	{product: "Nlb", action: "CreateListener", before: nlbFixtures, params: params{"LoadBalancerId": "{nlb}", "ListenerProtocol": "TCP", "ListenerPort": "0",
		"ServerGroupId": "{anySgp}", "StartPort": "3000", "EndPort": "3100"}},
	{product: "Slb", action: "SetLoadBalancerTCPListenerAttribute", before: []step{aPair}, params: params{"LoadBalancerId": "{lb}", "ListenerPort": "90",
		"MasterSlaveServerGroup": "on", "MasterSlaveServerGroupId": "{pair}"}},
	{product: "Slb", action: "SetLoadBalancerUDPListenerAttribute", before: []step{aPair}, params: params{"LoadBalancerId": "{lb}", "ListenerPort": "90",
		"MasterSlaveServerGroup": "on", "MasterSlaveServerGroupId": "{pair}"}},
	{product: "Slb", action: "CreateLoadBalancerHTTPListener", params: params{"LoadBalancerId": "{lb}", "ListenerPort": "8099", "Bandwidth": "-1", "HealthCheck": "off",
		"StickySession": "off", "BackendServerPort": "80", "VServerGroupId": "{rsp}"}},
	{product: "Slb", action: "DescribeAccessControlListAttribute", params: params{"AclId": "{acl}"}, before: []step{
		{"Slb", "AddAccessControlListEntry", params{"AclId": "{acl}", "AclEntrys": `[{"entry":"192.0.2.0/24","comment":"two"}]`}, nil}}},
}

// effectless returns why a parameter may change nothing, or "" if it must change something.
func effectless(name string) string {
	for why, patterns := range withoutEffect {
		if slices.ContainsFunc(patterns, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }) {
			return why
		}
	}
	return ""
}

// contexts returns the calls of each action that the golden cases make, by product and action, and
// after them the same with what statements give besides.
func contexts(t *testing.T) map[string][]apiCase {
	t.Helper()
	golden := make(map[string][]apiCase)
	for _, c := range slices.Concat(apiCases(), settings) {
		if c.code == "" {
			golden[c.product+"."+c.action] = append(golden[c.product+"."+c.action], c)
		}
	}
	all := maps.Clone(golden)
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		key := f.Product + "." + f.Action
		for i := range f.Statements {
			for _, step := range f.Statements[i].Case {
				if call, ok := step.Value.(*scenarios.CallStep); ok && call.Action == f.Action && len(golden[key]) > 0 {
					all[key] = append(all[key], besides(golden[key][0], call))
				}
			}
		}
	}
	return all
}

// besides returns a call with the parameters of another that it lacks, with the fixtures' names in
// place of ids.
func besides(c apiCase, call *scenarios.CallStep) apiCase {
	p := make(params)
	for name, value := range call.Params {
		p[name] = strings.NewReplacer("{{", "{", "}}", "}").Replace(string(value))
	}
	maps.Copy(p, c.params)
	c.params = p
	return c
}

// otherValues are values of parameters that the calls don't have.
var otherValues = map[string][]string{
	"RegionId": {region, "cn-nowhere"}, "ResourceGroupId": {"rg-none"}, "NextToken": {"?", "YWZ0ZXI6"}, "HealthCheckURI": {"/", "/other"},
	"Tag.1.Key": {"app", "kubernetes.do.not.delete"}, "Tags": {`[{"TagKey":"none","TagValue":"none"}]`}, "LoadBalancerId": {"lb-none"}, "VpcId": {"vpc-none"}, "VSwitchId": {"vsw-none"}, "Address": {"192.0.2.1"},
}

// valuesOf returns values of a parameter that are right by form: those that its tag lists, ends of
// its range, and those of any call.
func valuesOf(parameter products.Parameter, name string, calls []apiCase) (values []string) {
	values = append(values, parameter.Values...)
	if first, last, ok := strings.Cut(parameter.Range, ".."); ok && strings.HasPrefix(parameter.Type, "int") {
		values = append(values, first, last)
		if n, err := strconv.Atoi(first); err == nil {
			values = append(values, strconv.Itoa(n+1))
		}
	}
	if parameter.Type == "bool" {
		values = append(values, "true", "false")
	}
	for _, c := range calls {
		if v, ok := c.params[name]; ok {
			values = append(values, v)
		}
	}
	values = append(values, otherValues[name]...)
	if len(parameter.Values) == 1 {
		values = append(values, "neither")
	}
	if parameter.Type == "json" || parameter.Type == "object" {
		values = append(values, "[]")
	}
	if !parameter.Required {
		values = append(values, "") // it is absent
	}
	if parameter.Type == "string" && len(parameter.Values) == 0 {
		values = append(values, "one", "another")
	}
	slices.Sort(values)
	return slices.Compact(values)
}

var requestIDs = regexp.MustCompile(`"RequestId":\s*"[^"]*",?`)

// seenOf makes a call, and returns all that can be read after it, or its refusal.
func seenOf(t *testing.T, c apiCase, name, value string) (seen string, accepted bool) {
	cloud := preparedCloud(t, c.before...)
	p := maps.Clone(c.params)
	p[name] = value
	resolved := cloud.names.resolve(p)
	for _, v := range resolved {
		if strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}") && !json.Valid([]byte(v)) {
			return "", false // of a fixture that is none here
		}
	}
	reply := cloud.send(c.product, c.action, "JSON", resolved)
	body := requestIDs.ReplaceAllString(reply.Body.String(), "")
	if reply.Code != http.StatusOK {
		var refusal struct{ Code string }
		_ = json.Unmarshal(reply.Body.Bytes(), &refusal)
		return refusal.Code, false
	}
	return body + string(exported(t, cloud.store)), true
}

// hasEffect reports whether two values of a parameter make a difference in some call of its
// action.
func hasEffect(t *testing.T, parameter products.Parameter, calls []apiCase) bool {
	name := strings.ReplaceAll(strings.ReplaceAll(parameter.Name, ".N.", ".1."), ".N", ".1")
	values := valuesOf(parameter, name, calls)
	with := slices.Clone(calls)
	slices.SortStableFunc(with, func(a, b apiCase) int {
		return len(b.params[name][:min(len(b.params[name]), 1)]) - len(a.params[name][:min(len(a.params[name]), 1)])
	})
	for _, c := range with[:min(len(with), 8)] {
		seen := make(map[string]bool)
		taken := false
		for _, v := range values[:min(len(values), 16)] {
			text, accepted := seenOf(t, c, name, v)
			taken = taken || accepted
			if text != "" {
				seen[text] = true
			}
			if taken && len(seen) > 1 {
				return true
			}
		}
	}
	return false
}

// TestParametersHaveEffect proves that each parameter that an action of CLB or NLB reads makes
// a difference in what can be read, or stands in withoutEffect.
func TestParametersHaveEffect(t *testing.T) {
	calls := contexts(t)
	prepare(t)
	for p, a := range emulated {
		if p.Name != "Slb" && p.Name != "Nlb" {
			continue
		}
		t.Run(p.Name+"."+a.Name, func(t *testing.T) {
			t.Parallel()
			for _, parameter := range a.Parameters() {
				name := p.Name + "." + a.Name + "." + parameter.Name
				why, has := effectless(name), hasEffect(t, parameter, calls[p.Name+"."+a.Name])
				switch {
				case !has && why == "":
					t.Errorf("%s is accepted and changes nothing: make it work, refuse it, or say why in withoutEffect", name)
				case has && why != "":
					t.Errorf("%s makes a difference: take it out of withoutEffect", name)
				}
			}
		})
	}
}
