package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// controller makes the load balancer of a Service. It keeps nothing in memory: each step
// looks at what the cloud has, and makes the call that is missing.
type controller struct {
	name    string
	vSwitch string // of an intranet load balancer
	deletes bool
	// lateness is the time after which the queue of late comes back to a creation.
	lateness time.Duration
	// looks is the number of times that an adopting controller looks for what a lost call may have
	// made.
	looks int
	// made is the load balancer that this process has made.
	made string
}

// owner is the tag of the load balancer.
const owner = "example.com/service"

func (c *controller) byTag() params {
	return params{"Tags": fmt.Sprintf(`[{"TagKey":%q,"TagValue":%q}]`, owner, c.name)}
}

// find returns the load balancer of the Service by its tag, or by its name if a user took the tag
// away, or "" if there is none.
func (c *controller) find() (id string, err error) {
	for _, filter := range []params{c.byTag(), {"LoadBalancerName": c.name}} {
		found, err := list(filter)
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return found[0].LoadBalancerId, nil
		}
	}
	return "", nil
}

// create makes the load balancer with its tag in one call.
func (c *controller) create(token string) (id string, err error) {
	p := params{"LoadBalancerName": c.name, "AddressType": "internet", "InstanceChargeType": "PayByCLCU", "Tag.1.Key": owner, "Tag.1.Value": c.name}
	if token != "" {
		p["ClientToken"] = token
	}
	if c.vSwitch != "" {
		p["AddressType"], p["VSwitchId"] = "intranet", c.vSwitch
	}
	var made balancer
	err = call("CreateLoadBalancer", p, &made)
	return made.LoadBalancerId, err
}

// created creates the load balancer with a token that is always the same.
func (c *controller) created() (id string, err error) { return c.create("service-" + c.name) }

// found returns the load balancer, and makes it if there is none.
func (c *controller) found() (id string, err error) { return c.foundOr(c.created) }

// foundOr is like found, but makes the load balancer by create.
func (c *controller) foundOr(create func() (string, error)) (id string, err error) {
	if id, err = c.find(); id != "" || err != nil {
		return id, err
	}
	return create()
}

// own starts the load balancer if it was stopped, and puts its tag and its name back.
func (c *controller) own(id string) error {
	var is attribute
	if err := call("DescribeLoadBalancerAttribute", params{"LoadBalancerId": id}, &is); err != nil {
		return err
	}
	if is.LoadBalancerStatus == "inactive" {
		if err := call("SetLoadBalancerStatus", params{"LoadBalancerId": id, "LoadBalancerStatus": "active"}, nil); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc(is.Tags.Tag, func(t struct{ TagKey, TagValue string }) bool { return t.TagKey == owner }) {
		if err := tagged(id, owner, c.name); err != nil {
			return err
		}
	}
	if is.LoadBalancerName == c.name {
		return nil
	}
	return call("SetLoadBalancerName", params{"LoadBalancerId": id, "LoadBalancerName": c.name}, nil)
}

func tagged(id, key, value string) error {
	return call("TagResources", params{"ResourceType": "instance", "ResourceId.1": id, "Tag.1.Key": key, "Tag.1.Value": value}, nil)
}

func untagged(id, key string) error {
	return call("UntagResources", params{"ResourceType": "instance", "ResourceId.1": id, "TagKey.1": key}, nil)
}

// group returns the server group, and makes it if there is none.
func (c *controller) group(id string) (group string, err error) {
	var found groups
	if err := call("DescribeVServerGroups", params{"LoadBalancerId": id}, &found); err != nil {
		return "", err
	}
	for _, is := range found.VServerGroups.VServerGroup {
		if is.VServerGroupName == c.name {
			return is.VServerGroupId, nil
		}
	}
	return c.newGroup(id)
}

func (c *controller) newGroup(id string) (group string, err error) {
	var made struct{ VServerGroupId string }
	err = call("CreateVServerGroup", params{"LoadBalancerId": id, "VServerGroupName": c.name}, &made)
	return made.VServerGroupId, err
}

// wanted returns the servers behind the load balancer.
func wanted() []server {
	return []server{{"i-bp1clbemu0000000001", 8080, 100}, {"i-bp1clbemu0000000002", 8080, 100}}
}

func asJSON(servers []server) string {
	text, _ := json.Marshal(servers) // texts and numbers
	return string(text)
}

// members returns the servers of a group.
func membersOf(group string) ([]server, error) {
	var is members
	err := call("DescribeVServerGroupAttribute", params{"VServerGroupId": group}, &is)
	return is.BackendServers.BackendServer, err
}

// servers adds the servers that a group lacks.
func (c *controller) servers(group string) error {
	is, err := membersOf(group)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(wanted(), func(want server) bool {
		return slices.ContainsFunc(is, func(s server) bool { return s.ServerId == want.ServerId })
	})
	if len(missing) == 0 {
		return nil
	}
	return add(group, missing)
}

func add(group string, servers []server) error {
	return call("AddVServerGroupBackendServers", params{"VServerGroupId": group, "BackendServers": asJSON(servers)}, nil)
}

// port is the port of the listener.
const port = 80

// listener makes and starts the listener.
func (c *controller) listener(id, group string) error {
	var found listeners
	if err := call("DescribeLoadBalancerListeners", params{"LoadBalancerId.1": id}, &found); err != nil {
		return err
	}
	status := ""
	for _, l := range found.Listeners {
		if l.ListenerPort == port {
			status = l.Status
		}
	}
	at := params{"LoadBalancerId": id, "ListenerPort": strconv.Itoa(port), "ListenerProtocol": "tcp"}
	if status == "" {
		err := call("CreateLoadBalancerTCPListener", params{"LoadBalancerId": id, "ListenerPort": strconv.Itoa(port), "Bandwidth": "-1", "VServerGroupId": group}, nil)
		if err != nil {
			return err
		}
	}
	if status == "running" {
		return nil
	}
	return call("StartLoadBalancerListener", at, nil)
}

// rest makes everything behind a load balancer.
func (c *controller) rest(id string) error {
	if err := c.own(id); err != nil {
		return err
	}
	group, err := c.group(id)
	if err != nil {
		return err
	}
	if err := c.servers(group); err != nil {
		return err
	}
	return c.listener(id, group)
}

// reconcile makes the load balancer what it should be, by a way to get one.
func (c *controller) reconcile(get func() (id string, err error)) error {
	if c.deletes {
		return c.remove()
	}
	id, err := get()
	if err != nil {
		return err
	}
	return c.rest(id)
}

// remove deletes the load balancer.
func (c *controller) remove() error {
	id, err := c.find()
	if id == "" || err != nil {
		return err
	}
	return call("DeleteLoadBalancer", params{"LoadBalancerId": id}, nil)
}

// The pauses of a controller that tries again.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 2 * time.Second
)

// until does something until it works, with a pause that doubles.
func until(do func() error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := do()
		if err == nil {
			return
		}
		fmt.Fprintln(os.Stderr, "controllers: again:", err)
		time.Sleep(pause)
	}
}

// serve waits for the end, as a daemon whose queue is empty does.
func serve() error {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	<-end
	return nil
}

// unknown reports whether an error leaves open whether the call was executed.
func unknown(err error) bool {
	r := (*refused)(nil)
	return err != nil && !errors.As(err, &r)
}
