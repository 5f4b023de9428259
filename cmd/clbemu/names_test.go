package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestNames proves that a command that is given a name of nothing says so with the
// one that was meant, and does not end as if it had found something, or nothing.
func TestNames(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	mustRun(t, "snapshot", "take", "before-upgrade", "--server", s.Control)
	config := writeFile(t, filepath.Join(t.TempDir(), "c.yaml"), "listn: 127.0.0.1:0\n")
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"world", "get", "nonsense"}, 2, "no condition begins with nonsense"},
		{[]string{"world", "get", "acount"}, 2, "do you mean account?"},
		{[]string{"world", "get", "quota.slb_quota_listners"}, 2, "do you mean quota.slb_quota_listeners_num?"},
		{[]string{"world", "get", "--region", "cn-hangzou"}, 2, "there is no region cn-hangzou"},
		{[]string{"world", "set", "account.arears=true"}, 2, "do you mean account.arrears?"},
		{[]string{"world", "set", "stock.cn-hangzhou-x=soldout"}, 1, "there are cn-hangzhou-g"},
		{[]string{"world", "set", "throttle.action.CreateLoadBalancr=1"}, 2, "do you mean throttle.action.CreateLoadBalancer?"},
		{[]string{"world", "set", `policy.key.testidd={"Version":"1","Statement":[{"Effect":"Deny","Action":"*","Resource":"*"}]}`}, 1, "no access key testidd"},
		{[]string{"quota", "--account", "1"}, 2, "there is no account 1: there are "},
		{[]string{"journal", "--action", "Crate*"}, 2, "there is no Crate*"},
		{[]string{"journal", "--action", "DeleteLoadBalancr", "--counts"}, 2, "do you mean DeleteLoadBalancer?"},
		{[]string{"journal", "--follow", "--action", "Crate*"}, 2, "there is no Crate*"},
		{[]string{"journal", "--code", "Trottling"}, 2, "do you mean Throttling?"},
		{[]string{"journal", "--where", "porduct=Slb"}, 2, "there is no field porduct: do you mean product?"},
		{[]string{"journal", "--where", "params.LoadBalancerIdd=a"}, 2, "do you mean LoadBalancerId?"},
		{[]string{"journal", "--since-mark", "befor"}, 2, "no mark"},
		{[]string{"upgrade-check", "--since-mark", "befor"}, 2, "no mark"},
		{[]string{"fault", "delete", "nonsense"}, 2, "no such fault rule: nonsense"},
		{[]string{"snapshot", "restore", "before-upgade"}, 2, "do you mean before-upgrade?"},
		{[]string{"snapshot", "delete", "before-upgade"}, 2, "do you mean before-upgrade?"},
	}
	for _, test := range tests {
		r := binary.Run(t, append(test.args, "--server", s.Control)...)
		if r.Code != test.code || !strings.Contains(r.Stderr, test.want) || r.Stdout != "" {
			t.Errorf("clbemu %v = %+v, want %d with %q and no output", test.args, r, test.code, test.want)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"scenario", "show", "arears"}, "do you mean arrears?"},
		{[]string{"scenario", "run", "arears"}, "do you mean arrears?"},
		{[]string{"scenario", "lint", "--set", "servces=2"}, "do you mean services?"},
		{[]string{"serve", "--config", config}, "do you mean listen?"},
	} {
		if r := binary.Run(t, test.args...); r.Code != 2 || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("clbemu %v = %+v, want 2 with %q", test.args, r, test.want)
		}
	}
	if r := binary.Run(t, "world", "get", "policy", "--server", s.Control); r.Code != 0 || r.Stdout != "" || !strings.Contains(r.Stderr, "no condition is set under policy") {
		t.Errorf("world get policy = %+v, want to be told that there is none", r)
	}
}
