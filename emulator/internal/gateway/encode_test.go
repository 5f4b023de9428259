package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

// encoded answers with the response, in the given format, less what changes from
// call to call.
func encoded[Res any](t *testing.T, format string, response Res) string {
	t.Helper()
	action := gateway.Read("Encode", func(*state.View, *gateway.Empty) (*Res, error) { return &response, nil })
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.Products = []*gateway.Product{{Version: version, Actions: []gateway.Action{action}}}
	})
	a := g.get(values("Action", "Encode", "Version", version, "Format", format))
	wellFormed(t, a)
	return strings.ReplaceAll(a.body, a.Header().Get("x-acs-request-id"), "ID")
}

type shared struct {
	Region string `rpc:"RegionId"`
}

type everything struct {
	shared
	Text     string   `rpc:"Text"`
	Number   int      `rpc:"Number"`
	Wide     int64    `rpc:"Wide"`
	Bool     bool     `rpc:"Bool"`
	Absent   *int     `rpc:"Absent"`
	Present  *int     `rpc:"Present"`
	Left     string   `rpc:"Left,omitempty"`
	Object   item     `rpc:"Object"`
	Pointer  *item    `rpc:"Pointer"`
	Wrapped  []string `rpc:"AclIds>AclId"`
	Bare     []string `rpc:"RouteEntryIds"`
	Items    []item   `rpc:"Items>Item"`
	BareItem []*item  `rpc:"Listeners"`
	None     []item   `rpc:"None>Item"`
	NoBare   []item   `rpc:"NoBare"`
	Omitted  []item   `rpc:"Omitted>Item,omitempty"`
}

// A response in both formats, byte for byte: wrapped lists keep their wrapper
// when they are empty, bare ones repeat their own element.
func TestEncode(t *testing.T) {
	zero := 0
	response := everything{
		shared: shared{Region: "cn-hangzhou"}, Text: "x", Number: -1, Wide: 4102444800000, Bool: true, Present: &zero,
		Object: item{Key: "k"}, Pointer: &item{Key: "p", Value: "v"},
		Wrapped: []string{"acl-1", "acl-2"}, Bare: []string{"rte-1", "rte-2"},
		Items: []item{{Key: "a"}, {Key: "b", Value: "c"}}, BareItem: []*item{{Key: "d"}}, Omitted: []item{},
	}
	const wantJSON = `{"RequestId":"ID","RegionId":"cn-hangzhou","Text":"x","Number":-1,"Wide":4102444800000,"Bool":true,` +
		`"Present":0,"Object":{"Key":"k"},"Pointer":{"Key":"p","Value":"v"},"AclIds":{"AclId":["acl-1","acl-2"]},` +
		`"RouteEntryIds":["rte-1","rte-2"],"Items":{"Item":[{"Key":"a"},{"Key":"b","Value":"c"}]},"Listeners":[{"Key":"d"}],` +
		`"None":{"Item":[]},"NoBare":[]}`
	if got := encoded(t, "JSON", response); got != wantJSON {
		t.Errorf("JSON\n%s, want\n%s", got, wantJSON)
	}
	const wantXML = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
		`<EncodeResponse><RequestId>ID</RequestId><RegionId>cn-hangzhou</RegionId><Text>x</Text><Number>-1</Number>` +
		`<Wide>4102444800000</Wide><Bool>true</Bool><Present>0</Present><Object><Key>k</Key></Object>` +
		`<Pointer><Key>p</Key><Value>v</Value></Pointer><AclIds><AclId>acl-1</AclId><AclId>acl-2</AclId></AclIds>` +
		`<RouteEntryIds>rte-1</RouteEntryIds><RouteEntryIds>rte-2</RouteEntryIds>` +
		`<Items><Item><Key>a</Key></Item><Item><Key>b</Key><Value>c</Value></Item></Items><Listeners><Key>d</Key></Listeners>` +
		`<None></None></EncodeResponse>`
	if got := encoded(t, "XML", response); got != wantXML {
		t.Errorf("XML\n%s, want\n%s", got, wantXML)
	}
}

// The encoder escapes text that a format has signs for, and leaves all other text.
func TestEncodeText(t *testing.T) {
	type response struct {
		Text string `rpc:"Text"`
	}
	cases := []struct{ text, wantJSON, wantXML string }{
		{`k8s/80/web`, `k8s/80/web`, `k8s/80/web`},
		{`<a href="b">&'`, `<a href=\"b\">&'`, `&lt;a href=&#34;b&#34;&gt;&amp;&#39;`},
		{`C:\dir`, `C:\\dir`, `C:\dir`},
		{"a\nb\tc\rd", `a\nb\tc\rd`, `a&#xA;b&#x9;c&#xD;d`},
		{"\x01\x1f\x7f", "\\u0001\\u001f\x7f", "\ufffd\ufffd\x7f"},
		{"汉字 é \u2028 😀", "汉字 é \u2028 😀", "汉字 é \u2028 😀"},
		{"a\xffb\xc3", "a\ufffdb\ufffd", "a\ufffdb\ufffd"},
		{"\ufffd", "\ufffd", "\ufffd"},
		{"", "", ""},
	}
	for _, c := range cases {
		if got, want := encoded(t, "JSON", response{c.text}), `{"RequestId":"ID","Text":"`+c.wantJSON+`"}`; got != want {
			t.Errorf("%q as JSON: %s, want %s", c.text, got, want)
		}
		if got, want := encoded(t, "XML", response{c.text}), `<Text>`+c.wantXML+`</Text>`; !strings.Contains(got, want) {
			t.Errorf("%q as XML: %s, want %s", c.text, got, want)
		}
	}
}

