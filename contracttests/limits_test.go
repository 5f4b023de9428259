package contracttests

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clbemu/clbemu/emulator/products"
)

// limit holds the documented limits of a parameter: a line of testdata/limits.tsv. Type
// is string, strings (by commas), bool, int32, int64, json for a list in JSON text, or
// object; Range limits the value or the number of characters; Items is how many
// elements a list has at most. BackendServers[].Port is a field in JSON text.
type limit struct {
	product, action, parameter string
	kind                       string
	min, max                   string // "" is no limit
	values                     []string
	items                      int
}

func (l limit) String() string { return l.product + "." + l.action + "." + l.parameter }

func readLimits(t *testing.T) (all []limit) {
	t.Helper()
	text, err := os.ReadFile("testdata/limits.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")[1:] {
		c := strings.Split(line, "\t")
		if len(c) != 7 {
			t.Fatalf("testdata/limits.tsv:%d has %d columns, want 7", i+2, len(c))
		}
		l := limit{product: c[0], action: c[1], parameter: c[2], kind: c[3]}
		l.min, l.max, _ = strings.Cut(c[4], "..")
		if c[5] != "" {
			l.values = strings.Split(c[5], "|")
		}
		if c[6] != "" {
			if l.items, err = strconv.Atoi(c[6]); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, l)
	}
	for _, w := range widened {
		used := false
		for i, l := range all {
			if matches, err := path.Match(w.parameter, l.String()); err != nil {
				t.Fatal(err)
			} else if matches {
				low, high, _ := strings.Cut(w.span, "..")
				used = used || low != l.min || high != l.max || w.items != l.items
				all[i].min, all[i].max, all[i].items = low, high, w.items
			}
		}
		if !used {
			t.Errorf("%s is documented as it is held (%s): remove it", w.parameter, w.reason)
		}
	}
	return all
}

// selfDeclared lists the products whose API has no limits in a form that programs read:
// the limits of their own requests are in the file, and TestLimits proves that they
// hold. A limit that changes shows in a review.
var selfDeclared = untyped

