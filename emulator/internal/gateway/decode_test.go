package gateway_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

var decodeErrors = gateway.NewErrorTable(
	gateway.ErrorRow{Fact: "NoSpec", Status: http.StatusBadRequest, Code: "MissingParam.Spec", Message: "%s"},
	gateway.ErrorRow{Fact: "BadSpec", Status: http.StatusBadRequest, Code: "InvalidParameter.Spec", Message: "%s"},
)

// decoded sends the parameters to an action that takes a Req, and returns what
// its handler got, or the code that the client got.
func decoded[Req any](t testing.TB, params url.Values) (got *Req, code string) {
	t.Helper()
	action := gateway.Read("Decode", func(_ *state.View, req *Req) (*gateway.Empty, error) {
		got = req
		return &gateway.Empty{}, nil
	})
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.Products = []*gateway.Product{{Version: version, Actions: []gateway.Action{action}, Errors: decodeErrors}}
	})
	params.Set("Action", "Decode")
	params.Set("Version", version)
	a := g.get(params)
	wellFormed(t, a)
	return got, a.code(t)
}

type scalarRequest struct {
	Required string `rpc:"Required,required"`
	Text     string `rpc:"Text,len=2..4"`
	Long     string `rpc:"Long,len=2..0"`
	Enum     string `rpc:"Enum,enum=on|off"`
	Words    string `rpc:"Words,words=TCP|TCP_UDP"`
	Colour   colour `rpc:"Colour"`
	AnyCase  colour `rpc:"AnyCase,words"`
	Default  string `rpc:"Default,default=wrr"`
	Number   int    `rpc:"Number,min=1,max=100"`
	Wide     int64  `rpc:"Wide"`
	Count    int    `rpc:"Count,default=10"`
	Width    int    `rpc:"Width,min=-1,except=0"`
	Plain    int    `rpc:"Plain"`
	Bool     bool   `rpc:"Bool"`
	Pointer  *int   `rpc:"Pointer,min=0"`
	Spec     string `rpc:"Spec,enum=a,missing=NoSpec,invalid=BadSpec"`
	Ignored  string
	scalarShared
}

type colour string

func (colour) Words() []string { return []string{"blue", "red"} }

type scalarShared struct {
	Shared string `rpc:"shared"`
}

