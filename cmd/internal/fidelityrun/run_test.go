package fidelityrun_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/cmd/internal/fidelityrun"
	"github.com/clbemu/clbemu/cmd/internal/realcloud"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

const (
	region = "cn-hangzhou"
	keyID  = "LTAI5tFidelityRunKey"
	secret = "s3cretOfTheRealAccount"
)

// account is a second clbemu that stands for the real cloud: at the cloud's host names, with
// a certificate for them, another key, and other ids than the default world's.
type account struct {
	*emulatortest.Server

	clock *state.ManualClock
	ca    *x509.CertPool
	// down refuses connections from then on, and dials counts them.
	down  atomic.Bool
	dials atomic.Int64
	// sending, if set, sees each request before it is sent.
	sending func(*http.Request)
	mapping fidelityrun.Mapping
	ledger  string
	opened  *fidelityrun.Ledger
}

// renamed are ids of the default world and what the account calls them.
var renamed = [][2]string{
	{"vpc-bp1clbemu000000000001", "vpc-bp1account00000000001"}, {"vsw-bp1clbemu000000000001", "vsw-bp1account00000000001"},
	{"vsw-bp1clbemu000000000002", "vsw-bp1account00000000002"}, {"i-bp1clbemu0000000001", "i-bp1account0000001"}, {"i-bp1clbemu0000000002", "i-bp1account0000002"},
	{"id: testid, secret: testsecret", "id: " + keyID + ", secret: " + secret},
}

func newAccount(t *testing.T) *account {
	t.Helper()
	text := string(world.DefaultText)
	for _, r := range renamed {
		if !strings.Contains(text, r[0]) {
			t.Fatalf("the default world has no %s", r[0])
		}
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	of, err := world.Parse("account.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	served, err := emulator.GenerateTLS(dir, []string{"slb." + region + ".aliyuncs.com", "nlb." + region + ".aliyuncs.com", "sts." + region + ".aliyuncs.com", "ecs." + region + ".aliyuncs.com"})
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(filepath.Join(dir, emulator.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	a := &account{clock: state.NewManualClock(time.Now()), ca: x509.NewCertPool(), ledger: filepath.Join(dir, "ledger.jsonl")}
	a.ca.AppendCertsFromPEM(authority)
	a.Server = emulatortest.Start(t, emulatortest.WithClock(a.clock), emulatortest.WithConfig(func(c *emulator.Config) {
		c.World, c.TLS, c.AllowedHosts = of, served, []string{"*.aliyuncs.com"}
	}))
	a.mapping, err = fidelityrun.MakeMapping(region, fidelityrun.Places{VPC: []string{renamed[0][1]}, VSwitches: []string{renamed[1][1], renamed[2][1]},
		Zones: []string{"cn-hangzhou-h", "cn-hangzhou-i"}, Instances: []string{renamed[3][1], renamed[4][1]}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Now and Sleep are the account's time: who waits moves it.
func (a *account) Now() time.Time { return a.clock.Now() }

func (a *account) Sleep(ctx context.Context, d time.Duration) error {
	a.clock.Advance(d)
	return ctx.Err()
}

// RoundTrip sends calls to the account by the names of the cloud's hosts.
func (a *account) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.sending != nil {
		a.sending(r)
	}
	closed := "127.0.0.1:1" // nothing listens there
	over := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: a.ca}, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		host, _, err := net.SplitHostPort(address)
		if err != nil || !strings.HasSuffix(host, "."+region+".aliyuncs.com") {
			return nil, errors.New("no host of the cloud: " + address)
		}
		a.dials.Add(1)
		to := a.Host()
		if a.down.Load() {
			to = closed
		}
		return (&net.Dialer{}).DialContext(ctx, network, to)
	}}
	return over.RoundTrip(r)
}

func (a *account) cloud() *fidelityrun.Cloud {
	return &fidelityrun.Cloud{Cloud: realcloud.Cloud{Region: region, HTTP: &http.Client{Transport: a}, Credentials: realcloud.Credentials{ID: keyID, Secret: secret}, Clock: a, UserAgent: "test"}}
}

// call calls the account as another client of it.
func (a *account) call(t *testing.T, product, action string, params map[string]string) apiclient.Reply {
	t.Helper()
	client := apiclient.Client{URL: "https://slb." + region + ".aliyuncs.com", HTTP: a.cloud().HTTP, AccessKeyID: keyID, AccessKeySecret: secret}
	reply, err := client.Call(emulator.Version(product), action, params)
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("%s = %v, %v", action, reply, err)
	}
	return reply
}

// statements are read once: it takes a while.
var statements = sync.OnceValues(func() ([]*fidelity.File, error) { return fidelity.Load(nil) })

func (a *account) plan(t *testing.T, match string, changes bool) *fidelityrun.Plan {
	t.Helper()
	files, err := statements()
	if err != nil {
		t.Fatal(err)
	}
	p, err := fidelityrun.MakePlan(fidelityrun.Choice{Files: files, Known: emulator.Names().Actions(), Match: glob.Split(match), Region: region, Mapping: a.mapping, Changes: changes})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Cases) == 0 {
		t.Fatalf("no case of %s is planned: %v", match, p.Reasons())
	}
	return p
}

// run returns a run with its ledger.
func (a *account) run(t *testing.T, match string, changes bool) *fidelityrun.Run {
	t.Helper()
	r := &fidelityrun.Run{Cloud: a.cloud(), Plan: a.plan(t, match, changes), Mapping: a.mapping, Version: "test", Record: fidelityrun.NewRecording(region, "2026-11-26")}
	var err error
	if r.Account, err = r.Cloud.Account(t.Context()); err != nil {
		t.Fatal(err)
	}
	if changes {
		r.Ledger = a.open(t)
	}
	return r
}

// open opens the ledger as the next process does, after the last one.
func (a *account) open(t *testing.T) *fidelityrun.Ledger {
	t.Helper()
	if a.opened != nil {
		a.opened.Close()
	}
	l, err := fidelityrun.OpenLedger(a.ledger, "1234567890123456", true)
	if err != nil {
		t.Fatal(err)
	}
	a.opened = l
	t.Cleanup(func() { l.Close() })
	return l
}

// state returns all that exists, but for what the account remembers of calls.
func (a *account) state(t *testing.T) map[string]any {
	t.Helper()
	var export struct{ Tables map[string]any }
	control := &controlclient.Client{URL: a.ControlURL()}
	if err := control.ExportState(t.Context(), func(from io.Reader) error { return json.NewDecoder(from).Decode(&export) }); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"ClientToken", "NLBJob", "AccessKey", "Sequence", "Fault"} {
		delete(export.Tables, of)
	}
	return export.Tables
}

