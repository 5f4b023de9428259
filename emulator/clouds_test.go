package emulator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// running returns an emulator closed with the test, and a client of its control API.
func running(t *testing.T, cfg emulator.Config) (*emulator.Emulator, *controlclient.Client) {
	t.Helper()
	if cfg.Listen == "" {
		cfg.Listen, cfg.ControlListen = "127.0.0.1:0", "127.0.0.1:0"
	}
	e := mustNew(t, cfg)
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e, &controlclient.Client{URL: "http://" + e.ControlAddr()}
}

func mustFork(t testing.TB, c *controlclient.Client, name string, made controlapi.NewCloud) controlapi.Cloud {
	t.Helper()
	created, err := c.CreateCloud(t.Context(), name, made)
	if err != nil {
		t.Fatalf("fork %s: %v", name, err)
	}
	return created
}

// within returns a client of the control API of a cloud.
func within(c *controlclient.Client, cloud string) *controlclient.Client {
	inner := *c
	if cloud != "" {
		inner.URL += "/clouds/" + cloud
	}
	return &inner
}

// caller returns a client of the API that names a cloud by its access key.
func caller(e *emulator.Emulator, cloud string) *apiclient.Client {
	c := &apiclient.Client{URL: "http://" + e.Addr(), AccessKeyID: apiclient.AccessKeyID, AccessKeySecret: apiclient.AccessKeySecret}
	if cloud != "" {
		c.AccessKeyID = cloud + "." + c.AccessKeyID
	}
	return c
}

// TestForkWithin proves that a fork is of the cloud in whose path the call is, unless it names
// another.
func TestForkWithin(t *testing.T) {
	_, c := running(t, emulator.Config{})
	mustFork(t, c, "a", controlapi.NewCloud{})
	for path, want := range map[string]string{"": controlapi.DefaultCloud, "default": controlapi.DefaultCloud, "a": "a"} {
		if forked := mustFork(t, within(c, path), "of-"+path+"x", controlapi.NewCloud{}); forked.From != want {
			t.Errorf("in the path of %q a fork is of %s, want %s", path, forked.From, want)
		}
	}
	if forked := mustFork(t, within(c, "a"), "named", controlapi.NewCloud{From: controlapi.DefaultCloud}); forked.From != controlapi.DefaultCloud {
		t.Errorf("a fork that names its origin is of %s", forked.From)
	}
	if _, err := within(c, "nosuch").CreateCloud(t.Context(), "lost", controlapi.NewCloud{}); err == nil || !strings.Contains(err.Error(), "no such cloud") {
		t.Errorf("a fork in the path of no cloud = %v", err)
	}
}

func countBalancers(t *testing.T, c *apiclient.Client) any {
	t.Helper()
	reply, err := c.Call(emulator.Version("Slb"), "DescribeLoadBalancers", map[string]string{"RegionId": "cn-hangzhou"})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("describe: %v, %v", reply, err)
	}
	return reply.Body["TotalCount"]
}

func makeBalancer(t *testing.T, c *apiclient.Client) string {
	t.Helper()
	reply, err := c.Call(emulator.Version("Slb"), "CreateLoadBalancer", map[string]string{"RegionId": "cn-hangzhou", "InstanceChargeType": "PayByCLCU"})
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("create: %v, %v", reply, err)
	}
	return reply.Text("LoadBalancerId")
}

// TestCloudsAreReached proves that a client reaches its cloud by access key, by host and
// by port, under both signatures, and no other.
func TestCloudsAreReached(t *testing.T) {
	e, control := running(t, emulator.Config{Seed: 1, StrictAuth: true})
	makeBalancer(t, caller(e, ""))
	made := mustFork(t, control, "team-a", controlapi.NewCloud{Port: true})
	mustFork(t, control, "team-b", controlapi.NewCloud{From: "team-a"})
	if want := strings.Replace(e.Addr(), "127.0.0.1", "team-a.localhost", 1); made.Host != want || made.API == "http://"+e.Addr() {
		t.Errorf("the fork is at %s and %s, want %s and a port of its own", made.Host, made.API, want)
	}
	byPort := caller(e, "")
	byPort.URL = made.API
	byHost := caller(e, "")
	byHost.HTTP = &http.Client{Transport: hosted("team-a.localhost")}
	for _, way := range []struct {
		name   string
		client *apiclient.Client
	}{{"key", caller(e, "team-a")}, {"port", byPort}, {"host", byHost}} {
		before := countBalancers(t, way.client).(float64)
		makeBalancer(t, way.client)
		if got := countBalancers(t, way.client); got != before+1 {
			t.Errorf("by %s there are %v load balancers, want %v", way.name, got, before+1)
		}
	}
	for cloud, want := range map[string]float64{"": 1, "team-a": 4, "team-b": 1} {
		if got := countBalancers(t, caller(e, cloud)); got != want {
			t.Errorf("the cloud %q has %v load balancers, want %v", cloud, got, want)
		}
	}
	calls, err := within(control, "team-b").Journal(t.Context(), nil)
	if err != nil || len(calls.Entries) != 1 || calls.Entries[0].AccessKeyID != apiclient.AccessKeyID {
		t.Errorf("the journal of team-b has %+v, %v, want its one call", calls.Entries, err)
	}
}