// TestDeclaredLimits proves that the file has what the requests of those products
// say.
func TestDeclaredLimits(t *testing.T) {
	text, err := os.ReadFile("testdata/limits.tsv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	own := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		product, _, _ := strings.Cut(line, "\t")
		return slices.Contains(selfDeclared, product)
	})
	for p, a := range emulated {
		if slices.Contains(selfDeclared, p.Name) {
			for _, parameter := range a.Parameters() {
				own = append(own, declaredLimit(p.Name, a.Name, parameter))
			}
		}
	}
	slices.Sort(own[1:]) // below the names of the columns
	if slices.Equal(own, lines) {
		return
	}
	if !*update {
		t.Fatal("testdata/limits.tsv is not what the requests say: run make golden")
	}
	if err := os.WriteFile("testdata/limits.tsv", []byte(strings.Join(own, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}

func declaredLimit(product, action string, p products.Parameter) string {
	items := ""
	if p.Items > 0 {
		items = strconv.Itoa(p.Items)
	}
	return strings.Join([]string{product, action, p.Name, p.Type, p.Range, strings.Join(p.Values, "|"), items}, "\t")
}

// probe is a value for a parameter, or a number of list elements.
type probe struct {
	value  string
	count  int
	beyond bool // it must be refused
	free   bool // nothing is documented: it must do no harm
}

func (p probe) String() string {
	if p.count > 0 {
		return fmt.Sprintf("%d elements", p.count)
	}
	if n := utf8.RuneCountInString(p.value); n > 40 {
		return fmt.Sprintf("%.12q... of %d characters", p.value, n)
	}
	return strconv.Quote(p.value)
}

// probes returns the values at a limit, and below and above it.
func (l limit) probes() (list []probe) {
	at := func(values ...string) {
		for _, v := range values {
			list = append(list, probe{value: v})
		}
	}
	beyond := func(values ...string) {
		for _, v := range values {
			list = append(list, probe{value: v, beyond: true})
		}
	}
	switch l.kind {
	case "bool":
		at("true", "false")
		beyond("yes", "2", "on")
	case "int32", "int64":
		low, high := l.span()
		if l.max == "" {
			list = append(list, probe{value: fmt.Sprint(low), free: true}, probe{value: fmt.Sprint(high), free: true})
		} else {
			at(fmt.Sprint(low), fmt.Sprint(high))
		}
		if low > math.MinInt64 {
			beyond(fmt.Sprint(low - 1))
		}
		if high < math.MaxInt64 {
			beyond(fmt.Sprint(high+1), fmt.Sprint(math.MaxInt64))
		}
		beyond("9223372036854775808", "-9223372036854775809", "1.5", "1e3", "0x10", "many", " 5")
	case "string", "strings":
		if l.values != nil {
			at(l.values...)
			beyond("nonsense", l.values[0]+"x")
		} else {
			list = append(list, l.lengths()...)
		}
	case "object":
		beyond("nonsense", "{", "[", "[]", "1")
	case "json":
		beyond("nonsense", "{", "[", `{"a":1}`, `[[]]`, "1", "[1.5e400]")
	}
	if l.items > 0 {
		list = append(list, probe{count: l.items}, probe{count: l.items + 1, beyond: true})
	}
	return list
}

func (l limit) span() (low, high int64) {
	low, high = math.MinInt64, math.MaxInt64
	if l.kind == "int32" {
		low, high = math.MinInt32, math.MaxInt32
	}
	if l.min != "" {
		low, _ = strconv.ParseInt(l.min, 10, 64)
	}
	if l.max != "" {
		high, _ = strconv.ParseInt(l.max, 10, 64)
	}
	return low, high
}

// lengths returns texts of as many characters as may be, and of more; where no limit is documented,
// texts that are long or odd must at least do no harm.
func (l limit) lengths() (list []probe) {
	low, high := l.span()
	if l.max == "" {
		for _, text := range []string{strings.Repeat("x", 10_000), "汉字 %s%n\u202e{}../../x", "-1", "0.0.0.0/0"} {
			list = append(list, probe{value: text, free: true})
		}
		return list
	}
	for _, c := range []string{"a", "汉"} {
		text := func(n int64) string { return l.prefix() + strings.Repeat(c, int(n)-len(l.prefix())) }
		// Not every text may be in any script.
		list = append(list, probe{value: text(low), free: c != "a"}, probe{value: text(high), free: c != "a"},
			probe{value: text(high + 1), beyond: true})
		if low > 1 {
			list = append(list, probe{value: text(low - 1), beyond: true})
		}
	}
	return list
}

// prefix returns the prefix of every value of the parameter.
func (l limit) prefix() string {
	if strings.HasSuffix(l.parameter, "Url") || strings.HasSuffix(l.parameter, "URI") {
		return "/"
	}
	return ""
}

// put sets the parameter of a call as a probe says.
func (l limit) put(p params, by probe) error {
	name, field, inJSON := strings.Cut(l.parameter, "[].")
	list, element, isList := strings.Cut(name, ".N")
	if _, ok := p[name]; l.kind == "json" || inJSON && !ok {
		p[name] = cmp.Or(p[name], jsonTexts[name])
	}
	switch {
	case inJSON:
		return putField(p, name, field, by.value, l.kind)
	case l.kind == "json" && by.count > 0:
		var elements []any
		if err := json.Unmarshal([]byte(p[name]), &elements); err != nil || len(elements) == 0 {
			return fmt.Errorf("the case has no %s to take an element from: %v", name, err)
		}
		text, err := json.Marshal(slices.Repeat(elements[:1], by.count))
		p[name] = string(text)
		return err
	case !isList:
		p[name] = by.value
		return nil
	}
	maps.DeleteFunc(p, func(other, _ string) bool {
		return other == list || strings.HasPrefix(other, list+".") || slices.Contains(excluded[list], other)
	})
	for n := 1; n <= max(by.count, 1); n++ {
		at := fmt.Sprintf("%s.%d", list, n)
		for sibling, value := range elements[list] {
			p[at+sibling] = strings.ReplaceAll(value, "%d", strconv.Itoa(n))
		}
		p[at+element] = by.value
		if by.count > 0 {
			p[at+element] = strings.ReplaceAll(cmp.Or(elements[list][element], "%d"), "%d", strconv.Itoa(n))
		}
	}
	return nil
}

// elements holds what a list's element needs in addition to the field at hand, with %d for its
// number.
var elements = map[string]map[string]string{
	"Tag":                                   {".Key": "key-%d"},
	"Tags":                                  {".Key": "key-%d"},
	"Permissions":                           {".IpProtocol": "TCP", ".PortRange": "%d/%d", ".SourceCidrIp": "10.0.0.0/8"},
	"RouteEntries":                          {".RouteTableId": vtb1, ".DstCidrBlock": "10.%d.0.0/24", ".NextHop": node1, ".NextHopType": "Instance"},
	"NextHopList":                           {".NextHopId": node1, ".NextHopType": "Instance"},
	"SecurityProtectionTypes":               {"": "AntiDDoS_Enhanced"},
	"Servers":                               {".ServerType": "Ecs", ".ServerId": node1, ".Port": "%d", ".Description": "server-%d"},
	"ZoneMappings":                          {".ZoneId": "cn-hangzhou-h", ".VSwitchId": vsw1, ".EipType": "Common"},
	"TlsVersions":                           {"": "TLSv1.2"},
	"HealthCheckConfig.HealthCheckHttpCode": {"": "http_2xx"},
}

// excluded are the parameters that a list can't come with.
var excluded = map[string][]string{
	"NextHopList": {"NextHopId", "NextHopType"},
}

// companions holds what a parameter needs to have a meaning.
var companions = map[string]params{
	"Slb.CreateLoadBalancer.Duration": {"PayType": "PrePay", "PricingCycle": "year", "InternetChargeType": "paybybandwidth", "Bandwidth": "10",
		"InstanceChargeType": "PayBySpec"},
	"Slb.CreateLoadBalancer.ModificationProtectionReason": {"ModificationProtectionStatus": "ConsoleProtection"},
}

// jsonTexts are values of JSON text for cases that have none.
var jsonTexts = map[string]string{
	"BackendServers":     servers(server(node1, 80, 100)),
	"Tags":               `[{"TagKey":"a","TagValue":"b"}]`,
	"PrivateIpAddresses": `["192.168.0.11"]`,
	"InstanceIds":        `["` + node1 + `"]`,
}

// widened are the limits that the emulator holds in place of documented ones,
// with the reason.
var widened = []struct {
	parameter, span, reason string
	items                   int
}{
	{"Slb.*VServerGroup*.VServerGroupName", "1..255", "CLB-0124", 0},
	{`Slb.*BackendServers\[\].Description`, "1..255", "CLB-0124", 0},
	{"Slb.*.BackendServers", "", "CLB-0120", 40},
	{"Slb.*.OldBackendServers", "", "CLB-0120", 40},
	{"Slb.*.NewBackendServers", "", "CLB-0120", 40},
	{"Slb.*TLSCipherPolicy*.TLSVersions.N", "", "there are four versions, each named once", 0},
	{`Slb.CreateRules.RuleList\[\].Url`, "2..80", "a rule is not for the path / alone, says the documentation elsewhere", 0},
	{"Slb.SetLoadBalancerUDPListenerAttribute.*ealthyThreshold", "2..10", "the SDK of 2025-12 says less than the metadata of 2024", 0},
	{"Slb.*.Bandwidth", "-1..5120", "CLB-0108", 0},
	{"Vpc.CreateRouteEntry.NextHopList.N*", "", "CLB-0305", 4},
	{"Vpc.DeleteRouteEntry.NextHopList.N*", "", "the API's own message says 16", 16},
}

func putField(p params, name, field, value, kind string) error {
	var list []map[string]any
	if err := json.Unmarshal([]byte(p[name]), &list); err != nil || len(list) == 0 {
		return fmt.Errorf("the case has no %s to change: %v", name, err)
	}
	maps.DeleteFunc(list[0], func(other string, _ any) bool { return strings.EqualFold(other, field) })
	list[0][field] = value
	text, err := json.Marshal(list)
	p[name] = string(text)
	return err
}

// TestLimits sends to every parameter of every action the values at, below and
// above its documented limits and types. Nothing beyond them succeeds, nothing
// fails inside, and what is within them is not refused for being beyond.
func TestLimits(t *testing.T) {
	baselines := make(map[string]apiCase)
	for _, c := range apiCases() {
		key := c.product + "." + c.action
		if _, ok := baselines[key]; !ok && c.code == "" {
			baselines[key] = c
		}
	}
	byAction := make(map[string][]limit)
	for _, l := range readLimits(t) {
		byAction[l.product+"."+l.action] = append(byAction[l.product+"."+l.action], l)
	}
	for p, a := range emulated {
		key := p.Name + "." + a.Name
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			w := &walk{t: t, of: baselines[key], mutates: a.Mutates}
			w.compare(a.Parameters(), byAction[key])
			for _, l := range byAction[key] {
				w.probe(l)
			}
		})
	}
}

