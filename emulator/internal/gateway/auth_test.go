package gateway_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

func strict(cfg *gateway.Config) { cfg.StrictAuth = true }

// escape escapes by RFC 3986, by way of the form encoding of the standard library.
func escape(s string) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(url.QueryEscape(s))
}

// stringToSign returns the string to sign of version 1 for a method and parameters.
func stringToSign(method string, params url.Values) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name != "Signature" {
			pairs = append(pairs, escape(name)+"="+escape(params.Get(name)))
		}
	}
	return method + "&%2F&" + escape(strings.Join(pairs, "&"))
}

func signV1(method, secret string, params url.Values) string {
	mac := hmac.New(sha1.New, []byte(secret+"&"))
	mac.Write([]byte(stringToSign(method, params)))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

var nonces int

// signedParams returns a call of Who that the key signed, changed before and after the signature; a
// change to "" takes a parameter away.
func signedParams(method, keyID, secret string, before, after map[string]string) url.Values {
	nonces++
	params := whoParams("AccessKeyId", keyID, "SignatureMethod", "HMAC-SHA1", "SignatureVersion", "1.0",
		"SignatureNonce", fmt.Sprint(nonces), "Timestamp", wallClock.Format("2006-01-02T15:04:05Z"))
	change(params, before)
	params.Set("Signature", signV1(method, secret, params))
	change(params, after)
	return params
}

func change(params url.Values, changes map[string]string) {
	for name, value := range changes {
		params.Set(name, value)
		if value == "" {
			params.Del(name)
		}
	}
}

// The example of the documentation's page on signatures: its request and its
// result, byte for byte.
func TestSignatureOfTheDocumentation(t *testing.T) {
	const query = "TimeStamp=2016-02-23T12:46:24Z&Format=XML&AccessKeyId=testid&Action=DescribeRegions&SignatureMethod=HMAC-SHA1" +
		"&SignatureNonce=3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf&Version=2014-05-26&SignatureVersion=1.0"
	params, err := url.ParseQuery(strings.Replace(query, "TimeStamp", "Timestamp", 1))
	if err != nil {
		t.Fatal(err)
	}
	const signature = "OLeaidS1JvxuMvnyHOwuJ+uX5qY="
	if got := signV1("GET", "testsecret", params); got != signature {
		t.Fatalf("the test's own signature is %s, the documentation's %s", got, signature)
	}
	ecs := *product
	ecs.Version = "2014-05-26"
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.StrictAuth = true
		cfg.Products = []*gateway.Product{&ecs}
		cfg.WallClock = func() time.Time { return time.Date(2016, 2, 23, 12, 46, 24, 0, time.UTC) }
	})
	params.Set("Signature", signature)
	if a := g.get(params); a.Code != http.StatusOK || !strings.Contains(a.body, "<DescribeRegionsResponse>") {
		t.Errorf("answer %d %s", a.Code, a.body)
	}
}

// Whatever the values are, and wherever the call has them, both sides sign the same.
func TestSignatureV1(t *testing.T) {
	g := newTestServer(t, strict)
	for _, name := range []string{"plain", "a b", "a+b", "*~-_.", "k8s/80/web", "a&b=c", "100%", "汉字", `{"a":"b"}`, "\t\n", "é\u2028"} {
		for _, method := range []string{"GET", "POST"} {
			t.Run(method+" "+name, func(t *testing.T) {
				params := signedParams(method, "testid", "testsecret", map[string]string{"Name": name}, nil)
				a := g.do(httptest.NewRequest(method, "/?"+params.Encode(), nil))
				if a.Code != http.StatusOK {
					t.Errorf("in the query: answer %d %s", a.Code, a.body)
				}
			})
		}
		params := signedParams("POST", "testid", "testsecret", map[string]string{"Name": name}, nil)
		query := values("Action", params.Get("Action"))
		params.Del("Action")
		a := g.do(httptest.NewRequest("POST", "/?"+query.Encode(), strings.NewReader(params.Encode())))
		if a.Code != http.StatusOK {
			t.Errorf("%q in the form: answer %d %s", name, a.Code, a.body)
		}
	}
}

