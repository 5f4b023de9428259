package contracttests

import (
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/fidelity"
)

// modelsFile has the names in the models of the newest SDKs whose source can be read; its
// first line says which.
const modelsFile = "testdata/models.tsv"

// unstatedFile has those of the names that no statement is about, each with its reason.
const unstatedFile = "testdata/unstated.tsv"

// model is an action in the SDK's words, without the indexes of lists.
type model struct{ parameters, fields []string }

func readModels(t *testing.T) map[string]model {
	t.Helper()
	text, err := os.ReadFile(modelsFile)
	if err != nil {
		t.Fatal(err)
	}
	models := make(map[string]model)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		names, m := strings.Fields(strings.ReplaceAll(row[3], "[]", "")), models[row[0]+" "+row[1]]
		switch row[2] {
		case "parameters":
			m.parameters = names
		case "fields":
			m.fields = names
		}
		models[row[0]+" "+row[1]] = m
	}
	return models
}

var (
	indexes = regexp.MustCompile(`\.\d+|\[\]`)
	aName   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_.\[\]]*`)
)

// stated returns the names in what the statements of an action say, of fields or of all else.
func stated(f *fidelity.File, fields bool) map[string]bool {
	names := make(map[string]bool)
	for i := range f.Statements {
		if (f.Statements[i].Class == "field") != fields || f.Statements[i].Class == "error" && !strings.HasPrefix(f.Statements[i].ID, "dry-run") {
			continue
		}
		for _, name := range aName.FindAllString(f.Statements[i].Says, -1) {
			names[strings.TrimSuffix(indexes.ReplaceAllString(name, ""), ".")] = true
		}
		if f.Statements[i].ID == "dry-run" {
			names["DryRun"] = true
		}
	}
	return names
}

// unmodelled are the actions that the SDKs no longer have.
var unmodelled = []string{"Nlb DeleteHdMonitorRegionConfig", "Nlb ListAsynJobs"}

// TestModels proves that each request parameter and each field of an answer in the models of
// the SDKs has a statement, or stands in unstatedFile, and that what statements leave outside
// is in no model.
func TestModels(t *testing.T) {
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(unstatedFile)
	if err != nil {
		t.Fatal(err)
	}
	unstated := strings.Split(strings.TrimSpace(string(text)), "\n")
	models := readModels(t)
	for _, f := range files {
		m, modelled := models[f.Product+" "+f.Action]
		if dropped := slices.Contains(unmodelled, f.Product+" "+f.Action); modelled == dropped {
			t.Errorf("%s %s: in a model: %t, in unmodelled: %t", f.Product, f.Action, modelled, dropped)
		}
		for kind, names := range map[string][]string{"parameter": m.parameters, "field": m.fields} {
			has := stated(f, kind == "field")
			for _, name := range names {
				line := strings.Join([]string{f.Product, f.Action, kind, name}, "\t")
				if has[name] == slices.ContainsFunc(unstated, func(s string) bool { return strings.HasPrefix(s, line+"\t") }) {
					t.Errorf("%s %s: a statement is about the %s %s: %t, and %s says otherwise", f.Product, f.Action, kind, name, has[name], unstatedFile)
				}
			}
		}
		checkOutside(t, f, m)
	}
}

func checkOutside(t *testing.T, f *fidelity.File, m model) {
	t.Helper()
	for _, o := range f.Outside {
		for _, field := range o.Fields {
			if slices.Contains(m.fields, indexes.ReplaceAllString(field, "")) {
				t.Errorf("%s %s: the answer has %s: it is not outside", f.Product, f.Action, field)
			}
		}
		if o.Parameter != "" && slices.Contains(m.parameters, o.Parameter) {
			t.Errorf("%s %s: the call has %s: its codes are not outside", f.Product, f.Action, o.Parameter)
		}
	}
}

// otherTexts are what the SDKs say of parameters and no statement says, as patterns of product,
// action, name and kind, by why.
var otherTexts = map[string][]string{
	"since June 2025 the default is PayByCLCU, by the page of the action":                  {"Slb.CreateLoadBalancer.InstanceChargeType.default"},
	"a call without it is refused, by the metadata":                                        {"Slb.CreateLoadBalancerHTTPListener.StickySession.default", "Slb.SetLoadBalancerStatus.LoadBalancerStatus.default", "Slb.ModifyLoadBalancerPayType.PayType.default"},
	"an order is paid at once: CLB-0185":                                                   {"Slb.*.AutoPay.default"},
	"the statement says what is absent then":                                               {"Slb.*.IncludeListener.default", "Slb.*.IncludeRule.default"},
	"no answer has the size of a page":                                                     {"Slb.DescribeAccessControlListAttribute.PageSize.default"},
	"subscriptions are no longer sold, and none ends before its time":                      {"Slb.ModifyLoadBalancerPayType.PayType.values"},
	"a server that goes is found by its id and port":                                       {"Slb.ModifyVServerGroupBackendServers.OldBackendServers.*.*", "Slb.Remove*BackendServers.BackendServers.*.*", "Nlb.RemoveServersFromServerGroup.Servers.Port.range", "Nlb.RemoveServersFromServerGroup.Servers.ServerType.values"},
	"one kind of resource stands for the others, as the cases of each kind play":           {"Slb.MoveResourceGroup.ResourceType.values", "?lb.TagResources.ResourceType.values", "?lb.UntagResources.ResourceType.values", "Nlb.MoveResourceGroup.ResourceType.values"},
	"a tag that is there can have as many, and others can't be untagged":                   {"Slb.UntagResources.TagKey.length"},
	"a listener keeps a group of its kind: OperationFailed.ServerGroupInUse":               {"Slb.SetLoadBalancer*ListenerAttribute.*ServerGroup.values"},
	"the action that makes the listener publishes 2 to 10":                                 {"Slb.SetLoadBalancerUDPListenerAttribute.*Threshold.range"},
	"-1 is one of the values too":                                                          {"Slb.SetLoadBalancerTCPListenerAttribute.Bandwidth.range"},
	"port 0 is that of groups for any port, as statements play":                            {"Nlb.AddServersToServerGroup.Servers.Port.range"},
	"container instances and anycast addresses are not emulated":                           {"Nlb.AddServersToServerGroup.Servers.ServerType.values", "Nlb.UpdateLoadBalancerAddressTypeConfig.ZoneMappings.EipType.values"},
	"a listener for a range of ports starts at 1, and its range ends above, as cases play": {"Nlb.CreateListener.StartPort.range", "Nlb.CreateListener.EndPort.range"},
	"regions and zones have their names in one language":                                   {"Nlb.Describe*.AcceptLanguage.default"},
	"a load balancer of IPv4 has no such type":                                             {"Nlb.ListLoadBalancers.Ipv6AddressType.values"},
	"without names of tags all are taken off: CLB-0130":                                    {"Nlb.UntagResources.All.default"},
	"a server of a group is found by its id, port and kind":                                {"Nlb.UpdateServerGroupServersAttribute.Servers.Port.*", "Nlb.UpdateServerGroupServersAttribute.Servers.ServerType.values"},
}

// TestTexts proves that statements say what the text of the SDKs says of each parameter: its
// values, both ends of its range, how long it can be, its default, and that it is required.
func TestTexts(t *testing.T) {
	text, err := os.ReadFile("testdata/texts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(otherTexts)
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		at := slices.IndexFunc(files, func(f *fidelity.File) bool { return f.Product == row[0] && f.Action == row[1] })
		if len(row) < 5 || at < 0 {
			continue
		}
		name := strings.Join(row[:4], ".")
		why := ""
		for reason, patterns := range otherTexts {
			if slices.ContainsFunc(patterns, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }) {
				why = reason
				delete(unused, reason)
			}
		}
		if missing := unsaid(files[at], row[2], row[3], row[4]); (missing != "") != (why != "") {
			t.Errorf("%s: no statement says %q, otherTexts says %q", name, missing, why)
		}
	}
	for why := range unused {
		t.Errorf("otherTexts: nothing is left of %q", why)
	}
}

// unsaid returns what of a text no statement about a parameter says, or "" if they say all.
func unsaid(f *fidelity.File, parameter, kind, text string) string {
	words := map[string][]string{"values": strings.Fields(text), "range": strings.Split(text, ".."), "length": {text[strings.LastIndex(text, ".")+1:] + " characters"},
		"default": {text}, "required": {"required"}}
	class := map[string]string{"range": "range", "length": "range", "default": "default"}
	for _, word := range words[kind] {
		has := func(s fidelity.Statement) bool {
			name, _, _ := strings.Cut(s.Says, " ")
			said := regexp.MustCompile(`(?i)(^|[^\w-])` + regexp.QuoteMeta(word) + `($|[^\w-])`).MatchString(strings.TrimPrefix(s.Says, name))
			return said && indexes.ReplaceAllString(name, "") == parameter && (class[kind] == "" || s.Class == class[kind])
		}
		if !slices.ContainsFunc(f.Statements, has) {
			return word
		}
	}
	return ""
}
