package rehearse_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/rehearse"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/scenarios"
)

// account is a copy of an account, whose load balancer of the Service shop/web a CCM made, with a listener
// of a person's.
type account struct {
	refuses string // name of an object that the API server does not take
	t       *testing.T
	cloud   *emulator.Emulator
	copy    *cluster.Copy
	lb      string
	made    *smallCCM
}

const objects = `{"kind":"List","items":[
{"kind":"Service","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"1-2-3"},"spec":{"type":"LoadBalancer","ports":[{"port":80,"nodePort":30080}],"selector":{"app":"web"}}},
{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"spec":{"providerID":"cn-hangzhou.i-bp1clbemu0000000001"}},
{"kind":"Node","apiVersion":"v1","metadata":{"name":"n2"},"spec":{"providerID":"cn-hangzhou.i-bp1clbemu0000000002"}},
{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{"name":"web-1","namespace":"shop","labels":{"kubernetes.io/service-name":"web"}},
 "endpoints":[{"addresses":["10.0.0.1"],"nodeName":"n1"},{"addresses":["10.0.0.2"],"nodeName":"n2"}]}]}`

func newAccount(t *testing.T) *account {
	t.Helper()
	e, err := emulator.New(t.Context(), emulator.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	a := &account{t: t, cloud: e, copy: &cluster.Copy{}}
	parsed, err := cluster.Parse([]byte(objects))
	a.copy.Add(parsed...)
	if err := errors.Join(err, a.copy.Trim()); err != nil {
		t.Fatal(err)
	}
	made := a.fill()
	a.lb = made.call("DescribeLoadBalancers", "LoadBalancerName", "a123").List("LoadBalancers", "LoadBalancer")[0].Text("LoadBalancerId")
	made.call("CreateLoadBalancerTCPListener", "LoadBalancerId", a.lb, "ListenerPort", "9000", "Bandwidth", "-1", "BackendServerPort", "9000")
	made.call("StartLoadBalancerListener", "LoadBalancerId", a.lb, "ListenerPort", "9000")
	made.Stop()
	a.made = made
	return a
}

// fill lets the small CCM make what the copy's Services say.
func (a *account) fill() *smallCCM {
	a.t.Helper()
	f := newFakePlane()
	if err := f.plane().Fill(a.t.Context(), a.copy); err != nil || len(a.copy.Notes) > 0 {
		a.t.Fatal(a.copy.Notes, err)
	}
	made := startCCM(f, a.cloud.Handler(), none)
	if _, err := made.Wait(a.t.Context(), 0); err != nil {
		a.t.Fatal(err)
	}
	return made
}

// annotate gives the Services of the copy an annotation.
func (a *account) annotate(name, value string) {
	for _, s := range a.copy.Services {
		s.Map("metadata")["annotations"] = map[string]any{annotation + name: value}
	}
}

func (a *account) setQuota(name, value string) {
	a.t.Helper()
	a.set("quota."+name, value)
}

func (a *account) set(name, value string) {
	a.t.Helper()
	change := controlapi.Change{Settings: []controlapi.Setting{{Name: name, Value: value}}}
	if _, err := controlclient.InProcess(a.cloud.ControlHandler()).SetWorld(a.t.Context(), change); err != nil {
		a.t.Fatal(err)
	}
}

// rehearse plays versions of the small CCM on copies of the account.
func (a *account) rehearse(old, next fault, change ...func(*rehearse.Config)) (*rehearse.Report, error) {
	a.t.Helper()
	var plane *fakePlane
	var handler http.Handler
	var packets emulator.DataPlane
	copied := *a.copy // others rehearse by it meanwhile, and a rehearsal takes out what the API server refuses
	config := &rehearse.Config{
		Copy: &copied, New: "new", Most: time.Hour, Progress: func(string) {},
		Cloud: func(ctx context.Context, around func(http.Handler) http.Handler) (*emulator.Emulator, error) {
			e, err := emulator.New(ctx, emulator.Config{ForkOf: a.cloud.Store(), DataPlane: packets, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
			if err == nil {
				handler = around(e.Handler())
			}
			if err == nil && packets != "" {
				err = e.Start()
			}
			return e, err
		},
		Plane: func(context.Context) (*cluster.Plane, error) {
			plane = newFakePlane()
			plane.refuses = a.refuses
			return plane.plane(), nil
		},
		Start: func(_ context.Context, program string, _ *cluster.Plane, _ *emulator.Emulator) (scenarios.Running, error) {
			if program == "old" {
				return startCCM(plane, handler, old), nil
			}
			return startCCM(plane, handler, next), nil
		},
	}
	for _, c := range change {
		c(config)
	}
	if config.Traffic {
		packets = emulator.Ports
	}
	return config.Run(a.t.Context())
}

func withOld(c *rehearse.Config) { c.Old = "old" }

// TestRehearse proves of each fault of a version that the report names it, in its phase, with what clients
// notice; that a right version is clean; and that what the old version does too is no finding.
func TestRehearse(t *testing.T) {
	a := newAccount(t)
	for _, test := range []struct {
		old, next fault
		change    []func(*rehearse.Config)
		problems  int // -1 for some
		says      []string
	}{
		{next: none, says: []string{"upgrade: nothing changes", "a node leaves: 1 calls, all of which should follow", "changes nothing that it should not"}},
		{next: deletesOthers, problems: -1, says: []string{"shop/web (" + a.lb + ")\n    delete listener 9000\n      clients notice: listener tcp 9000 deleted\n"}},
		{next: startsOver, problems: -1, says: []string{"upgrade: 3 of 3 calls are findings", "delete listener 80\n      clients notice: listener tcp 80 deleted, for "}},
		{next: drains, problems: -1, says: []string{"update VServerGroup k8s/80/web/shop/c1\n      i-bp1clbemu0000000001:30080: weight 0, stored: 100", "clients notice: listener tcp 80 without a server"}},
		{next: misreads, problems: -1, says: []string{"a read of its load balancer is throttled: 3 of 3 calls are findings\n  shop/web (" + a.lb + ")\n    create VServerGroup "}},
		{next: forgets, problems: 1, says: []string{"in the end: unused group k8s/20080/web/shop/c1 is left behind"}},
		{next: schedules, problems: -1, says: []string{"update listener 80\n      Scheduler: rr, stored: wrr"}},
		{old: schedules, next: schedules, change: []func(*rehearse.Config){withOld}, says: []string{"drift, which the old version changes already: 1 calls\n  shop/web (" + a.lb + ")\n    update listener 80\n", "changes nothing that it should not"}},
		{old: schedules, next: schedulesElse, change: []func(*rehearse.Config){withOld}, problems: -1, says: []string{"upgrade: 1 of 1 calls are findings", "Scheduler: wlc, stored: rr"}},
		{old: startsOver, next: startsOver, change: []func(*rehearse.Config){withOld}, says: []string{"changes nothing that it should not"}},
		{old: startsOver, next: startsElse, change: []func(*rehearse.Config){withOld}, problems: -1, says: []string{"    create listener 80\n"}},
		{old: none, next: deletesOthers, change: []func(*rehearse.Config){withOld}, problems: -1, says: []string{"drift, which the old version changes already: 0 calls", "delete listener 9000"}},
		{next: crashes, problems: 1, says: []string{"new ended with status 7. It last wrote:\n    one\n    the last words"}},
		{next: none, change: []func(*rehearse.Config){func(c *rehearse.Config) { c.Quiet, c.Most = time.Hour, 0 }}, problems: 1, says: []string{"new does not rest within 0s. It last wrote:"}},
	} {
		report, err := a.rehearse(test.old, test.next, test.change...)
		if err != nil {
			t.Errorf("%s: %v", test.next, err)
			continue
		}
		text := strings.Join(report.Lines(), "\n")
		if n := report.Problems(); test.problems >= 0 && n != test.problems || test.problems < 0 && n == 0 {
			t.Errorf("%s: %d problems, want %d:\n%s", test.next, n, test.problems, text)
		}
		for _, want := range test.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the report lacks %q:\n%s", test.next, want, text)
			}
		}
	}
}

// TestDeletion proves what the report says of the last step, in which the Services are deleted: what should
// follow is no finding, a preserved load balancer keeps its listeners, a reused one what others made, and
// nothing else is left behind.
func TestDeletion(t *testing.T) {
	t.Parallel()
	const listener = "    delete listener 80\n      clients notice: listener tcp 80 deleted\n"
	for _, test := range []struct {
		annotation string
		next       fault
		problems   int
		says       string
	}{
		{"", none, 0, "the Services are deleted: 1 calls, all of which should follow"},
		{"", abandons, 1, "in the end: load balancer LB is left behind"},
		{"preserve-lb-on-delete", none, 0, "the Services are deleted: 1 calls, all of which should follow"},
		{"preserve-lb-on-delete", abandons, 0, "the Services are deleted: nothing changes"},
		{"preserve-lb-on-delete", strips, 2, "the Services are deleted: 2 of 2 calls are findings\n  shop/web (LB)\n" + listener},
		{"preserve-lb-on-delete", deletesOthers, 3, "delete listener 9000\n"},
		{"id", none, 0, "the Services are deleted: 2 calls, all of which should follow"},
		{"id", abandons, 2, "in the end: group k8s/80/web/shop/c1 is left behind\nin the end: LB listener tcp 80 is left behind"},
		{"id", stops, 3, "SetLoadBalancerStatus\n"},
		{"preserve-lb-on-delete", stops, 1, "SetLoadBalancerStatus\n"},
		{"id", clears, 4, "    remove VServerGroup backends theirs\n      i-bp1clbemu0000000001:30080 goes\n      clients notice: listener tcp 9001 without a server\n"},
		{"id", overreaches, 1, "    delete the load balancer\n"},
	} {
		a := newAccount(t)
		if test.annotation != "" {
			a.annotate(test.annotation, a.lb)
		}
		for port, name := range map[string]string{"9001": "theirs", "8181": "k8s/8181/web/shop/c2"} { // of a person, and of another cluster
			group := a.made.call("CreateVServerGroup", "LoadBalancerId", a.lb, "VServerGroupName", name, "BackendServers", `[{"ServerId":"i-bp1clbemu0000000001","Port":"30080","Weight":"100"}]`).Text("VServerGroupId")
			a.made.call("CreateLoadBalancerTCPListener", "LoadBalancerId", a.lb, "ListenerPort", port, "Bandwidth", "-1", "VServerGroupId", group, "Description", name)
			a.made.call("StartLoadBalancerListener", "LoadBalancerId", a.lb, "ListenerPort", port)
		}
		report, err := a.rehearse(none, test.next)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(report.Lines(), "\n")
		if n, says := report.Problems(), strings.ReplaceAll(test.says, "LB", a.lb); n != test.problems || !strings.Contains(text, says) {
			t.Errorf("%s, %s: %d problems, want %d and %q:\n%s", test.annotation, test.next, n, test.problems, says, text)
		}
	}
}

// TestDriftHidesNothing proves that a change of the new version is a finding though the old version changed the
// same thing as drift: of the edited account, and then no more.
func TestDriftHidesNothing(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	groups := a.made.call("DescribeVServerGroups", "LoadBalancerId", a.lb).List("VServerGroups", "VServerGroup")
	a.made.call("SetVServerGroupAttribute", "VServerGroupId", groups[0].Text("VServerGroupId"), "BackendServers", `[{"ServerId":"i-bp1clbemu0000000001","Port":"30080","Weight":"50"}]`)
	report, err := a.rehearse(none, drains, withOld)
	if err != nil {
		t.Fatal(err)
	}
	const update = "update VServerGroup k8s/80/web/shop/c1"
	if drift := report.Drift.Changes; len(drift) != 1 || drift[0].Words() != update {
		t.Errorf("the drift is %+v, want %s", drift, update)
	}
	if found := report.Phases[0].Findings(); len(found) != 2 || found[0].Words() != update {
		t.Errorf("the upgrade has %d findings, want %s for each of two servers:\n%s", len(found), update, strings.Join(report.Lines(), "\n"))
	}
}

// TestNotesLocks proves that the report says which load balancers are locked: they take no change of any version.
func TestNotesLocks(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.set("account.graceDays", "0")
	a.set("account.arrears", "true")
	report, err := a.rehearse(none, none)
	if err != nil {
		t.Fatal(err)
	}
	if want := "shop/web: its load balancer " + a.lb + " is locked from the start"; !slices.Contains(report.Notes, want) {
		t.Errorf("the notes are %q, want %q", report.Notes, want)
	}
}

// TestShowsWhatIsEditedBack proves that the report shows what both versions change at the next edit of a Service:
// what was edited by hand is among it.
func TestShowsWhatIsEditedBack(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	report, err := a.rehearse(schedules, schedules, withOld)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(report.Lines(), "\n")
	if want := "  the old version too:\n  shop/web (" + a.lb + ")\n    update listener 80\n"; !strings.Contains(text, want) || report.Problems() > 0 {
		t.Errorf("the report lacks %q, or has findings:\n%s", want, text)
	}
}

// TestRehearseBadly plays what can't be played.
func TestRehearseBadly(t *testing.T) {
	a := newAccount(t)
	if _, err := a.rehearse(none, silent, func(c *rehearse.Config) { c.Quiet, c.Most = time.Hour, 0 }); !errors.Is(err, rehearse.ErrIdle) || !strings.Contains(err.Error(), "the last words") {
		t.Errorf("a program that makes no call: %v", err)
	}
	if _, err := a.rehearse(silent, none, withOld, func(c *rehearse.Config) { c.Quiet, c.Most = time.Hour, 0 }); err == nil || !strings.HasPrefix(err.Error(), "the old version: ") {
		t.Errorf("an old version that makes no call: %v", err)
	}
}

// TestRefusedObject proves that an object which the API server refuses is noted, once, and that the
// rehearsal goes on without it, through all steps of both versions.
func TestRefusedObject(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	bad := a.copy.Services[0].Clone()
	bad.Map("metadata")["name"] = "Bad_Name"
	a.copy.Services, a.refuses = append(a.copy.Services, bad), "Bad_Name"
	report, err := a.rehearse(none, none, withOld)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Service shop/Bad_Name: the API server refuses it: Bad_Name is invalid: left out"}; !slices.Equal(report.Notes, want) || report.Problems() > 0 || report.Services != 1 {
		t.Errorf("notes %q, want %q, of %d Services:\n%s", report.Notes, want, report.Services, strings.Join(report.Lines(), "\n"))
	}
}