// Every option of a scalar's tag, on both sides of its limit.
func TestDecodeScalars(t *testing.T) {
	zero := 0
	cases := []struct {
		name, value string
		want        scalarRequest
		code        string
	}{
		{"Required", "", scalarRequest{}, "MissingRequired"},
		{"Text", "", scalarRequest{}, ""},
		{"Text", "ab", scalarRequest{Text: "ab"}, ""},
		{"Text", "汉字汉字", scalarRequest{Text: "汉字汉字"}, ""},
		{"Text", "a", scalarRequest{}, "InvalidText"},
		{"Text", "abcde", scalarRequest{}, "InvalidText"},
		{"Long", strings.Repeat("x", 5000), scalarRequest{Long: strings.Repeat("x", 5000)}, ""},
		{"Long", "x", scalarRequest{}, "InvalidLong"},
		{"Enum", "off", scalarRequest{Enum: "off"}, ""},
		{"Enum", "OFF", scalarRequest{}, "InvalidEnum"},
		{"Words", "TCP", scalarRequest{Words: "TCP"}, ""},
		{"Words", "tcp_Udp", scalarRequest{Words: "TCP_UDP"}, ""},
		{"Words", "UDP", scalarRequest{}, "InvalidWords"},
		{"Colour", "red", scalarRequest{Colour: "red"}, ""},
		{"Colour", "Red", scalarRequest{}, "InvalidColour"},
		{"Colour", "green", scalarRequest{}, "InvalidColour"},
		{"AnyCase", "RED", scalarRequest{AnyCase: "red"}, ""},
		{"AnyCase", "green", scalarRequest{}, "InvalidAnyCase"},
		{"Default", "rr", scalarRequest{Default: "rr"}, ""},
		{"Number", "1", scalarRequest{Number: 1}, ""},
		{"Number", "100", scalarRequest{Number: 100}, ""},
		{"Number", "0", scalarRequest{}, "InvalidNumber"},
		{"Number", "101", scalarRequest{}, "InvalidNumber"},
		{"Number", "1.5", scalarRequest{}, "InvalidNumber"},
		{"Number", "x", scalarRequest{}, "InvalidNumber"},
		{"Number", " 5", scalarRequest{}, "InvalidNumber"},
		{"Wide", "9223372036854775807", scalarRequest{Wide: 9223372036854775807}, ""},
		{"Wide", "9223372036854775808", scalarRequest{}, "InvalidWide"},
		{"Wide", "-1", scalarRequest{Wide: -1}, ""},
		{"Count", "0", scalarRequest{Count: 0}, ""},
		{"Width", "-1", scalarRequest{Width: -1}, ""},
		{"Width", "0", scalarRequest{}, "InvalidWidth"},
		{"Plain", "2147483647", scalarRequest{Plain: 2147483647}, ""},
		{"Plain", "2147483648", scalarRequest{}, "InvalidPlain"},
		{"Plain", "-2147483649", scalarRequest{}, "InvalidPlain"},
		{"Bool", "1", scalarRequest{}, "InvalidBool"},
		{"Bool", "t", scalarRequest{}, "InvalidBool"},
		{"Bool", "true", scalarRequest{Bool: true}, ""},
		{"Bool", "True", scalarRequest{Bool: true}, ""},
		{"Bool", "false", scalarRequest{}, ""},
		{"Bool", "yes", scalarRequest{}, "InvalidBool"},
		{"Pointer", "0", scalarRequest{Pointer: &zero}, ""},
		{"Pointer", "", scalarRequest{}, ""},
		{"Pointer", "-1", scalarRequest{}, "InvalidPointer"},
		{"Spec", "b", scalarRequest{}, "InvalidParameter.Spec"},
		{"shared", "x", scalarRequest{scalarShared: scalarShared{Shared: "x"}}, ""},
		{"Ignored", "x", scalarRequest{}, ""},
	}
	for _, c := range cases {
		params := values("Required", "r")
		params.Set(c.name, c.value)
		got, code := decoded[scalarRequest](t, params)
		if code != c.code {
			t.Errorf("%s=%.20s: code %q, want %q", c.name, c.value, code, c.code)
		}
		if code != "" || c.code != "" {
			continue
		}
		c.want.Required = "r"
		if c.name != "Default" {
			c.want.Default = "wrr"
		}
		if c.name != "Count" {
			c.want.Count = 10
		}
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s=%.20s: %+v, want %+v", c.name, c.value, *got, c.want)
		}
	}
}

// A fact that the tag names overrides the gateway's own codes.
func TestDecodeNamedFacts(t *testing.T) {
	type request struct {
		Spec string   `rpc:"Spec,required,enum=a,missing=NoSpec,invalid=BadSpec"`
		List []string `rpc:"List,max=1,invalid=BadSpec"`
	}
	for query, want := range map[string]string{
		"":                         "MissingParam.Spec",
		"Spec=b":                   "InvalidParameter.Spec",
		"Spec=a&List.1=x&List.2=x": "InvalidParameter.Spec",
		"Spec=a":                   "",
	} {
		params, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, code := decoded[request](t, params); code != want {
			t.Errorf("%q: code %q, want %q", query, code, want)
		}
	}
}

type tagParam struct {
	Key   string `rpc:"Key,required"`
	Value string `rpc:"Value,len=0..3"`
}

type listRequest struct {
	IDs    []string   `rpc:"Id,max=3"`
	Ports  []int      `rpc:"Port,min=1"`
	Needed []string   `rpc:"Needed"`
	Tags   []tagParam `rpc:"Tag,max=2"`
}

