package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
)

// mustRun runs a command that must succeed and returns its output.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	r := binary.Run(t, args...)
	if r.Code != 0 {
		t.Fatalf("clbemu %v = %+v, want success", args, r)
	}
	return r.Stdout
}

// urlOf returns the URL of a load balancer, once its listener answers.
func urlOf(t *testing.T, s *binary.Server, lb string) (url string) {
	t.Helper()
	await.Until(t, lb+" answers", func() bool {
		r := binary.Run(t, "url", lb, "--server", s.Control)
		url = strings.TrimSpace(r.Stdout)
		return r.Code == 0
	})
	return url
}

// places runs a test against a running server, and against the folder of one
// that was stopped.
func places(t *testing.T, test func(t *testing.T, run func(args ...string) binary.Result)) {
	for name, stopped := range map[string]bool{"server": false, "folder": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := binary.Serve(t, "--data-dir", dir)
			where := []string{"--server", s.Control}
			if stopped {
				s.End(syscall.SIGTERM)
				where = []string{"--data-dir", dir}
			}
			test(t, func(args ...string) binary.Result { return binary.Run(t, append(args, where...)...) })
		})
	}
}

// TestWorldSetAndGet proves that conditions are changed and shown, together or
// not at all, and that a value can come from a file.
func TestWorldSetAndGet(t *testing.T) {
	t.Parallel()
	policy := writeFile(t, filepath.Join(t.TempDir(), "policy.json"), `{"Version":"1","Statement":[{"Effect":"Deny","Action":["slb:*"],"Resource":["*"]}]}`)
	places(t, func(t *testing.T, run func(args ...string) binary.Result) {
		if r := run("world", "set", "account.arrears=true", "stock.cn-hangzhou-h=soldout", "policy.key.testid=@"+policy); r.Code != 0 {
			t.Fatalf("world set = %+v", r)
		}
		r := run("world", "get")
		for _, want := range []string{"account.arrears=true\n", "stock.cn-hangzhou-h=soldout\n", `policy.key.testid={"Version":"1"`} {
			if !strings.Contains(r.Stdout, want) {
				t.Errorf("world get = %+v, want %s", r, want)
			}
		}
		if r := run("world", "get", "account.arr"); r.Stdout != "account.arrears=true\n" {
			t.Errorf("world get account.arr = %+v, want one condition", r)
		}
		again := "quota.slb_quota_instances_num=default\npolicy.key.testid=none\n"
		if r := run("world", "set", "quota.slb_quota_instances_num=default", "policy.key.testid=none"); r.Stdout != again {
			t.Errorf("world set of what is as at first again = %+v, want %s", r, again)
		}
		if r := run("world", "set", "--region", "cn-shanghai", "stock.cn-shanghai-b=soldout"); r.Code != 0 {
			t.Errorf("world set of another region = %+v", r)
		}
		if r := run("world", "get", "--region", "cn-shanghai", "stock.cn"); r.Stdout != "stock.cn-shanghai-b=soldout\n" {
			t.Errorf("world get of another region = %+v, want its stock", r)
		}
		for _, test := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"account.arrears=false", "acount.balance=1"}, 2, "acount.balance"},
			{[]string{"account.arrears"}, 2, "account.arrears=VALUE"},
			{[]string{"account.arrears=@none"}, 2, "none"},
			{[]string{"--account", "1", "account.arrears=false"}, 2, "no account 1"},
			{nil, 2, "type clbemu world set account.arrears=true"},
		} {
			if r := run(append([]string{"world", "set"}, test.args...)...); r.Code != test.code || !strings.Contains(r.Stderr, test.want) {
				t.Errorf("world set %v = %+v, want %d and %q", test.args, r, test.code, test.want)
			}
		}
		if r := run("world", "get", "account.arrears"); r.Stdout != "account.arrears=true\n" {
			t.Errorf("after refusals %s, want it as it was", r.Stdout)
		}
	})
}

