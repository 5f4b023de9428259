package replicas_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/apiclient"
)

const (
	benchClients = 64
	benchTime    = 3 * time.Second
)

// rate is how often a second 64 clients do something, each one after the other.
func rate(b *testing.B, do func(client, n int) error) float64 {
	b.Helper()
	var done atomic.Int64
	var clients sync.WaitGroup
	begun := time.Now()
	for c := range benchClients {
		clients.Go(func() {
			for n := 0; time.Since(begun) < benchTime; n++ {
				if err := do(c, n); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	clients.Wait()
	return float64(done.Load()) / time.Since(begun).Seconds()
}

// setName is a write of some hundred bytes.
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

func makeMany(b *testing.B, api *apiclient.Client, control string) (ids []string) {
	b.Helper()
	for _, set := range []string{"quota.slb_quota_instances_num=100000", "throttle.profile=off"} {
		if ran := binary.Run(b, "world", "set", set, "--server", control); ran.Code != 0 {
			b.Logf("world set %s: %s", set, ran.Stderr)
		}
	}
	for n := range benchClients {
		reply, err := api.Call(slb, "CreateLoadBalancer", map[string]string{"LoadBalancerName": fmt.Sprint(n), "InstanceChargeType": "PayByCLCU"})
		if err != nil || reply.Status != http.StatusOK {
			b.Fatalf("%v, %v", reply, err)
		}
		ids = append(ids, reply.Text("LoadBalancerId"))
	}
	return ids
}

// BenchmarkReplicas compares, in one run, three replicas on an etcd with that etcd's own
// puts, and with one clbemu on a file; and says how long takeovers take.
func BenchmarkReplicas(b *testing.B) {
	for b.Loop() {
		members := startEtcd(b, 1)
		all := fleet(b, members, "--read", "local")
		leader, others := leaderOf(b, all)
		ids := makeMany(b, leader.api, leader.control.URL)
		client := etcdClient(b, members)
		value := strings.Repeat("v", 700) // as the row of a load balancer
		puts := rate(b, func(c, n int) error {
			_, err := client.Put(context.Background(), fmt.Sprintf("/bench/%d", c), value)
			return err
		})
		writes := rate(b, setName(leader.api, ids))
		alone := binary.Serve(b, "--data-dir", b.TempDir(), "--data-plane", "off")
		api := &apiclient.Client{URL: alone.API, HTTP: leader.api.HTTP}
		aloneIDs := makeMany(b, api, alone.Control)
		aloneWrites := rate(b, setName(api, aloneIDs))
		aloneReads := rate(b, describe(api, aloneIDs))
		reads := rate(b, describe(leader.api, ids))
		followed := rate(b, describe(others[0].api, ids))
		alone.End(syscall.SIGTERM)
		b.ReportMetric(writes/puts, "writes/etcd-puts")
		b.ReportMetric(writes/aloneWrites, "writes/bbolt-writes")
		b.ReportMetric(reads/aloneReads, "leader-reads/bbolt-reads")
		b.ReportMetric(followed/aloneReads, "follower-reads/bbolt-reads")
		b.Logf("a second: %.0f puts of etcd, %.0f writes, %.0f with bbolt; reads: %.0f with bbolt, %.0f of the leader, %.0f of a follower",
			puts, writes, aloneWrites, aloneReads, reads, followed)
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
			var took []time.Duration
			for n := range 5 {
				leader, others := leaderOf(b, all)
				leader.signal(signal)
				begun := time.Now()
				for {
					if _, err := others[0].create(context.Background(), "taken", fmt.Sprint(signal, n)); err == nil {
						break
					}
				}
				took = append(took, time.Since(begun))
				<-leader.running.Done()
				leader.start()
				leader.await()
			}
			b.ReportMetric(slices.Max(took).Seconds(), "s-"+strings.ReplaceAll(signal.String(), " ", "-"))
		}
	}
}
