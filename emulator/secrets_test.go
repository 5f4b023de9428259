package emulator_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/world"
)

// plants are secrets that were put somewhere, by what they are.
type plants map[string]string

// new returns a secret that nothing else looks like.
func (p plants) new(what string) string {
	secret := fmt.Sprintf("pl4nt%dpl4nt", len(p))
	p[what] = secret
	return secret
}

// soil is the output of the emulator, in which no secret may be found.
type soil struct {
	t      *testing.T
	url    string
	token  string
	places map[string]string
}

// control makes a call of the control API and keeps what it answers.
func (s *soil) control(method, path, body string, want int) {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	s.do(r, want)
}

func (s *soil) do(r *http.Request, want int) {
	s.t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != want {
		s.t.Errorf("%s %s = %d %.300s (%v), want %d", r.Method, r.URL.Path, response.StatusCode, text, err, want)
	}
	if r.URL.Path == "/v1/faults" && want == http.StatusOK {
		return // a rule is shown as it was written
	}
	s.places[fmt.Sprintf("answer %d: %s %s", len(s.places), r.Method, r.URL.Path)] = string(text) + fmt.Sprint(response.Header)
}

// syncBuffer is a log.
type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

// TestSecretsStay plants every secret there is, by calls that succeed and by
// calls that are refused, and looks for it in the journal and its file, in the
// log, the metrics, the refusals, and the lists that the control API answers.
func TestSecretsStay(t *testing.T) {
	planted, log := make(plants), &syncBuffer{}
	file := filepath.Join(t.TempDir(), "journal")
	secret, token := planted.new("secret in the world file"), planted.new("control token")
	w, err := world.Parse("w.yaml", []byte(strings.ReplaceAll(string(world.DefaultText), "secret: testsecret", "secret: "+secret)))
	if err != nil {
		t.Fatal(err)
	}
	s := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) {
		cfg.World, cfg.ControlToken, cfg.Journal.File = w, token, file
		cfg.Log = zerolog.New(log).Level(zerolog.TraceLevel)
	}))
	ground := &soil{t: t, url: s.ControlURL(), token: token, places: make(map[string]string)}
	plantConditions(planted, ground, plantRole(t, planted, s))
	plantCalls(t, planted, s, secret)
	plantDocuments(planted, ground)
	bad, _ := http.NewRequest("GET", ground.url+"/v1/state", nil)
	bad.Header.Set("Authorization", "Bearer "+token+planted.new("wrong token"))
	ground.do(bad, http.StatusUnauthorized)
	for _, path := range []string{"/v1/journal", "/v1/journal/marks", "/v1/world", "/v1/quotas", "/v1/snapshots", "/v1/scenarios", "/v1/clock", "/metrics"} {
		ground.control("GET", path, "", http.StatusOK)
	}
	ground.control("POST", "/v1/state/check", "", http.StatusOK)
	ground.places["log"] = log.String()
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "UploadServerCertificate") {
		t.Fatalf("the journal file is %.200s (%v)", text, err)
	}
	ground.places["journal file"] = string(text)
	for what, secret := range planted {
		for place, text := range ground.places {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s is in %s: ...%s...", what, place, text[max(0, i-80):min(len(text), i+80)])
			}
		}
	}
}

// plantConditions puts secrets into conditions; the conditions of a temporary key are
// refused.
func plantConditions(planted plants, ground *soil, temporary string) {
	set := func(name, value string, want int) {
		body, _ := json.Marshal(map[string]any{"settings": []controlapi.Setting{{Name: name, Value: value}}})
		ground.control("PATCH", "/v1/world", string(body), want)
	}
	set("key.newid.secret", planted.new("secret of a condition"), http.StatusOK)
	set("key.testid.secret", planted.new("changed secret"), http.StatusOK)
	set("key."+temporary+".secret", planted.new("refused secret"), http.StatusUnprocessableEntity)
	set("key.newid.secrets", planted.new("secret of a condition that is misspelt"), http.StatusBadRequest)
	body, _ := json.Marshal(map[string]any{"account": "none", "settings": []controlapi.Setting{{Name: "key.a.secret", Value: planted.new("secret of no account")}}})
	ground.control("PATCH", "/v1/world", string(body), http.StatusNotFound)
	ground.control("PATCH", "/v1/world", `{"settings":[{"name":"key.a.secret","value":["`+planted.new("secret in a list")+`"]}]}`, http.StatusBadRequest)
	ground.control("POST", "/v1/scenarios/run", "about: s\nclient:\n  steps:\n    - set: {key.newid.secret: "+
		planted.new("secret of a scenario")+"}\n    - set: {key."+temporary+".secret: "+planted.new("refused secret of a scenario")+"}\n", http.StatusOK)
}

