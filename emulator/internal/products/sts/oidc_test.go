package sts_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/products/sts"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// cluster signs tokens as a cluster does.
type cluster struct {
	t   *testing.T
	key *ecdsa.PrivateKey
}

const issuer = "https://oidc.example.com/c1"

func newCluster(t *testing.T) *cluster {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{t, key}
}

// world returns the default world, whose account knows the cluster.
func (c *cluster) world() *world.World {
	c.t.Helper()
	keys, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: c.key.Public(), KeyID: "k1", Algorithm: "ES256", Use: "sig"}}})
	if err != nil {
		c.t.Fatal(err)
	}
	provider := "    oidcProviders:\n      - {name: ack-rrsa-c1, issuer: " + issuer + ", clientIds: [sts.aliyuncs.com], keys: '" + string(keys) + "'}\n    accessKeys:\n"
	w, err := world.Parse("w.yaml", []byte(strings.Replace(string(world.DefaultText), "    accessKeys:\n", provider, 1)))
	if err != nil {
		c.t.Fatal(err)
	}
	return w
}

// token returns a token signed by the cluster, for an hour from the tests' start.
func (c *cluster) token(change func(*jwt.Claims)) string {
	c.t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: c.key, KeyID: "k1"}}, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	claims := jwt.Claims{Issuer: issuer, Subject: "system:serviceaccount:kube-system:ccm", Audience: jwt.Audience{"sts.aliyuncs.com"},
		IssuedAt: jwt.NewNumericDate(gatewaytest.Start), Expiry: jwt.NewNumericDate(gatewaytest.Start.Add(time.Hour))}
	if change != nil {
		change(&claims)
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		c.t.Fatal(err)
	}
	return text
}

func (c *cluster) params(token string) params {
	return role.With(params{"OIDCProviderArn": "acs:ram::" + account + ":oidc-provider/ack-rrsa-c1", "OIDCToken": token})
}

// TestErrors proves that every refusal of a role, a token and its provider has a call that
// triggers it.
func TestErrors(t *testing.T) {
	c, stranger := newCluster(t), newCluster(t)
	good := c.token(nil)
	parts := strings.Split(good, ".")
	symmetric := "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0." + parts[1] + "." + parts[2]
	unsigned := "eyJhbGciOiJub25lIiwia2lkIjoiazEifQ." + parts[1] + "."
	refused := func(name, code, token string) gatewaytest.ErrorCase {
		return gatewaytest.ErrorCase{Name: name, Action: "AssumeRoleWithOIDC", Params: c.params(token), Status: 401, Code: "AuthenticationFail." + code}
	}
	with := func(name string, params params, status int, code string) gatewaytest.ErrorCase {
		return gatewaytest.ErrorCase{Name: name, Action: "AssumeRoleWithOIDC", Params: params, Status: status, Code: code}
	}
	gatewaytest.MatchErrors(t, sts.Product(gateway.Deps{}), c.world().Plant, append(roleErrors(),
		refused("Empty", "OIDCToken.Invalid", ""),
		refused("Parts", "OIDCToken.Invalid", "a.b"),
		refused("Content", "OIDCToken.Invalid", "a.b.c"),
		refused("Symmetric", "OIDCToken.Invalid", symmetric),
		refused("NoAlgorithm", "OIDCToken.Invalid", unsigned),
		refused("Altered", "OIDCToken.InvalidSignature", parts[0]+"."+strings.Split(c.token(func(j *jwt.Claims) { j.Subject = "root" }), ".")[1]+"."+parts[2]),
		refused("Foreign", "OIDCToken.InvalidSignature", stranger.token(nil)),
		refused("Issuer", "OIDCToken.IssuerNotMatch", c.token(func(j *jwt.Claims) { j.Issuer += "/" })),
		refused("Audience", "OIDCToken.AudienceNotMatch", c.token(func(j *jwt.Claims) { j.Audience = jwt.Audience{"kubernetes"} })),
		refused("NoAudience", "OIDCToken.AudienceNotMatch", c.token(func(j *jwt.Claims) { j.Audience = nil })),
		refused("Expired", "OIDCToken.Expired", c.token(func(j *jwt.Claims) { j.Expiry = jwt.NewNumericDate(gatewaytest.Start) })),
		refused("NoExpiry", "OIDCToken.Expired", c.token(func(j *jwt.Claims) { j.Expiry = nil })),
		with("OtherProvider", c.params(good).With(params{"OIDCProviderArn": "acs:ram::" + account + ":oidc-provider/other"}), 401, "AuthenticationFail.NoPermission"),
		with("OtherAccount", c.params(good).With(params{"OIDCProviderArn": "acs:ram::1:oidc-provider/ack-rrsa-c1"}), 401, "AuthenticationFail.NoPermission"),
		with("NoARN", c.params(good).With(params{"OIDCProviderArn": "ack-rrsa-c1"}), 401, "AuthenticationFail.NoPermission"),
		with("OtherAccountsRole", c.params(good).With(params{"RoleArn": "acs:ram::1:role/deployer"}), 401, "AuthenticationFail.NoPermission"),
		with("Duration", c.params(good).With(params{"DurationSeconds": "899"}), 400, "InvalidParameter.DurationSeconds"),
	))
}

// TestAssumeRoleWithOIDC proves what a token gets: a key of the role, and what it says itself,
// with several clients, and with the line's end that its file may have.
func TestAssumeRoleWithOIDC(t *testing.T) {
	c := newCluster(t)
	client := gatewaytest.NewClient(t, gatewaytest.StoreAt(t, state.NewManualClock(gatewaytest.Start), c.world().Plant), sts.Product(gateway.Deps{}))
	reply := client.Do("AssumeRoleWithOIDC", c.params(c.token(func(j *jwt.Claims) { j.Audience = jwt.Audience{"other", "sts.aliyuncs.com"} })+"\n"))
	for path, want := range map[string]string{
		"OIDCTokenInfo.Subject": "system:serviceaccount:kube-system:ccm", "OIDCTokenInfo.Issuer": issuer, "OIDCTokenInfo.ClientIds": "other,sts.aliyuncs.com",
		"OIDCTokenInfo.IssuanceTime": "2026-01-02T03:04:05Z", "OIDCTokenInfo.ExpirationTime": "2026-01-02T04:04:05Z", "OIDCTokenInfo.VerificationInfo": "Success",
		"AssumedRoleUser.Arn": "acs:ram::" + account + ":assumed-role/deployer/ci", "Credentials.Expiration": "2026-01-02T04:04:05Z",
	} {
		if got := reply.Text(path); got != want {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
}
