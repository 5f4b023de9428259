package replicas_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/state/engine"
)

const (
	benchClients = 64
	benchTime    = 3 * time.Second
)

// rate returns how often a second some clients do something, each one after the other.
func rate(b *testing.B, clients int, do func(client, n int) error) float64 {
	b.Helper()
	var done atomic.Int64
	var running sync.WaitGroup
	begun := time.Now()
	for c := range clients {
		running.Go(func() {
			for n := 0; time.Since(begun) < benchTime; n++ {
				if err := do(c, n); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	running.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds()
}

// setName returns a function that writes some hundred bytes.
func setName(api *apiclient.Client, ids []string) func(client, n int) error {
	return func(client, n int) error {
		reply, err := api.Call(slb, "SetLoadBalancerName", map[string]string{"LoadBalancerId": ids[client], "LoadBalancerName": fmt.Sprintf("n%d-%d", client, n)})
		if err == nil && reply.Status != http.StatusOK {
			err = fmt.Errorf("%v", reply.Body)
		}
		return err
	}
}

func describe(api *apiclient.Client, ids []string) func(client, n int) error {
	return func(client, _ int) error {
		reply, err := api.Call(slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": ids[client]})
		if err == nil && reply.Status != http.StatusOK {
			err = fmt.Errorf("%v", reply.Body)
		}
		return err
	}
}

// makeMany makes a load balancer for each client.
func makeMany(b *testing.B, r *replica) (ids []string) {
	b.Helper()
	r.set("quota.slb_quota_instances_num=100000")
	r.set("throttle.profile=off")
	for n := range benchClients {
		id, err := r.create(context.Background(), fmt.Sprint("bench-", n), fmt.Sprint(n))
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// BenchmarkReplicas compares, in one run, three replicas on an etcd with that etcd's own
// puts, and with one clbemu on a file.
func BenchmarkReplicas(b *testing.B) {
	for b.Loop() {
		members := startEtcd(b, 1)
		all := fleet(b, members, "--read", "local")
		leader, others := leaderOf(b, all)
		ids := makeMany(b, leader)
		client := etcdClient(b, members)
		value := strings.Repeat("v", 700) // as the row of a load balancer
		puts := rate(b, benchClients, func(c, n int) error {
			_, err := client.Put(context.Background(), fmt.Sprintf("/bench/%d", c), value)
			return err
		})
		alone := single(b)
		aloneIDs := makeMany(b, alone)
		aloneWrites := rate(b, benchClients, setName(alone.api, aloneIDs))
		aloneReads := rate(b, benchClients, describe(alone.api, aloneIDs))

		before := commits(b, client)
		few := rate(b, 4, setName(leader.api, ids))
		between := commits(b, client)
		writes := rate(b, benchClients, setName(leader.api, ids))
		after := commits(b, client)
		var lags []time.Duration
		var sampling sync.WaitGroup
		sampling.Go(func() { lags = lagsOf(b, others[0], ids[0]) })
		_ = rate(b, benchClients, setName(leader.api, ids))
		sampling.Wait()
		reads := rate(b, benchClients, describe(leader.api, ids))
		followed := rate(b, benchClients, describe(others[0].api, ids))

		b.ReportMetric(writes/puts, "writes/etcd-puts")
		b.ReportMetric(writes/aloneWrites, "writes/bbolt-writes")
		b.ReportMetric(reads/aloneReads, "leader-reads/bbolt-reads")
		b.ReportMetric(followed/aloneReads, "follower-reads/bbolt-reads")
		b.ReportMetric(between.perTransaction(before), "commits/transaction-of-4")
		b.ReportMetric(after.perTransaction(between), "commits/transaction-of-64")
		b.ReportMetric(percentile(lags, 99).Seconds()*1000, "ms-lag-p99")
		b.Logf("a second: %.0f puts of etcd; writes: %.0f, %.0f of 4 clients, %.0f with bbolt; reads: %.0f with bbolt, %.0f of the leader, %.0f of a follower; %d lags",
			puts, writes, few, aloneWrites, aloneReads, reads, followed, len(lags))
	}
}

// BenchmarkStamp compares, in one run, the time of a leader's commits with that of the same
// transactions without the stamp by which changes of other programs are noticed.
func BenchmarkStamp(b *testing.B) {
	members := startEtcd(b, 1)
	client := etcdClient(b, members)
	e := open(b, members, "/stamped/")
	defer e.Close()
	lead(b, e)
	if err := e.Load(b.Context(), func(string, string, []byte) error { return nil }); err != nil {
		b.Fatal(err)
	}
	leader, err := client.Put(b.Context(), "/bare/leader/1", "bare")
	if err != nil {
		b.Fatal(err)
	}
	value, fence := strings.Repeat("v", 700), int64(0) // as the row of a load balancer
	bare := func(more ...clientv3.Op) error {
		done, err := client.Txn(b.Context()).If(clientv3.Compare(clientv3.CreateRevision("/bare/leader/1"), "=", leader.Header.Revision),
			clientv3.Compare(clientv3.ModRevision("/bare/state/revision"), "=", fence)).
			Then(append(more, clientv3.OpPut("/bare/state/rows/a/1", value), clientv3.OpPut("/bare/state/revision", "1"))...).Commit()
		if err == nil && !done.Succeeded {
			err = errors.New("it is fenced")
		}
		if err == nil {
			fence = done.Header.Revision
		}
		return err
	}
	kinds := []func() error{
		func() error { return bare() },
		func() error { return bare(clientv3.OpPut("/bare/hand", strconv.FormatInt(leader.Header.Revision, 10))) },
		func() error { return e.Commit(b.Context(), []engine.ChangeSet{{put("a", "1", value)}}) },
	}
	took := make([][]time.Duration, len(kinds))
	for b.Loop() {
		for n := range 300 * len(kinds) { // in turns: the machine is not always as fast
			begun := time.Now()
			if err := kinds[n%len(kinds)](); err != nil {
				b.Fatal(err)
			}
			took[n%len(kinds)] = append(took[n%len(kinds)], time.Since(begun))
		}
	}
	without, with, commit := percentile(took[0], 50), percentile(took[1], 50), percentile(took[2], 50)
	b.ReportMetric(with.Seconds()/without.Seconds(), "stamped/bare")
	b.ReportMetric(commit.Seconds()/without.Seconds(), "commit/bare")
	b.Logf("half of them within: %s without the stamp, %s with it, %s as a commit", without, with, commit)
}

// single starts one clbemu with its state in a file.
func single(b *testing.B) *replica {
	b.Helper()
	alone := binary.Serve(b, "--data-dir", b.TempDir(), "--data-plane", "off")
	return &replica{t: b, name: "alone", control: &controlclient.Client{URL: alone.Control, Token: token},
		api: &apiclient.Client{URL: alone.API, HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: benchClients}}}}
}

// written is how many commits etcd has, and in how many transactions they were made.
type written struct{ commits, transactions float64 }

func commits(b *testing.B, client *clientv3.Client) written {
	b.Helper()
	kept, err := client.Get(context.Background(), "/clbemu/state/revision")
	if err != nil {
		b.Fatal(err)
	}
	count, err := strconv.ParseFloat(string(kept.Kvs[0].Value), 64)
	if err != nil {
		b.Fatal(err)
	}
	return written{count, float64(kept.Kvs[0].Version)}
}

func (w written) perTransaction(since written) float64 {
	return (w.commits - since.commits) / (w.transactions - since.transactions)
}

// lagsOf reads at a follower for as long as a rate takes.
func lagsOf(b *testing.B, r *replica, id string) (lags []time.Duration) {
	for begun := time.Now(); time.Since(begun) < benchTime; {
		answer, err := r.api.HTTP.Post(r.api.URL+"/?"+r.api.Sign(slb, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id}), "", nil)
		if err != nil {
			b.Error(err)
			return nil
		}
		lag, err := time.ParseDuration(answer.Header.Get("X-Clbemu-Lag"))
		if readAll(answer.Body); err != nil {
			b.Error("the follower did not answer by itself")
		}
		lags = append(lags, lag)
	}
	return lags
}

func percentile(all []time.Duration, p int) time.Duration {
	slices.Sort(all)
	return all[(len(all)-1)*p/100]
}

// BenchmarkTakeover measures from the signal to the leader until a call is answered.
func BenchmarkTakeover(b *testing.B) {
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		b.Run(strings.ReplaceAll(signal.String(), " ", "-"), func(b *testing.B) {
			all := fleet(b, startEtcd(b, 1))
			makeMany(b, all[0])
			var took []time.Duration
			for b.Loop() {
				leader, others := leaderOf(b, all)
				leader.signal(signal)
				begun := time.Now()
				for {
					if _, err := others[0].create(context.Background(), "taken", fmt.Sprint(signal, len(took))); err == nil {
						break
					}
				}
				took = append(took, time.Since(begun))
				<-leader.running.Done()
				leader.start()
				leader.await()
			}
			b.ReportMetric(percentile(took, 50).Seconds(), "s-p50")
			b.ReportMetric(percentile(took, 99).Seconds(), "s-p99")
		})
	}
}

// BenchmarkLargeState starts replicas on a state of 100,000 load balancers, and forks it.
func BenchmarkLargeState(b *testing.B) {
	const many = 100_000
	for b.Loop() {
		members := startEtcd(b, 1)
		all := fleet(b, members)
		if _, err := all[0].create(context.Background(), "first", "first"); err != nil {
			b.Fatal(err)
		}
		begun := time.Now()
		all[0].multiply(b, many)
		b.ReportMetric(time.Since(begun).Seconds(), "s-import")

		leader, others := leaderOf(b, all)
		others[0].signal(syscall.SIGTERM)
		<-others[0].running.Done()
		begun = time.Now()
		others[0].start()
		others[0].await()
		b.ReportMetric(time.Since(begun).Seconds(), "s-start-of-follower")

		const forks = 50
		begun = time.Now()
		for n := range forks {
			if _, err := leader.control.CreateCloud(context.Background(), fmt.Sprint("fork-", n), controlapi.NewCloud{}); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(time.Since(begun).Seconds()*1000/forks, "ms-fork")

		for _, r := range all {
			r.signal(syscall.SIGTERM)
			<-r.running.Done()
		}
		begun = time.Now()
		leader.start()
		leader.await()
		b.ReportMetric(time.Since(begun).Seconds(), "s-start-of-leader")
		reply, err := leader.api.Call(slb, "DescribeLoadBalancers", map[string]string{"PageSize": "1"})
		if err != nil || reply.Body["TotalCount"] != float64(many+1) {
			b.Fatalf("it has %v, %v", reply.Body["TotalCount"], err)
		}
	}
}

// multiply makes many load balancers as the first one, by an import.
func (r *replica) multiply(b *testing.B, many int) {
	b.Helper()
	var state map[string]any
	ctx := context.Background()
	if err := r.control.ExportState(ctx, func(text io.Reader) error { return json.NewDecoder(text).Decode(&state) }); err != nil {
		b.Fatal(err)
	}
	tables := state["Tables"].(map[string]any)
	like := func(row map[string]any, changed map[string]any) map[string]any {
		row = maps.Clone(row)
		maps.Copy(row, changed)
		return row
	}
	balancers, addresses := tables["LoadBalancer"].([]any), tables["Address"].([]any)
	first := balancers[0].(map[string]any)
	at := slices.IndexFunc(addresses, func(row any) bool { return row.(map[string]any)["HolderID"] == first["ID"] })
	held := addresses[at].(map[string]any)
	for n := range many {
		id, ip := fmt.Sprintf("lb-bp1%018d", n), netip.AddrFrom4([4]byte{100, 64 + byte(n>>16), byte(n >> 8), byte(n)}).String()
		balancers = append(balancers, like(first, map[string]any{"ID": id, "Address": ip, "Name": id}))
		addresses = append(addresses, like(held, map[string]any{"HolderID": id, "IP": ip}))
	}
	tables["LoadBalancer"], tables["Address"] = balancers, addresses
	text, err := json.Marshal(state)
	if err == nil {
		_, err = r.control.ImportState(ctx, bytes.NewReader(text))
	}
	if err != nil {
		b.Fatal(err)
	}
}