// A version 1 signature covers parameters, and what it doesn't cover is not
// executed: the headers that newer clients name an action in are not read.
func TestV1ExecutesWhatItSigns(t *testing.T) {
	g := newTestServer(t, strict)
	for _, c := range []struct {
		absent, header, value, code string
	}{
		{"Action", "x-acs-action", "Who", "MissingAction"},
		{"Version", "x-acs-version", version, "MissingVersion"},
	} {
		r := httptest.NewRequest("GET", "/?"+signedParams("GET", "testid", "testsecret", fields{c.absent: ""}, nil).Encode(), nil)
		r.Header.Set(c.header, c.value)
		if a := g.do(r); a.code(t) != c.code {
			t.Errorf("%s in a header: answer %d %s, want %s", c.absent, a.Code, a.body, c.code)
		}
	}
	r := httptest.NewRequest("GET", "/?"+signedParams("GET", "testid", "testsecret", nil, nil).Encode(), nil)
	r.Header.Set("x-acs-action", "Misbehave")
	r.Header.Set("x-acs-version", "2000-01-01")
	if a := g.do(r); a.Code != http.StatusOK {
		t.Errorf("both in parameters, others in headers: answer %d %s", a.Code, a.body)
	}
}

type fields = map[string]string

// Each check of a signature, with the code that a client gets.
func TestRefusedSignatures(t *testing.T) {
	at := func(d time.Duration) string { return wallClock.Add(d).Format("2006-01-02T15:04:05Z") }
	cases := []struct {
		name, key     string
		before, after fields
		status        int
		code          string
	}{
		{"good", "testid", nil, nil, 200, ""},
		{"legacy spelling of the timestamp", "testid", fields{"Timestamp": "", "TimeStamp": at(0)}, nil, 200, ""},
		{"no key", "testid", fields{"AccessKeyId": ""}, nil, 400, "MissingAccessKeyId"},
		{"no signature", "testid", nil, fields{"Signature": ""}, 400, "MissingSignature"},
		{"no timestamp", "testid", fields{"Timestamp": ""}, nil, 400, "MissingTimestamp"},
		{"no nonce", "testid", fields{"SignatureNonce": ""}, nil, 400, "MissingSignatureNonce"},
		{"no method", "testid", fields{"SignatureMethod": ""}, nil, 400, "IncompleteSignature"},
		{"another method", "testid", fields{"SignatureMethod": "HMAC-MD5"}, nil, 400, "IncompleteSignature"},
		{"another version", "testid", fields{"SignatureVersion": "2.0"}, nil, 400, "IncompleteSignature"},
		{"unknown key", "nobody", nil, nil, 404, "InvalidAccessKeyId.NotFound"},
		{"disabled key", "disabled", nil, nil, 400, "InvalidAccessKeyId.Inactive"},
		{"timestamp of another form", "testid", fields{"Timestamp": "2026-03-04 05:06:07"}, nil, 400, "InvalidTimeStamp.Format"},
		{"timestamp with a fraction", "testid", fields{"Timestamp": strings.Replace(at(0), "Z", ".5Z", 1)}, nil, 400, "InvalidTimeStamp.Format"},
		{"timestamp with an hour of one digit", "testid", fields{"Timestamp": "2026-03-04T5:06:07Z"}, nil, 400, "InvalidTimeStamp.Format"},
		{"timestamp with a zone", "testid", fields{"Timestamp": "2026-03-04T05:06:07+00:00"}, nil, 400, "InvalidTimeStamp.Format"},
		{"as old as may be", "testid", fields{"Timestamp": at(-15 * time.Minute)}, nil, 200, ""},
		{"older", "testid", fields{"Timestamp": at(-15*time.Minute - time.Second)}, nil, 400, "InvalidTimeStamp.Expired"},
		{"as new as may be", "testid", fields{"Timestamp": at(15 * time.Minute)}, nil, 200, ""},
		{"newer", "testid", fields{"Timestamp": at(15*time.Minute + time.Second)}, nil, 400, "InvalidTimeStamp.Expired"},
		{"changed afterwards", "testid", nil, fields{"Name": "changed"}, 400, "SignatureDoesNotMatch"},
		{"secret of another key", "otherid", nil, nil, 400, "SignatureDoesNotMatch"},
		{"token of a permanent key", "testid", fields{"SecurityToken": "token-one"}, nil, 400, "InvalidSecurityToken.MismatchWithAccessKey"},
		{"temporary key", "STS.one", fields{"SecurityToken": "token-one"}, nil, 200, ""},
		{"temporary key without its token", "STS.one", nil, nil, 400, "MissingSecurityToken"},
		{"token of another key", "STS.one", fields{"SecurityToken": "token-two"}, nil, 400, "InvalidSecurityToken.MismatchWithAccessKey"},
		{"no token at all", "STS.one", fields{"SecurityToken": "garbage"}, nil, 400, "InvalidSecurityToken.Malformed"},
	}
	g := newTestServer(t, strict)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := g.get(signedParams("GET", c.key, "testsecret", c.before, c.after))
			wellFormed(t, a)
			if a.Code != c.status || a.code(t) != c.code {
				t.Errorf("answer %d %s, want %d %s", a.Code, a.body, c.status, c.code)
			}
		})
	}
}

