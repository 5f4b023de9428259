package scenarios

import (
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/emulator/yamlfile"
	"github.com/clbemu/clbemu/faults"
)

// checker looks at what a scenario means once its form is right.
type checker struct {
	*yamlfile.Decoder
	names Names
	// malformed is true when a part could not be read: it may define, or use, what
	// seems to be missing or idle elsewhere.
	malformed bool
}

// spot is a place in the file, with the path of fields that leads to it.
type spot struct {
	node *yaml.Node
	path string
}

// in goes on by keys, as far as they lead.
func (s spot) in(keys ...string) spot {
	for _, key := range keys {
		s = spot{yamlfile.Child(s.node, key), yamlfile.Join(s.path, key)}
	}
	return s
}

// at is the element of a list.
func (s spot) at(i int) spot {
	path := fmt.Sprintf("%s[%d]", s.path, i)
	if s.node.Kind == yaml.SequenceNode && i < len(s.node.Content) {
		return spot{s.node.Content[i], path}
	}
	return spot{s.node, path}
}

func (c *checker) refuse(at spot, format string, args ...any) {
	c.Fail(at.node, at.path, format, args...)
}

// missing refuses the use of something that no earlier part defines.
func (c *checker) missing(at spot, format string, args ...any) {
	if !c.malformed {
		c.refuse(at, format, args...)
	}
}

// values settles the values of the scenario.
func (c *checker) values(root *yaml.Node, s *Scenario, set map[string]string) {
	at := spot{root, ""}.in("values")
	for name := range s.Values {
		if !validName().MatchString(name) || name == counter {
			c.refuse(at.in(name), "a name has letters, digits and _, begins with a letter, and is not n")
		}
		if text, ok := set[name]; ok {
			s.Values[name] = text
		}
	}
	resolved, bad, err := resolve(s.Values)
	if err != nil {
		c.refuse(at.in(bad), "%v", err)
		return
	}
	s.Values = resolved
}

// idleValues refuses values that nothing uses.
func (c *checker) idleValues(root *yaml.Node, s *Scenario) {
	defined, used := make(map[string]spot), usedIn(root)
	for name := range s.Values {
		defined["{{"+name+"}}"] = spot{root, ""}.in("values", name)
	}
	c.idle(defined, used)
}

// usedIn are the names in all templates under a node.
func usedIn(node *yaml.Node) map[string]bool {
	used := make(map[string]bool)
	if node.Kind == yaml.ScalarNode {
		names, _ := namesIn(node.Value) // a bad one is reported elsewhere
		for _, name := range names {
			used["{{"+name+"}}"] = true
		}
	}
	for _, child := range node.Content {
		maps.Copy(used, usedIn(child))
	}
	return used
}

// scope lists what a step may use: names of values and of what was saved, marks and
// fault rules.
type scope struct {
	values map[string]bool // of the scenario
	names  map[string]bool
	marks  map[string]bool
	faults map[string]bool
	// rules are the fault rules that the half adds, whose codes calls may return.
	rules []faults.Rule
	half  string
	// servers holds the names of the servers in given.
	servers map[string]bool
	// objects holds the objects of the cluster that a step may name.
	objects map[string]*regexp.Regexp
	// defined has the names that the half defines, with where; used has those that it uses.
	defined map[string]spot
	used    map[string]bool
}

func (c *checker) scenario(s *Scenario) {
	if names, err := namesIn(s.Advice); err != nil || len(names) > 0 {
		c.refuse(spot{&yaml.Node{Line: 1}, "advice"}, "it can have values alone, and no {{%s}}", strings.Join(names, "}}, {{"))
	}
	for _, name := range Halves {
		half := s.Half(name)
		if half == nil {
			continue
		}
		if len(half.Command) > 0 && name == ClientHalf {
			c.refuse(spot{half.node, name}.in("command"), "the client half runs programs by exec: command is for the other halves")
		}
		if len(half.Steps) == 0 && !c.malformed && name != ProgramHalf {
			c.refuse(spot{half.node, name}, "it has no steps, so that nothing happens: give steps")
		}
		in := scope{values: make(map[string]bool), names: make(map[string]bool), marks: make(map[string]bool), faults: make(map[string]bool), objects: make(map[string]*regexp.Regexp),
			rules: rulesIn(half.Steps), half: name, servers: make(map[string]bool), defined: make(map[string]spot), used: make(map[string]bool)}
		for value := range s.Values {
			in.values[value], in.names[value] = true, true
		}
		for _, server := range s.Given.Servers {
			in.servers[server.ID] = true
		}
		c.given(&s.Given, in)
		clear(in.defined) // what the halves share need not be used by each
		c.steps(half.Steps, name+".steps", in)
		c.expectations(half.Expect, name+".expect", in)
		c.idle(in.defined, in.used)
	}
}

// idle refuses names that are defined and never used: one of the two is misspelt.
func (c *checker) idle(defined map[string]spot, used map[string]bool) {
	for _, what := range sortedKeys(defined) {
		if !used[what] && !c.malformed {
			c.refuse(defined[what], "nothing uses %s", what)
		}
	}
}