// Lists in every spelling that clients use.
func TestDecodeLists(t *testing.T) {
	cases := []struct {
		query string
		want  listRequest
		code  string
	}{
		{"Id.1=a&Id.2=b", listRequest{IDs: []string{"a", "b"}}, ""},
		{"Id.2=b&Id.10=c&Id.1=a", listRequest{IDs: []string{"a", "b", "c"}}, ""},
		{"Id.3=a&Id.7=b", listRequest{IDs: []string{"a", "b"}}, ""},
		{"Id=a", listRequest{IDs: []string{"a"}}, ""},
		{`Id=["a","b"]`, listRequest{IDs: []string{"a", "b"}}, ""},
		{"Id=[]", listRequest{IDs: []string{}}, ""},
		{"Id=", listRequest{}, ""},
		{"Id=[a", listRequest{}, "InvalidId"},
		{`Id=[{"a":1}]`, listRequest{}, "InvalidId"},
		{"Id.1=a&Id.2=b&Id.3=c&Id.4=d", listRequest{}, "InvalidId"},
		{`Id=["a","b","c","d"]`, listRequest{}, "InvalidId"},
		{"Id.0=a&Id.x=b&Id.01=c&Id.-1=d&Id.99999=e&Id.=f&Ids.1=g", listRequest{}, ""},
		{"Port.1=80&Port.2=443", listRequest{Ports: []int{80, 443}}, ""},
		{"Port=[80,443]", listRequest{Ports: []int{80, 443}}, ""},
		{"Port=80", listRequest{Ports: []int{80}}, ""},
		{"Port.1=x", listRequest{}, "InvalidPort.1"},
		{"Port=[\"x\"]", listRequest{}, "InvalidPort"},
		{"Tag.1.Key=a&Tag.1.Value=x&Tag.2.Key=b", listRequest{Tags: []tagParam{{"a", "x"}, {"b", ""}}}, ""},
		{"Tag.5.Key=b&Tag.2.Key=a", listRequest{Tags: []tagParam{{"a", ""}, {"b", ""}}}, ""},
		{"Tag.1.Value=x", listRequest{}, "MissingTag.1.Key"},
		{"Tag.2.Key=a&Tag.2.Value=long", listRequest{}, "InvalidTag.2.Value"},
		{"Tag.1.Key=a&Tag.2.Key=b&Tag.3.Key=c", listRequest{}, "InvalidTag"},
	}
	for _, c := range cases {
		params, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		got, code := decoded[listRequest](t, params)
		if code != c.code || code == "" && !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, code %q, want %+v, %q", c.query, got, code, c.want, c.code)
		}
	}
}

// A required list must have an element.
func TestDecodeRequiredLists(t *testing.T) {
	type request struct {
		IDs  []string   `rpc:"Id,required"`
		Tags []tagParam `rpc:"Tag,required"`
	}
	for query, want := range map[string]string{"": "MissingId", "Id.1=a": "MissingTag", "Id.1=a&Tag.1.Key=b": "", "Id=&Tag.1.Key=b": "MissingId"} {
		params, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, code := decoded[request](t, params); code != want {
			t.Errorf("%q: code %q, want %q", query, code, want)
		}
	}
}

type backendServer struct {
	ServerID string       `json:"ServerId"`
	Port     gateway.Int  `json:"Port"`
	Weight   *gateway.Int `json:"Weight"`
	Type     gateway.Text `json:"Type"`
}

type jsonRequest struct {
	BackendServers []backendServer `rpc:"BackendServers,json"`
	RuleIDs        []string        `rpc:"RuleIds,json"`
}

func weight(n int) *gateway.Int { return new(gateway.Int(n)) }

