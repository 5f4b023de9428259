package replicas_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
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
	host    host
	args    []string
	api     *apiclient.Client
	control *controlclient.Client
	running *process.Process
	before  int // how much was logged before this start
}

// host is where a replica runs: here, unless it has a network of its own.
type host struct {
	namespace string
	// address is the one that other replicas know, and reached the one that clients do.
	address, reached string
}

// slb is the version of CLB's API.
const slb = "2014-05-15"

// token lets clients use the control API of replicas that do not listen on loopback.
const token = "token-of-the-fleet"

// fleet starts three replicas on an etcd, and waits until each passes calls on.
func fleet(t testing.TB, members []*member, args ...string) []*replica {
	t.Helper()
	here := host{address: "127.0.0.1", reached: "127.0.0.1"}
	return fleetOn(t, []host{here, here, here}, members, args...)
}

// fleetOn starts one replica on each of the hosts.
func fleetOn(t testing.TB, hosts []host, members []*member, args ...string) []*replica {
	t.Helper()
	ports, err := process.FreePorts(2 * len(hosts))
	if err != nil {
		t.Fatal(err)
	}
	var all []*replica
	for n, h := range hosts {
		api, control := fmt.Sprint(ports[2*n]), fmt.Sprint(ports[2*n+1])
		r := &replica{t: t, name: fmt.Sprintf("r%d", n), dir: t.TempDir(), host: h, control: &controlclient.Client{URL: "http://" + net.JoinHostPort(h.reached, control), Token: token}}
		r.api = &apiclient.Client{URL: "http://" + net.JoinHostPort(h.reached, api), HTTP: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
		listen := h.address
		if h.reached != h.address {
			listen = "0.0.0.0"
		}
		r.args = append([]string{"serve", "--engine", "etcd", "--etcd-endpoints", strings.Join(endpoints(members), ","), "--replica", r.name,
			"--listen", net.JoinHostPort(listen, api), "--advertise", "http://" + net.JoinHostPort(h.address, api),
			"--control-listen", net.JoinHostPort(listen, control), "--advertise-control", "http://" + net.JoinHostPort(h.address, control), "--control-token", token,
			"--log-format", "json", "--log-level", "info", "--data-plane", "off"}, args...)
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
	all[0].set("quota.slb_quota_instances_num=100000")
	return all
}

func (r *replica) start() {
	r.t.Helper()
	program, args := binary.Replica(r.t), r.args
	if r.host.namespace != "" {
		program, args = "ip", append([]string{"netns", "exec", r.host.namespace, program}, args...)
	}
	if r.running != nil {
		r.before = len(r.running.Log())
	}
	var err error
	if r.running, err = process.Start(process.Command{Dir: r.dir, Name: r.name, Path: program, Args: args}); err != nil {
		r.t.Fatal(err)
	}
}

// began reports whether the replica has come as far as to listen, and what it has logged since its
// start.
func (r *replica) began() (said string, listens bool) {
	said = r.running.Log()[r.before:]
	return said, strings.Contains(said, "  control  http")
}

// set changes a condition of the world.
func (r *replica) set(condition string) {
	r.t.Helper()
	if ran := binary.Run(r.t, "world", "set", condition, "--server", r.control.URL, "--control-token", token); ran.Code != 0 {
		r.t.Fatalf("world set %s = %+v", condition, ran)
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

// ofCloud returns the replica as clients see it that choose a forked cloud.
func (r *replica) ofCloud(name string) *replica {
	api := *r.api
	api.AccessKeyID = name + "." + apiclient.AccessKeyID
	return &replica{t: r.t, name: r.name + " in the cloud " + name, api: &api}
}

// leaderOf returns the replica that leads for certain.
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

// createAgain creates a load balancer as a client that tries again, at any of the replicas.
func createAgain(ctx context.Context, all []*replica, chance *rand.Rand, name string) (id string, tries int, err error) {
	for tries = 1; ; tries++ {
		id, err = all[chance.IntN(len(all))].create(ctx, name, name)
		if err == nil || ctx.Err() != nil || errors.Is(err, errRefused) {
			return id, tries, err
		}
		select {
		case <-time.After(20 * time.Millisecond): // between two calls
		case <-ctx.Done():
		}
	}
}

// loadBalancers returns the ids of load balancers by their names, as a replica lists them. No two
// have a name or an address in common.
func (r *replica) loadBalancers() map[string]string {
	r.t.Helper()
	all, addresses := make(map[string]string), make(map[string]string)
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
			if address := row["Address"].(string); addresses[address] != "" {
				r.t.Errorf("%s and %s have the address %s", addresses[address], name, address)
			} else {
				addresses[address] = name
			}
		}
		if len(list) < 100 {
			return all
		}
	}
}
