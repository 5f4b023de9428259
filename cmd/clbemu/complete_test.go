package main_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestCompletes proves that shells are offered the names that there are now.
func TestCompletes(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	id := createLoadBalancer(t, s.Client())
	call(t, s, "SetLoadBalancerName", map[string]string{"LoadBalancerId": id, "LoadBalancerName": "web"})
	mustRun(t, "journal", "mark", "before", "--server", s.Control)
	mustRun(t, "snapshot", "take", "kept", "--server", s.Control)
	if status, answer, err := s.Ask("POST", "/v1/faults", []byte("{name: lost, effect: {reset: true}}")); err != nil || status != 200 {
		t.Fatalf("POST /v1/faults = %d %s, %v", status, answer, err)
	}
	for _, test := range []struct{ line, want string }{
		{"get ,", "backend\n"}, {"get ,", "\nslb\n"}, {"world set ,", "quota.slb_quota_listeners_num=\n"}, {"get lb ,", id + "\nweb\n"}, {"fault delete ,", "lost\n"}, {"snapshot restore ,", "kept\n"}, {"journal --since-mark ,", "before\n"},
		{"upgrade-check --since-mark ,", "before\n"}, {"world get ,", "vswitch.vsw-bp1clbemu000000000001.freeAddresses\n"}, {"world set ,", "account.arrears=\n"},
		{"scenario run ,", "arrears\n"}, {"scenario watch ,", "arrears\n"}, {"journal --action ,", "CreateLoadBalancer\n"}, {"journal --code ,", "Throttling.User\n"},
		{"call DeleteLoadBalancer LoadBalancerId=,", "LoadBalancerId=" + id + "\n"}, {"call DeleteLoadBalancer ,", "LoadBalancerId=\n"},
		{"call CreateLoadBalancer AddressType=,", "AddressType=internet\nAddressType=intranet\n"}, {"call TagResources Tag.1.Key=,", ":4\n"}, {"call AddServersToServerGroup Servers.1.ServerType=,", "Servers.1.ServerType=Ecs\n"}, {"explain ,", "ORDER.ARREARAGE\n"},
		{"get lb --region ,", "cn-hangzhou\n"}, {"quota --account ,", "1234567890123456\n"}, {"world set --region ,", "cn-hangzhou\n"}, {"env --region ,", "cn-hangzhou\n"},
		{"world set life.profile=,", "life.profile=instant\nlife.profile=realistic\n"},
		{"world set account.arrears=,", "account.arrears=true\n"}, {"wait --for ,", "ready\ncall=\n"}, {"env --shell ,", "sh\nfish\n"},
		{"call --access-key-id ,", "testid\n"}, {"env --access-key-id ,", "testid\n"},
	} {
		line, _ := strings.CutSuffix(test.line, ",")
		words := strings.Split(line, " ")
		if !strings.HasPrefix(line, "scenario") && !strings.HasPrefix(line, "explain") {
			words = slices.Insert(words, len(words)-strings.Count(line, "--")-1, "--server", s.Control)
		}
		// A shell waits for a second, in which a busy machine may not answer.
		await.Until(t, fmt.Sprintf("%q completes to %q", words, test.want), func() bool {
			return strings.Contains(binary.Run(t, append([]string{"__complete"}, words...)...).Stdout, test.want)
		})
	}
	if r := binary.Run(t, "__complete", "get", "lb", "-o", ""); !strings.Contains(r.Stdout, "table\nwide\njson\nyaml\n") {
		t.Errorf("the forms complete to %+v", r)
	}
	for flag, want := range map[string]string{"data-plane": "off\nports\naddresses\n", "data-plane-source": "own\ntransparent\n", "engine": "bbolt\nmemory\netcd\n", "read": "leader\nlocal\n"} {
		if r := binary.Run(t, "__complete", "serve", "--"+flag, ""); !strings.HasPrefix(r.Stdout, want) {
			t.Errorf("--%s completes to %q, want %q", flag, r.Stdout, want)
		}
	}
	for _, words := range [][]string{{"explain", ""}, {"journal", "--code", ""}} {
		if r := binary.Run(t, append([]string{"__complete"}, words...)...); strings.Contains(r.Stdout, "%s") {
			t.Errorf("%q completes to a code with a place in it", words)
		}
	}
	if r := binary.Run(t, "__complete", "get", "--server", "127.0.0.1:1", "lb", ""); r.Code != 0 || strings.Contains(r.Stdout, "127.0.0.1") {
		t.Errorf("without an emulator there is %+v", r)
	}
}
