package contracttests

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aliyun/credentials-go/credentials/providers"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/world"
)

// TestOIDCCredentials proves that the credentials library, of a pod with RRSA, gets through the proxy, from the cloud's own host, a
// key with a cluster's token file, with which an SDK then calls, and what it says of a token that
// has expired.
func TestOIDCCredentials(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys, _ := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k1", Algorithm: "RS256"}}})
	w, err := world.Parse("w.yaml", []byte(strings.Replace(string(world.DefaultText), "    accessKeys:\n",
		"    oidcProviders: [{name: rrsa, issuer: 'https://kubernetes.default.svc', clientIds: [sts.aliyuncs.com], keys: '"+string(keys)+"'}]\n    accessKeys:\n", 1)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certificate, err := emulator.GenerateTLS(dir, []string{"*.aliyuncs.com"})
	if err != nil {
		t.Fatal(err)
	}
	trustProxy(t, dir)
	s := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World, cfg.Proxy, cfg.StrictAuth = w, certificate, true }))
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key, KeyID: "k1"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	token, err := jwt.Signed(signer).Claims(jwt.Claims{Issuer: "https://kubernetes.default.svc", Subject: "system:serviceaccount:a:b", Audience: jwt.Audience{"sts.aliyuncs.com"},
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(time.Hour))}).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func() (*providers.Credentials, error) {
		p, err := providers.NewOIDCCredentialsProviderBuilder().WithOIDCProviderARN("acs:ram::" + account + ":oidc-provider/rrsa").WithOIDCTokenFilePath(file).
			WithRoleArn("acs:ram::" + account + ":role/ccm").WithHttpOptions(&providers.HttpOptions{Proxy: s.URL()}).Build()
		if err != nil {
			t.Fatal(err)
		}
		return p.GetCredentials()
	}
	given, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	me, err := acs3Call(s.Host(), accessCredentials{AccessKeyID: given.AccessKeyId, AccessKeySecret: given.AccessKeySecret, SecurityToken: given.SecurityToken}, "Sts", "GetCallerIdentity", params{}, false)
	if err != nil || !strings.HasPrefix(me["Arn"].(string), "acs:ram::"+account+":assumed-role/ccm/credentials-go-") {
		t.Errorf("GetCallerIdentity = %v, %v", me, err)
	}
	response, err := http.PostForm(s.URL(), url.Values{"Version": {"2015-04-01"}, "Action": {"AssumeRoleWithOIDC"}, "AccessKeyId": {emulatortest.AccessKeyID}})
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for _, e := range s.Calls(t, "action=AssumeRoleWithOIDC") {
		if e.AccessKeyID != "" {
			t.Errorf("call %d has the key %s, which nothing proves", e.Sequence, e.AccessKeyID)
		}
	}
	s.Advance(t, time.Hour)
	if _, err := ask(); err == nil || !strings.Contains(err.Error(), "AuthenticationFail.OIDCToken.Expired") {
		t.Errorf("after an hour: %v, want that the token is expired", err)
	}
}

// trustProxy lets the default transport, whose copy the library uses, trust the proxy.
func trustProxy(t *testing.T, dir string) {
	t.Helper()
	authority, err := os.ReadFile(filepath.Join(dir, emulator.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(authority)
	transport := http.DefaultTransport.(*http.Transport)
	before := transport.TLSClientConfig
	transport.TLSClientConfig = &tls.Config{RootCAs: trust}
	t.Cleanup(func() { transport.TLSClientConfig = before })
}