// A signed call belongs to the account of its key.
func TestSignedCallBelongsToItsAccount(t *testing.T) {
	a := newTestServer(t, strict).get(signedParams("GET", "otherid", "othersecret", nil, nil))
	if want := `"AccountId":"2222222222222222","RegionId":"cn-shanghai"`; !strings.Contains(a.body, want) {
		t.Errorf("answer %s, want %s", a.body, want)
	}
}

// When several things are wrong, the first check in the gateway's order answers:
// key, timestamp, nonce, signature, token, and only then the action.
func TestOrderOfChecks(t *testing.T) {
	g := newTestServer(t, strict)
	wrong := []struct {
		code  string
		apply func(params url.Values)
	}{
		{"MissingAccessKeyId", func(p url.Values) { p.Del("AccessKeyId") }},
		{"InvalidAccessKeyId.NotFound", func(p url.Values) { p.Set("AccessKeyId", "nobody") }},
		{"InvalidTimeStamp.Expired", func(p url.Values) { p.Set("Timestamp", "2020-01-01T00:00:00Z") }},
		{"SignatureNonceUsed", func(p url.Values) { p.Set("SignatureNonce", "used") }},
		{"SignatureDoesNotMatch", func(p url.Values) { p.Set("Signature", "wrong") }},
		{"MissingSecurityToken", func(p url.Values) {
			p.Del("SecurityToken")
			if p.Get("Signature") != "wrong" {
				p.Set("Signature", signV1("GET", "testsecret", p))
			}
		}},
		{"InvalidVersion", func(p url.Values) { p.Set("Version", "2000-01-01") }},
	}
	sts := fields{"SecurityToken": "token-one"}
	used := maps.Clone(sts)
	used["SignatureNonce"] = "used"
	if a := g.get(signedParams("GET", "STS.one", "testsecret", used, nil)); a.Code != http.StatusOK {
		t.Fatalf("answer %s", a.body)
	}
	for i, first := range wrong {
		params := signedParams("GET", "STS.one", "testsecret", sts, nil)
		for _, w := range slices.Backward(wrong[i:]) {
			w.apply(params)
			if w.code == "InvalidVersion" {
				params.Set("Signature", signV1("GET", "testsecret", params))
			}
		}
		if code := g.get(params).code(t); code != first.code {
			t.Errorf("with all from %s on wrong: %s", first.code, code)
		}
	}
}

// The string that the server signed is in the message: the SDK compares it with
// its own.
func TestMismatchTellsTheStringToSign(t *testing.T) {
	params := signedParams("GET", "testid", "wrong secret", fields{"Format": "XML"}, nil)
	a := newTestServer(t, strict).get(params)
	want := "server string to sign is:" + strings.ReplaceAll(stringToSign("GET", params), "&", "&amp;")
	if !strings.Contains(a.body, want) {
		t.Errorf("answer %s\nlacks %s", a.body, want)
	}
}

