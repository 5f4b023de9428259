package rehearse_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/scenarios"
)

// fakePlane is a control plane in memory: an API server and etcd's JSON, with objects by their paths.
type fakePlane struct {
	mu      sync.Mutex
	changed *sync.Cond
	objects map[string]cluster.Object
	writes  int
	// refuses is a name that the API server does not take.
	refuses string
}

var _ http.Handler = (*fakePlane)(nil)

func newFakePlane() *fakePlane {
	f := &fakePlane{objects: make(map[string]cluster.Object)}
	f.changed = sync.NewCond(&f.mu)
	return f
}

// plane returns the Plane by which the rehearsal reaches it.
func (f *fakePlane) plane() *cluster.Plane {
	return &cluster.Plane{API: "http://api", Etcd: "http://etcd", HTTP: &http.Client{Transport: controlclient.Transport(f)}, Token: "t"}
}

// ServeHTTP implements http.Handler.
func (f *fakePlane) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var body cluster.Object
	_ = json.NewDecoder(r.Body).Decode(&body) // a GET has none
	at := strings.TrimSuffix(r.URL.Path, "/")
	switch {
	case at == "/v3/kv/put":
		key, _ := base64.StdEncoding.DecodeString(body.Text("key"))
		value, _ := base64.StdEncoding.DecodeString(body.Text("value"))
		var o cluster.Object
		if err := json.Unmarshal(value, &o); err != nil || !strings.HasPrefix(string(key), "/registry/") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f.put(f.find(o), o)
	case r.Method == http.MethodPost && body.Name() == f.refuses && f.refuses != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
		body = cluster.Object{"message": body.Name() + " is invalid"}
	case r.Method == http.MethodPost:
		body.Map("metadata")["uid"] = fmt.Sprintf("fresh-%d", f.writes)
		f.put(at+"/"+body.Name(), body)
	case r.Method == http.MethodPut && f.objects[at] == nil:
		w.WriteHeader(http.StatusNotFound)
		body = cluster.Object{"message": at + " not found"}
	case r.Method == http.MethodPut, r.Method == http.MethodPatch:
		f.put(at, body)
	case r.Method == http.MethodDelete:
		f.put(at, nil)
	case f.objects[at] != nil:
		body = f.objects[at]
	default:
		body = f.list(at)
	}
	_ = json.NewEncoder(w).Encode(body)
}

// find returns the path at which an object was created.
func (f *fakePlane) find(o cluster.Object) string {
	for at, known := range f.objects {
		if known.Kind() == o.Kind() && known.Key() == o.Key() {
			return at
		}
	}
	return ""
}

func (f *fakePlane) put(at string, o cluster.Object) {
	if f.objects[at] = o; o == nil {
		delete(f.objects, at)
	}
	f.writes++
	f.changed.Broadcast()
}

// list lists the objects of all namespaces.
func (f *fakePlane) list(at string) cluster.Object {
	items := []any{}
	root, kind := at[:strings.LastIndex(at, "/")], at[strings.LastIndex(at, "/")+1:]
	for path, o := range f.objects {
		if rest, is := strings.CutPrefix(path, root); is && strings.HasSuffix(rest[:strings.LastIndex(rest, "/")], "/"+kind) {
			items = append(items, map[string]any(o))
		}
	}
	return cluster.Object{"items": items}
}

// fault is what a version of the small CCM does wrong.
type fault string

const (
	none fault = ""
	// deletesOthers deletes listeners that no port of the Service has.
	deletesOthers fault = "deletes the listeners of others"
	// startsOver deletes all listeners when it starts.
	startsOver fault = "starts over"
	// startsElse does too, with another scheduler.
	startsElse = startsOver + " with rr"
	// drains gives servers weight 0.
	drains fault = "drains"
	// forgets leaves the group of a port that is gone.
	forgets fault = "forgets groups"
	// empties takes all servers out of a group when it starts, and puts them in again.
	empties fault = "empties groups"
	// moves makes another load balancer in place of each when it starts.
	moves fault = "moves"
	// schedules changes the scheduler of listeners whenever it looks.
	schedules fault = "schedules"
	// schedulesElse changes it to another one.
	schedulesElse fault = "schedules else"
	crashes       fault = "crashes"
	silent        fault = "makes no call"
	// misreads takes a read that is throttled for an empty answer.
	misreads fault = "misreads"
	// careless does both.
	careless = startsOver + misreads
	// late changes the scheduler of the listener 80 when it is stopped.
	late fault = "late"
	// strips deletes the listeners of a load balancer that is preserved when its Service is deleted.
	strips fault = "strips"
	// abandons leaves what was made for a Service that is deleted.
	abandons fault = "abandons"
	// stops stops a load balancer when its Service is deleted.
	stops fault = "stops"
	// clears takes the servers out of all groups of a load balancer when its Service is deleted.
	clears fault = "clears"
	// overreaches deletes a load balancer that a deleted Service reused.
	overreaches fault = "overreaches"
)

