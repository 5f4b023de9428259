package emulator_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// measured returns the lines of /metrics whose names begin so.
func measured(t *testing.T, c *controlclient.Client, prefix string) []string {
	t.Helper()
	response, err := http.Get(c.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("/metrics = %s, %v: %s", response.Status, err, text)
	}
	return regexp.MustCompile(`(?m)^`+prefix+`.*$`).FindAllString(string(text), -1)
}

// TestMeasures proves what /metrics says of the version, the rules' hits, quotas and
// conditions, in each cloud, and that users can't make as many series as they like.
func TestMeasures(t *testing.T) {
	e, c := running(t, emulator.Config{Version: controlapi.Version{Version: "v9", Commit: "abc"}})
	mustFork(t, c, "a", controlapi.NewCloud{})
	a := within(c, "a")
	want := func(c *controlclient.Client, lines ...string) {
		t.Helper()
		for _, line := range lines {
			if got := measured(t, c, regexp.QuoteMeta(line)+"$"); len(got) != 1 {
				t.Errorf("/metrics has no %s, but %q", line, measured(t, c, strings.SplitN(line, "{", 2)[0]))
			}
		}
	}
	const quota = `{account="1234567890123456",quota="slb_quota_instances_num"} `
	want(c, `clbemu_build_info{commit="abc",version="v9"} 1`, `clbemu_quota_used`+quota+`0`, `clbemu_quota_limit`+quota+`60`)
	for _, line := range measured(t, c, "clbemu_conditions_unusual") {
		if !strings.HasSuffix(line, " 0") {
			t.Errorf("in a world as it was planted there is %s", line)
		}
	}
	var rules strings.Builder
	for i := range 150 {
		fmt.Fprintf(&rules, "---\n{name: rule%d, match: {action: DescribeRegions}, when: {times: 1}, effect: {error: {code: ServiceUnavailable}}}\n", i)
	}
	if _, err := c.AddFaults(t.Context(), "", []byte(rules.String())); err != nil {
		t.Fatal(err)
	}
	if _, err := c.SetWorld(t.Context(), controlapi.Change{Settings: []controlapi.Setting{{Name: "account.arrears", Value: "true"}, {Name: "stock.cn-hangzhou-h", Value: "soldout"},
		{Name: "stock.cn-hangzhou-i", Value: "soldout"}, {Name: "quota.slb_quota_instances_num", Value: "7"}, {Name: "vswitch.vsw-bp1clbemu000000000001.freeAddresses", Value: "1"},
		{Name: "account.graceDays", Value: "15"}, {Name: "life.listener.starting", Value: "2s"}}}); err != nil {
		t.Fatal(err)
	}
	client := &emulatortest.Client{URL: "http://" + e.Addr()}
	for range 120 {
		if _, err := client.Call(emulatortest.Slb, "DescribeRegions", nil); err != nil {
			t.Fatal(err)
		}
	}
	if reply, err := caller(e, "a").Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"AddressType": "internet"}); err != nil || reply.Status != 200 {
		t.Fatalf("CreateLoadBalancer = %v, %v", reply, err)
	}
	unusual := func(name string, n int) string {
		return fmt.Sprintf("clbemu_conditions_unusual{condition=%q} %d", name, n)
	}
	want(c, `clbemu_fault_hits_total{rule="rule0"} 1`, `clbemu_fault_hits_total{rule="other"} 20`, `clbemu_quota_limit`+quota+`7`, `clbemu_quota_used`+quota+`0`,
		unusual("account.arrears", 1), unusual("stock.<zone>", 2), unusual("quota.<name>", 1), unusual("vswitch.<id>.freeAddresses", 1), unusual("account.graceDays", 0), unusual("life.<stage>", 1))
	want(a, `clbemu_quota_used`+quota+`1`, unusual("account.arrears", 0))
	if n := len(measured(t, c, "clbemu_fault_hits_total")); n != 101 {
		t.Errorf("150 rules have %d series, want 101", n)
	}
	for i := range 120 {
		mustFork(t, c, fmt.Sprint("cloud-", i), controlapi.NewCloud{})
	}
	if n := len(measured(t, c, "clbemu_cloud_calls_total")); n != 101 {
		t.Errorf("121 clouds have %d series, want 101", n)
	}
	want(c, `clbemu_cloud_calls_total{cloud="a"} 1`, `clbemu_clouds 121`)
}