// TestServerBeforeFolder proves that a server that is named is asked, though the
// environment names the folder that it serves.
func TestServerBeforeFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	cmd := exec.Command(binary.Path, "world", "get", "account.arrears", "--server", s.Control)
	cmd.Env = append(os.Environ(), "CLBEMU_DATA_DIR="+dir)
	if r := binary.Finish(t, cmd); r.Stdout != "account.arrears=false\n" {
		t.Errorf("world get = %+v, want the server's answer", r)
	}
}

// TestQuota proves that quotas are shown with their holders, and alone those that
// are used.
func TestQuota(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, run func(args ...string) binary.Result) {
		all, used := run("quota"), run("quota", "--used")
		for _, want := range []string{"QUOTA", "vpc_quota_vswitches_num", "vpc-bp1clbemu000000000001"} {
			if !strings.Contains(used.Stdout, want) {
				t.Errorf("quota --used = %+v, want %s", used, want)
			}
		}
		if strings.Contains(used.Stdout, "slb_quota_instances_num") || !strings.Contains(all.Stdout, "slb_quota_instances_num") {
			t.Errorf("quota has %q and --used %q, want the unused ones in the first alone", all.Stdout, used.Stdout)
		}
		if r := run("quota", "--account", "1"); r.Code != 2 {
			t.Errorf("quota --account 1 = %+v, want 2", r)
		}
	})
}

// TestQuotaApply proves that an application that is granted raises the limit that `quota`
// shows, and that one that is refused, or that can't be made, says why.
func TestQuotaApply(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	run := func(args ...string) binary.Result { return binary.Run(t, append(args, "--server", s.Control)...) }
	if r := run("quota", "apply", "slb_quota_instances_num", "100"); r.Code != 0 || !strings.HasPrefix(r.Stdout, "APPLICATION ") || !strings.Contains(r.Stdout, "  slb_quota_instances_num  granted: the limit is 100\n") {
		t.Errorf("quota apply = %+v, want it granted", r)
	}
	if r := run("quota"); !slices.ContainsFunc(strings.Split(r.Stdout, "\n"), func(line string) bool {
		return slices.Equal(strings.Fields(line), []string{"slb_quota_instances_num", "100", "0"})
	}) {
		t.Errorf("quota = %s, want the new limit", r.Stdout)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"slb_quota_instances_num", "100"}, 1, "CreateQuotaApplication was refused with 400 QUOTA.DESIREVALUE.ILLEGAL"},
		{[]string{"slb_quota_instance_num", "100"}, 2, "there is no quota slb_quota_instance_num: do you mean slb_quota_instances_num?"},
		{[]string{"slb_quota_instances_num", "more"}, 2, "\"more\" is not a limit"},
		{[]string{"slb_quota_instances_num"}, 2, "needs a quota and the limit"},
	} {
		if r := run(append([]string{"quota", "apply"}, c.args...)...); r.Code != c.code || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("quota apply %v = %+v, want %d with %q", c.args, r, c.code, c.want)
		}
	}
	run("world", "set", "account.refuseQuotaApplications=true")
	if r := run("quota", "apply", "slb_quota_instances_num", "200"); r.Code != 1 || !strings.Contains(r.Stdout, "refused") || !strings.Contains(r.Stderr, "account.refuseQuotaApplications=false") {
		t.Errorf("quota apply = %+v, want it refused", r)
	}
	run("world", "set", "account.refuseQuotaApplications=false", "life.quota.review=1h")
	if r := run("quota", "apply", "slb_quota_instances_num", "200"); r.Code != 0 || !strings.Contains(r.Stdout, "in review") {
		t.Errorf("quota apply = %+v, want it in review", r)
	}
}

