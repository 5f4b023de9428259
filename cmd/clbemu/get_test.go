package main_test

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestGet proves what is shown of a folder and of a server: tables, a load balancer
// as a tree, and errors for unknown names, with a suggestion.
func TestGet(t *testing.T) {
	t.Parallel()
	places(t, func(t *testing.T, run func(args ...string) binary.Result) {
		if r := run("get", "lb"); r.Code != 0 || !strings.Contains(r.Stdout, "Load balancers: there are none. Clients create them, for example with `clbemu call") {
			t.Errorf("get lb of nothing = %+v", r)
		}
		if r := run("get"); !strings.Contains(r.Stdout, "Instances\nID ") || !strings.Contains(r.Stdout, "\ni-bp1clbemu0000000001  node-1 ") || strings.Contains(r.Stdout, "Load balancers") {
			t.Errorf("get = %+v, want all resources, by kind", r)
		}
		if r := run("get", "vswitches", "kubernetes-h", "-o", "wide"); !strings.Contains(r.Stdout, "vpc-bp1clbemu000000000001") || strings.Count(r.Stdout, "\n") != 2 {
			t.Errorf("get vswitches kubernetes-h = %+v", r)
		}
		for kind, want := range map[string]string{
			"vpc": "vpc-bp1clbemu000000000001  kubernetes  192.168.0.0/16  2", "sg": "sg-bp1clbemu0000000001  kubernetes  normal",
			"eni": "eni-bp1clbemu000000001        InUse   192.168.0.11", "nlb": "Load balancers: there are none.\n", "acls": ": there are none.\n", "clb": "Load balancers: there are none. Clients", "nlb,vpc": "vpc-bp1clbemu000000000001  kubernetes",
		} {
			if r := run("get", kind); r.Code != 0 || !strings.Contains(r.Stdout, want) {
				t.Errorf("get %s = %+v, want %q", kind, r, want)
			}
		}
		for _, test := range []struct {
			args []string
			want string
		}{
			{[]string{"lisners"}, "do you mean listeners?"}, {[]string{"instance", "node-11"}, "do you mean node-1?"},
			{[]string{"lb", "x", "y"}, "takes a kind and a name"}, {[]string{"lb", "--region", "cn-hangzou"}, "there is no region cn-hangzou"},
		} {
			if r := run(append([]string{"get"}, test.args...)...); r.Code != 2 || !strings.Contains(r.Stderr, test.want) || r.Stdout != "" {
				t.Errorf("get %v = %+v, want %q", test.args, r, test.want)
			}
		}
	})
}

// TestGetTree proves that a load balancer is shown with its listener, its servers and
// what may strike it, and the same for programs.
func TestGetTree(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	c := s.Client()
	id := createLoadBalancer(t, c)
	for action, params := range map[string]map[string]string{
		"SetLoadBalancerName":           {"LoadBalancerId": id, "LoadBalancerName": "web"},
		"AddBackendServers":             {"LoadBalancerId": id, "BackendServers": `[{"ServerId":"i-bp1clbemu0000000001","Weight":"70"}]`},
		"CreateLoadBalancerTCPListener": {"LoadBalancerId": id, "ListenerPort": "80", "BackendServerPort": "8080", "Bandwidth": "-1"},
		"AddTags":                       {"LoadBalancerId": id, "Tags": `[{"TagKey":"team","TagValue":"a"}]`},
	} {
		if reply, err := c.Call(emulatortest.Slb, action, params); err != nil || reply.Status != 200 {
			t.Fatalf("%s = %v, %v", action, reply, err)
		}
	}
	if status, answer, err := s.Ask("POST", "/v1/faults", []byte("{name: lost, match: {action: Start*}, effect: {reset: true}}")); err != nil || status != 200 {
		t.Fatalf("POST /v1/faults = %d %s, %v", status, answer, err)
	}
	for _, name := range []string{id, "web"} {
		r := binary.Run(t, "get", "lb", name, "--server", s.Control)
		for _, want := range []string{
			id + " (web)  Slb  active  cn-hangzhou  slb.lcu.elastic\n", "── reached at  192.168.0.", "── tag  team=a\n", "── listener tcp 80  stopped  health not checked\n",
			"── group " + id + "/default  default\n", "── i-bp1clbemu0000000001  192.168.0.11:8080  weight 70  not checked  no way to 192.168.0.11 from here: clbemu world set instance.i-bp1clbemu0000000001.reachAt=127.0.0.1:8080\n",
			"── quota  slb_quota_listeners_num  1 of 50\n", "── fault  lost  at reply  0 hits\n",
		} {
			if !strings.Contains(r.Stdout, want) {
				t.Errorf("get lb %s has no %q:\n%s%s", name, want, r.Stdout, r.Stderr)
			}
		}
	}
	var tree struct {
		LoadBalancer struct{ ID string }
		Faults       []controlapi.FaultRule
	}
	if err := json.Unmarshal([]byte(mustRun(t, "get", "lb", "web", "--json", "--server", s.Control)), &tree); err != nil || tree.LoadBalancer.ID != id || len(tree.Faults) != 1 {
		t.Errorf("get lb web --json = %+v, %v", tree, err)
	}
}

// TestGetWatch proves that -w prints changes as they come.
func TestGetWatch(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	id := createLoadBalancer(t, s.Client())
	cmd := exec.Command(binary.Path, "get", "lb", "-w", "--server", s.Control)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	next := func(want string) {
		t.Helper()
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Errorf("the next line is %q (%v), want %q", lines.Text(), lines.Err(), want)
		}
	}
	next("ID ")
	next(id + "  ")
	other := createLoadBalancer(t, s.Client())
	next("+ lb  " + other)
	call(t, s, "SetLoadBalancerName", map[string]string{"LoadBalancerId": other, "LoadBalancerName": "renamed"})
	next("~ lb  " + other + "  renamed")
	call(t, s, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": other})
	next("- lb  " + other)
}
