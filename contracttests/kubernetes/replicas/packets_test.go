package replicas_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A client in the network of the replicas reaches a load balancer's address at the leader,
// and at the next one: also while the machine of the one before still has the address,
// since it was killed or stands still.
func TestPacketsFollowTheLeader(t *testing.T) {
	wires := newNetwork(t)
	members := startEtcdAt(t, wires.address, 1)
	all := fleetOn(t, wires.hosts(3), members, "--data-plane", "addresses", "--data-plane-interface", "c", "--data-plane-direct", wires.client(0)+"/24")
	leader, _ := leaderOf(t, all)
	server, err := net.Listen("tcp", net.JoinHostPort(wires.client(254), "0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go http.Serve(server, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))

	call := func(action string, params ...string) map[string]any {
		t.Helper()
		named := make(map[string]string)
		for _, p := range params {
			name, value, _ := strings.Cut(p, "=")
			named[name] = value
		}
		reply, err := leader.api.Call(slb, action, named)
		if err != nil || reply.Status != http.StatusOK {
			t.Fatalf("%s = %v, %v", action, reply, err)
		}
		return reply.Body
	}
	const instance = "i-bp1clbemu0000000001"
	leader.set("instance." + instance + ".reachAt=" + server.Addr().String())
	made := call("CreateLoadBalancer", "AddressType=internet", "InstanceChargeType=PayByCLCU")
	id, address := "LoadBalancerId="+made["LoadBalancerId"].(string), made["Address"].(string)
	call("AddBackendServers", id, `BackendServers=[{"ServerId":"`+instance+`","Weight":"100"}]`)
	call("CreateLoadBalancerTCPListener", id, "ListenerPort=80", "BackendServerPort=80", "Bandwidth=-1")
	call("StartLoadBalancerListener", id, "ListenerPort=80")
	wires.ip("route", "add", address, "dev", wires.bridge("c"))

	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}} // it asks again
	hello := func() error {
		answer, err := client.Get("http://" + address)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if text := readAll(answer.Body); text != "hello" {
			return fmt.Errorf("%s %q", answer.Status, text)
		}
		return nil
	}
	eventually(t, "the leader's listener answers", hello)
	for _, stop := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGTERM} {
		leader, _ := leaderOf(t, all)
		leader.signal(stop)
		begun := time.Now()
		eventually(t, "the next leader's listener answers", hello)
		t.Logf("%s: packets flow again after %s", stop, time.Since(begun).Round(time.Millisecond))
		if stop == syscall.SIGSTOP {
			leader.signal(syscall.SIGCONT)
		} else {
			<-leader.running.Done()
			leader.start()
		}
		leader.await()
		// One that was terminated answered until it ended, and the next may not yet.
		eventually(t, stop.String()+": packets flow once the one before is back", hello)
	}
}