// hosted sends calls with a host of their own.
type hosted string

func (h hosted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = string(h)
	return http.DefaultTransport.RoundTrip(r)
}

// TestCloudsRefuse proves that names, keys and hosts that are wrong or stand for two
// clouds are refused, with or without signatures, and reach no other cloud.
func TestCloudsRefuse(t *testing.T) {
	e, control := running(t, emulator.Config{Seed: 1, StrictAuth: true})
	mustFork(t, control, "a", controlapi.NewCloud{})
	mustFork(t, control, "b", controlapi.NewCloud{})
	for _, test := range []struct {
		name, want string
		made       controlapi.NewCloud
	}{
		{"a", "there is a cloud a", controlapi.NewCloud{}},
		{"default", "from the start", controlapi.NewCloud{}},
		{"clbemu", "from the start", controlapi.NewCloud{}},
		{"x/../y", "no such path", controlapi.NewCloud{}},
		{"<b>", "is not a name", controlapi.NewCloud{}},
		{"A", "is not a name", controlapi.NewCloud{}},
		{"a.b", "is not a name", controlapi.NewCloud{}},
		{strings.Repeat("n", 300), "is not a name", controlapi.NewCloud{}},
		{"c", "there is no such cloud", controlapi.NewCloud{From: "unknown"}},
		{"c", "would have expired", controlapi.NewCloud{Expires: "2020-01-02T15:04:05Z"}},
		{"c", "would have expired", controlapi.NewCloud{Expires: "-5m"}},
		{"c", "expires is a duration", controlapi.NewCloud{Expires: "soon"}},
		{"c", "hundred years", controlapi.NewCloud{Expires: "2000000h"}},
		{"c", "needs a data folder", controlapi.NewCloud{Durable: true}},
	} {
		if _, err := control.CreateCloud(t.Context(), test.name, test.made); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("create %.20s with %+v: %v, want %s", test.name, test.made, err, test.want)
		}
	}
	if list, err := control.Clouds(t.Context()); err != nil || len(list) != 3 {
		t.Errorf("there are %+v, %v, want default, a and b", list, err)
	}
	for name, do := range map[string]error{
		"delete the default": control.DeleteCloud(t.Context(), "default"), "delete an unknown": control.DeleteCloud(t.Context(), "c"),
		"journal of an unknown": within(control, "c").Ready(t.Context()),
	} {
		if do == nil {
			t.Errorf("%s: done, want it refused", name)
		}
	}
	if _, err := control.ResetCloud(t.Context(), "c"); err == nil || !strings.Contains(err.Error(), "no such cloud") {
		t.Errorf("reset of an unknown cloud: %v", err)
	}
	both := caller(e, "b")
	both.HTTP = &http.Client{Transport: hosted("a.localhost")}
	gone := caller(e, "")
	gone.HTTP = &http.Client{Transport: hosted("c.localhost")}
	for what, c := range map[string]*apiclient.Client{"key of b at the host of a": both, "host of no cloud": gone, "key of no cloud": caller(e, "c")} {
		if reply, err := c.Call(emulator.Version("Slb"), "CreateLoadBalancer", nil); err != nil || reply.Body["Code"] != "Forbidden.Caller" {
			t.Errorf("%s: %v, %v, want it refused", what, reply, err)
		}
	}
	// A key of the default cloud that looks like one of a fork belongs to neither.
	if _, err := control.SetWorld(t.Context(), controlapi.Change{Settings: []controlapi.Setting{{Name: "key.a.testid.secret", Value: "s"}}}); err != nil {
		t.Fatal(err)
	}
	if reply, err := caller(e, "a").Call(emulator.Version("Slb"), "DescribeRegions", nil); err != nil || !strings.Contains(fmt.Sprint(reply.Body["Message"]), "two clouds") {
		t.Errorf("a key of two clouds: %v, %v", reply, err)
	}
	if err := control.DeleteCloud(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := control.CreateCloud(t.Context(), "a", controlapi.NewCloud{}); err == nil || !strings.Contains(err.Error(), "two clouds") {
		t.Errorf("a cloud for a key that is there: %v", err)
	}
	open, openControl := running(t, emulator.Config{Seed: 1})
	mustFork(t, openControl, "a", controlapi.NewCloud{})
	if reply, err := caller(open, "c").Call(emulator.Version("Slb"), "CreateLoadBalancer", nil); err != nil || reply.Body["Code"] != "Forbidden.Caller" {
		t.Errorf("without signatures, a key of no cloud: %v, %v", reply, err)
	}
}