// A nonce is good once for its key. A call that was not really signed does not
// use it up.
func TestNonceReplay(t *testing.T) {
	g := newTestServer(t, strict)
	params := signedParams("GET", "testid", "testsecret", nil, nil)
	forged := maps.Clone(params)
	forged["Signature"] = []string{"forged"}
	other := signedParams("GET", "otherid", "othersecret", fields{"SignatureNonce": params.Get("SignatureNonce")}, nil)
	for i, call := range []struct {
		params url.Values
		code   string
	}{{forged, "SignatureDoesNotMatch"}, {params, ""}, {params, "SignatureNonceUsed"}, {other, ""}, {other, "SignatureNonceUsed"}} {
		if code := g.get(call.params).code(t); code != call.code {
			t.Errorf("call %d: %s, want %s", i, code, call.code)
		}
	}
}

// A temporary key expires on the emulated clock, at its very second.
func TestTokenExpires(t *testing.T) {
	clock := state.NewManualClock(gatewaytest.Start)
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.StrictAuth = true
		cfg.Store = gatewaytest.StoreAt(t, clock, plantKeys)
	})
	call := func() string {
		return g.get(signedParams("GET", "STS.one", "testsecret", fields{"SecurityToken": "token-one"}, nil)).code(t)
	}
	clock.Advance(time.Hour - time.Second)
	if code := call(); code != "" {
		t.Errorf("a second before: %s", code)
	}
	clock.Advance(time.Second)
	if code := call(); code != "InvalidSecurityToken.Expired" {
		t.Errorf("at its expiration: %s", code)
	}
}

// acs3 builds a request as the newer clients do, and signs the headers named.
func acs3(method, query, body string, headers fields, signed []string, secret string) *http.Request {
	r := httptest.NewRequest(method, "/?"+query, strings.NewReader(body))
	r.Host = headers["host"]
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	slices.Sort(signed)
	var lines strings.Builder
	for _, name := range signed {
		lines.WriteString(name + ":" + strings.TrimSpace(headers[name]) + "\n")
	}
	canonical := strings.Join([]string{method, "/", query, lines.String(), strings.Join(signed, ";"), headers["x-acs-content-sha256"]}, "\n")
	text := fmt.Sprintf("ACS3-HMAC-SHA256\n%x", sha256.Sum256([]byte(canonical)))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	r.Header.Set("Authorization", fmt.Sprintf("ACS3-HMAC-SHA256 Credential=%s,SignedHeaders=%s,Signature=%x",
		headers["key"], strings.Join(signed, ";"), mac.Sum(nil)))
	return r
}

// acs3Headers returns the headers of a good call of Who with a body, with changes.
func acs3Headers(body string, changes fields) fields {
	nonces++
	h := fields{
		"key": "testid", "host": "slb.aliyuncs.com", "x-acs-action": "Who", "x-acs-version": version,
		"x-acs-date": wallClock.Format("2006-01-02T15:04:05Z"), "x-acs-signature-nonce": fmt.Sprint("v3-", nonces),
		"x-acs-content-sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(body))),
	}
	maps.Copy(h, changes)
	return h
}

// signedHeaders returns the names that a client signs.
func signedHeaders(h fields) (names []string) {
	for name := range h {
		if name == "host" || name == "content-type" || strings.HasPrefix(name, "x-acs-") {
			names = append(names, name)
		}
	}
	return names
}

