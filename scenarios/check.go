package scenarios

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
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
	// malformed is true if a part did not parse: it may define, or use, what
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

// at returns the spot of an element of a list.
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

// addErr refuses what an error is about.
func (c *checker) addErr(at spot, err error) {
	if err != nil {
		c.refuse(at, "%s", err)
	}
}

// listed refuses a name that is not in a list. Otherwise says where to find the names, if they are
// many.
func (c *checker) listed(at spot, name string, names []string, format, otherwise string) (ok bool) {
	if ok = slices.Contains(names, name); !ok {
		c.refuse(at, format+"%s", name, suggest(name, names, otherwise))
	}
	return ok
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

// usedIn returns the names in all templates under a node.
func usedIn(node *yaml.Node) map[string]bool {
	used := make(map[string]bool)
	if node.Kind == yaml.ScalarNode {
		names, _ := namesIn(node.Value) // another check reports a bad one
		for _, name := range names {
			used["{{"+name+"}}"] = true
		}
	}
	for _, child := range node.Content {
		maps.Copy(used, usedIn(child))
	}
	return used
}

// scope lists what a step may use: names of values and of what was saved, marks and fault rules.
type scope struct {
	values map[string]bool // of the scenario
	names  map[string]bool
	marks  map[string]bool
	faults map[string]bool
	// rules are the fault rules that the part adds, whose codes calls may return.
	rules []faults.Rule
	part  string
	// servers holds the names of the servers in given.
	servers map[string]bool
	// objects holds the objects of the cluster that a step may name.
	objects map[string]*regexp.Regexp
	// defined holds the names that the part defines, with their places, and used those that it
	// uses.
	defined map[string]spot
	used    map[string]bool
}

func (c *checker) scenario(s *Scenario) {
	if names, err := namesIn(s.Advice); err != nil || len(names) > 0 {
		c.refuse(spot{&yaml.Node{Line: 1}, "advice"}, "it can have values alone, and no {{%s}}", strings.Join(names, "}}, {{"))
	}
	if s.Explore.node != nil {
		s.Explore.check(c, spot{s.Explore.node, "explore"})
	}
	for _, name := range Parts {
		part := s.Part(name)
		if part == nil {
			continue
		}
		if len(part.Command) > 0 && name == ClientPart {
			c.refuse(spot{part.node, name}.in("command"), "the client part runs programs by exec: command is for the other parts")
		}
		if len(part.Steps) == 0 && !c.malformed && name != ProgramPart {
			c.refuse(spot{part.node, name}, "it has no steps, so that nothing happens: give steps")
		}
		in := scope{values: make(map[string]bool), names: make(map[string]bool), marks: make(map[string]bool), faults: make(map[string]bool), objects: make(map[string]*regexp.Regexp),
			rules: part.rules(), part: name, servers: make(map[string]bool), defined: make(map[string]spot), used: make(map[string]bool)}
		for value := range s.Values {
			in.values[value], in.names[value] = true, true
		}
		for _, server := range s.Given.Servers {
			in.servers[server.ID] = true
		}
		c.given(&s.Given, in)
		clear(in.defined) // what the parts share need not serve each
		c.steps(part.Steps, name+".steps", in)
		c.expectations(part.Expect, name+".expect", in)
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
	g.World.check(c, at.in("world"), in)
	seen := make(map[string]bool)
	for i, server := range g.Servers {
		if seen[server.ID] {
			c.refuse(at.in("servers").at(i).in("id"), "%s is there twice", server.ID)
		}
		seen[server.ID] = true
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
		g.State[i].check(c, under, in)
	}
}

// templates reports templates of names that are not known at this place, but for those in
// parts checked on their own.
func (c *checker) templates(at spot, in scope, parts ...*yaml.Node) {
	node := at.node
	if slices.Contains(parts, node) {
		return
	}
	if node.Kind == yaml.ScalarNode {
		names, err := namesIn(node.Value)
		c.addErr(at, err)
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
			c.templates(at.at(i), in, parts...)
		}
		return
	}
	for i := 1; i < len(node.Content); i += 2 {
		key := node.Content[i-1]
		under := spot{node.Content[i], yamlfile.Join(at.path, key.Value)}
		c.templates(spot{key, under.path}, in)
		c.templates(under, in, parts...)
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
		c.part(&steps[i].element, fmt.Sprintf("%s[%d]", path, i), in)
	}
}

func (c *checker) expectations(list []Expectation, path string, in scope) {
	for i := range list {
		c.part(&list[i].element, fmt.Sprintf("%s[%d]", path, i), in)
	}
}

// part checks a step or an expectation.
func (c *checker) part(p *element, path string, in scope) {
	at := spot{p.node, path}
	var inner []*yaml.Node
	steps, expectations := p.holds()
	for i := range steps {
		inner = append(inner, steps[i].node)
	}
	for i := range expectations {
		inner = append(inner, expectations[i].node)
	}
	c.templates(at, in, inner...)
	if p.Kind == nil {
		return
	}
	under := at.in(p.Kind.Name)
	if m, ok := p.Value.(marking); ok {
		c.marked(under.in("since"), m.since(), in)
	}
	if p.Kind.ofCluster && in.part != KubernetesPart {
		c.refuse(at, "it needs a cluster: put it in the kubernetes part")
		return
	}
	if in.part == ClientPart && p.Kind.notClient != "" {
		c.refuse(under, "%s", p.Kind.notClient)
	}
	if v, ok := p.Value.(checking); ok && (c.names != nil || !p.Kind.ofCluster) {
		v.check(c, under, in)
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

// seen refuses the name of something expected to be no more, unless an earlier step
// has seen it.
func (c *checker) seen(at spot, name, misspelt string) {
	if template().FindString(name) != name {
		c.refuse(at, "one that is misspelt %s: save its id in an earlier step, and write {{name}}", misspelt)
	}
}
