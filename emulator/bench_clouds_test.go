package emulator_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// BenchmarkFork forks a cloud with many load balancers, and one with few.
func BenchmarkFork(b *testing.B) {
	const forks = 500
	var took, kept [2]float64
	for i, n := range []int{many, few} {
		s := emulatortest.Start(b, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.World = crowdedWorld(b) }))
		crowd(b, s.Store(), n)
		control := &controlclient.Client{URL: s.ControlURL()}
		mustFork(b, control, "first", controlapi.NewCloud{}) // what all forks share
		before := heap()
		var each []time.Duration
		for fork := range forks {
			begin := time.Now()
			mustFork(b, control, fmt.Sprint("fork-", fork), controlapi.NewCloud{})
			each = append(each, time.Since(begin))
		}
		took[i], kept[i] = median(each).Seconds()*1000, float64(heap()-before)/1024/forks
	}
	report(b, took[0], "ms", "fork of %d load balancers, over the control API: %.2f ms and %.0f KiB, of %d: %.2f ms and %.0f KiB, target 1 ms and 100 KiB",
		many, took[0], kept[0], few, took[1], kept[1])
}

// BenchmarkThousandClouds makes a thousand clouds with ten load balancers each.
func BenchmarkThousandClouds(b *testing.B) {
	s := emulatortest.Start(b)
	control := &controlclient.Client{URL: s.ControlURL()}
	client := keepAlive(1)
	before := heap()
	for n := range 1000 {
		name := fmt.Sprint("cloud-", n)
		mustFork(b, control, name, controlapi.NewCloud{})
		for range 10 {
			mustCreate(b, &apiclient.Client{URL: s.URL(), HTTP: client, AccessKeyID: name + "." + apiclient.AccessKeyID})
		}
	}
	mib := float64(heap()-before) / (1 << 20)
	report(b, mib, "MiB", "1,000 clouds with ten load balancers each: %.0f MiB, target 200 MiB", mib)
}

func mustCreate(b *testing.B, c *apiclient.Client) string {
	b.Helper()
	made, err := c.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"InstanceChargeType": "PayByCLCU"})
	if err != nil || made.Status != http.StatusOK {
		b.Fatal(made, err)
	}
	return made.Text("LoadBalancerId")
}

// BenchmarkCloudsApart compares 100 clients that change 100 clouds with 100 clients that
// change one.
func BenchmarkCloudsApart(b *testing.B) {
	const clients = 100
	s := emulatortest.Start(b)
	control := &controlclient.Client{URL: s.ControlURL()}
	transport := keepAlive(clients)
	var each [clients]*apiclient.Client
	balancers := make(map[*apiclient.Client]string)
	for n := range each {
		name := fmt.Sprint("cloud-", n)
		mustFork(b, control, name, controlapi.NewCloud{})
		each[n] = &apiclient.Client{URL: s.URL(), HTTP: transport, AccessKeyID: name + "." + apiclient.AccessKeyID}
		balancers[each[n]] = mustCreate(b, each[n])
	}
	rename := func(c *apiclient.Client, worker int) error {
		reply, err := c.Call(emulatortest.Slb, "SetLoadBalancerName", map[string]string{"LoadBalancerId": balancers[c], "LoadBalancerName": fmt.Sprint("name-", worker)})
		if err == nil && reply.Status != http.StatusOK {
			err = fmt.Errorf("%v", reply)
		}
		return err
	}
	apart, together := compare(b, clients,
		func(worker int) error { return rename(each[worker], worker) },
		func(worker int) error { return rename(each[0], worker) })
	report(b, apart/together, "ratio", "changes of 100 clients in 100 clouds %.0f/s, in one %.0f/s, target ratio >= 0.90", apart, together)
}