// The example of the documentation's page on version 3, and its result.
func TestACS3OfTheDocumentation(t *testing.T) {
	headers := fields{
		"key": "YourAccessKeyId", "host": "ecs.cn-shanghai.aliyuncs.com", "x-acs-action": "RunInstances",
		"x-acs-content-sha256":  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"x-acs-date":            "2023-10-26T10:22:32Z",
		"x-acs-signature-nonce": "3156853299f313e23d1673dc12e1703d", "x-acs-version": "2014-05-26",
	}
	const query = "ImageId=win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd&RegionId=cn-shanghai"
	r := acs3("POST", query, "", headers, signedHeaders(headers), "YourAccessKeySecret")
	const signature = "06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0"
	if !strings.HasSuffix(r.Header.Get("Authorization"), signature) {
		t.Fatalf("the test's own signature is not the documentation's: %s", r.Header.Get("Authorization"))
	}
	ecs := gateway.Product{Name: "Ecs", Version: "2014-05-26", Actions: []gateway.Action{gateway.Read("RunInstances", who)}}
	g := newTestServer(t, func(cfg *gateway.Config) {
		cfg.StrictAuth = true
		cfg.Products = []*gateway.Product{&ecs}
		cfg.WallClock = func() time.Time { return time.Date(2023, 10, 26, 10, 22, 32, 0, time.UTC) }
	})
	if err := g.store.Update(state.Owner{}, func(tx *state.Tx) error {
		kinds.AccessKeys.Put(tx, &kinds.AccessKey{ID: "YourAccessKeyId", Secret: "YourAccessKeySecret",
			AccountID: accountID, Status: kinds.AccessKeyActive})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if a := g.do(r); a.Code != http.StatusOK {
		t.Errorf("answer %d %s", a.Code, a.body)
	}
}

func TestACS3(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	cases := []struct {
		name, query, body string
		headers           fields
		unsigned          string
		tamper            func(*http.Request)
		status            int
		code              string
	}{
		{name: "query", query: "Name=a%20b%2A~&RegionId=cn-hangzhou", status: 200},
		{name: "empty value", query: "Empty=&Name=x", status: 200},
		{name: "form", body: "Name=x", headers: fields{"content-type": form}, status: 200},
		{name: "JSON", body: `{"Name":"x"}`, headers: fields{"content-type": "application/json; charset=utf-8"}, status: 200},
		{name: "JSON of a list", body: `["Name"]`, headers: fields{"content-type": "application/json"}, status: 400, code: "InvalidParameter"},
		{name: "JSON and more", body: `{"Name":"x"}{}`, headers: fields{"content-type": "application/json"}, status: 400, code: "InvalidParameter"},
		{name: "JSON without end", body: strings.Repeat(`{"deep":`, 1000) + "1" + strings.Repeat("}", 1000), headers: fields{"content-type": "application/json"},
			status: 400, code: "InvalidParameter"},
		{name: "JSON and query", query: "Name=y", body: `{"Name":"x"}`, headers: fields{"content-type": "application/json"}, status: 400, code: "InvalidName"},
		{name: "SM3", tamper: func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "HMAC-SHA256", "HMAC-SM3", 1))
		}, status: 400, code: "InvalidAction.NotEmulated"},
		{name: "spaces around a value", headers: fields{"x-acs-extra": "  spaced  "}, status: 200},
		{name: "temporary key", headers: fields{"key": "STS.one", "x-acs-security-token": "token-one", "x-acs-accesskey-id": "STS.one"}, status: 200},
		{name: "token of another", headers: fields{"key": "STS.one", "x-acs-security-token": "token-two"}, status: 400,
			code: "InvalidSecurityToken.MismatchWithAccessKey"},
		{name: "no key", headers: fields{"key": ""}, status: 400, code: "MissingAccessKeyId"},
		{name: "unknown key", headers: fields{"key": "nobody"}, status: 404, code: "InvalidAccessKeyId.NotFound"},
		{name: "secret of another", headers: fields{"key": "otherid"}, status: 400, code: "SignatureDoesNotMatch"},
		{name: "no date", headers: fields{"x-acs-date": ""}, status: 400, code: "MissingTimestamp"},
		{name: "no nonce", headers: fields{"x-acs-signature-nonce": ""}, status: 400, code: "MissingSignatureNonce"},
		{name: "old", headers: fields{"x-acs-date": "2020-01-01T00:00:00Z"}, status: 400, code: "InvalidTimeStamp.Expired"},
		{name: "host not signed", unsigned: "host", status: 400, code: "IncompleteSignature"},
		{name: "date not signed", unsigned: "x-acs-date", status: 400, code: "IncompleteSignature"},
		{name: "nonce not signed", unsigned: "x-acs-signature-nonce", status: 400, code: "IncompleteSignature"},
		{name: "hash not signed", unsigned: "x-acs-content-sha256", status: 400, code: "IncompleteSignature"},
		{name: "action not signed", unsigned: "x-acs-action", status: 400, code: "IncompleteSignature"},
		{name: "type of the body not signed", body: "Name=x", headers: fields{"content-type": form}, unsigned: "content-type", status: 400,
			code: "IncompleteSignature"},
		{name: "type of the body taken away", body: "Name=x", headers: fields{"content-type": form},
			tamper: func(r *http.Request) { r.Header.Del("Content-Type") }, status: 400, code: "SignatureDoesNotMatch"},
		{name: "other body", body: "Name=x", headers: fields{"x-acs-content-sha256": "00"}, status: 400, code: "SignatureDoesNotMatch"},
		{name: "no signature", tamper: func(r *http.Request) { r.Header.Set("Authorization", "ACS3-HMAC-SHA256 Credential=testid") },
			status: 400, code: "IncompleteSignature"},
		{name: "query changed", tamper: func(r *http.Request) { r.URL.RawQuery = "Name=y" }, status: 400, code: "SignatureDoesNotMatch"},
		{name: "header changed", tamper: func(r *http.Request) { r.Header.Set("x-acs-action", "Misbehave") }, status: 400, code: "SignatureDoesNotMatch"},
		{name: "host changed", tamper: func(r *http.Request) { r.Host = "evil.example" }, status: 400, code: "SignatureDoesNotMatch"},
	}
	g := newTestServer(t, strict)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			headers := acs3Headers(c.body, c.headers)
			signed := slices.DeleteFunc(signedHeaders(headers), func(name string) bool { return name == c.unsigned })
			r := acs3("POST", c.query, c.body, headers, signed, "testsecret")
			if c.tamper != nil {
				c.tamper(r)
			}
			a := g.do(r)
			wellFormed(t, a)
			if a.Code != c.status || a.code(t) != c.code {
				t.Errorf("answer %d %s, want %d %s", a.Code, a.body, c.status, c.code)
			}
		})
	}
}