// TestApply proves what a manifest's Services get, and what they break.
func TestApply(t *testing.T) {
	a := newAccount(t)
	manifest := func(text string) func(*rehearse.Config) {
		return func(c *rehearse.Config) {
			var err error
			if c.Apply, err = cluster.Parse([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	service := func(name string) string {
		return fmt.Sprintf("kind: Service\napiVersion: v1\nmetadata: {name: %s, namespace: shop}\nspec: {type: LoadBalancer, ports: [{port: 81}], selector: {app: web}}\n", name)
	}
	report, err := a.rehearse(none, none, manifest(service("new")))
	if err != nil || len(report.Applied) != 1 || report.Applied[0].Problem != "it has no address" || len(report.Phases) != 2 || len(report.Phases[1].Findings()) != 0 {
		t.Fatalf("a Service whose CCM gives it no address: %v, %+v", err, report)
	}
	if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, "shop/new: it has the endpoints of shop/web") {
		t.Errorf("the notes are %q", notes)
	}
	a.setQuota("slb_quota_instances_num", "1")
	report, err = a.rehearse(none, none, manifest(service("new")))
	if err != nil || len(report.Applied) != 1 || !strings.HasPrefix(report.Applied[0].Problem, "CreateLoadBalancer was refused with ") || report.Problems() == 0 || report.Phases[1].Changes[0].Services != "shop/new" {
		t.Errorf("a Service beyond the quota: %v, %+v", err, report)
	}
}
