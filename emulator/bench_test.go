package emulator_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	bbolt "go.etcd.io/bbolt"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/enginetest"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// The benchmarks measure once, whatever -benchtime is, and compare two things
// in the same run where a figure alone would say more of the machine. `make
// bench` runs them; contracttests/figures.md quotes them.

const (
	many = 100_000
	few  = 100
	// span is the time that each side of a comparison runs in a round.
	span   = time.Second
	rounds = 5
)

var aboutMachine = sync.OnceValue(func() string {
	cpu := "unknown CPU"
	text, _ := os.ReadFile("/proc/cpuinfo") // not there on every system
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			cpu = strings.TrimSpace(value)
		}
	}
	return fmt.Sprintf("%s, %d cores, %s, %s/%s", cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
})

// report prints a figure with its target, in place of the time of one iteration.
func report(b *testing.B, figure float64, unit, format string, args ...any) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(figure, unit)
	b.Logf("%s [%s]", fmt.Sprintf(format, args...), aboutMachine())
}

var crowdedWorldText = strings.ReplaceAll(string(world.DefaultText), "198.18.0.0/16", "11.0.0.0/8")

// crowdedWorld returns the default world with public addresses for many load balancers.
func crowdedWorld(b *testing.B) *world.World {
	b.Helper()
	w, err := world.Parse("bench.yaml", []byte(crowdedWorldText))
	if err != nil {
		b.Fatal(err)
	}
	return w
}

var scope = state.Owner{AccountID: "1234567890123456", RegionID: "cn-hangzhou"}

