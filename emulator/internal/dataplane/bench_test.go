package dataplane_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// BenchmarkStart starts on 1,000 listeners of 100 load balancers, with two servers each.
func BenchmarkStart(b *testing.B) {
	store, err := state.Open(b.Context(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	putMany(b, store)
	for b.Loop() {
		plane, err := dataplane.New(dataplane.Config{Store: store, MaxListeners: 1000})
		if err != nil {
			b.Fatal(err)
		}
		plane.Start()
		if err := plane.Settled(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if n := len(plane.Traffic()); n != 1000 || plane.Traffic()[n-1].AnswersAt == "" {
			b.Fatalf("%d listeners answer", n)
		}
		if err := plane.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

func putMany(b *testing.B, store *state.Store) {
	b.Helper()
	err := store.Update(owner, func(tx *state.Tx) error {
		for n := range 100 {
			lb := fmt.Sprint("lb-", n)
			kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: owner, ID: lb, Status: kinds.LoadBalancerActive,
				BackendServers: []kinds.BackendServer{{ServerID: "eni-1", ServerIP: "127.0.0.1", Type: kinds.BackendServerENI, Weight: 100}, {ServerID: "eni-2", ServerIP: "127.0.0.2", Type: kinds.BackendServerENI, Weight: 100}}})
			for port := range 10 {
				kinds.Listeners.Put(tx, &kinds.Listener{Owner: owner, LoadBalancerID: lb, Port: port + 1, Protocol: kinds.TCP, Status: kinds.ListenerRunning, Scheduler: "wrr", BackendServerPort: 80})
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkChange changes one group next to 1,000 listeners, and reports how long it took
// until the change was in force.
func BenchmarkChange(b *testing.B) {
	store, err := state.Open(b.Context(), state.Config{Schema: kinds.Schema, Engine: &memory.Engine{}, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	putMany(b, store)
	plane, err := dataplane.New(dataplane.Config{Store: store, MaxListeners: 1000})
	if err != nil {
		b.Fatal(err)
	}
	plane.Start()
	defer plane.Close()
	if err := plane.Settled(context.Background()); err != nil {
		b.Fatal(err)
	}
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		if err := store.Update(owner, func(tx *state.Tx) error {
			return kinds.LoadBalancers.Edit(tx, fmt.Sprint("lb-", n%100), func(lb *kinds.LoadBalancer) error {
				lb.BackendServers = slices.Clone(lb.BackendServers)
				lb.BackendServers[0].Weight = n % 100
				return nil
			})
		}); err != nil {
			b.Fatal(err)
		}
		begin := time.Now()
		if err := plane.Settled(context.Background()); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
