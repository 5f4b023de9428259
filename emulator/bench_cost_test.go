package emulator_test

import (
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/faults"
)

// BenchmarkJournal compares reads that the journal remembers with reads that it
// does not.
func BenchmarkJournal(b *testing.B) {
	const connections = 16
	client := keepAlive(connections)
	reads := func(entries int) func(int) error {
		s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) {
			cfg.World, cfg.Journal = crowdedWorld(b), journal.Config{Entries: entries}
		}))
		params := map[string]string{"LoadBalancerId": crowd(b, s.Store(), few)}
		return func(int) error { return post(client, s.URL(), "DescribeLoadBalancerAttribute", params) }
	}
	with, without := compare(b, connections, reads(0), reads(-1))
	report(b, with/without, "ratio", "signed DescribeLoadBalancerAttribute with the journal %.0f/s, without %.0f/s, target ratio >= 0.97", with, without)
}

// crowdedReads returns what serves a crowded world by a configuration of the gateway, and
// reads from it over the given number of connections.
func crowdedReads(b *testing.B, connections int) func(gateway.Config) func(int) error {
	client := keepAlive(connections)
	s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World = crowdedWorld(b) }))
	params := map[string]string{"LoadBalancerId": crowd(b, s.Store(), few)}
	return func(cfg gateway.Config) func(int) error {
		cfg.Store, cfg.Products, cfg.StrictAuth = s.Store(), products.All(), true
		server := httptest.NewServer(gateway.NewServer(cfg))
		b.Cleanup(server.Close)
		return func(int) error { return post(client, server.URL, "DescribeLoadBalancerAttribute", params) }
	}
}

// BenchmarkIdleFaults compares the reads of three servers: one has no fault rules, one
// has as many as there may be about other actions, and one could not have any.
func BenchmarkIdleFaults(b *testing.B) {
	const connections = 16
	served := crowdedReads(b, connections)
	reads := func(engine *faults.Injector) func(int) error { return served(gateway.Config{Faults: engine}) }
	full := &faults.Injector{}
	list := make([]faults.Status, 10_000)
	for n := range list {
		list[n].Rule = faults.Rule{Name: fmt.Sprintf("r%d", n), Match: faults.Match{Action: "Create*"}, Effect: faults.Effect{Value: faults.Reset(true)}}
	}
	if err := full.Set(list); err != nil {
		b.Fatal(err)
	}
	with, without := compare(b, connections, reads(&faults.Injector{}), reads(nil))
	loaded, bare := compare(b, connections, reads(full), reads(nil))
	report(b, with/without, "ratio", "signed DescribeLoadBalancerAttribute with an idle fault injector %.0f/s, without one %.0f/s, target ratio >= 0.98; "+
		"with %d idle rules %.0f/s, without %.0f/s, ratio %.2f", with, without, len(list), loaded, bare, loaded/bare)
}