// compare proves that everything is as it was.
func (a *account) compare(t *testing.T, before map[string]any) {
	t.Helper()
	now := a.state(t)
	for name := range now {
		if !reflect.DeepEqual(before[name], now[name]) {
			t.Errorf("table %s was %v, and is %v", name, before[name], now[name])
		}
	}
}

// hides proves that a text has no secret and nothing that is the account's alone.
func hides(t *testing.T, what string, text []byte, more ...string) {
	t.Helper()
	for _, hidden := range append([]string{keyID, secret}, more...) {
		if bytes.Contains(text, []byte(hidden)) {
			at := bytes.Index(text, []byte(hidden))
			t.Errorf("%s has %s: …%s…", what, hidden, text[max(0, at-200):min(len(text), at+200)])
		}
	}
}

// accounts are an account's own ids.
var accounts = []string{"1234567890123456", "vpc-bp1account", "vsw-bp1account", "i-bp1account"}

func written(t *testing.T, report *fidelityrun.Report) []byte {
	t.Helper()
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// heldAsHere proves that each statement held there if it does here.
func heldAsHere(t *testing.T, report *fidelityrun.Report) {
	t.Helper()
	for _, j := range report.Statements {
		want := fidelityrun.Held
		if j.Here != fidelity.Holds {
			want = fidelityrun.Failed
		}
		if j.There != want {
			t.Errorf("%s %s there, and %s here: expected %s, saw %s: %s", j.Statement, j.There, j.Here, j.Expected, j.Instead, j.Reason)
		}
	}
}

// Without leave, only reads are sent, and they hold as published.
func TestReads(t *testing.T) {
	a := newAccount(t)
	before := a.state(t)
	r := a.run(t, "*/*/*", false)
	report, _, err := r.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Statements) < 80 || len(report.Statements) != len(r.Plan.Cases) {
		t.Errorf("%d statements were played, want all %d, more than 80", len(report.Statements), len(r.Plan.Cases))
	}
	heldAsHere(t, report)
	for _, call := range a.Calls(t) {
		if !strings.HasPrefix(call.Action, "Describe") && !strings.HasPrefix(call.Action, "List") && !strings.HasPrefix(call.Action, "Get") {
			t.Errorf("%s was sent, want reads alone", call.Action)
		}
	}
	a.compare(t, before)
	hides(t, "the report", written(t, report), accounts...)
}

