package contracttests

import (
	"bytes"
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// A choice takes load balancers of a VPC, with a tag or an id, and what belongs to others not.
func TestPullChoice(t *testing.T) {
	account := fullAccount(t)
	all := pulled(t, account)
	id, inVPC := all.tables["LoadBalancer"][0]["ID"].(string), all.tables["VSwitch"][0]["VPCID"].(string)
	for name, c := range map[string]struct {
		choose func(vpcs, ids *[]string, tags *map[string]string)
		fits   func(row map[string]any) bool
	}{
		"id":  {func(_, ids *[]string, _ *map[string]string) { *ids = []string{id} }, func(row map[string]any) bool { return row["ID"] == id }},
		"VPC": {func(vpcs, _ *[]string, _ *map[string]string) { *vpcs = []string{inVPC} }, func(row map[string]any) bool { return row["VPCID"] == inVPC }},
		"tag": {func(_, _ *[]string, tags *map[string]string) {
			*tags = map[string]string{"kubernetes.do.not.delete": "a1"}
		}, func(row map[string]any) bool { return row["Name"] == "web" }},
	} {
		dir := t.TempDir()
		p := world.FromAccount(dir)
		p.Region, p.Call, p.Pause = "cn-hangzhou", callsTo(account), func(string, string) time.Duration { return 0 }
		c.choose(&p.VPCs, &p.LoadBalancers, &p.Tags)
		if _, err := p.Pull(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := tablesOf(t, copied{dir: dir}.serve(t).store)
		for _, kind := range []string{"LoadBalancer", "NLBLoadBalancer"} {
			want := 0
			for _, row := range all.tables[kind] {
				if c.fits(row) {
					want++
				}
			}
			for _, row := range got[kind] {
				if !c.fits(row) {
					t.Errorf("%s: the copy has %v", name, row["ID"])
				}
			}
			if len(got[kind]) != want {
				t.Errorf("%s: the copy has %d of %s, want %d", name, len(got[kind]), kind, want)
			}
		}
	}
}

// An anonymised copy has no name, address, domain or account id of the account, and is otherwise
// the same.
func TestPullAnonymised(t *testing.T) {
	account := fullAccount(t)
	whole := pulled(t, account)
	var texts [2][]byte // by two keys: one of 500 gives an address that is another's of the account
	var resources map[string]int
	for i := range texts {
		dir := t.TempDir()
		p := world.FromAccount(dir)
		p.Region, p.Call, p.Pause, p.Anonymise = "cn-hangzhou", callsTo(account), func(string, string) time.Duration { return 0 }, true
		report, err := p.Pull(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		resources = report.Resources
		if len(report.LeftOut) > 0 {
			t.Errorf("left out %v", report.LeftOut)
		}
		served := copied{dir: dir}.serve(t)
		if texts[i], err = json.Marshal(tablesOf(t, served.store)); err != nil {
			t.Fatal(err)
		}
	}
	text := texts[0]
	secret := []string{"1234567890123456", "192.168.0.11", "example", "office", "managed-by", "30080/web"}
	for _, kind := range []string{"LoadBalancer", "EIP", "NetworkInterface", "NLBLoadBalancer"} {
		for _, row := range whole.tables[kind] {
			for _, name := range []string{"Address", "IPAddress", "MacAddress"} {
				if value, ok := row[name].(string); ok {
					secret = append(secret, `"`+value+`"`)
				}
			}
			if name, _ := row["Name"].(string); len(name) > 3 && name != "spare" {
				secret = append(secret, `"`+name+`"`)
			}
		}
	}
	for _, s := range secret {
		if bytes.Contains(text, []byte(s)) && bytes.Contains(texts[1], []byte(s)) {
			at := bytes.Index(text, []byte(s))
			t.Errorf("the copy has %s: …%s…", s, text[max(0, at-80):min(len(text), at+80)])
		}
	}
	for kind, n := range whole.counts {
		if resources[kind] != n {
			t.Errorf("the copy has %d of %s, want %d", resources[kind], kind, n)
		}
	}
}

// Thousands of load balancers are copied in little memory, and the estimate of the time is right.
func TestPullMany(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 150
	}
	account := newCloud(t)
	if err := account.store.Update(state.Owner{}, func(tx *state.Tx) error {
		for _, name := range []state.QuotaName{"slb_quota_instances_num", "slb_quota_backendserver_attached_num"} {
			state.Quotas.Put(tx, &state.Quota{AccountID: "1234567890123456", Name: name, Limit: n})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range n {
		for _, s := range []step{
			{"Slb", "CreateLoadBalancer", params{"AddressType": "internet", "InstanceChargeType": "PayByCLCU"}, saveAs("lb", "LoadBalancerId")},
			{"Slb", "CreateVServerGroup", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server(node1, 30080, 100), server(node2, 30080, 100))}, saveAs("rsp", "VServerGroupId")},
			{"Slb", "CreateLoadBalancerTCPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "Bandwidth": "-1", "VServerGroupId": "{rsp}"}, nil},
			{"Slb", "CreateLoadBalancerHTTPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080", "Bandwidth": "-1", "VServerGroupId": "{rsp}", "StickySession": "off", "HealthCheck": "off"}, nil},
		} {
			account.do(s)
		}
	}
	before, most := heap(), int64(0)
	p := world.FromAccount(t.TempDir())
	p.Region, p.Call, p.Pause = "cn-hangzhou", callsTo(account), func(string, string) time.Duration { return time.Millisecond }
	estimated := 0
	p.Estimated = func(calls int, _ time.Duration) { estimated = calls }
	p.Progress = func(done, _ int) {
		if done%2000 == 0 {
			most = max(most, heap())
		}
	}
	report, err := p.Pull(t.Context())
	if err != nil || report.Resources["LoadBalancer"] != n || report.Resources["Listener"] != 2*n || report.Resources["VServerGroup"] != n {
		t.Fatalf("Pull = %+v, %v", report, err)
	}
	used := (max(most, heap()) - before) >> 20
	t.Logf("%d load balancers: %d calls, estimated %d after the lists, %d MB more", n, report.Calls, estimated, used)
	if used > 300 || estimated > report.Calls || estimated < report.Calls*3/4 {
		t.Errorf("%d MB, %d calls, estimated %d", used, report.Calls, estimated)
	}
}

// heap returns the memory in use, in bytes.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // for what pools kept
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