// TestClock proves that the commands move the emulated time, and say how it goes.
func TestClock(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, run func(args ...string) binary.Result) {
		if r := run("clock", "show"); r.Code != 0 || !strings.HasSuffix(r.Stdout, "  real time\n") {
			t.Errorf("clock show = %+v, want real time", r)
		}
		frozen := run("clock", "freeze")
		if !strings.HasSuffix(frozen.Stdout, "  frozen\n") || run("clock", "show") != frozen {
			t.Errorf("clock freeze = %+v, and then show %+v, want the same", frozen, run("clock", "show"))
		}
		later := run("clock", "advance", "168h")
		if later.Stdout <= frozen.Stdout || run("clock", "show") != later {
			t.Errorf("clock advance = %+v after %+v, want a later time that stays", later, frozen)
		}
		if r := run("clock", "scale", "60"); !strings.HasSuffix(r.Stdout, "  60 times real time\n") {
			t.Errorf("clock scale 60 = %+v", r)
		}
		if r := run("clock", "resume"); !strings.HasSuffix(r.Stdout, "  real time\n") {
			t.Errorf("clock resume = %+v", r)
		}
		for _, test := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"advance"}, 2, "the duration"}, {[]string{"advance", "soon"}, 2, "want a duration"},
			{[]string{"scale", "x"}, 2, "want a number"}, {[]string{"scale", "1e9"}, 1, "the scale is"},
		} {
			args := append([]string{"clock"}, test.args...)
			if r := run(args...); r.Code != test.code || !strings.Contains(r.Stderr, test.want) {
				t.Errorf("%v = %+v, want %d and %q", args, r, test.code, test.want)
			}
		}
	})
}

// TestFault proves that rules are added from a file and from standard input,
// listed as they can be read again, reset and deleted.
func TestFault(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	run := func(args ...string) binary.Result {
		return binary.Run(t, append(append([]string{"fault"}, args...), "--server", s.Control)...)
	}
	if r := run("list"); r.Stdout != "there are no fault rules\n" {
		t.Errorf("fault list = %+v, want none", r)
	}
	file := writeFile(t, filepath.Join(t.TempDir(), "f.yaml"), `
- {name: busy, match: {action: DescribeRegions}, when: {times: 1}, effect: {error: {code: ServiceUnavailable}}}
- {name: slow, effect: {delay: {fixed: 1ms}}}
`)
	if r := run("add", file); r.Code != 0 || !strings.Contains(r.Stdout, "busy") || !strings.Contains(r.Stdout, "slow") {
		t.Fatalf("fault add = %+v, want both", r)
	}
	reply, err := s.Client().Call("2014-05-15", "DescribeRegions", nil)
	if err != nil || reply.Text("Code") != "ServiceUnavailable" {
		t.Errorf("a struck call = %v, %v, want ServiceUnavailable", reply, err)
	}
	busy := func() string {
		for line := range strings.Lines(run("list").Stdout) {
			if fields := strings.Fields(line); fields[0] == "busy" {
				return strings.Join(fields, " ")
			}
		}
		return ""
	}
	if got := busy(); got != "busy beforeCall 1 1 yes no" {
		t.Errorf("the spent rule is listed as %q", got)
	}
	if r := run("reset"); r.Code != 0 || busy() != "busy beforeCall 0 0 no no" {
		t.Errorf("after a reset the rule is listed as %q", busy())
	}
	yaml := run("list", "--yaml").Stdout
	if r := run("delete", "--all"); r.Code != 0 || busy() != "" {
		t.Errorf("fault delete --all = %+v", r)
	}
	if r := run("add", writeFile(t, file, yaml)); r.Code != 0 || run("list", "--yaml").Stdout != yaml {
		t.Errorf("adding what list --yaml printed = %+v, want the same list", r)
	}
	if r := run("delete", "slow", "busy"); r.Code != 0 || r.Stdout != "there are no fault rules\n" {
		t.Errorf("fault delete of both = %+v, want none left", r)
	}
	wrong := writeFile(t, file, "{name: a, match: {action: CreateLoadBalancr}, effect: {reset: true}}")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"add", wrong}, 1, "do you mean CreateLoadBalancer?"}, {[]string{"add", "none.yaml"}, 2, "none.yaml"}, {[]string{"add"}, 2, "the file"},
		{[]string{"delete"}, 2, "--all"}, {[]string{"delete", "busy", "--all"}, 2, "--all"}, {[]string{"delete", "none"}, 2, "no such fault rule"},
	} {
		if r := run(test.args...); r.Code != test.code || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("fault %v = %+v, want %d and %q", test.args, r, test.code, test.want)
		}
	}
}