// plantCalls sends secrets to the cloud's API.
func plantCalls(t *testing.T, planted plants, s *emulatortest.Server, secret string) {
	t.Helper()
	pem := func(what string) string {
		return "-----BEGIN PRIVATE KEY-----\n" + planted.new(what) + "\n-----END PRIVATE KEY-----"
	}
	send := func(query, form url.Values) {
		response, err := http.PostForm(s.URL()+"/?"+query.Encode(), form)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	base := func(more ...string) url.Values {
		v := url.Values{"Version": {emulatortest.Slb}, "Action": {"UploadServerCertificate"}, "RegionId": {"cn-hangzhou"}}
		for i := 0; i < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return v
	}
	send(base("PrivateKey", pem("private key in a query")), nil)
	send(base(), url.Values{"PrivateKey": {pem("private key in a form")}})
	send(base("Description", pem("private key in another parameter")), nil)
	send(base("AccessKeySecret="+planted.new("secret in a name"), ""), nil)
	send(base("SecurityToken", planted.new("unknown session token"), "AccessKeyId", "testid"), nil)
	send(base("Signature", planted.new("signature")), nil)
	send(url.Values{"Version": {emulator.Version("Sts")}, "Action": {"AssumeRoleWithOIDC"}, "OIDCToken": {planted.new("OIDC token")}}, nil)
	client := &emulatortest.Client{URL: s.URL(), AccessKeySecret: secret}
	if _, err := client.Call(emulatortest.Slb, "UploadServerCertificate", map[string]string{"PrivateKey": pem("signed private key")}); err != nil {
		t.Fatal(err)
	}
}

// plantDocuments puts secrets into the documents that the control API reads; it refuses
// most of them.
func plantDocuments(planted plants, ground *soil) {
	key := func(what string) string { return `{"ID":"a","AccountID":"none","Secret":"` + planted.new(what) + `"` }
	for _, state := range []struct {
		text string
		want int
	}{
		{key("secret that is no state") + "}", http.StatusBadRequest},
		{`{"SchemaVersion":1,"Tables":{"AccessKey":[` + key("secret without an owner") + `}]}}`, http.StatusUnprocessableEntity},
		{`{"SchemaVersion":1,"Tables":{"AccessKey":[` + key("secret with another type") + `,"Status":7}]}}`, http.StatusBadRequest},
		{`{"SchemaVersion":1,"Tables":{"AccessKey":["` + planted.new("secret as a row") + `"]}}`, http.StatusBadRequest},
		{`{"SchemaVersion":"` + planted.new("secret as a version") + `"}`, http.StatusBadRequest},
		{`{"SchemaVersion":1,"Tables":{"AccessKey":[` + key("secret in a broken row") + `,,]}}`, http.StatusBadRequest},
	} {
		ground.control("PUT", "/v1/state", state.text, state.want)
	}
	ground.control("POST", "/v1/world/import", `{"kind":"Secret","data":{"key":"`+planted.new("Kubernetes Secret")+`"}}`, http.StatusBadRequest)
	ground.control("POST", "/v1/faults", "name: f\nmatch: {action: UploadServerCertificate, params: {PrivateKey: {equals: "+
		planted.new("private key in a rule that is no rule")+"}}}\n", http.StatusUnprocessableEntity)
	ground.control("POST", "/v1/faults", "name: f\nmatch: {action: UploadServerCertificate, params.PrivateKey: "+
		planted.new("private key in a rule")+"}\neffect: {afterCommit: empty}\n", http.StatusOK)
	ground.control("PUT", "/v1/snapshots/before", "", http.StatusOK)
	ground.control("POST", "/v1/state/reset", "", http.StatusOK)
	ground.control("POST", "/v1/snapshots/before/restore", "", http.StatusOK)
}

// plantRole fetches the temporary key of the instance's role, and uses it rightly
// and wrongly, and returns its id.
func plantRole(t *testing.T, planted plants, s *emulatortest.Server) string {
	t.Helper()
	role := get(t, s.URL()+"/latest/meta-data/ram/security-credentials/")
	var key struct{ AccessKeyID, AccessKeySecret, SecurityToken string }
	text := get(t, s.URL()+"/latest/meta-data/ram/security-credentials/"+role)
	if err := json.Unmarshal([]byte(text), &key); err != nil || key.SecurityToken == "" {
		t.Fatalf("credentials %s: %v", text, err)
	}
	planted["secret of a role"], planted["session token of a role"] = key.AccessKeySecret, key.SecurityToken
	for _, token := range []string{key.SecurityToken, key.SecurityToken + "x"} {
		c := &emulatortest.Client{URL: s.URL(), AccessKeyID: key.AccessKeyID, AccessKeySecret: key.AccessKeySecret, SecurityToken: token}
		if _, err := c.Call(emulatortest.Slb, "DescribeRegions", nil); err != nil {
			t.Fatal(err)
		}
	}
	session := regexp.MustCompile(`^\S{20,}$`)
	r, _ := http.NewRequest("PUT", s.URL()+"/latest/api/token", nil)
	r.Header.Set("X-aliyun-ecs-metadata-token-ttl-seconds", "60")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	token, _ := io.ReadAll(response.Body)
	if !session.Match(token) {
		t.Fatalf("the metadata token is %q", token)
	}
	planted["metadata token"] = string(token)
	return key.AccessKeyID
}