// changing are cases of several kinds of things.
const changing = "Slb/CreateVServerGroup/*,Slb/AddBackendServers/*,Slb/SetLoadBalancerDeleteProtection/*,Slb/CreateAccessControlList/a*,Slb/UploadServerCertificate/a*,Slb/UploadCACertificate/a*,Nlb/CreateServerGroup/a*,Slb/CreateLoadBalancer/[a-d]*,Slb/CreateRules/a*"

// Cases that create leave nothing behind, and nothing that was there is touched.
func TestChanges(t *testing.T) {
	a := newAccount(t)
	theirs := a.call(t, "Slb", "CreateLoadBalancer", map[string]string{"AddressType": "internet", "InstanceChargeType": "PayByCLCU", "LoadBalancerName": "shop-of-the-account"})
	a.call(t, "Slb", "CreateAccessControlList", map[string]string{"AclName": "office-of-the-account"})
	before := a.state(t)
	r := a.run(t, changing, true)
	report, left, err := r.Do(t.Context())
	if err != nil || len(left.Left) > 0 {
		t.Fatalf("Do = %v, %v", left, err)
	}
	if len(report.Statements) < 60 {
		t.Errorf("%d statements were played, want more than 60", len(report.Statements))
	}
	heldAsHere(t, report)
	a.compare(t, before)
	kept, err := os.ReadFile(a.ledger)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(a.ledger); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the ledger's mode is %v, %v", info.Mode(), err)
	}
	for _, create := range []string{"CreateLoadBalancer", "CreateAccessControlList", "UploadServerCertificate", "UploadCACertificate", "CreateServerGroup"} {
		if !bytes.Contains(kept, []byte(create)) {
			t.Errorf("the ledger has no %s", create)
		}
	}
	var recording bytes.Buffer
	if err := r.Record.Write(&recording); err != nil {
		t.Fatal(err)
	}
	id := theirs.Text("LoadBalancerId")
	hides(t, "the ledger", kept, id)
	private := append([]string{id, "shop-of-the-account", "office-of-the-account", theirs.Text("Address")}, accounts...)
	hides(t, "the report", written(t, report), private...)
	hides(t, "the recording", recording.Bytes(), append(private, "PRIVATE KEY", "clbemu-fidelity")...)
	var source struct {
		Sources map[string]fidelity.Source `yaml:"sources"`
	}
	if err := yaml.Unmarshal(recording.Bytes(), &source); err != nil {
		t.Fatal(err)
	}
	of := source.Sources["recording"]
	if err := of.Validate(); err != nil || of.Kind != "recording" || !strings.Contains(of.Title, region) {
		t.Errorf("the source is %+v, %v", of, err)
	}
	for _, call := range a.Calls(t, "userAgent=test") {
		if call.Resource == id || slices.Contains(call.Also, id) {
			t.Errorf("%s names a load balancer that the run did not make", call.Action)
		}
	}
}

