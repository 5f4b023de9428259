package replicas_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// replica is a clbemu that shares its state with others, at addresses that it keeps.
type replica struct {
	t       testing.TB
	name    string
	dir     string
	args    []string
	api     *apiclient.Client
	control *controlclient.Client
	running *process.Process
}

// slb is the version of CLB's API.
const slb = "2014-05-15"

// fleet starts three replicas on an etcd, and waits until each passes calls on.
func fleet(t testing.TB, members []*member, args ...string) []*replica {
	t.Helper()
	ports, err := process.FreePorts(6)
	if err != nil {
		t.Fatal(err)
	}
	var all []*replica
	for n := range 3 {
		api, control := fmt.Sprintf("127.0.0.1:%d", ports[2*n]), fmt.Sprintf("127.0.0.1:%d", ports[2*n+1])
		r := &replica{t: t, name: fmt.Sprintf("r%d", n), dir: t.TempDir(), control: &controlclient.Client{URL: "http://" + control}}
		r.api = &apiclient.Client{URL: "http://" + api, HTTP: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
		r.args = append([]string{"serve", "--engine", "etcd", "--etcd-endpoints", strings.Join(endpoints(members), ","), "--replica", r.name,
			"--listen", api, "--control-listen", control, "--log-format", "json", "--log-level", "info", "--data-plane", "off"}, args...)
		r.start()
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%s:\n%s", r.name, r.running.Tail(20))
			}
			r.running.Kill()
		})
		all = append(all, r)
	}
	for _, r := range all {
		r.await()
	}
	if ran := binary.Run(t, "world", "set", "quota.slb_quota_instances_num=100000", "--server", all[0].control.URL); ran.Code != 0 {
		t.Fatalf("world set = %+v", ran)
	}
	return all
}

func (r *replica) start() {
	r.t.Helper()
	var err error
	if r.running, err = process.Start(process.Command{Dir: r.dir, Name: r.name, Path: binary.Path, Args: r.args}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *replica) await() {
	r.t.Helper()
	eventually(r.t, r.name+" is ready", func() error { return r.control.Ready(r.t.Context()) })
}

// signal reaches the process alone.
func (r *replica) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.running.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

func (r *replica) replicas() *controlapi.Replicas {
	server, err := r.control.Server(r.t.Context())
	if err != nil || server.Replicas == nil {
		return &controlapi.Replicas{}
	}
	return server.Replicas
}

// leaderOf is who leads for certain.
func leaderOf(t testing.TB, all []*replica) (leader *replica, others []*replica) {
	t.Helper()
	eventually(t, "one replica leads", func() error {
		leader, others = nil, nil
		for _, r := range all {
			if r.replicas().Leads {
				leader = r
			} else {
				others = append(others, r)
			}
		}
		if leader == nil || len(others) != len(all)-1 {
			return fmt.Errorf("%d follow", len(others))
		}
		return nil
	})
	return leader, others
}

// create makes a load balancer, with a token so that it can be asked for again.
func (r *replica) create(ctx context.Context, name, token string) (id string, err error) {
	reply, err := r.api.CallContext(ctx, slb, "CreateLoadBalancer", map[string]string{
		"LoadBalancerName": name, "InstanceChargeType": "PayByCLCU", "ClientToken": token})
	switch {
	case err == nil && reply.Status >= http.StatusInternalServerError:
		err = fmt.Errorf("%d %v", reply.Status, reply.Body)
	case err == nil && reply.Status != http.StatusOK && !strings.HasPrefix(reply.Text("Code"), "Throttling"):
		err = fmt.Errorf("%w: %d %v", errRefused, reply.Status, reply.Body)
	case err == nil && reply.Status != http.StatusOK:
		err = fmt.Errorf("%v", reply.Body)
	}
	return reply.Text("LoadBalancerId"), err
}

// errRefused is an answer that stays the same when it is asked for again.
var errRefused = errors.New("the call was refused")

// createAgain is create by a client that tries again, at any of the replicas.
func createAgain(ctx context.Context, all []*replica, chance *rand.Rand, name string) (id string, tries int, err error) {
	for tries = 1; ; tries++ {
		id, err = all[chance.IntN(len(all))].create(ctx, name, name)
		if err == nil || ctx.Err() != nil || errors.Is(err, errRefused) {
			return id, tries, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// loadBalancers are the ids of load balancers by their names, as a replica lists them.
func (r *replica) loadBalancers() map[string]string {
	r.t.Helper()
	all := make(map[string]string)
	for page := 1; ; page++ {
		reply, err := r.api.Call(slb, "DescribeLoadBalancers", map[string]string{"PageSize": "100", "PageNumber": fmt.Sprint(page)})
		if err != nil || reply.Status != http.StatusOK {
			r.t.Fatalf("%s: DescribeLoadBalancers = %v, %v", r.name, reply, err)
		}
		list := reply.Body["LoadBalancers"].(map[string]any)["LoadBalancer"].([]any)
		for _, raw := range list {
			row := raw.(map[string]any)
			name := row["LoadBalancerName"].(string)
			if all[name] != "" {
				r.t.Errorf("there are two load balancers %s", name)
			}
			all[name] = row["LoadBalancerId"].(string)
		}
		if len(list) < 100 {
			return all
		}
	}
}