func TestEncodeEmpty(t *testing.T) {
	if got := encoded(t, "JSON", gateway.Empty{}); got != `{"RequestId":"ID"}` {
		t.Errorf("JSON %s", got)
	}
	if got := encoded(t, "XML", gateway.Empty{}); !strings.HasSuffix(got, "\n<EncodeResponse><RequestId>ID</RequestId></EncodeResponse>") {
		t.Errorf("XML %s", got)
	}
}

// The format is the parameter's, or else what the client accepts, or JSON; a
// refusal is in it as well.
func TestFormat(t *testing.T) {
	cases := []struct {
		format, accept string
		xml            bool
	}{
		{"", "", false}, {"JSON", "", false}, {"json", "text/xml", false}, {"XML", "", true}, {"xml", "application/json", true},
		{"", "text/xml", true}, {"", "application/xml", true}, {"", "application/json, text/xml", false},
		{"", "text/html,application/xhtml+xml,application/xml", false}, {"", "*/*", false}, {"YAML", "", false}, {"YAML", "text/xml", false},
	}
	g := newTestServer(t, nil)
	for _, c := range cases {
		for _, action := range []string{"Who", "Nobody"} {
			params := url.Values{"Action": {action}, "Version": {version}}
			if c.format != "" {
				params.Set("Format", c.format)
			}
			inForm := httptest.NewRequest("POST", "/", strings.NewReader(params.Encode()))
			inQuery := httptest.NewRequest("GET", "/?"+params.Encode(), nil)
			for _, r := range []struct {
				name string
				a    answer
			}{{"form", withAccept(g, inForm, c.accept)}, {"query", withAccept(g, inQuery, c.accept)}} {
				wellFormed(t, r.a)
				if got := strings.HasPrefix(r.a.body, "<?xml"); got != c.xml {
					t.Errorf("%s, Format %q in the %s, Accept %q: XML is %v, want %v", action, c.format, r.name, c.accept, got, c.xml)
				}
			}
		}
	}
}

func withAccept(g *testServer, r *http.Request, accept string) answer {
	r.Header.Set("Accept", accept)
	return g.do(r)
}

// The error envelope in both formats, byte for byte. HostId is the host called
// when it is one of the cloud's.
func TestErrorEnvelope(t *testing.T) {
	const message = "About subject."
	recommend := "https://api.aliyun.com/troubleshoot?q=Known.Fact&product=Slb&requestId="
	cases := []struct{ format, host, want string }{
		{"JSON", "127.0.0.1:9600", `{"RequestId":"ID","HostId":"slb.aliyuncs.com","Code":"Known.Fact","Message":"` + message +
			`","Recommend":"` + recommend + `ID"}`},
		{"JSON", "[::1]:9600", `"HostId":"slb.aliyuncs.com"`},
		{"JSON", "slb-vpc.cn-hangzhou.aliyuncs.com", `"HostId":"slb-vpc.cn-hangzhou.aliyuncs.com"`},
		{"XML", "slb.aliyuncs.com:443", `<?xml version="1.0" encoding="UTF-8"?>` + "\n" +
			`<Error><RequestId>ID</RequestId><HostId>slb.aliyuncs.com</HostId><Code>Known.Fact</Code><Message>` + message +
			`</Message><Recommend>` + strings.ReplaceAll(recommend, "&", "&amp;") + `ID</Recommend></Error>`},
	}
	g := newTestServer(t, nil)
	for _, c := range cases {
		r := httptest.NewRequest("GET", "/?Action=Misbehave&Name=fact&Version="+version+"&Format="+c.format, nil)
		r.Host = c.host
		a := g.do(r)
		wellFormed(t, a)
		if got := strings.ReplaceAll(a.body, a.Header().Get("x-acs-request-id"), "ID"); !strings.Contains(got, c.want) {
			t.Errorf("%s from %s\n%s, want\n%s", c.format, c.host, got, c.want)
		}
	}
}

// The answer names a host of no product as called.
func TestHostOfNoProduct(t *testing.T) {
	for host, want := range map[string]string{"127.0.0.1:9600": "127.0.0.1", "[::1]:9600": "::1", "localhost": "localhost"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		if a := newTestServer(t, nil).do(r); !strings.Contains(a.body, `"HostId":"`+want+`"`) {
			t.Errorf("host %s: %s", host, a.body)
		}
	}
}

// ResponseFields lists what an action can answer, for the comparison with the
// metadata.
func TestResponseFields(t *testing.T) {
	type response struct {
		shared
		Wrapped []item   `rpc:"Items>Item"`
		Bare    []string `rpc:"Ids"`
	}
	a := gateway.Read("A", func(*state.View, *gateway.Empty) (*response, error) { return nil, nil })
	want := []string{"RegionId", "Items.Item[].Key", "Items.Item[].Value", "Ids[]"}
	if got := a.ResponseFields(); !slices.Equal(got, want) {
		t.Errorf("ResponseFields = %v, want %v", got, want)
	}
	if got := gateway.NotEmulated("X").ResponseFields(); got != nil {
		t.Errorf("ResponseFields of what is not emulated = %v", got)
	}
}

// A response that the wire can't carry is a programming error that shows when its
// fields are first looked at, which tests do for all actions.
func TestBadResponses(t *testing.T) {
	cases := map[string]func(){
		"gateway: response field .A has no tag": func() { answers[struct{ A string }]() },
		"gateway: response field A has a type that the wire does not": func() {
			answers[struct {
				A float64 `rpc:"A"`
			}]()
		},
	}
	for want, fn := range cases {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if p := recover(); p != want {
					t.Errorf("panicked with %v", p)
				}
			}()
			fn()
			t.Error("no panic")
		})
	}
}

func answers[Res any]() {
	gateway.Read("A", func(*state.View, *gateway.Empty) (*Res, error) { return nil, nil }).ResponseFields()
}
