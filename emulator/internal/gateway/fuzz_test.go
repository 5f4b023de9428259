package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

// FuzzParseCall proves that whatever a client sends, the gateway answers one well-formed
// document with a RequestId, and has no InternalError.
func FuzzParseCall(f *testing.F) {
	f.Add("POST", "Action=Who&Version=2014-05-15", "application/x-www-form-urlencoded", "Name=x", "", "127.0.0.1", true)
	f.Add("GET", "Action=Who&Version=2014-05-15&Format=XML&Name=%ff", "", "", "", "slb.aliyuncs.com", false)
	f.Add("POST", "Name=a%20b", "application/json", "{}", "ACS3-HMAC-SHA256 Credential=testid,SignedHeaders=host;x-acs-date,Signature=00", "h", true)
	f.Add("POST", "Action=Who&Version=2014-05-15", "application/json", `{"Name":"x","Tag":[{"Key":1}],"All":true,"None":null}`, "", "h", false)
	lenient, severe := newTestServer(f, nil), newTestServer(f, strict)
	f.Fuzz(func(t *testing.T, method, query, contentType, body, authorization, host string, strict bool) {
		u, err := url.Parse("http://127.0.0.1/")
		if err != nil {
			t.Fatal(err)
		}
		u.RawQuery = query
		r := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
		r.Method, r.URL, r.Host = method, u, host
		for name, value := range map[string]string{"Content-Type": contentType, "Authorization": authorization,
			"x-acs-action": "Who", "x-acs-version": version, "x-acs-date": "2026-03-04T05:06:07Z", "x-acs-signature-nonce": "1"} {
			r.Header.Set(name, value)
		}
		g := lenient
		if strict {
			g = severe
		}
		a := g.do(r)
		wellFormed(t, a)
		misbehaved := strings.Contains(query+body, "Misbehave")
		if a.Code == http.StatusInternalServerError && !misbehaved {
			t.Errorf("answer %s", a.body)
		}
	})
}

// fuzzedRequest has every form of parameter.
type fuzzedRequest struct {
	scalarRequest
	IDs     []string        `rpc:"Id,max=3"`
	Ports   []int           `rpc:"Port,min=1"`
	Tags    []tagParam      `rpc:"Tag,max=2"`
	Servers []backendServer `rpc:"BackendServers,json"`
}

// fuzzedGateway serves an action that takes everything, with the rules that its
// handler may count on.
func fuzzedGateway(f *testing.F, rules func(*fuzzedRequest) bool) *testServer {
	action := gateway.Write("Decode", func(_ *state.Tx, req *fuzzedRequest) (*gateway.Empty, error) {
		if !rules(req) {
			panic("the handler got what the tags forbid")
		}
		return &gateway.Empty{}, nil
	})
	return newTestServer(f, func(cfg *gateway.Config) {
		cfg.Products = []*gateway.Product{{Version: version, Actions: []gateway.Action{action}, Errors: decodeErrors}}
	})
}

// FuzzDecode proves that a handler gets nothing that its tags forbid.
func FuzzDecode(f *testing.F) {
	for _, query := range []string{"Required=r", "Required=r&Text=ab&Number=5&Bool=true&Pointer=0",
		"Required=r&Id.1=a&Id.2=b&Port=[80,443]&Tag.1.Key=k&Tag.1.Value=v", `Required=r&Id=["a"]`} {
		f.Add(query)
	}
	g := fuzzedGateway(f, func(r *fuzzedRequest) bool {
		return r.Required != "" && r.Number >= 0 && r.Number <= 100 && (r.Enum == "" || r.Enum == "on" || r.Enum == "off") &&
			len(r.IDs) <= 3 && len(r.Tags) <= 2 && (r.Pointer == nil || *r.Pointer >= 0) && r.Default != ""
	})
	f.Fuzz(func(t *testing.T, query string) {
		params, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		params.Set("Action", "Decode")
		params.Set("Version", version)
		a := g.get(params)
		wellFormed(t, a)
		if a.Code == http.StatusInternalServerError {
			t.Errorf("%s: answer %s", query, a.body)
		}
	})
}

// FuzzJSONText proves that no JSON text makes a call fail inside.
func FuzzJSONText(f *testing.F) {
	for _, text := range []string{`[{"ServerId":"i-1","Port":"80","Weight":100,"Type":"ecs"}]`, `[{"serverId":null}]`, `[[`, `{"a":1e999}`,
		`[{'ServerId':'i-1','Type':'it\'s "'}]`, `['\`} {
		f.Add(text)
	}
	g := fuzzedGateway(f, func(*fuzzedRequest) bool { return true })
	f.Fuzz(func(t *testing.T, text string) {
		a := g.get(values("Action", "Decode", "Version", version, "Required", "r", "BackendServers", text))
		wellFormed(t, a)
		if code := a.code(t); a.Code != http.StatusOK && code != "InvalidBackendServers" {
			t.Errorf("%q: answer %d %s", text, a.Code, a.body)
		}
	})
}
