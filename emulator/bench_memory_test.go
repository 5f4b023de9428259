package emulator_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// BenchmarkMemory measures what a load balancer as a CCM makes it costs in the
// heap after a collection: one listener, one group of three servers, two tags, the
// addresses, the client token, the journal.
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
				makeService(b, func(query string) (string, error) {
					w := httptest.NewRecorder()
					e.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/?"+query, nil))
					return text(w.Result(), nil)
				}, i)
			}
		})
	}
	wait.Wait()
	after := heap()
	if name := os.Getenv("CLBEMU_HEAP_PROFILE"); name != "" {
		writeHeapProfile(b, name)
	}
	report(b, float64(after-before)/1024/float64(n), "KiB", "heap of %d load balancers as a CCM makes them: %.1f KiB each", n, float64(after-before)/1024/float64(n))
}

// BenchmarkResident measures what the process has in memory for each of many load
// balancers that 64 clients have just made, and when it has come to rest.
func BenchmarkResident(b *testing.B) {
	file := filepath.Join(b.TempDir(), "world.yaml")
	if err := os.WriteFile(file, []byte(crowdedWorldText), 0o600); err != nil {
		b.Fatal(err)
	}
	build(b)
	s := startUp(b, b.TempDir(), "--auth", "off", "--world", file)
	var change controlapi.Change
	for _, name := range kinds.Schema.QuotaNames() {
		change.Settings = append(change.Settings, controlapi.Setting{Name: "quota." + string(name), Value: "1000000000"})
	}
	control := controlclient.Client{URL: s.Control}
	if _, err := control.SetWorld(b.Context(), change); err != nil {
		b.Fatal(err)
	}
	before := s.resident(b)
	const clients = 64
	client := keepAlive(clients)
	var wait sync.WaitGroup
	for worker := range clients {
		wait.Go(func() {
			for i := worker; i < many; i += clients {
				makeService(b, func(query string) (string, error) { return text(client.Post(s.API+"/?"+query, "", nil)) }, i)
			}
		})
	}
	wait.Wait()
	at := s.resident(b)
	rested := at
	for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		rested = min(rested, s.resident(b))
	}
	each := func(memory float64) float64 { return memory * 1024 / many }
	report(b, each(at), "KiB", "%d load balancers as a CCM makes them: %.1f KiB resident each, target <= 20, %.1f at rest; the process had %.1f MiB before",
		many, each(at), each(rested), before)
}

// heap returns the heap in use after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
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
		for _, name := range kinds.Schema.QuotaNames() {
			state.Quotas.Put(tx, &state.Quota{AccountID: scope.AccountID, Name: name, Limit: 1 << 30})
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
}

var madeID = regexp.MustCompile(`"(?:LoadBalancerId|VServerGroupId)":"([^"]*)"`)

// text returns the body of an answer, and of a refusal an error.
func text(r *http.Response, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d %s", r.StatusCode, body)
	}
	return string(body), err
}

// makeService makes the calls with which a CCM creates a load balancer for a Service.
func makeService(b *testing.B, post func(query string) (string, error), i int) {
	b.Helper()
	do := func(action string, parameters ...string) string {
		query := url.Values{"Version": {"2014-05-15"}, "Action": {action}, "RegionId": {scope.RegionID}}
		for _, p := range parameters {
			name, value, _ := strings.Cut(p, "=")
			query.Set(name, value)
		}
		answer, err := post(query.Encode())
		if err != nil {
			b.Errorf("%s = %v", action, err)
		}
		if found := madeID.FindStringSubmatch(answer); found != nil {
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

// BenchmarkHostileBodies measures the most that the process had in memory while 60
// unsigned clients sent it as many values as fit into a body.
func BenchmarkHostileBodies(b *testing.B) {
	build(b)
	s := startUp(b, b.TempDir())
	const clients = 60
	values := (gateway.MaxBody - len(`{"a":[1]}`)) / len(`,1`)
	body := `{"a":[1` + strings.Repeat(`,1`, values) + `]}`
	client := keepAlive(clients)
	var wait sync.WaitGroup
	for range clients {
		wait.Go(func() {
			request, err := http.NewRequest(http.MethodPost, s.API, strings.NewReader(body))
			if err != nil {
				b.Error(err)
				return
			}
			for name, value := range map[string]string{"Authorization": "ACS3-HMAC-SHA256 x", "x-acs-action": "DescribeRegions",
				"x-acs-version": emulatortest.Slb, "Content-Type": "application/json"} {
				request.Header.Set(name, value)
			}
			response, err := client.Do(request)
			if err != nil {
				b.Error(err)
				return
			}
			response.Body.Close()
			if response.StatusCode != http.StatusBadRequest {
				b.Errorf("a hostile body is answered with %s", response.Status)
			}
		})
	}
	wait.Wait()
	report(b, s.memory(b, "VmHWM:"), "MiB", "%d bodies of %d values at once: %.0f MiB resident at the most (target < 190, which is 200 MB), %.0f MiB after that",
		clients, values+1, s.memory(b, "VmHWM:"), s.resident(b))
}
