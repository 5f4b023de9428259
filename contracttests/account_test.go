package contracttests

import (
	"fmt"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

func credentialsIn(answer map[string]any) accessCredentials {
	return accessCredentials{AccessKeyID: fmt.Sprint(answer["AccessKeyId"]), AccessKeySecret: fmt.Sprint(answer["AccessKeySecret"]),
		SecurityToken: fmt.Sprint(answer["SecurityToken"])}
}

// The keys that AssumeRole hands out work in both SDKs, under both signatures, as
// the role that was taken, within the policy of the session, until they expire.
func TestAssumedRole(t *testing.T) {
	s := emulatortest.Start(t)
	var taken []accessCredentials
	for _, policy := range []string{"", `{"Version":"1","Statement":[{"Effect":"Allow","Action":"vpc:*","Resource":"*"}]}`} {
		answer, err := acs3Call(s.Host(), permanent, "Sts", "AssumeRole", more(takeRole, "DurationSeconds", "900", "Policy", policy), false)
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, credentialsIn(answer["Credentials"].(map[string]any)))
	}
	for i, code := range []string{"", "Forbidden"} {
		if _, err := newSTSClient(t, s.Host(), taken[i]).call("Slb", "DescribeRegions", params{}); codeOf(err) != code {
			t.Errorf("the SLB client with key %d: %v, want %q", i, err, code)
		}
		if _, err := acs3Call(s.Host(), taken[i], "Vpc", "DescribeVpcs", params{}, false); err != nil {
			t.Errorf("the generic client with key %d: %v", i, err)
		}
	}
	me, err := acs3Call(s.Host(), taken[0], "Sts", "GetCallerIdentity", params{}, false)
	if err != nil || me["Arn"] != "acs:ram::"+account+":assumed-role/deployer/ci" || me["IdentityType"] != "AssumedRoleUser" || me["RoleId"] == "" {
		t.Errorf("GetCallerIdentity = %v, %v", me, err)
	}
	swapped := taken[0]
	swapped.SecurityToken = taken[1].SecurityToken
	_, err = acs3Call(s.Host(), swapped, "Vpc", "DescribeVpcs", params{}, false)
	checkACS3Refusal(t, err, "InvalidSecurityToken.MismatchWithAccessKey")
	s.Advance(t, 15*time.Minute)
	_, err = acs3Call(s.Host(), taken[0], "Vpc", "DescribeVpcs", params{}, false)
	checkACS3Refusal(t, err, "InvalidSecurityToken.Expired")
}

// A key of a role is taken after a restart as before it.
func TestAssumedRoleSurvivesRestart(t *testing.T) {
	dir := t.TempDir()
	keep := emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.Engine, cfg.DataDir = emulator.Bolt, dir })
	var c accessCredentials
	t.Run("before", func(t *testing.T) {
		s := emulatortest.Start(t, keep)
		answer, err := acs3Call(s.Host(), permanent, "Sts", "AssumeRole", takeRole, false)
		if err != nil {
			t.Fatal(err)
		}
		c = credentialsIn(answer["Credentials"].(map[string]any))
	})
	t.Run("after", func(t *testing.T) {
		s := emulatortest.Start(t, keep)
		if _, err := newSTSClient(t, s.Host(), c).call("Slb", "DescribeRegions", params{}); err != nil {
			t.Error(err)
		}
	})
}

// What the cloud has and clbemu does not is reported as not emulated, also for products
// that clbemu knows by name only, and for names that no list has.
func TestElsewhere(t *testing.T) {
	s := emulatortest.Start(t)
	for _, c := range []struct{ version, action, code string }{
		{"2020-06-16", "CreateLoadBalancer", "InvalidAction.NotEmulated"}, // ALB
		{"2014-08-15", "CreateDBInstance", "InvalidAction.NotEmulated"},   // RDS
		{"2014-05-26", "CreateImage", "InvalidAction.NotEmulated"},
		{"2014-05-26", "CreateRocket", "InvalidAction.NotEmulated"},
		{"2020-04-07", "CreateContact", "InvalidAction.NotEmulated"},
		{"2020-03-31", "UpdateResourceGroupAdminSetting", "InvalidAction.NotEmulated"},
		{"1999-12-31", "CreateRocket", "InvalidVersion"},
	} {
		reply, err := s.Client().Call(c.version, c.action, nil)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text("Code") != c.code {
			t.Errorf("%s of %s = %s, want %s", c.action, c.version, reply.Body, c.code)
		}
	}
}