// program plays random calls and changes in a cloud, and returns what came back.
type program struct {
	*rand.Rand
	api      *apiclient.Client
	control  *controlclient.Client
	ids      []string
	answered bytes.Buffer
}

func newProgram(e *emulator.Emulator, control *controlclient.Client, cloud string, seed uint64) *program {
	return &program{Rand: rand.New(rand.NewPCG(seed, 1)), api: caller(e, cloud), control: within(control, cloud)}
}

func (p *program) step(t *testing.T, n int) {
	t.Helper()
	id := "lb-none"
	if len(p.ids) > 0 {
		id = p.ids[p.IntN(len(p.ids))]
	}
	call := func(action string, params map[string]string) {
		reply, err := p.api.Call(emulator.Version("Slb"), action, params)
		if err != nil {
			t.Fatal(err)
		}
		if made := reply.Text("LoadBalancerId"); action == "CreateLoadBalancer" && made != "" {
			p.ids = append(p.ids, made)
		}
		delete(reply.Body, "HostId")
		text, err := json.Marshal(reply.Body)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&p.answered, "%d %s %d %s\n", n, action, reply.Status, text)
	}
	did := func(what string, err error) { fmt.Fprintln(&p.answered, n, what, err) }
	switch p.IntN(9) {
	case 0, 1:
		call("CreateLoadBalancer", map[string]string{"InstanceChargeType": "PayByCLCU", "ClientToken": fmt.Sprint("token-", p.IntN(30))})
	case 2:
		call("CreateVServerGroup", map[string]string{"LoadBalancerId": id, "VServerGroupName": fmt.Sprint("group-", n)})
	case 3:
		call("DeleteLoadBalancer", map[string]string{"LoadBalancerId": id})
	case 4:
		call("DescribeLoadBalancers", nil)
	case 5:
		_, err := p.control.SetWorld(t.Context(), controlapi.Change{Settings: []controlapi.Setting{{Name: "quota.slb_quota_instances_num", Value: fmt.Sprint(1 + p.IntN(20))}}})
		did("world", err)
	case 6:
		_, err := p.control.AddFaults(t.Context(), "", []byte(fmt.Sprintf("{name: f%d, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {error: {code: ServiceUnavailable}}}", p.IntN(3))))
		did("fault", err)
	case 7:
		did("clock", p.control.SetClock(t.Context(), controlapi.ClockChange{Advance: fmt.Sprint(1+p.IntN(90), "m")}))
	case 8:
		call("DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
	}
}

