package scenarios_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/scenarios"
)

// reading finds actions that change nothing.
var reading = regexp.MustCompile(`^(Describe|List|Get)`)

// TestOwnBalancer proves that no scenario of a cluster looks at all of an account, where
// other Services may have load balancers too: each look is about something that a
// value or an earlier step knows by a name.
func TestOwnBalancer(t *testing.T) {
	looks, written := 0, make(map[string]bool)
	look := func(what string, saved map[string]bool, action string, params map[string]scenarios.Value) {
		if !reading.MatchString(action) {
			return
		}
		looks++
		for _, value := range params {
			if written[string(value)] {
				return
			}
			for name := range saved {
				if strings.Contains(string(value), "{{"+name+"}}") {
					return
				}
			}
		}
		t.Errorf("%s: %s looks at the whole account: name the load balancer, by balancer of the kubectl step", what, action)
	}
	for _, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		s, err := scenarios.Load(name+".yaml", text, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Kubernetes == nil {
			continue
		}
		saved := make(map[string]bool)
		clear(written)
		for _, id := range s.Values { // the file has them in place of their names
			written[id] = true
		}
		call := func(c *scenarios.CallStep) {
			look(name, saved, c.Action, c.Params)
			for as := range c.Save {
				saved[as] = true
			}
		}
		expect := func(list []scenarios.Expectation) {
			for _, e := range list {
				switch of := e.Value.(type) {
				case *scenarios.Resource:
					look(name, saved, of.Action, of.Params)
				case *scenarios.Quota:
					if of.Holder == "" {
						t.Errorf("%s: the quota %s counts the whole account: name a holder", name, of.Name)
					}
				}
			}
		}
		for i := range s.Given.State {
			call(&s.Given.State[i])
		}
		var steps func([]scenarios.Step)
		steps = func(list []scenarios.Step) {
			for i := range list {
				switch does := list[i].Value.(type) {
				case *scenarios.CallStep:
					call(does)
				case *scenarios.Wait:
					call(&does.Call)
				case *scenarios.Repeat:
					steps(does.Steps)
				case *scenarios.Kubectl:
					saved[does.Balancer] = true
				case *scenarios.Expectations:
					expect(*does)
				}
			}
		}
		steps(s.Kubernetes.Steps)
		expect(s.Kubernetes.Expect)
	}
	if looks < 30 {
		t.Errorf("the library looks at %d things in the cloud of a cluster, want tens: does this test see them?", looks)
	}
}