// smallCCM makes load balancers of Services until it is stopped. It implements scenarios.Running.
type smallCCM struct {
	cluster *fakePlane
	plane   *cluster.Plane
	api     apiclient.Client
	fault   fault
	ended   bool
	done    int                       // the writes that it has seen
	known   map[string]cluster.Object // Services by their keys
	stopped chan struct{}
}

var _ scenarios.Running = (*smallCCM)(nil)

func startCCM(f *fakePlane, handler http.Handler, does fault) *smallCCM {
	c := &smallCCM{cluster: f, plane: f.plane(), fault: does, done: -1, known: make(map[string]cluster.Object), stopped: make(chan struct{}),
		api: apiclient.Client{URL: "http://localhost", HTTP: &http.Client{Transport: controlclient.Transport(handler)}}}
	go c.work()
	return c
}

func (c *smallCCM) work() {
	defer close(c.stopped)
	for first := true; ; first = false {
		c.cluster.mu.Lock()
		for c.done == c.cluster.writes && !c.ended {
			c.cluster.changed.Wait()
		}
		seen, ended := c.cluster.writes, c.ended
		c.cluster.mu.Unlock()
		if ended {
			return
		}
		if c.fault != silent {
			c.reconcile(first)
		}
		c.cluster.mu.Lock()
		c.done = seen
		c.ended = c.ended || c.fault == crashes
		c.cluster.changed.Broadcast()
		c.cluster.mu.Unlock()
	}
}

// Wait implements scenarios.Running: it returns when there is nothing left to do.
func (c *smallCCM) Wait(context.Context, time.Duration) (bool, error) {
	c.cluster.mu.Lock()
	defer c.cluster.mu.Unlock()
	for c.done != c.cluster.writes && !c.ended {
		c.cluster.changed.Wait()
	}
	return c.ended, nil
}

// Exit implements scenarios.Running.
func (c *smallCCM) Exit() int { return 7 }

// Output implements scenarios.Running.
func (c *smallCCM) Output() string { return "one\nthe last words" }

// Stop implements scenarios.Running.
func (c *smallCCM) Stop() {
	c.cluster.mu.Lock()
	c.ended = true
	c.cluster.changed.Broadcast()
	c.cluster.mu.Unlock()
	<-c.stopped
	if c.fault == late { // once
		c.fault = none
		for _, lb := range c.call("DescribeLoadBalancers").List("LoadBalancers", "LoadBalancer") {
			c.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId", lb.Text("LoadBalancerId"), "ListenerPort", "80", "Scheduler", "rr")
		}
	}
}

// Kill implements scenarios.Running.
func (c *smallCCM) Kill() { c.Stop() }

// call makes a call of CLB; a refusal has no answer. What is throttled is called again.
func (c *smallCCM) call(action string, pairs ...string) cluster.Object {
	params := map[string]string{"RegionId": "cn-hangzhou"}
	for pair := range slices.Chunk(pairs, 2) {
		params[pair[0]] = pair[1]
	}
	for {
		reply, err := c.api.CallContext(context.Background(), emulator.Version("Slb"), action, params)
		if err == nil && reply.Status == http.StatusOK {
			return reply.Body
		}
		if code, _ := reply.Body["Code"].(string); code != "Throttling.User" || c.does(misreads) && strings.HasPrefix(action, "Describe") {
			return nil
		}
	}
}

func (c *smallCCM) does(f fault) bool { return strings.Contains(string(c.fault), string(f)) }

func (c *smallCCM) reconcile(first bool) {
	ctx := context.Background()
	services, _ := c.plane.List(ctx, "Service")
	nodes, _ := c.plane.List(ctx, "Node")
	gone := c.known
	c.known = make(map[string]cluster.Object)
	for _, s := range services {
		c.known[s.Key()] = s
		delete(gone, s.Key())
		found, id := c.find(s), ""
		if len(found) > 0 && first && c.fault == moves {
			c.call("DeleteLoadBalancer", "LoadBalancerId", found[0].Text("LoadBalancerId"))
			found = nil
		}
		if len(found) > 0 {
			id = found[0].Text("LoadBalancerId")
		} else {
			id = c.call("CreateLoadBalancer", "LoadBalancerName", named(s), "AddressType", "internet").Text("LoadBalancerId")
		}
		c.listen(s, id, nodes, first)
	}
	for _, s := range gone {
		c.delete(s)
	}
}

const annotation = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"

// named returns the name of the load balancer of a Service.
func named(s cluster.Object) string {
	return "a" + strings.ReplaceAll(s.Text("metadata", "uid"), "-", "")
}

// find finds the load balancer of a Service, its own or one that it reuses.
func (c *smallCCM) find(s cluster.Object) []cluster.Object {
	by, value := "LoadBalancerName", named(s)
	if reused := s.Text("metadata", "annotations", annotation+"id"); reused != "" {
		by, value = "LoadBalancerId", reused
	}
	return c.call("DescribeLoadBalancers", by, value).List("LoadBalancers", "LoadBalancer")
}