// rulesIn are the fault rules that steps add.
func rulesIn(steps []Step) (rules []faults.Rule) {
	for i := range steps {
		switch s := &steps[i]; {
		case s.Fault != nil:
			if rule, err := s.Fault.rule(); err == nil {
				rules = append(rules, rule)
			}
		case s.Repeat != nil:
			rules = append(rules, rulesIn(s.Repeat.Steps)...)
		}
	}
	return rules
}

func (c *checker) given(g *Given, in scope) {
	if g.node == nil {
		return
	}
	at := spot{g.node, "given"}
	for _, part := range []string{"world", "clock"} {
		if under := at.in(part); under.node != g.node {
			c.templates(under, in)
		}
	}
	c.settings(g.World, at.in("world"), in)
	for i, server := range g.Servers {
		c.id("ServerId", server.ID, at.in("servers").at(i).in("id"), in)
		c.loopback(server.Address, at.in("servers").at(i).in("address"))
	}
	for i, o := range g.Cluster {
		under := at.in("cluster").at(i)
		c.templates(under, in)
		if c.names != nil {
			c.kind(under.in("kind"), "", o.Kind)
		}
		in.add(o.Kind, o.Namespace, o.Name)
	}
	for i := range g.State {
		under := at.in("state").at(i)
		c.templates(under, in)
		c.call(&g.State[i], under, in)
	}
}

// templates reports templates of names that are not known at this place.
func (c *checker) templates(at spot, in scope) {
	node := at.node
	if node.Kind == yaml.ScalarNode {
		names, err := namesIn(node.Value)
		if err != nil {
			c.refuse(at, "%s", err)
		}
		for _, name := range names {
			in.used["{{"+name+"}}"] = true
			if !in.names[name] {
				c.missing(at, "there is no value {{%s}} here: give it in values, or save it in an earlier step%s", name, near(name, in.names))
			}
		}
		return
	}
	if node.Kind == yaml.SequenceNode {
		for i := range node.Content {
			c.templates(at.at(i), in)
		}
		return
	}
	for i := 1; i < len(node.Content); i += 2 {
		key := node.Content[i-1]
		under := spot{node.Content[i], yamlfile.Join(at.path, key.Value)}
		c.templates(spot{key, under.path}, in)
		switch {
		case key.Value == "repeat":
			c.templates(under.in("times"), in) // its steps are checked as steps
		case key.Value == "expect" && under.node.Kind == yaml.SequenceNode: // expectations are checked as such
		default:
			c.templates(under, in)
		}
	}
}

func near(name string, known map[string]bool) string {
	if found := spelling.Nearest(name, sortedKeys(known)); found != "" {
		return " (do you mean " + found + "?)"
	}
	return ""
}

func (c *checker) steps(steps []Step, path string, in scope) {
	for i := range steps {
		at := spot{steps[i].node, fmt.Sprintf("%s[%d]", path, i)}
		c.templates(at, in)
		c.step(&steps[i], at, in)
	}
}

func (c *checker) step(s *Step, at spot, in scope) {
	switch {
	case s.Set != nil:
		c.settings(s.Set, at.in("set"), in)
	case s.Fault != nil:
		c.fault(s, at.in("fault"), in)
	case s.Clear != nil:
		c.clear(s, at.in("clear"), in)
	case s.Call != nil:
		c.call(s.Call, at.in("call"), in)
	case s.Wait != nil:
		c.call(&s.Wait.Call, at.in("wait", "call"), in)
	case s.Repeat != nil:
		c.repeat(s, at.in("repeat"), in)
	case s.Mark != "":
		in.marks[s.Mark] = true
		in.defined["the mark "+s.Mark] = at.in("mark")
	case s.Start && in.half == ClientHalf:
		c.refuse(at.in("start"), "it is for the program half: in the client half, exec runs a program")
	case s.Stop && in.half == ClientHalf:
		c.refuse(at.in("stop"), "the client half has no program to kill")
	case s.Rest != nil && in.half == ClientHalf:
		c.refuse(at.in("rest"), "a scripted client rests when its steps are over")
	case s.Struck != nil:
		if !in.faults[s.Struck.Fault] {
			c.missing(at.in("struck", "fault"), "no earlier step adds a fault called %s%s", s.Struck.Fault, near(s.Struck.Fault, in.faults))
		}
	case s.Kubectl != nil:
		c.kubectl(s.Kubectl, at.in("kubectl"), in)
	case s.Serve != nil:
		c.server(s.Serve.ID, at.in("serve", "id"), in)
		c.loopback(s.Serve.Address, at.in("serve", "address"))
	case s.Traffic != nil:
		c.traffic(s.Traffic, at.in("traffic"), in)
	}
	c.expectations(s.Expect, at.path+".expect", in)
}