// walk tries the parameters of an action.
type walk struct {
	t       *testing.T
	of      apiCase
	mutates bool
	cloud   *fixedCloud // nil when the last one was changed
}

// compare finds what the action reads and the file of limits doesn't have, and
// the other way round. No name needs an escape, which CLB-0009 builds on.
func (w *walk) compare(reads []products.Parameter, limits []limit) {
	known := make(map[string]bool)
	for _, l := range limits {
		known[l.parameter] = known[l.parameter] || !strings.Contains(l.parameter, "[]")
	}
	for _, p := range reads {
		if !known[p.Name] {
			w.t.Errorf("testdata/limits.tsv says nothing of %s", p.Name)
		}
		if url.QueryEscape(p.Name) != p.Name {
			w.t.Errorf("%s is another name when it is escaped", p.Name)
		}
		delete(known, p.Name)
	}
	for name, whole := range known {
		if whole {
			w.t.Errorf("testdata/limits.tsv: the action reads no %s", name)
		}
	}
}

func (w *walk) probe(l limit) {
	beyond := make(map[string]probe) // by code
	probes := l.probes()
	slices.SortStableFunc(probes, func(a, b probe) int {
		order := map[bool]int{true: 0, false: 1}
		return order[a.beyond] - order[b.beyond]
	})
	for _, by := range probes {
		status, refusal := w.call(l, by)
		switch {
		case status >= 500:
			w.t.Errorf("%s = %s: %d %s", l, by, status, refusal)
		case by.beyond && status == http.StatusOK:
			w.t.Errorf("%s = %s succeeds, want a refusal", l, by)
		case by.beyond:
			beyond[refusal] = by
		case status != http.StatusOK && !by.free:
			if other, same := beyond[refusal]; same {
				w.t.Errorf("%s = %s is refused as %s is, which is beyond: %s", l, by, other, refusal)
			}
		}
	}
}

// call returns the status and what a refusal says.
func (w *walk) call(l limit, by probe) (status int, refusal string) {
	w.t.Helper()
	if w.cloud == nil {
		w.cloud = preparedCloud(w.t, w.of.before...)
	}
	p := w.cloud.names.resolve(w.of.params)
	maps.Copy(p, companions[l.String()])
	if err := l.put(p, by); err != nil {
		w.t.Errorf("%s: %v", l, err)
		return 0, ""
	}
	reply := w.cloud.send(l.product, l.action, "JSON", p)
	var body struct{ Code, Message string }
	if err := json.Unmarshal(reply.Body.Bytes(), &body); err != nil {
		w.t.Errorf("%s = %s answers no JSON: %s", l, by, reply.Body)
	}
	if reply.Code == http.StatusOK && w.mutates {
		w.cloud = nil
	}
	return reply.Code, body.Code + ": " + body.Message
}