// JSON-text parameters: the documentation writes numbers as strings and keys in
// Pascal case, a CCM numbers and camel case and with more keys.
func TestDecodeJSONText(t *testing.T) {
	server := []backendServer{{ServerID: "i-1", Port: 80, Weight: weight(100), Type: "ecs"}}
	cases := []struct {
		name, value string
		want        jsonRequest
		code        string
	}{
		{"BackendServers", `[{"ServerId":"i-1","Port":"80","Weight":"100","Type":"ecs"}]`, jsonRequest{BackendServers: server}, ""},
		{"BackendServers", `[{"IsUserManaged":false,"NodeName":null,"serverId":"i-1","weight":100,"port":80,"type":"ecs","TargetRef":null}]`,
			jsonRequest{BackendServers: server}, ""},
		{"BackendServers", `[{'ServerId':'i-1','Port':'80','Weight':'100', 'Type': "ecs"}]`, jsonRequest{BackendServers: server}, ""}, // CLB-0019
		{"RuleIds", `['a "b" c', "it's", 'it\'s', "\"'\\"]`, jsonRequest{RuleIDs: []string{`a "b" c`, "it's", "it's", `"'\`}}, ""},
		{"RuleIds", `['a]`, jsonRequest{}, "InvalidRuleIds"},
		{"RuleIds", `['a\`, jsonRequest{}, "InvalidRuleIds"},
		{"RuleIds", `['a"]`, jsonRequest{}, "InvalidRuleIds"},
		{"BackendServers", ` [ ] `, jsonRequest{BackendServers: []backendServer{}}, ""},
		{"BackendServers", `null`, jsonRequest{}, ""},
		{"BackendServers", `[{"ServerId":"i-1","Weight":null,"Port":""}]`, jsonRequest{BackendServers: []backendServer{{ServerID: "i-1"}}}, ""},
		{"BackendServers", `[{"Weight":"0"}]`, jsonRequest{BackendServers: []backendServer{{Weight: weight(0)}}}, ""},
		{"BackendServers", `[{"Type":12345678901234567890}]`, jsonRequest{BackendServers: []backendServer{{Type: "12345678901234567890"}}}, ""},
		{"BackendServers", `[{"Type":null}]`, jsonRequest{BackendServers: []backendServer{{}}}, ""},
		{"BackendServers", `[{"Type":true}]`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `[{"Type":["ecs"]}]`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `[{"Port":"eighty"}]`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `[{"Port":80.5}]`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `[{"Port":99999999999999999999}]`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `[{"ServerId":1}]`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `{"ServerId":"i-1"}`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `[{"ServerId":"i-1"}`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", `[] []`, jsonRequest{}, "InvalidBackendServers"},
		{"BackendServers", strings.Repeat("[", 20000), jsonRequest{}, "InvalidBackendServers"},
		{"RuleIds", `["rule-1","rule-2"]`, jsonRequest{RuleIDs: []string{"rule-1", "rule-2"}}, ""},
		{"RuleIds", `rule-1`, jsonRequest{}, "InvalidRuleIds"},
	}
	for _, c := range cases {
		got, code := decoded[jsonRequest](t, values(c.name, c.value))
		if code != c.code || code == "" && !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s=%.60s: %+v, code %q, want %+v, %q", c.name, c.value, got, code, c.want, c.code)
		}
	}
}

// validatedRequest has a rule of shape that no tag can express.
type validatedRequest struct {
	A string `rpc:"A,len=1..2"`
	B string `rpc:"B"`
}

func (r *validatedRequest) Validate() error {
	if r.A != "" && r.B != "" {
		return errors.Join(gateway.Invalid("B"))
	}
	return nil
}

// Validate runs after the tags' rules and before the handler.
func TestValidate(t *testing.T) {
	for query, want := range map[string]string{"A=x": "", "A=x&B=y": "InvalidB", "A=xxx&B=y": "InvalidA"} {
		params, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got, code := decoded[validatedRequest](t, params)
		if code != want || (got == nil) != (want != "") {
			t.Errorf("%s: code %q, handler got %v", query, code, got)
		}
	}
}

// Parameters lists what an action reads, for the comparison with the metadata.
func TestParameters(t *testing.T) {
	a := gateway.Read("List", func(*state.View, *listRequest) (*gateway.Empty, error) { return nil, nil })
	var got []string
	for _, p := range a.Parameters() {
		got = append(got, fmt.Sprint(p.Name, p.Required))
	}
	want := []string{"Id.Nfalse", "Port.Nfalse", "Needed.Nfalse", "Tag.N.Keytrue", "Tag.N.Valuefalse"}
	if !slices.Equal(got, want) {
		t.Errorf("Parameters = %v, want %v", got, want)
	}
	if ps := gateway.NotEmulated("X").Parameters(); ps != nil {
		t.Errorf("Parameters of what is not emulated = %v", ps)
	}
}

// What a request takes of nested lists counts as read, and nothing else does.
func TestUnread(t *testing.T) {
	a := gateway.Read("List", func(*state.View, *listRequest) (*gateway.Empty, error) { return &gateway.Empty{}, nil })
	var unread []string
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.Products = []*gateway.Product{{Version: version, Actions: []gateway.Action{a}}}
		cfg.Observe = func(c *gateway.Call, _ gateway.Outcome) { unread = c.Unread() }
	})
	g.get(values("Action", "List", "Version", version, "Id.1", "a", "Port", "80", "Tag.1.Key", "k", "Tag.1.Kay", "k",
		"Tag", "x", "Id.1.Key", "k", "Ids.1", "x", "Format", "JSON", "Timestamp", "x"))
	want := []string{"Id.1.Key", "Ids.1", "Tag", "Tag.1.Kay"}
	if !slices.Equal(unread, want) {
		t.Errorf("Unread = %v, want %v", unread, want)
	}
}

// A tag that makes no sense is a programming error that shows when the action's
// parameters are first looked at, which tests do for all actions.
func TestBadTags(t *testing.T) {
	cases := map[string]func(){
		"unknown option": func() {
			declare[struct {
				A string `rpc:"A,requierd"`
			}]()
		},
		"min": func() {
			declare[struct {
				A int `rpc:"A,min=x"`
			}]()
		},
		"len": func() {
			declare[struct {
				A string `rpc:"A,len=5"`
			}]()
		},
		"form": func() {
			declare[struct {
				A string `rpc:"A,form=round"`
			}]()
		},
		"field type": func() {
			declare[struct {
				A float64 `rpc:"A"`
			}]()
		},
	}
	for name, fn := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p, _ := recover().(string); !strings.HasPrefix(p, "gateway: field A") {
					t.Errorf("panicked with %q", p)
				}
			}()
			fn()
			t.Error("no panic")
		})
	}
}