func (c *checker) repeat(s *Step, at spot, in scope) {
	if times := s.Repeat.Times; !template().MatchString(times) {
		if n, err := strconv.Atoi(times); err != nil || n < 1 || n > maxTimes {
			c.refuse(at.in("times"), "%q is not a number from 1 to %d", times, maxTimes)
		}
	}
	inner := in
	inner.names = maps.Clone(in.names)
	inner.names[counter] = true
	c.steps(s.Repeat.Steps, at.path+".steps", inner)
	// What the last round saved stays.
	maps.Copy(in.names, inner.names)
	delete(in.names, counter)
}

func (c *checker) settings(settings Settings, at spot, in scope) {
	for _, s := range settings {
		if c.names == nil {
			continue
		}
		value := s.Value
		if template().MatchString(value) {
			value = ""
		}
		if err := c.names.CheckCondition(s.Name, value); err != nil {
			c.refuse(at.in(s.Name), "%s", err)
		}
		if err := c.names.CheckConditionID(s.Name); in.half != KubernetesHalf && !template().MatchString(s.Name) && err != nil {
			c.refuse(at.in(s.Name), "%s", err)
		}
	}
}

func (c *checker) fault(s *Step, at spot, in scope) {
	var check func(*faults.Rule) []faults.Problem
	if c.names != nil {
		check = c.names.ResolveFault
	}
	rule := faults.Read(c.Decoder, s.Fault.node, at.path, check)
	in.faults[rule.Name] = true
	c.packets(rule.Match, at.in("fault", "match"), in)
}

func (c *checker) clear(s *Step, at spot, in scope) {
	for _, name := range s.Clear {
		if !in.faults[name] {
			c.missing(at, "no earlier step adds a fault called %s%s", name, near(name, in.faults))
		}
	}
}

func (c *checker) call(call *CallStep, at spot, in scope) {
	action, known := c.action(at, call.Product, call.Action, call.Params, call.Expect == nil)
	if !call.Expect.refused() {
		c.ids(call.Params, at.in("params"), in)
	}
	if known && call.Expect != nil {
		c.code(at.in("expect", "code"), call.Expect.Code, []Action{action}, in)
		c.fields(at.in("expect", "fields"), action, call.Expect.Fields)
	}
	for _, name := range sortedKeys(call.Save) {
		under := at.in("save").in(name)
		c.save(under, name, in)
		if known && c.settled(under, call.Save[name]) {
			if err := checkPath(action.answers(), call.Save[name], false); err != nil {
				c.refuse(under, "%s: %s", call.Save[name], err)
			}
		}
	}
}

// save lets steps from here on use a name that a step gives to what it saw.
func (c *checker) save(at spot, name string, in scope) {
	if !validName().MatchString(name) || name == counter {
		c.refuse(at, "it is not a name for a value: use letters, digits and _, and not n")
	}
	if in.values[name] {
		c.refuse(at, "values has one of that name already")
	}
	in.names[name] = true
	in.defined["{{"+name+"}}"] = at
}

func (c *checker) expectations(list []Expectation, path string, in scope) {
	for i := range list {
		e, at := &list[i], spot{list[i].node, fmt.Sprintf("%s[%d]", path, i)}
		c.templates(at, in)
		if e.Event != nil {
			c.since(at.in("event", "since"), e.Event.Since, in)
		}
		switch {
		case e.Resource != nil:
			c.resource(at.in("resource"), e.Resource, in)
		case e.Calls != nil:
			c.calls(at.in("calls"), e.Calls, in)
		case e.Quota != nil:
			c.quota(at.in("quota"), e.Quota, in)
		case e.Addresses != nil:
			c.id("VSwitchId", e.Addresses.VSwitch, at.in("addresses", "vSwitch"), in)
		case e.LoadBalancer != nil:
			if e.LoadBalancer.Absent {
				c.seen(at.in("loadBalancer", "name"), e.LoadBalancer.Name, "is absent too")
			}
		case e.Backends != nil:
			c.since(at.in("backends", "since"), e.Backends.Since, in)
		case e.needsCluster() && in.half != KubernetesHalf:
			c.refuse(at, "it needs a cluster: put it in the kubernetes half")
		case c.names == nil:
		case e.Refused != nil:
			c.globs(at.in("refused", "action"), e.Refused.Action)
		case e.Service != nil:
			c.service(at.in("service"), e.Service, in)
		case e.Event != nil:
			c.event(at.in("event"), e.Event, in)
		case e.Finalizer != nil:
			c.finalizer(at.in("finalizer"), e.Finalizer, in)
		}
	}
}

// seen refuses the name of something that is expected to be no more, unless an earlier step
// has seen it.
func (c *checker) seen(at spot, name, misspelt string) {
	if template().FindString(name) != name {
		c.refuse(at, "one that is misspelt %s: save its id in an earlier step, and write {{name}}", misspelt)
	}
}

func (e *Expectation) needsCluster() bool {
	return e.Refused != nil || e.Ingress != nil || e.Service != nil || e.Event != nil || e.Finalizer != nil
}