// end returns all that the cloud shows of itself.
func (p *program) end(t *testing.T) string {
	t.Helper()
	page, err := p.control.Journal(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Entries {
		e.Milliseconds = 0
	}
	journal, err := json.Marshal(page.Entries)
	if err != nil {
		t.Fatal(err)
	}
	var export, metrics bytes.Buffer
	if err := p.control.ExportState(t.Context(), func(r io.Reader) error {
		_, err := export.ReadFrom(r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := p.control.Metrics(t.Context(), &metrics); err != nil {
		t.Fatal(err)
	}
	var counted []string
	for line := range strings.Lines(metrics.String()) {
		if strings.HasPrefix(line, "clbemu_calls_total") || strings.HasPrefix(line, "clbemu_resources") {
			counted = append(counted, line)
		}
	}
	return p.answered.String() + "\n" + string(journal) + "\n" + export.String() + "\n" + strings.Join(counted, "")
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d\n%.600s\n%.600s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(a), len(b))
}

func settled() (goroutines int, memory uint64) {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return runtime.NumGoroutine(), m.HeapAlloc
}

// free reports whether nothing listens at the address of a URL, which another process may have
// taken while an emulator was down.
func free(url string) bool {
	l, err := net.Listen("tcp", strings.TrimPrefix(url, "http://"))
	if err == nil {
		l.Close()
	}
	return err == nil
}

// TestCloudExpires proves that a cloud goes when its time is over, and its calls with it.
func TestCloudExpires(t *testing.T) {
	e, control := running(t, emulator.Config{Seed: 1})
	mustFork(t, control, "short", controlapi.NewCloud{Expires: "50ms"})
	await.Until(t, "the cloud expires", func() bool {
		list, err := control.Clouds(t.Context())
		return err == nil && len(list) == 1
	})
	if reply, err := caller(e, "short").Call(emulator.Version("Slb"), "DescribeRegions", nil); err != nil || reply.Status != http.StatusForbidden {
		t.Errorf("a call after the end: %v, %v", reply, err)
	}
}

// TestCloudResets proves that a reset cloud is as the one that it was forked from, and
// keeps its port.
func TestCloudResets(t *testing.T) {
	e, control := running(t, emulator.Config{Seed: 1})
	made := mustFork(t, control, "a", controlapi.NewCloud{Port: true})
	first := makeBalancer(t, caller(e, "a"))
	makeBalancer(t, caller(e, ""))
	reset, err := control.ResetCloud(t.Context(), "a")
	if err != nil || reset.API != made.API || reset.Calls != 0 {
		t.Fatalf("reset: %+v, %v, want the port of %s", reset, err, made.API)
	}
	byPort := caller(e, "")
	byPort.URL = reset.API
	if got := countBalancers(t, byPort); got != 1.0 {
		t.Errorf("after the reset there are %v load balancers, want the one of the default cloud", got)
	}
	if again := makeBalancer(t, byPort); again != first {
		t.Errorf("after the reset %s is made, want %s as before", again, first)
	}
	mustFork(t, control, "b", controlapi.NewCloud{From: "a"})
	if err := control.DeleteCloud(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := control.ResetCloud(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), "b was forked") {
		t.Errorf("reset of b without a: %v", err)
	}
	if got := countBalancers(t, caller(e, "b")); got != 2.0 {
		t.Errorf("b has %v load balancers, want 2 as before", got)
	}
}

// TestDurableClouds proves that a durable cloud is there after a restart, with state,
// port and expiry; one in memory is not; one that expired meanwhile, or was left
// unfinished by a crash, is deleted; and a damaged one is left alone.
func TestDurableClouds(t *testing.T) {
	dir := t.TempDir()
	run := func(use func(e *emulator.Emulator, control *controlclient.Client)) {
		e := mustNew(t, emulator.Config{DataDir: dir, Seed: 1, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
		if err := e.Start(); err != nil {
			t.Fatal(err)
		}
		use(e, &controlclient.Client{URL: "http://" + e.ControlAddr()})
		if err := e.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	var kept controlapi.Cloud
	var id string
	run(func(e *emulator.Emulator, control *controlclient.Client) {
		kept = mustFork(t, control, "kept", controlapi.NewCloud{Durable: true, Port: true, Expires: "never"})
		mustFork(t, control, "lost", controlapi.NewCloud{})
		mustFork(t, control, "late", controlapi.NewCloud{Durable: true, Expires: "1h"})
		mustFork(t, control, "hurt", controlapi.NewCloud{Durable: true})
		mustFork(t, control, "half", controlapi.NewCloud{Durable: true})
		mustFork(t, control, "gone", controlapi.NewCloud{Durable: true})
		mustFork(t, control, "itself", controlapi.NewCloud{Durable: true})
		if _, err := control.ResetCloud(t.Context(), "kept"); err != nil { // which a restart finds too
			t.Fatal(err)
		}
		id = makeBalancer(t, caller(e, "kept"))
		if err := control.DeleteCloud(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
	})
	clouds := filepath.Join(dir, "clouds")
	if _, err := os.Stat(filepath.Join(clouds, "gone")); !os.IsNotExist(err) {
		t.Errorf("the folder of a deleted cloud is there: %v", err)
	}
	info, err := os.Stat(filepath.Join(clouds, "kept", "cloud.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("cloud.json has mode %v, %v, want 0600", info.Mode(), err)
	}
	// edit changes what is kept about a cloud.
	edit := func(name string, change func(fields map[string]any)) {
		t.Helper()
		file := filepath.Join(clouds, name, "cloud.json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		change(fields)
		text, err = json.Marshal(fields)
		if err := errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	edit("late", func(fields map[string]any) { fields["expires"] = "2020-01-01T00:00:00Z" })
	edit("itself", func(fields map[string]any) { fields["made"].(map[string]any)["from"] = "itself" })
	for _, err := range []error{os.WriteFile(filepath.Join(clouds, "hurt", "cloud.json"), []byte("{"), 0o600),
		os.Remove(filepath.Join(clouds, "half", "cloud.json")),
		os.Mkdir(filepath.Join(clouds, "crashed"), 0o700), os.WriteFile(filepath.Join(clouds, "crashed", "cloud.part"), nil, 0o600),
		os.Mkdir(filepath.Join(clouds, "my backup"), 0o700), os.WriteFile(filepath.Join(clouds, "my backup", "notes"), []byte("mine"), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	run(func(e *emulator.Emulator, control *controlclient.Client) {
		list, err := control.Clouds(t.Context())
		if err != nil || len(list) != 4 || list[3].Name != "kept" || list[3].Expires != nil || list[3].API != kept.API && free(kept.API) {
			t.Fatalf("after a restart there are %+v, %v, want hurt, itself, and kept at %s", list, err, kept.API)
		}
		if !strings.Contains(list[1].Problem, "the durable cloud hurt could not be opened: ") || !strings.Contains(list[2].Problem, "forked from itself") {
			t.Errorf("the clouds that can't be opened are %+v", list[1:3])
		}
		reply, err := caller(e, "kept").Call(emulator.Version("Slb"), "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
		if err != nil || reply.Status != http.StatusOK {
			t.Errorf("the load balancer of before: %v, %v", reply, err)
		}
		if _, err := control.CreateCloud(t.Context(), "hurt", controlapi.NewCloud{Durable: true}); err == nil || !strings.Contains(err.Error(), "could not be opened") {
			t.Errorf("a cloud in place of a damaged one: %v", err)
		}
		if _, err := control.ResetCloud(t.Context(), "hurt"); err == nil || !strings.Contains(err.Error(), "could not be opened") {
			t.Errorf("a reset of a damaged cloud: %v", err)
		}
		if err := control.DeleteCloud(t.Context(), "hurt"); err != nil {
			t.Errorf("delete a damaged cloud: %v", err)
		}
		mustFork(t, control, "hurt", controlapi.NewCloud{})
	})
	for name, want := range map[string]bool{"kept": true, "hurt": false, "itself": true, "late": false, "half": false, "crashed": false, "my backup": false,
		"../set-aside/half/clbemu.db": true, "../set-aside/my backup/notes": true, "../set-aside/crashed": false} {
		if _, err := os.Stat(filepath.Join(clouds, name)); (err == nil) != want {
			t.Errorf("the folder of %s: %v, want it there: %v", name, err, want)
		}
	}
}

// TestConsoleOfCloud proves that a cloud has the console and the control API at its path,
// with what admits callers there too.
func TestConsoleOfCloud(t *testing.T) {
	e := mustNew(t, emulator.Config{Seed: 1, ControlToken: "secret"})
	defer e.Close(context.Background())
	control := controlclient.InProcess(e.ControlHandler())
	control.Token = "secret"
	mustFork(t, control, "a", controlapi.NewCloud{})
	for _, test := range []struct {
		path, token string
		want        int
	}{
		{"/clouds/a/", "", http.StatusOK}, {"/clouds/a/journal", "", http.StatusOK}, {"/clouds/a", "", http.StatusMovedPermanently},
		{"/clouds/a/v1/server", "", http.StatusUnauthorized}, {"/clouds/a/v1/server", "secret", http.StatusOK},
		{"/clouds/b/v1/server", "", http.StatusUnauthorized}, {"/clouds/b/v1/server", "secret", http.StatusNotFound},
		{"/clouds/default/v1/server", "secret", http.StatusOK}, {"/clouds/a/v1/clouds", "secret", http.StatusOK},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+test.path, nil)
		if test.token != "" {
			r.Header.Set("Authorization", "Bearer "+test.token)
		}
		w := httptest.NewRecorder()
		e.ControlHandler().ServeHTTP(w, r)
		if w.Code != test.want {
			t.Errorf("GET %s = %d %.200s, want %d", test.path, w.Code, w.Body, test.want)
		}
	}
}