// A cloud that does otherwise is reported with what came instead.
func TestOtherwise(t *testing.T) {
	a := newAccount(t)
	a.Fault(t, `{name: otherwise, match: {action: DescribeZones}, effect: {error: {httpStatus: 400, custom: true, code: RegionClosed, message: "no zones for lb-bp1secretofaccount at 203.0.113.9"}}}`)
	report, _, err := a.run(t, "Slb/DescribeZones/*,Slb/DescribeRegions/*", false).Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range report.Statements {
		if strings.Contains(j.Statement, "/region-id-") {
			continue // which clbemu refuses before a rule strikes, or which another refusal does not prove
		}
		zones := strings.Contains(j.Statement, "DescribeZones")
		if zones && (j.There != fidelityrun.Failed || !strings.Contains(j.Instead, "400 RegionClosed: no zones for id-1 at address-1")) || !zones && j.There != fidelityrun.Held {
			t.Errorf("%s %s: saw %q", j.Statement, j.There, j.Instead)
		}
	}
	if report.Counts[fidelityrun.Failed] == 0 || report.Counts[fidelityrun.Held] == 0 {
		t.Errorf("counts = %v, want some of both", report.Counts)
	}
}

// A cloud that refuses every call for one reason of its own holds nothing, whichever code it
// gives, even that of a statement.
func TestRefusesEverything(t *testing.T) {
	for _, code := range []string{"AccountIsOnHoliday", "InvalidParameter", "MissingParameter", "IllegalParam"} {
		t.Run(code, func(t *testing.T) {
			a := newAccount(t)
			a.Fault(t, `{name: holiday, match: {action: "Describe*,List*"}, effect: {error: {httpStatus: 400, custom: true, code: `+code+`, message: "no word was looked at"}}}`)
			report, _, err := a.run(t, "Slb/Describe*/*,Nlb/List*/*", false).Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Statements) < 60 {
				t.Errorf("%d statements were played, want 60 or more", len(report.Statements))
			}
			for _, j := range report.Statements {
				// clbemu refuses an unknown region before a rule strikes.
				if j.There == fidelityrun.Held && !strings.HasSuffix(j.Statement, "/region-id-unknown") {
					t.Errorf("%s is held: %s", j.Statement, j.Says)
				}
			}
		})
	}
}

// A cloud that is gone in the middle leaves a ledger with all that exists; a clean deletes
// that once the cloud is back.
func TestGoneInTheMiddle(t *testing.T) {
	a := newAccount(t)
	before := a.state(t)
	r := a.run(t, changing, true)
	creations := 0
	a.sending = func(request *http.Request) {
		if request.URL.Query().Get("Action") == "CreateVServerGroup" {
			if creations++; creations == 3 {
				a.down.Store(true)
			}
		}
	}
	report, _, err := r.Do(t.Context())
	if unreachable := (*realcloud.Unreachable)(nil); !errors.As(err, &unreachable) || report.Stopped == "" {
		t.Fatalf("Do = %v, stopped %q, want it unreachable", err, report.Stopped)
	}
	last := len(report.Statements) - 1
	if report.Statements[last].There != fidelityrun.Undecided {
		t.Errorf("the last statement is %+v, want it undecided", report.Statements[last])
	}
	report.Statements = report.Statements[:last]
	heldAsHere(t, report)
	if len(r.Ledger.Left()) != 1 {
		t.Fatalf("the ledger has %v, want the load balancer", r.Ledger.Left())
	}
	a.down.Store(false)
	l := a.open(t)
	if cleaned, err := a.cloud().Clean(t.Context(), l); err != nil || cleaned.Gone != 1 || len(cleaned.Left) > 0 {
		t.Errorf("Clean = %+v, %v", cleaned, err)
	}
	a.compare(t, before)
	if cleaned, err := a.cloud().Clean(t.Context(), a.open(t)); err != nil || cleaned.Gone != 0 {
		t.Errorf("a second Clean = %+v, %v, want nothing to do", cleaned, err)
	}
}