// A name with an ampersand or an equals sign enters the signature in its escaped form, so
// that no two queries share a signature. Names that need no escape, which are all
// that the API has, are the same in either form.
func TestACS3EscapesNames(t *testing.T) {
	g := newTestServer(t, strict)
	call := func(sent, signed string) string {
		headers := acs3Headers("", nil)
		r := acs3("GET", signed, "", headers, signedHeaders(headers), "testsecret")
		r.URL.RawQuery = sent
		return g.do(r).code(t)
	}
	for _, c := range []struct{ name, sent, signed, code string }{
		{"two parameters", "Fleet=a&Name=b", "Fleet=a&Name=b", ""},
		{"one for two", "Fleet%3Da%26Name=b", "Fleet=a&Name=b", "SignatureDoesNotMatch"},
		{"two for one", "Fleet=a&Name=b", "Fleet%3Da%26Name=b", "SignatureDoesNotMatch"},
		{"one, escaped", "Fleet%3Da%26Name=b", "Fleet%3Da%26Name=b", ""},
		{"not escaped", "a%2Fb=c", "a/b=c", "SignatureDoesNotMatch"},
		{"nothing to escape", "Tag.1.Key=a&XForwardedFor_proto=on&a-b~c=d", "Tag.1.Key=a&XForwardedFor_proto=on&a-b~c=d", ""},
	} {
		if code := call(c.sent, c.signed); code != c.code {
			t.Errorf("%s: %q, want %q", c.name, code, c.code)
		}
	}
}

// The two schemes share the memory of nonces.
func TestACS3NonceReplay(t *testing.T) {
	g := newTestServer(t, strict)
	headers := acs3Headers("", nil)
	call := func() string { return g.do(acs3("GET", "", "", headers, signedHeaders(headers), "testsecret")).code(t) }
	if code := call(); code != "" {
		t.Errorf("first: %s", code)
	}
	if code := call(); code != "SignatureNonceUsed" {
		t.Errorf("again: %s", code)
	}
}
