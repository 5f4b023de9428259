package sts_test

import (
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/sts"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

const account = "1234567890123456"

type params = gatewaytest.Params

var role = params{"RoleArn": "acs:ram::" + account + ":role/deployer", "RoleSessionName": "ci"}

func with(base params, name, value string) params { return base.With(params{name: value}) }

func newClient(t *testing.T) (*gatewaytest.Client, *state.Store, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(gatewaytest.Start)
	store := gatewaytest.StoreAt(t, clock, world.Default().Plant)
	return gatewaytest.NewClient(t, store, sts.Product(gateway.Deps{})), store, clock
}

// The action tables match the API's metadata, with known exceptions.
func TestActions(t *testing.T) {
	gatewaytest.MatchActions(t, sts.Product(gateway.Deps{}), "testdata/actions.json", nil)
}

// No fact of the package leaves as an InternalError.
func TestTagsNameRefusals(t *testing.T) { gatewaytest.MatchTags(t, sts.Product(gateway.Deps{})) }

// roleErrors returns the refusals of AssumeRole.
func roleErrors() []gatewaytest.ErrorCase {
	return []gatewaytest.ErrorCase{
		{Name: "NoRole", Action: "AssumeRole", Params: with(role, "RoleArn", ""), Status: 400, Code: "MissingRoleArn"},
		{Name: "NoSession", Action: "AssumeRole", Params: with(role, "RoleSessionName", ""), Status: 400, Code: "MissingRoleSessionName"},
		{Name: "Arn", Action: "AssumeRole", Params: with(role, "RoleArn", "acs:ram::x:role/y"), Status: 400, Code: "InvalidParameter.RoleArn"},
		{Name: "Session", Action: "AssumeRole", Params: with(role, "RoleSessionName", "a b"), Status: 400, Code: "InvalidParameter.RoleSessionName"},
		{Name: "TooShort", Action: "AssumeRole", Params: with(role, "DurationSeconds", "899"), Status: 400, Code: "InvalidParameter.DurationSeconds"},
		{Name: "TooLong", Action: "AssumeRole", Params: with(role, "DurationSeconds", "3601"), Status: 400, Code: "InvalidParameter.DurationSeconds"},
		{Name: "Policy", Action: "AssumeRole", Params: with(role, "Policy", "{"), Status: 400, Code: "InvalidParameter.PolicyGrammar"},
		{Name: "LongPolicy", Action: "AssumeRole", Params: with(role, "Policy", strings.Repeat("x", 1025)), Status: 400, Code: "InvalidParameter.PolicySize"},
		{Name: "Foreign", Action: "AssumeRole", Params: with(role, "RoleArn", "acs:ram::1:role/deployer"), Status: 404, Code: "EntityNotExist.Role"},
	}
}

// An issued key lasts with the role, the session and the hour in which
// it ends; the next one for the role takes the dead ones away.
func TestAssumeRole(t *testing.T) {
	c, store, clock := newClient(t)
	first := c.Do("AssumeRole", with(role, "DurationSeconds", "900"))
	if got, want := first.Text("AssumedRoleUser.Arn"), "acs:ram::"+account+":assumed-role/deployer/ci"; got != want {
		t.Errorf("Arn = %q, want %q", got, want)
	}
	if got, want := first.Text("Credentials.Expiration"), "2026-01-02T03:19:05Z"; got != want {
		t.Errorf("Expiration = %q, want %q", got, want)
	}
	clock.Advance(15 * time.Minute)
	second := c.Do("AssumeRole", role)
	v := store.View(state.Owner{})
	if key, ok := kinds.AccessKeys.Find(v, first.Text("Credentials.AccessKeyId")); ok {
		t.Errorf("the dead key %v is kept", key.ID)
	}
	key, err := kinds.AccessKeys.Get(v, second.Text("Credentials.AccessKeyId"))
	if err != nil {
		t.Fatal(err)
	}
	if key.RoleName != "deployer" || key.SessionName != "ci" || key.Secret != second.Text("Credentials.AccessKeySecret") ||
		key.SecurityToken != second.Text("Credentials.SecurityToken") || !key.Expiration.Equal(clock.Now().Add(time.Hour)) {
		t.Errorf("the key is %+v", key)
	}
}

// Who has no role is the account itself.
func TestGetCallerIdentity(t *testing.T) {
	c, _, _ := newClient(t)
	reply := c.Do("GetCallerIdentity", nil)
	for path, want := range map[string]string{"AccountId": account, "Arn": "acs:ram::" + account + ":root", "IdentityType": "Account",
		"UserId": account, "PrincipalId": account, "RoleId": ""} {
		if got := reply.Text(path); got != want {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
}
