package contracttests

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// callsTo returns what a pull calls a cloud by.
func callsTo(c *fixedCloud) func(context.Context, string, string, map[string]string) (int, map[string]any, error) {
	return func(_ context.Context, product, action string, p map[string]string) (int, map[string]any, error) {
		if p == nil {
			p = map[string]string{}
		}
		p["RegionId"] = "cn-hangzhou"
		var reply *httptest.ResponseRecorder = c.send(product, action, "JSON", p)
		var body map[string]any
		err := json.Unmarshal(reply.Body.Bytes(), &body)
		return reply.Code, body, err
	}
}

// copied is a copy of a cloud.
type copied struct {
	dir    string
	tables map[string][]map[string]any
	// unread are the fields that the report says are not in the copy, as Kind.Field.
	unread  []string
	leftOut []string
	refused []string
	counts  map[string]int
}

// pulled copies a cloud into a new folder.
func pulled(t *testing.T, c *fixedCloud) copied {
	t.Helper()
	dir := t.TempDir()
	p := world.FromAccount(dir)
	p.Region, p.Call, p.Pause = "cn-hangzhou", callsTo(c), func(string, string) time.Duration { return 0 }
	report, err := p.Pull(t.Context())
	if err != nil {
		t.Fatalf("pull: %v", err)
	}
	got := copied{dir: dir, counts: report.Resources}
	for _, u := range report.Unread {
		got.unread = append(got.unread, u.Kind+"."+u.Field)
	}
	for _, l := range report.LeftOut {
		got.leftOut = append(got.leftOut, fmt.Sprint(l))
	}
	for _, r := range report.Refused {
		got.refused = append(got.refused, fmt.Sprint(*r))
	}
	got.tables = tablesOf(t, got.serve(t).store)
	return got
}

// serve starts a cloud with the copy.
func (c copied) serve(t *testing.T) *fixedCloud {
	t.Helper()
	e, err := emulator.New(t.Context(), emulator.Config{Fork: c.dir, Clock: state.NewManualClock(start), Seed: 1})
	if err != nil {
		t.Fatalf("serve the copy: %v", err)
	}
	served := &fixedCloud{t: t, api: e.Handler(), store: e.Store(), names: make(names), started: e}
	t.Cleanup(served.close)
	return served
}

// tablesOf returns a state as JSON has it.
func tablesOf(t *testing.T, s *state.Store) map[string][]map[string]any {
	t.Helper()
	export, err := s.Export()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := export.Write(&text); err != nil {
		t.Fatal(err)
	}
	var document struct {
		Tables map[string][]map[string]any
	}
	if err := json.Unmarshal(text.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	delete(document.Tables, "Sequence")
	return document.Tables
}

var aTime = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)

// timeless returns a row without its times, and without some fields.
func timeless(t *testing.T, row map[string]any, without ...string) string {
	t.Helper()
	for _, path := range without {
		drop(row, strings.Split(path, "."))
	}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return aTime.ReplaceAllString(string(text), `"time"`)
}

// drop deletes a field under a path such as Servers[].Port.
func drop(from any, path []string) {
	object, ok := from.(map[string]any)
	if !ok {
		return
	}
	name, each := strings.CutSuffix(path[0], "[]")
	switch within := object[name]; {
	case len(path) == 1:
		delete(object, name)
	case each:
		list, _ := within.([]any)
		for _, e := range list {
			drop(e, path[1:])
		}
	default:
		drop(within, path[1:])
	}
}

// sorted returns the rows of a table as texts.
func sorted(t *testing.T, rows []map[string]any, without ...string) (texts []string) {
	t.Helper()
	for _, row := range rows {
		texts = append(texts, timeless(t, row, without...))
	}
	slices.Sort(texts)
	return texts
}

// hiddenIn are fields that answers leave out of some resources: the report says so.
var hiddenIn = map[string][]string{"Region": {"ZonePairs"}, "ResourceGroup": {"Name", "DisplayName"}, "Account": {"NLB"}}

// hide deletes what answers leave out of a listener that redirects, and of a check that is off.
func hide(row map[string]any) {
	if row["ListenerForward"] == "on" {
		for _, name := range []string{"Bandwidth", "HealthCheck", "StickySession", "Gzip", "IdleTimeout", "RequestTimeout"} {
			delete(row, name)
		}
	}
	if row["Status"] != "Stopped" {
		delete(row, "StoppedMode")
	}
	if row["WhiteListStatus"] == "off" { // as one that was never opened
		delete(row, "WhiteListStatus")
	}
	if check, ok := row["HealthCheck"].(map[string]any); ok && (check["Switch"] == "off" || check["Switch"] == "") {
		row["HealthCheck"] = map[string]any{}
	}
}

