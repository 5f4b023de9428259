package emulator_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// BenchmarkMemory measures what a load balancer as a CCM makes it costs in the
// heap after a collection, and what the process has resident: one listener, one
// group of three servers, two tags, the addresses, the client token, the journal.
// CLBEMU_HEAP_PROFILE names a file for a heap profile.
func BenchmarkMemory(b *testing.B) {
	const n = 5_000
	e, err := emulator.New(context.Background(), emulator.Config{DataDir: b.TempDir(), World: crowdedWorld(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close(context.Background())
	raiseQuotas(b, e.Store())
	before := heap()
	var wait sync.WaitGroup
	const clients = 64
	for client := range clients {
		wait.Go(func() {
			for i := client; i < n; i += clients {
				makeService(b, e.Handler(), i)
			}
		})
	}
	wait.Wait()
	after := heap()
	if name := os.Getenv("CLBEMU_HEAP_PROFILE"); name != "" {
		writeHeapProfile(b, name)
	}
	process, err := os.FindProcess(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	memory := resident(b, process)
	report(b, memory*1024/float64(n), "KiB", "%d load balancers as a CCM makes them: %.1f KiB of heap and %.1f KiB resident each, target <= 15",
		n, float64(after-before)/1024/float64(n), memory*1024/float64(n))
}

// heap is what is in use after a collection.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func writeHeapProfile(b *testing.B, name string) {
	b.Helper()
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := pprof.WriteHeapProfile(f); err != nil {
		b.Fatal(err)
	}
}

func raiseQuotas(b *testing.B, store *state.Store) {
	b.Helper()
	if err := store.Update(scope, func(tx *state.Tx) error {
		for _, name := range cloud.Schema.QuotaNames() {
			state.Quotas.Put(tx, &state.Quota{AccountID: scope.AccountID, Name: name, Limit: 1 << 30})
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

var madeID = regexp.MustCompile(`"(?:LoadBalancerId|VServerGroupId)":"([^"]*)"`)

// makeService makes the calls by which a CCM makes a load balancer for a Service.
func makeService(b *testing.B, h http.Handler, i int) {
	b.Helper()
	do := func(action string, parameters ...string) string {
		query := url.Values{"Version": {"2014-05-15"}, "Action": {action}, "RegionId": {scope.RegionID}}
		for _, p := range parameters {
			name, value, _ := strings.Cut(p, "=")
			query.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/?"+query.Encode(), nil))
		if w.Code != http.StatusOK {
			b.Errorf("%s = %d %s", action, w.Code, w.Body)
		}
		if found := madeID.FindStringSubmatch(w.Body.String()); found != nil {
			return found[1]
		}
		return ""
	}
	uid := fmt.Sprintf("a%031x", i)
	lb := do("CreateLoadBalancer", "AddressType=internet", "InstanceChargeType=PayByCLCU", "LoadBalancerName="+uid, "ClientToken="+uid)
	do("TagResources", "ResourceType=instance", "ResourceId.1="+lb, "Tag.1.Key=kubernetes.do.not.delete", "Tag.1.Value="+uid,
		"Tag.2.Key=ack.aliyun.com", "Tag.2.Value=cluster")
	group := do("CreateVServerGroup", "LoadBalancerId="+lb, "VServerGroupName=k8s/80/web/default/cluster",
		`BackendServers=[{"ServerId":"i-bp1clbemu0000000001","Port":"30080","Weight":"100"},`+
			`{"ServerId":"i-bp1clbemu0000000002","Port":"30080","Weight":"100"},{"ServerId":"i-bp1clbemu0000000003","Port":"30080","Weight":"100"}]`)
	do("CreateLoadBalancerTCPListener", "LoadBalancerId="+lb, "ListenerPort=80", "VServerGroupId="+group, "Bandwidth=-1")
	do("StartLoadBalancerListener", "LoadBalancerId="+lb, "ListenerPort=80")
}