// TestSnapshot proves that a state comes back by its name, and that a name is
// checked.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, run func(args ...string) binary.Result) {
		if r := run("snapshot", "take", "first"); r.Code != 0 || !strings.Contains(r.Stdout, "first") {
			t.Fatalf("snapshot take = %+v", r)
		}
		run("world", "set", "account.arrears=true")
		run("snapshot", "take", "second")
		if r := run("snapshot", "list"); !strings.Contains(r.Stdout, "\nfirst ") || !strings.Contains(r.Stdout, "\nsecond ") {
			t.Errorf("snapshot list = %+v, want both", r)
		}
		for name, want := range map[string]string{"first": "false", "second": "true"} {
			if r := run("snapshot", "restore", name); r.Code != 0 || r.Stdout != "restored the state of "+name+"\n" {
				t.Errorf("snapshot restore %s = %+v", name, r)
			}
			if r := run("world", "get", "account.arrears"); r.Stdout != "account.arrears="+want+"\n" {
				t.Errorf("after snapshot restore %s: %s, want %s", name, r.Stdout, want)
			}
		}
		if r := run("snapshot", "delete", "first"); r.Code != 0 || strings.Contains(r.Stdout, "first") {
			t.Errorf("snapshot delete = %+v, want it gone", r)
		}
		for _, test := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"restore", "first"}, 2, "no such snapshot"}, {[]string{"delete", "first"}, 2, "no such snapshot"},
			{[]string{"take", "a b"}, 2, "letters, digits"}, {[]string{"take"}, 2, "the name of a snapshot"},
		} {
			if r := run(append([]string{"snapshot"}, test.args...)...); r.Code != test.code || !strings.Contains(r.Stderr, test.want) {
				t.Errorf("snapshot %v = %+v, want %d and %q", test.args, r, test.code, test.want)
			}
		}
	})
}

// TestSnapshotsOfAServer proves that a server and its stopped folder have the
// same snapshots, and that snapshots of a state in memory leave nothing behind.
func TestSnapshotsOfAServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Serve(t, "--data-dir", dir)
	mustRun(t, "snapshot", "take", "s", "--server", s.Control)
	s.End(syscall.SIGTERM)
	if list := mustRun(t, "snapshot", "list", "--data-dir", dir); !strings.Contains(list, "\ns ") {
		t.Errorf("snapshot list of the folder = %q, want the server's", list)
	}
	other := t.TempDir()
	s = binary.Serve(t, "--engine", "memory", "--data-dir", other)
	mustRun(t, "snapshot", "take", "s", "--server", s.Control)
	mustRun(t, "snapshot", "restore", "s", "--server", s.Control)
	if found, err := filepath.Glob(filepath.Join(other, "*")); err != nil || len(found) > 0 {
		t.Errorf("a state in memory leaves %v behind", found)
	}
}

// TestRemoteToken proves that every command that talks to a server sends the
// token, and says so when it is wrong.
func TestRemoteToken(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory", "--control-token", "secret")
	for _, command := range []string{"world get", "world set account.arrears=false", "quota", "clock show", "fault list", "fault reset",
		"journal", "journal mark m", "journal marks", "journal clear", "snapshot list", "snapshot take s", "snapshot restore s"} {
		args := append(strings.Fields(command), "--server", s.Control)
		if r := binary.Run(t, append(args, "--control-token", "secret")...); r.Code != 0 {
			t.Errorf("%s with the token = %+v, want success", command, r)
		}
		if r := binary.Run(t, append(args, "--control-token", "guess")...); r.Code != 3 || !strings.Contains(r.Stderr, "401") {
			t.Errorf("%s with a wrong token = %+v, want 3 and the refusal", command, r)
		}
	}
}