// fullAccount returns an account with a resource of every kind.
func fullAccount(t *testing.T) *fixedCloud {
	t.Helper()
	steps := slices.Concat(nlbFixtures, []step{uploaded, aPair, aPairInUse, aPolicy, aPolicyInUse, aWhiteList, aDrainingUDP, anAccessLog, aMonitor, newIPv6Gateway, newNATGateway, keepNATGateway, keepPackage})
	account := preparedCloud(t, steps...)
	if err := account.store.Update(state.Owner{}, func(tx *state.Tx) error {
		state.Quotas.Put(tx, &state.Quota{AccountID: "1234567890123456", Name: "slb_quota_listeners_num", Limit: 77})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return account
}

// A copy of a copy is the copy, but for times, and has what the account has, but for what its
// report lists.
func TestPull(t *testing.T) {
	account := fullAccount(t)
	first := pulled(t, account)
	if len(first.leftOut)+len(first.refused) > 0 {
		t.Errorf("left out %v, refused %v", first.leftOut, first.refused)
	}
	if want := 30; len(first.counts) < want {
		t.Errorf("the copy has %d kinds, want %d: %v", len(first.counts), want, first.counts)
	}
	compareTwice(t, first)
	compareCopy(t, account, first)
}

// The same holds of what each case of the golden files leaves behind.
func TestPullCases(t *testing.T) {
	n := 0
	for _, c := range apiCases() {
		if c.code != "" || !isWrite(c.product, c.action) {
			continue
		}
		if n++; testing.Short() && n%20 != 0 {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			account := preparedCloud(t, slices.Concat(c.before, []step{{c.product, c.action, c.params, nil}})...)
			first := pulled(t, account)
			compareTwice(t, first)
			compareCopy(t, account, first)
		})
	}
}

func isWrite(product, action string) bool {
	for _, p := range products.All() {
		if p.Name == product {
			return slices.ContainsFunc(p.Actions, func(a products.Action) bool { return a.Name == action && a.Mutates })
		}
	}
	return false
}

// compareTwice compares a copy with the copy of it.
func compareTwice(t *testing.T, first copied) {
	t.Helper()
	second := pulled(t, first.serve(t))
	for kind, rows := range first.tables {
		if one, other := sorted(t, rows), sorted(t, second.tables[kind]); !slices.Equal(one, other) {
			t.Errorf("%s is\n%s\nand in the copy of the copy\n%s", kind, strings.Join(one, "\n"), strings.Join(other, "\n"))
		}
	}
	for kind := range second.tables {
		if first.tables[kind] == nil {
			t.Errorf("the copy of the copy has a %s", kind)
		}
	}
}

// compareCopy compares a copy with the account, without the fields that the copy's report lists.
func compareCopy(t *testing.T, account *fixedCloud, copy copied) {
	t.Helper()
	of := tablesOf(t, account.store)
	for kind := range copy.counts {
		without := slices.Clone(hiddenIn[kind])
		for _, u := range copy.unread {
			if field, ok := strings.CutPrefix(u, kind+"."); ok {
				without = append(without, field)
			}
		}
		var inRegion []map[string]any
		for _, row := range of[kind] {
			if row["RegionID"] == nil && kind != "Region" || row["RegionID"] == "cn-hangzhou" || row["ID"] == "cn-hangzhou" {
				hide(row)
				inRegion = append(inRegion, row)
			}
		}
		for _, row := range copy.tables[kind] {
			hide(row)
		}
		want, got := sorted(t, inRegion, without...), sorted(t, copy.tables[kind], without...)
		for _, row := range want {
			if !slices.Contains(got, row) {
				t.Errorf("%s: the copy lacks %s", kind, row)
			}
		}
		for _, row := range got {
			if !slices.Contains(want, row) {
				t.Errorf("%s: the copy has    %s", kind, row)
			}
		}
	}
}

// Without the permission for one action, the rest is copied, and the report says what is missing.
func TestPullRefused(t *testing.T) {
	account := fullAccount(t)
	whole := pulled(t, account)
	for _, allowed := range world.FromAccount("").Actions() {
		_, denied, _ := strings.Cut(allowed, ":")
		p := world.FromAccount(t.TempDir())
		asked := callsTo(account)
		p.Region, p.Pause = "cn-hangzhou", func(string, string) time.Duration { return 0 }
		p.Call = func(ctx context.Context, product, action string, params map[string]string) (int, map[string]any, error) {
			if action == denied {
				return 403, map[string]any{"Code": "Forbidden.RAM", "Message": "User not authorized to operate on the specified resource."}, nil
			}
			return asked(ctx, product, action, params)
		}
		report, err := p.Pull(t.Context())
		if err != nil {
			t.Errorf("without %s: %v", denied, err)
			continue
		}
		if len(report.Refused) == 0 || report.Refused[0].Action != denied || report.Refused[0].Code != "Forbidden.RAM" || report.Refused[0].Missing == "" {
			t.Errorf("without %s the report has %v", denied, report.Refused)
		}
		for kind, n := range report.Resources {
			if n > whole.counts[kind] {
				t.Errorf("without %s there are %d of %s, and else %d", denied, n, kind, whole.counts[kind])
			}
		}
		if denied != "DescribeVpcs" && report.Resources["VPC"] != whole.counts["VPC"] {
			t.Errorf("without %s there are %d VPCs, want %d", denied, report.Resources["VPC"], whole.counts["VPC"])
		}
	}
}

// Who may read nothing gets an error.
func TestPullNothing(t *testing.T) {
	p := world.FromAccount(t.TempDir())
	asked := callsTo(newCloud(t))
	p.Region = "cn-hangzhou"
	p.Call = func(ctx context.Context, product, action string, params map[string]string) (int, map[string]any, error) {
		if product == "Sts" {
			return asked(ctx, product, action, params)
		}
		return 403, map[string]any{"Code": "NoPermission", "Message": "no"}, nil
	}
	if _, err := p.Pull(t.Context()); err == nil || !strings.Contains(err.Error(), "read nothing") || !strings.Contains(err.Error(), "NoPermission") {
		t.Errorf("Pull = %v", err)
	}
}

// A pull that is cut off anywhere leaves a folder that is not served, and goes on to the same copy.
func TestPullResumes(t *testing.T) {
	account := preparedCloud(t)
	whole := pulled(t, account)
	asked := callsTo(account)
	for cut := 0; ; cut += 29 {
		dir, left := t.TempDir(), cut
		p := world.FromAccount(dir)
		p.Region, p.Pause = "cn-hangzhou", func(string, string) time.Duration { return 0 }
		p.Call = func(ctx context.Context, product, action string, params map[string]string) (int, map[string]any, error) {
			if product != "Sts" {
				if left--; left < 0 {
					return 0, nil, context.Canceled
				}
			}
			return asked(ctx, product, action, params)
		}
		if _, err := p.Pull(t.Context()); err == nil {
			if cut < 60 {
				t.Errorf("%d calls are enough", cut)
			}
			return
		}
		if _, err := emulator.New(t.Context(), emulator.Config{Fork: dir}); err == nil || !strings.Contains(err.Error(), "did not finish") {
			t.Fatalf("cut after %d calls, the folder is forked: %v", cut, err)
		}
		if _, err := emulator.OpenStopped(t.Context(), emulator.StoppedConfig{DataDir: dir, Access: emulator.Creates}); err == nil {
			t.Fatalf("cut after %d calls, the folder is opened", cut)
		}
		if _, err := p.Pull(t.Context()); err == nil || !strings.Contains(err.Error(), "did not finish") {
			t.Fatalf("cut after %d calls, another pull begins: %v", cut, err)
		}
		p.Resume, left = true, 1_000_000
		report, err := p.Pull(t.Context())
		if err != nil || report.Calls == 0 {
			t.Fatalf("resumed after %d calls: %v", cut, err)
		}
		again := copied{dir: dir}
		for kind, rows := range tablesOf(t, again.serve(t).store) {
			if one, other := sorted(t, rows), sorted(t, whole.tables[kind]); !slices.Equal(one, other) {
				t.Errorf("resumed after %d calls, %s is %v, want %v", cut, kind, one, other)
			}
		}
	}
}

// A pull that was to replace names says that what it keeps has them, and keeps nothing in the end.
func TestPullAnonymisedIsCut(t *testing.T) {
	asked, left := callsTo(preparedCloud(t)), 40
	dir := t.TempDir()
	p := world.FromAccount(dir)
	p.Region, p.Anonymise, p.Pause = "cn-hangzhou", true, func(string, string) time.Duration { return 0 }
	p.Call = func(ctx context.Context, product, action string, params map[string]string) (int, map[string]any, error) {
		if left--; left < 0 {
			return 0, nil, context.Canceled
		}
		return asked(ctx, product, action, params)
	}
	if _, err := p.Pull(t.Context()); err == nil {
		t.Fatal("40 calls are enough")
	}
	if err := p.Unfinished(); err == nil || !strings.Contains(err.Error(), "pull.jsonl has the account's own names and addresses") {
		t.Errorf("the folder of a pull that is cut: %v", err)
	}
	p.Resume, left = true, 1_000_000
	if _, err := p.Pull(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "pull.jsonl")); !errors.Is(err, fs.ErrNotExist) || p.Unfinished() != nil {
		t.Errorf("after the end the answers are still there: %v, %v", err, p.Unfinished())
	}
}

// A load balancer whose last listener went takes one again, on the copy too.
func TestPullWithoutListeners(t *testing.T) {
	account := preparedCloud(t)
	answer := func(c *fixedCloud, action string, p map[string]string) map[string]any {
		t.Helper()
		status, body, err := callsTo(c)(t.Context(), "Slb", action, p)
		if err != nil || status != 200 {
			t.Fatalf("%s = %d %v (%v)", action, status, body, err)
		}
		return body
	}
	lb := answer(account, "CreateLoadBalancer", map[string]string{"AddressType": "internet", "InstanceChargeType": "PayByCLCU"})["LoadBalancerId"].(string)
	listener := map[string]string{"LoadBalancerId": lb, "ListenerPort": "80", "Bandwidth": "-1", "BackendServerPort": "80"}
	answer(account, "CreateLoadBalancerTCPListener", listener)
	answer(account, "DeleteLoadBalancerListener", map[string]string{"LoadBalancerId": lb, "ListenerPort": "80"})
	answer(pulled(t, account).serve(t), "CreateLoadBalancerTCPListener", listener)
}