// crowd puts n load balancers into the store, each with a tag of its own, and
// returns the id of one.
func crowd(b *testing.B, store *state.Store, n int) (id string) {
	b.Helper()
	err := store.Update(scope, func(tx *state.Tx) error {
		for i := range n {
			lb, err := newLoadBalancer(tx)
			if err != nil {
				return err
			}
			id = lb.ID
			kinds.LoadBalancers.Put(tx, lb)
			state.SetTag(tx, kinds.TagLoadBalancer, id, "cluster", fmt.Sprintf("c%d", i))
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return id
}

func newLoadBalancer(tx *state.Tx) (*kinds.LoadBalancer, error) {
	id := tx.NewID(kinds.LoadBalancers.Kind())
	ip, err := kinds.AllocateAddress(tx, kinds.PublicPool(scope.RegionID), "11.0.0.0/8", "", kinds.LoadBalancers.Kind(), id)
	return &kinds.LoadBalancer{
		Owner: scope, ID: id, Name: "bench", Status: kinds.LoadBalancerActive, Address: ip,
		AddressType: kinds.AddressTypeInternet, AddressIPVersion: "ipv4", NetworkType: "classic",
		MasterZoneID: "cn-hangzhou-h", SlaveZoneID: "cn-hangzhou-i", Spec: "slb.s1.small",
		InstanceChargeType: kinds.PayBySpec, InternetChargeType: kinds.PayByTraffic, Bandwidth: -1, PayType: "PayOnDemand",
		ResourceGroupID: "rg-clbemu0default", DeleteProtection: kinds.Off, ModificationProtectionStatus: "NonProtection",
		CreateTime: tx.Now(),
	}, err
}

// keepAlive returns a client that keeps the given number of connections open.
func keepAlive(connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
}

// throughput returns how often per second workers get do done.
func throughput(b *testing.B, workers int, do func(worker int) error) float64 {
	b.Helper()
	var done atomic.Int64
	var group sync.WaitGroup
	start := time.Now()
	for worker := range workers {
		group.Go(func() {
			for time.Since(start) < span {
				if err := do(worker); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	group.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}

// compare runs both sides in turn and returns the round whose ratio is the
// median.
func compare(b *testing.B, workers int, ours, bare func(worker int) error) (oursPerSecond, barePerSecond float64) {
	b.Helper()
	type round struct{ ours, bare float64 }
	all := make([]round, rounds)
	for i := range all {
		all[i] = round{bare: throughput(b, workers, bare), ours: throughput(b, workers, ours)}
	}
	slices.SortFunc(all, func(a, b round) int { return cmp.Compare(a.ours/a.bare, b.ours/b.bare) })
	return all[rounds/2].ours, all[rounds/2].bare
}

func post(client *http.Client, url, action string, params map[string]string) error {
	return postTo(client, url, emulatortest.Slb, action, params)
}

// postTo is like post, for the product that its version chooses.
func postTo(client *http.Client, url, version, action string, params map[string]string) error {
	_, err := answerTo(client, url, version, action, params)
	return err
}

func answerTo(client *http.Client, url, version, action string, params map[string]string) ([]byte, error) {
	response, err := client.Post(url+"/?"+emulatortest.Sign(version, action, params), "application/x-www-form-urlencoded", nil)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s = %s", action, body)
	}
	return body, err
}

// BenchmarkGateway compares a signed Describe over HTTP with a bare handler that
// returns the same bytes to the same client.
func BenchmarkGateway(b *testing.B) {
	s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World = crowdedWorld(b) }))
	params := map[string]string{"LoadBalancerId": crowd(b, s.Store(), few)}
	answer, err := http.Post(s.URL()+"/?"+emulatortest.Sign(emulatortest.Slb, "DescribeLoadBalancerAttribute", params), "", nil)
	if err != nil {
		b.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json;charset=utf-8")
		w.Write(body)
	}))
	defer bare.Close()
	const connections = 16
	client := keepAlive(connections)
	ours, base := compare(b, connections,
		func(int) error { return post(client, s.URL(), "DescribeLoadBalancerAttribute", params) },
		func(int) error { return post(client, bare.URL, "DescribeLoadBalancerAttribute", params) })
	report(b, ours/base, "ratio", "signed DescribeLoadBalancerAttribute %.0f/s, bare net/http handler %.0f/s, target ratio >= 0.70", ours, base)
}

// BenchmarkDescribeByTag compares a Describe by tag among many load balancers
// with one among few, in turn.
func BenchmarkDescribeByTag(b *testing.B) {
	sizes := [2]int{many, few}
	var servers [2]*emulatortest.Server
	for i, n := range sizes {
		servers[i] = emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World = crowdedWorld(b) }))
		crowd(b, servers[i].Store(), n)
	}
	client := keepAlive(1)
	var took [2][]time.Duration
	for call := range 4000 {
		params := map[string]string{"Tags": fmt.Sprintf(`[{"TagKey":"cluster","TagValue":"c%d"}]`, call%few)}
		for i, s := range servers {
			start := time.Now()
			if err := post(client, s.URL(), "DescribeLoadBalancers", params); err != nil {
				b.Fatal(err)
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	among, alone := median(took[0]), median(took[1])
	report(b, float64(among)/float64(alone), "ratio", "DescribeLoadBalancers by tag, p50: %v among %d, %v among %d, target ratio <= 1.5", among, many, alone, few)
}

func median(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}

// BenchmarkDurableWrites compares acknowledged writes of the store, and of the
// API over it, with bbolt's own batching of the same bytes.
func BenchmarkDurableWrites(b *testing.B) {
	const clients = 64
	s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) {
		cfg.World, cfg.Engine, cfg.DataDir = crowdedWorld(b), emulator.Bolt, b.TempDir()
	}))
	ids := make([]string, clients)
	for i := range ids {
		ids[i] = crowd(b, s.Store(), 1)
	}
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "raw.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	value := []byte(strings.Repeat("x", 600)) // as long as a load balancer's
	raw := func(worker int) error {
		return db.Batch(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("LoadBalancer"))
			if err != nil {
				return err
			}
			return bucket.Put([]byte(ids[worker]), value)
		})
	}
	var n atomic.Int64
	name := func() string { return fmt.Sprintf("bench-%d", n.Add(1)) }
	store := func(worker int) error {
		return s.Store().Update(scope, func(tx *state.Tx) error {
			return kinds.LoadBalancers.Edit(tx, ids[worker], func(lb *kinds.LoadBalancer) error {
				lb.Name = name()
				return nil
			})
		})
	}
	client := keepAlive(clients)
	api := func(worker int) error {
		return post(client, s.URL(), "SetLoadBalancerName", map[string]string{"LoadBalancerId": ids[worker], "LoadBalancerName": name()})
	}
	ours, base := compare(b, clients, store, raw)
	overHTTP, baseThen := compare(b, clients, api, raw)
	report(b, ours/base, "ratio", "durable writes of %d clients: store %.0f/s, signed SetLoadBalancerName %.0f/s (ratio %.2f), bbolt.Batch %.0f/s, target ratio >= 0.70",
		clients, ours, overHTTP, overHTTP/baseThen, base)
}