// delete deletes what it made for a Service.
func (c *smallCCM) delete(s cluster.Object) {
	reused, preserved := s.Text("metadata", "annotations", annotation+"id") != "", s.Text("metadata", "annotations", annotation+"preserve-lb-on-delete") != ""
	for _, lb := range c.find(s) {
		id := lb.Text("LoadBalancerId")
		switch {
		case c.fault == abandons:
		case c.fault == stops:
			c.call("SetLoadBalancerStatus", "LoadBalancerId", id, "LoadBalancerStatus", "inactive")
		case c.fault == clears:
			for _, g := range c.call("DescribeVServerGroups", "LoadBalancerId", id).List("VServerGroups", "VServerGroup") {
				c.members(g.Text("VServerGroupId"), nil)
			}
		case reused && c.fault != overreaches || preserved && c.fault == strips:
			s.Map("spec")["ports"] = []any{}
			c.listen(s, id, nil, false)
		case preserved:
			c.call("TagResources", "ResourceType", "instance", "ResourceId.1", id, "Tag.1.Key", "released", "Tag.1.Value", "yes")
		default:
			c.call("DeleteLoadBalancer", "LoadBalancerId", id)
		}
	}
}

// listen gives a load balancer what its Service says.
func (c *smallCCM) listen(s cluster.Object, id string, nodes []cluster.Object, first bool) {
	has := c.call("DescribeLoadBalancerListeners", "LoadBalancerId.1", id).List("Listeners")
	groups := make(map[string]string)
	for _, g := range c.call("DescribeVServerGroups", "LoadBalancerId", id).List("VServerGroups", "VServerGroup") {
		groups[g.Text("VServerGroupName")] = g.Text("VServerGroupId")
	}
	wanted, named := make(map[string]bool), make(map[string]bool)
	for _, port := range s.List("spec", "ports") {
		number := fmt.Sprint(port["port"])
		name := fmt.Sprintf("k8s/%s/%s/%s/c1", number, s.Name(), s.Namespace())
		wanted[number], named[name] = true, true
		if groups[name] == "" {
			groups[name] = c.call("CreateVServerGroup", "LoadBalancerId", id, "VServerGroupName", name).Text("VServerGroupId")
		}
		if first && c.fault == empties {
			c.members(groups[name], nil)
		}
		c.members(groups[name], nodes)
		there := slices.ContainsFunc(has, func(l cluster.Object) bool { return fmt.Sprint(l["ListenerPort"]) == number })
		if there && first && c.does(startsOver) {
			c.call("DeleteLoadBalancerListener", "LoadBalancerId", id, "ListenerPort", number)
			there = false
		}
		if !there {
			scheduler := "wrr"
			if c.fault == startsElse {
				scheduler = "rr"
			}
			c.call("CreateLoadBalancerTCPListener", "LoadBalancerId", id, "ListenerPort", number, "Bandwidth", "-1", "VServerGroupId", groups[name], "Description", name, "Scheduler", scheduler)
			c.call("StartLoadBalancerListener", "LoadBalancerId", id, "ListenerPort", number)
		}
		if scheduler := map[fault]string{schedules: "rr", schedulesElse: "wlc"}[c.fault]; scheduler != "" {
			c.call("SetLoadBalancerTCPListenerAttribute", "LoadBalancerId", id, "ListenerPort", number, "Scheduler", scheduler)
		}
	}
	for _, l := range has {
		number := fmt.Sprint(l["ListenerPort"])
		own := strings.HasSuffix(l.Text("Description"), "/c1") || number == "80" || strings.HasPrefix(number, "2")
		if !wanted[number] && (own || c.fault == deletesOthers) {
			c.call("DeleteLoadBalancerListener", "LoadBalancerId", id, "ListenerPort", number)
		}
	}
	for name, group := range groups {
		if strings.HasSuffix(name, "/c1") && !named[name] && c.fault != forgets {
			c.call("DeleteVServerGroup", "VServerGroupId", group)
		}
	}
}

// members gives a group the nodes as servers.
func (c *smallCCM) members(group string, nodes []cluster.Object) {
	weight := "100"
	if c.fault == drains {
		weight = "0"
	}
	wanted := make(map[string]bool)
	has := make(map[string]string)
	for _, m := range c.call("DescribeVServerGroupAttribute", "VServerGroupId", group).List("BackendServers", "BackendServer") {
		has[m.Text("ServerId")] = fmt.Sprint(m["Weight"])
	}
	for _, n := range nodes {
		_, instance, _ := strings.Cut(n.Text("spec", "providerID"), ".")
		wanted[instance] = true
		server := fmt.Sprintf(`[{"ServerId":%q,"Port":"30080","Weight":%q}]`, instance, weight)
		if has[instance] == "" {
			c.call("AddVServerGroupBackendServers", "VServerGroupId", group, "BackendServers", server)
		} else if has[instance] != weight {
			c.call("SetVServerGroupAttribute", "VServerGroupId", group, "BackendServers", server)
		}
	}
	for instance := range has {
		if !wanted[instance] {
			c.call("RemoveVServerGroupBackendServers", "VServerGroupId", group, "BackendServers", fmt.Sprintf(`[{"ServerId":%q,"Port":"30080"}]`, instance))
		}
	}
}