func declare[Req any]() {
	gateway.Read("A", func(*state.View, *Req) (*gateway.Empty, error) { return nil, nil }).Parameters()
}

type spelledRequest struct {
	LoadBalancerID string       `rpc:"LoadBalancerId,required"`
	Tags           []spelledTag `rpc:"Tag"`
	Ports          []int        `rpc:"Port"`
	Address        *string      `rpc:"Address,kept"`
}

type spelledTag struct {
	Key string `rpc:"Key"`
}

// A name in another letter case is the action's parameter, in lists too; the action's own
// spelling wins.
func TestLetterCase(t *testing.T) {
	for _, c := range []struct {
		params url.Values
		want   spelledRequest
	}{
		{url.Values{"LoadBalancerID": {"lb-1"}}, spelledRequest{LoadBalancerID: "lb-1"}},
		{url.Values{"loadbalancerid": {"lb-1"}, "tag.1.key": {"a"}, "TAG.2.KEY": {"b"}, "port.1": {"80"}},
			spelledRequest{LoadBalancerID: "lb-1", Tags: []spelledTag{{"a"}, {"b"}}, Ports: []int{80}}},
		{url.Values{"LoadBalancerId": {"lb-1"}, "LoadBalancerID": {"lb-2"}}, spelledRequest{LoadBalancerID: "lb-1"}},
	} {
		got, code := decoded[spelledRequest](t, c.params)
		if got == nil || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%v = %+v %s, want %+v", c.params, got, code, c.want)
		}
	}
}

type formRequest struct {
	Name   string `rpc:"Name,form=letterFirst"`
	Path   string `rpc:"Path,form=slashFirst"`
	Domain string `rpc:"Domain,form=checkedDomain"`
	Cookie string `rpc:"Cookie,form=cookieName"`
}

// A text has the form that its tag names.
func TestForms(t *testing.T) {
	for name, texts := range map[string]struct{ good, bad []string }{
		"Name":   {[]string{"a", "组1", "a b"}, []string{"1a", "-a", " a"}},
		"Path":   {[]string{"/", "/a?b"}, []string{"a", " /a"}},
		"Domain": {[]string{"a.example-1.com", "A.com", "$_ip", "$SERVER_IP", "10.0.0.1"}, []string{"a_b", "a b", "$ip", "a/b"}},
		"Cookie": {[]string{"a", "a$", "JSESSIONID", "a_b"}, []string{"$a", "a,b", "a;b", "a b"}},
	} {
		for _, text := range texts.good {
			if _, code := decoded[formRequest](t, url.Values{name: {text}}); code != "" {
				t.Errorf("%s=%q = %s, want none", name, text, code)
			}
		}
		for _, text := range texts.bad {
			if _, code := decoded[formRequest](t, url.Values{name: {text}}); code != "Invalid"+name {
				t.Errorf("%s=%q = %q, want Invalid%s", name, text, code, name)
			}
		}
	}
}

// A parameter that is sent empty is not absent where its tag says so.
func TestKept(t *testing.T) {
	for _, address := range []string{"", "10.0.0.1"} {
		got, code := decoded[spelledRequest](t, url.Values{"LoadBalancerId": {"lb-1"}, "Address": {address}})
		if got == nil || got.Address == nil || *got.Address != address {
			t.Errorf("Address=%q = %+v %s", address, got, code)
		}
	}
	if got, code := decoded[spelledRequest](t, url.Values{"LoadBalancerId": {"lb-1"}}); got == nil || got.Address != nil {
		t.Errorf("without an address = %+v %s", got, code)
	}
}