// build builds the binary as it is released.
func build(b *testing.B) {
	b.Helper()
	binary.Path = filepath.Join(b.TempDir(), "clbemu")
	if err := binary.Release("../cmd/clbemu", binary.Path); err != nil {
		b.Fatal(err)
	}
}

// started is a process that serves.
type started struct {
	*binary.Server
	took time.Duration // to the first signed answer
}

// startUp runs the binary until the benchmark ends.
func startUp(b *testing.B, dir string, flags ...string) started {
	b.Helper()
	cmd := binary.Command(append([]string{"--data-dir", dir}, flags...)...)
	cmd.Stderr = os.Stderr
	start := time.Now()
	s := binary.Await(b, cmd)
	if err := post(keepAlive(1), s.API, "DescribeRegions", nil); err != nil {
		b.Fatal(err)
	}
	return started{s, time.Since(start)}
}

// BenchmarkStart measures from exec to the first signed answer.
func BenchmarkStart(b *testing.B) {
	build(b)
	var memory float64
	measure := func(dir func() string) time.Duration {
		took := make([]time.Duration, 9)
		for i := range took {
			s := startUp(b, dir())
			took[i], memory = s.took, s.resident(b)
			s.End(os.Kill)
		}
		return median(took)
	}
	empty, version := measure(b.TempDir), showVersion(b)
	dir := b.TempDir()
	e, err := emulator.New(context.Background(), emulator.Config{DataDir: dir, World: crowdedWorld(b)})
	if err != nil {
		b.Fatal(err)
	}
	crowd(b, e.Store(), many)
	if err := e.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	crowded := measure(func() string { return dir })
	report(b, empty.Seconds()/version.Seconds(), "ratio", "exec to first signed answer: empty store %v, `clbemu version` %v (target ratio <= 2); %d load balancers %v (target < 1.2 s), with %.0f MiB resident",
		empty, version, many, crowded, memory)
}

// showVersion returns how long the shortest command takes.
func showVersion(b *testing.B) time.Duration {
	b.Helper()
	took := make([]time.Duration, 9)
	for i := range took {
		start := time.Now()
		if err := exec.Command(binary.Path, "version").Run(); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(start)
	}
	return median(took)
}

// resident returns the process's memory, in MiB.
func (s started) resident(b *testing.B) float64 {
	b.Helper()
	return s.memory(b, "VmRSS:")
}

// memory returns Linux's figure for the process under a name, in MiB.
func (s started) memory(b *testing.B, name string) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	var kib float64
	_, line, _ := strings.Cut(string(status), name)
	if _, err := fmt.Sscan(line, &kib); err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

// BenchmarkFootprint measures the binary, and what the process has in memory when it
// has been started, and when it waits for more calls than the few that it has answered.
func BenchmarkFootprint(b *testing.B) {
	build(b)
	info, err := os.Stat(binary.Path)
	if err != nil {
		b.Fatal(err)
	}
	s := startUp(b, b.TempDir())
	begun := s.resident(b)
	time.Sleep(3 * time.Second) // for what follows a start
	client := keepAlive(1)
	for range 10 {
		if err := post(client, s.API, "DescribeLoadBalancers", nil); err != nil {
			b.Fatal(err)
		}
	}
	memory := s.resident(b)
	report(b, memory, "MiB", "idle resident memory %.1f MiB (target <= 25), %.1f MiB with what only the start needs of the program, binary %.1f MiB (target < 30)",
		memory, begun, float64(info.Size())/(1<<20))
}

// BenchmarkUpgrade measures the start with a state that version 1 of the schema wrote.
func BenchmarkUpgrade(b *testing.B) {
	kept := &memory.Engine{}
	e, err := emulator.New(b.Context(), emulator.Config{Storage: kept, World: crowdedWorld(b)})
	if err != nil {
		b.Fatal(err)
	}
	crowd(b, e.Store(), many)
	dir := b.TempDir()
	if err := enginetest.WriteVersion1(b.Context(), kept, filepath.Join(dir, bolt.FileName)); err != nil {
		b.Fatal(err)
	}
	if err := e.Close(b.Context()); err != nil {
		b.Fatal(err)
	}
	build(b)
	s := startUp(b, dir)
	report(b, s.took.Seconds(), "s", "exec to first signed answer, with the upgrade of %d load balancers from version 1 (target < 10 s), with %.0f MiB resident",
		many, s.resident(b))
}
