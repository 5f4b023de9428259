package emulatortest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestFork proves that tests which run side by side have a cloud each: with the same
// names, quotas, faults and times, and none sees another's.
func TestFork(t *testing.T) {
	for n := range 20 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			cloud := emulatortest.Fork(t)
			cloud.World(t, "quota.slb_quota_instances_num", "1")
			cloud.Fault(t, `{name: lost, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {afterCommit: reset}}`)
			create := map[string]string{"InstanceChargeType": "PayByCLCU", "LoadBalancerName": "web", "ClientToken": "once"}
			if _, err := cloud.Client().Call(emulatortest.Slb, "CreateLoadBalancer", create); err == nil {
				t.Error("the reply arrived, want it lost")
			}
			for token, want := range map[string]int{"once": http.StatusOK, "twice": http.StatusBadRequest} {
				create["ClientToken"] = token
				if reply, err := cloud.Client().Call(emulatortest.Slb, "CreateLoadBalancer", create); err != nil || reply.Status != want {
					t.Errorf("create %s = %v, %v, want %d", token, reply, err, want)
				}
			}
			cloud.Advance(t, time.Hour)
			if calls := cloud.Calls(t, "action=CreateLoadBalancer"); len(calls) != 3 {
				t.Errorf("there are %d calls, want three", len(calls))
			}
		})
	}
}

// TestForkInManyProcesses proves that a hundred test programs, as a hundred packages
// are, have a cloud each of one emulator, and leave none; with -short there are twenty.
func TestForkInManyProcesses(t *testing.T) {
	programs := 100
	if testing.Short() {
		programs = 20
	}
	s := emulatortest.Start(t)
	room := make(chan struct{}, 20)
	var running sync.WaitGroup
	for range programs {
		running.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFork$/^0$", "-test.v")
			program.Env = append(os.Environ(), "CLBEMU_SERVER="+s.ControlURL())
			if said, err := program.CombinedOutput(); err != nil || !strings.Contains(string(said), "--- PASS: TestFork/0") {
				t.Errorf("%v:\n%s", err, said)
			}
		})
	}
	running.Wait()
	answer, err := http.Get(s.ControlURL() + "/v1/clouds")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var left struct{ Clouds []struct{ Name string } }
	if err := json.NewDecoder(answer.Body).Decode(&left); err != nil || len(left.Clouds) != 1 {
		t.Errorf("there are %+v, %v, want the default cloud alone", left, err)
	}
}

// TestForkOfServer proves that a fork begins as its server is, and leaves it alone.
func TestForkOfServer(t *testing.T) {
	s := emulatortest.Start(t)
	create := func(c *emulatortest.Client) {
		t.Helper()
		if made, err := c.Call(emulatortest.Slb, "CreateLoadBalancer", map[string]string{"InstanceChargeType": "PayByCLCU"}); err != nil || made.Status != http.StatusOK {
			t.Fatal(made, err)
		}
	}
	create(s.Client())
	cloud := s.Fork(t)
	create(cloud.Client())
	for want, c := range map[float64]*emulatortest.Client{1: s.Client(), 2: cloud.Client()} {
		if reply, err := c.Call(emulatortest.Slb, "DescribeLoadBalancers", nil); err != nil || reply.Body["TotalCount"] != want {
			t.Errorf("there are %v load balancers, %v, want %v", reply.Body["TotalCount"], err, want)
		}
	}
}