// Creations whose answers were lost are found by their tags, also by a process that only has
// the ledger, whose last line was cut off.
func TestLostAnswers(t *testing.T) {
	for _, of := range []struct{ action, match string }{
		{"CreateLoadBalancer", "Slb/CreateVServerGroup/*"}, {"UploadCACertificate", "Slb/UploadCACertificate/a*"},
		{"UploadServerCertificate", "Slb/UploadServerCertificate/a*"}, {"CreateAccessControlList", "Slb/CreateAccessControlList/a*"}, {"CreateServerGroup", "Nlb/CreateServerGroup/a*"},
	} {
		t.Run(of.action, func(t *testing.T) {
			a := newAccount(t)
			a.call(t, "Slb", "CreateAccessControlList", map[string]string{"AclName": "theirs"})
			before := a.state(t)
			a.Fault(t, `{name: lost, match: {action: `+of.action+`}, when: {times: 1}, effect: {afterCommit: reset}}`)
			r := a.run(t, of.match, true)
			r.Judged = func(j fidelityrun.Judged, _, _ int) {
				if a.Hits(t, "lost") == 1 {
					a.down.Store(true) // before it can be cleaned
				}
			}
			report, _, err := r.Do(t.Context())
			if err == nil || report.Statements[len(report.Statements)-1].There != fidelityrun.Undecided {
				t.Fatalf("Do = %+v, %v, want it undecided", report.Statements, err)
			}
			if reflect.DeepEqual(before, a.state(t)) {
				t.Fatal("nothing was made, so the test proves nothing")
			}
			file, err := os.OpenFile(a.ledger, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.WriteString(`{"entry":1,"sta`); err != nil {
				t.Fatal(err)
			}
			file.Close()
			a.down.Store(false)
			if cleaned, err := a.cloud().Clean(t.Context(), a.open(t)); err != nil || cleaned.Gone != 1 || len(cleaned.Left) > 0 {
				t.Errorf("Clean = %+v, %v", cleaned, err)
			}
			a.compare(t, before)
		})
	}
}

// Under the published limits the run is never throttled.
func TestStaysUnderLimits(t *testing.T) {
	a := newAccount(t)
	a.World(t, "throttle.profile", "realistic")
	report, _, err := a.run(t, "Slb/CreateLoadBalancerTCPListener/*", true).Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	heldAsHere(t, report)
	calls := a.Calls(t)
	if len(calls) < 300 { // fewer would not reach the limits
		t.Errorf("%d calls were sent, want more than 300", len(calls))
	}
	var created []time.Time
	for _, call := range calls {
		if strings.HasPrefix(call.Code, "Throttling") {
			t.Errorf("%s was throttled", call.Action)
		}
		if call.Action == "CreateLoadBalancer" {
			created = append(created, call.Time)
		}
	}
	const half = 30 // of the 60 in a minute that are published
	for i := half; i < len(created); i++ {
		if passed := created[i].Sub(created[i-half]); passed < time.Minute {
			t.Errorf("%d load balancers were created within %s", half+1, passed)
		}
	}
}

// A throttled call is made again, and what is always throttled is not decided.
func TestThrottled(t *testing.T) {
	for _, of := range []struct {
		times string
		want  string
	}{{"when: {times: 3}, ", fidelityrun.Held}, {"", fidelityrun.Undecided}} {
		a := newAccount(t)
		a.Fault(t, `{name: busy, match: {action: DescribeZones}, `+of.times+`effect: {error: {code: Throttling.User}}}`)
		report, _, err := a.run(t, "Slb/DescribeZones/answers-request-id", false).Do(t.Context())
		if err != nil || report.Statements[0].There != of.want {
			t.Errorf("with %q: %+v, %v, want it %s", of.times, report.Statements, err, of.want)
		}
	}
}

// Ctrl-C in the middle of a creation keeps what it made in the ledger, and deletes it.
func TestInterrupted(t *testing.T) {
	a := newAccount(t)
	before := a.state(t)
	r := a.run(t, changing, true)
	ctx, cancel := context.WithCancel(t.Context())
	creations := 0
	a.sending = func(request *http.Request) {
		if request.URL.Query().Get("Action") == "CreateLoadBalancer" {
			if creations++; creations == 2 {
				cancel()
			}
		}
	}
	report, left, err := r.Do(ctx)
	if !errors.Is(err, context.Canceled) || report.Stopped != "interrupted" || len(left.Left) > 0 || left.Gone != 1 {
		t.Fatalf("Do = %+v, %v, stopped %q", left, err, report.Stopped)
	}
	if report.Counts[fidelityrun.Failed]+report.Counts[fidelityrun.Undecided] > 0 {
		t.Errorf("counts = %v, want no finding of the interruption", report.Counts)
	}
	if creations != 2 {
		t.Errorf("%d load balancers were created, want none after the interruption", creations)
	}
	a.compare(t, before)
}

// A token that expires ends the run; credentials of the account delete what is left.
func TestExpiredToken(t *testing.T) {
	a := newAccount(t)
	before := a.state(t)
	r := a.run(t, changing, true)
	role := a.call(t, "Sts", "AssumeRole", map[string]string{"RoleArn": "acs:ram::1234567890123456:role/tester", "RoleSessionName": "test", "DurationSeconds": "900"})
	given := role.Body["Credentials"].(map[string]any)
	token := given["SecurityToken"].(string)
	r.Cloud.Credentials = realcloud.Credentials{ID: given["AccessKeyId"].(string), Secret: given["AccessKeySecret"].(string), Token: token}
	groups := 0
	a.sending = func(request *http.Request) {
		if request.URL.Query().Get("Action") == "CreateVServerGroup" {
			if groups++; groups == 2 {
				a.clock.Advance(time.Hour)
			}
		}
	}
	report, _, err := r.Do(t.Context())
	rejected := (*realcloud.Rejected)(nil)
	if !errors.As(err, &rejected) || !rejected.Expired() || !strings.Contains(report.Stopped, "expired") {
		t.Fatalf("Do = %v, stopped %q, want it expired", err, report.Stopped)
	}
	if len(r.Ledger.Left()) != 1 || report.Counts[fidelityrun.Failed] > 0 {
		t.Fatalf("left %v, counts %v, want one and no failure", r.Ledger.Left(), report.Counts)
	}
	kept, _ := os.ReadFile(a.ledger)
	for what, text := range map[string][]byte{"the ledger": kept, "the report": written(t, report)} {
		hides(t, what, text, token, r.Cloud.Credentials.ID, r.Cloud.Credentials.Secret)
	}
	// With the wrong key nothing counts as gone.
	wrong := a.cloud()
	wrong.Credentials.ID = "LTAIunknown0000"
	if cleaned, err := wrong.Clean(t.Context(), a.open(t)); err == nil || cleaned.Gone != 0 {
		t.Errorf("Clean with an unknown key = %+v, %v", cleaned, err)
	}
	if cleaned, err := a.cloud().Clean(t.Context(), a.open(t)); err != nil || cleaned.Gone != 1 {
		t.Errorf("Clean = %+v, %v", cleaned, err)
	}
	a.compare(t, before)
}

// What a plan must never have.
func TestPlan(t *testing.T) {
	files, err := statements()
	if err != nil {
		t.Fatal(err)
	}
	choice := fidelityrun.Choice{Files: files, Known: emulator.Names().Actions(), Region: region, Changes: true}
	p, err := fidelityrun.MakePlan(choice)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Cases {
		if strings.Contains(c.Name, "PayType") || strings.Contains(c.Name, "InstanceChargeType") {
			t.Errorf("%s is planned, though it orders something", c.Name)
		}
	}
	var reasons []string
	for _, l := range p.LeftOut {
		reasons = append(reasons, l.Reason)
	}
	for _, want := range []string{"it names i-bp1clbemu0000000001: give what stands for it in the account by --instance", "it has no case"} {
		if !slices.Contains(reasons, want) {
			t.Errorf("nothing is left out since %q", want)
		}
	}
	if len(p.Cases)+len(p.LeftOut) < 3000 {
		t.Errorf("%d cases and %d left out, want every statement in one of them", len(p.Cases), len(p.LeftOut))
	}
	choice.Match = glob.Split("Slb/DescribeZone/*")
	if _, err := fidelityrun.MakePlan(choice); err == nil || !strings.Contains(err.Error(), "Slb/DescribeZone/*") {
		t.Errorf("a pattern of nothing: %v", err)
	}
}

// A case that finds something of the account must not change it, though its plan can't know.
func TestChangesOnlyItsOwn(t *testing.T) {
	a := newAccount(t)
	a.call(t, "Slb", "CreateLoadBalancer", map[string]string{"AddressType": "internet", "InstanceChargeType": "PayByCLCU", "LoadBalancerName": "theirs"})
	before := a.state(t)
	for action, params := range map[string]string{
		"DeleteLoadBalancer": `{LoadBalancerId: "{{lb}}"}`, "SetLoadBalancerName": `{LoadBalancerId: "{{lb}}", LoadBalancerName: ours}`,
		"CreateVServerGroup": `{LoadBalancerId: "{{lb}}", VServerGroupName: ours}`, "TagResources": `{ResourceType: instance, ResourceId.1: "{{lb}}", Tag.1.Key: ours, Tag.1.Value: v}`,
	} {
		file, err := fidelity.Read("slb/"+action+".yaml", []byte(`sources: {page: {title: none, date: 2026, kind: page}}
statements:
  - id: of-others
    class: state
    says: It changes what it finds.
    source: page
    case:
      - call: {action: DescribeLoadBalancers, save: {lb: LoadBalancers.LoadBalancer.0.LoadBalancerId}}
      - call: {action: `+action+`, params: `+params+`}
`), nil)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := fidelityrun.MakePlan(fidelityrun.Choice{Files: []*fidelity.File{file}, Known: emulator.Names().Actions(), Region: region, Mapping: a.mapping, Changes: true})
		if err != nil || len(plan.Cases) != 1 {
			t.Fatalf("%s: %+v, %v", action, plan, err)
		}
		r := &fidelityrun.Run{Cloud: a.cloud(), Plan: plan, Mapping: a.mapping, Ledger: a.open(t), Account: "1234567890123456"}
		report, _, err := r.Do(t.Context())
		if err != nil || report.Statements[0].There != fidelityrun.Undecided || !strings.Contains(report.Statements[0].Reason, "did not make") {
			t.Errorf("%s: %+v, %v, want it not sent", action, report.Statements, err)
		}
		if sent := a.Calls(t, "action="+action, "userAgent=test"); len(sent) > 0 {
			t.Errorf("%s was sent", action)
		}
	}
	a.compare(t, before)
}

// A ledger that can't be written ends the run, which deletes all the same what it created.
// The file stays whole, and a later clean finds that nothing is left.
func TestFullLedger(t *testing.T) {
	a := newAccount(t)
	before := a.state(t)
	r := a.run(t, "Slb/AddAccessControlListEntry/same-entry", true)
	creations := 0
	a.sending = func(q *http.Request) {
		if strings.HasPrefix(q.URL.Query().Get("Action"), "Create") {
			if creations++; creations == 2 {
				r.Ledger.Close()
			}
		}
	}
	report, left, err := r.Do(t.Context())
	if err == nil || strings.Count(err.Error(), "can't keep the ledger") != 1 || len(left.Left) > 0 || report.Stopped == "" {
		t.Errorf("Do = %v, %v, stopped: %s", left, err, report.Stopped)
	}
	a.compare(t, before)
	a.sending = nil
	again := a.open(t)
	if open := len(again.Left()); open != 2 {
		t.Errorf("the file has %d open entries, want 2", open)
	}
	if cleaned, err := a.cloud().Clean(t.Context(), again); err != nil || len(cleaned.Left)+len(again.Left()) > 0 {
		t.Errorf("Clean = %+v, %v", cleaned, err)
	}
}

// A ledger is one account's, and a broken line is an error with its place.
func TestLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l, err := fidelityrun.OpenLedger(path, "1", true)
	if err != nil {
		t.Fatal(err)
	}
	link := path + "-link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if _, err := fidelityrun.OpenLedger(name, "1", true); err == nil || !strings.Contains(err.Error(), "in use by another process") {
			t.Errorf("opened again as %s: %v", name, err)
		}
	}
	l.Close()
	if _, err := fidelityrun.OpenLedger(path, "2", true); err == nil || !strings.Contains(err.Error(), "another account") {
		t.Errorf("with another account: %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(text, "{\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := fidelityrun.OpenLedger(path, "1", true); err == nil || !strings.Contains(err.Error(), path+":2") {
		t.Errorf("with a broken line: %v", err)
	}
}
