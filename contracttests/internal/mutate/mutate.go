// Package mutate changes the library's scenarios, one value, cure or cause at a time. Tests
// hold plays to notice each change.
package mutate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// Change is one change of a scenario, or of an expectation, that a play must notice. Of
// several texts, which change a number up and down, it must notice one.
type Change struct {
	Kind  string // of the value, such as status, or what is taken out, such as "without set"
	Where string
	Line  int
	Texts [][]byte // the whole in YAML
}

// changes collects the changes of a part of a scenario.
type changes struct {
	t        testing.TB
	document yaml.Node
	// program is true for what is about a program, which makes as many calls as it likes.
	program bool
	all     []Change
}

// OfExpectation lists the changes of an expectation about a program.
func OfExpectation(t testing.TB, expectation *yaml.Node) []Change {
	c := &changes{t: t, document: *expectation, program: true}
	c.expected("", &c.document)
	return c.all
}

// OfPart lists the changes of a part of a library scenario, and of what it is given.
func OfPart(t testing.TB, name, part string) []Change {
	text, _ := scenarios.LibraryText(name)
	c := &changes{t: t, program: part == scenarios.ProgramPart}
	if err := yaml.Unmarshal(text, &c.document); err != nil {
		t.Fatal(err)
	}
	root := c.document.Content[0]
	played := child(root, part)
	if part == scenarios.ClientPart { // others may need less of what is given
		c.given(child(root, "given"))
	}
	c.steps(part+".steps", child(played, "steps"))
	c.expected(part+".expect", child(played, "expect"))
	return c.all
}

// add adds a change, which each of the functions makes in its way.
func (c *changes) add(kind, where string, line int, ways ...func() (undo func())) {
	added := Change{kind, where, line, nil}
	for _, do := range ways {
		undo := do()
		text, err := yaml.Marshal(&c.document)
		if undo(); err != nil {
			c.t.Fatal(err)
		}
		added.Texts = append(added.Texts, text)
	}
	c.all = append(c.all, added)
}

// value gives a scalar other texts.
func (c *changes) value(kind, where string, node *yaml.Node, texts ...string) {
	ways := make([]func() func(), len(texts))
	for i, text := range texts {
		ways[i] = func() func() {
			was := node.Value
			node.Value = text
			return func() { node.Value = was }
		}
	}
	c.add(kind, where+": "+strings.Join(texts, " or "), node.Line, ways...)
}

// replace puts another key and value into a mapping, in place of the i-th.
func (c *changes) replace(kind, where string, of *yaml.Node, i int, key, value string) {
	c.add(kind, where+"."+key+": "+value, of.Content[i].Line, func() func() {
		was := of.Content
		of.Content = slices.Clone(was)
		of.Content[i], of.Content[i+1] = &yaml.Node{Kind: yaml.ScalarNode, Value: key}, &yaml.Node{Kind: yaml.ScalarNode, Value: value}
		return func() { of.Content = was }
	})
}

// without takes n nodes out of a list or a mapping.
func (c *changes) without(kind, where string, of *yaml.Node, i, n int) {
	c.add("without "+kind, where, of.Content[i].Line, func() func() {
		was := of.Content
		of.Content = slices.Delete(slices.Clone(was), i, i+n)
		return func() { of.Content = was }
	})
}

// around gives a number the ones around it.
func (c *changes) around(kind, where string, node *yaml.Node) {
	if n, err := strconv.Atoi(node.Value); err == nil {
		c.value(kind, where, node, strconv.Itoa(n+1), strconv.Itoa(n-1))
	}
}

// entries visits a mapping.
func entries(node *yaml.Node, visit func(i int, key string, value *yaml.Node)) {
	if node == nil || node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(node.Content); i += 2 {
		visit(i, node.Content[i].Value, node.Content[i+1])
	}
}

func child(node *yaml.Node, key string) (found *yaml.Node) {
	entries(node, func(_ int, name string, value *yaml.Node) {
		if name == key {
			found = value
		}
	})
	return found
}

func (c *changes) given(node *yaml.Node) {
	entries(node, func(i int, key string, value *yaml.Node) {
		where := "given." + key
		switch key {
		case "world":
			c.settings(where, value)
		case "clock":
			c.without("given clock", where, node, i, 2)
		case "servers":
			for i, server := range value.Content {
				at := fmt.Sprintf("%s[%d]", where, i)
				c.without("given server", at, value, i, 1)
				c.server(at, server)
			}
		case "state":
			for i, call := range value.Content {
				at := fmt.Sprintf("%s[%d]", where, i)
				c.without("given call", at, value, i, 1)
				c.expected(at+".expect", child(call, "expect"))
			}
		}
	})
}

// server lists the changes of how a server behaves.
func (c *changes) server(where string, node *yaml.Node) {
	entries(node, func(i int, key string, _ *yaml.Node) {
		if key != "id" {
			c.without("behaviour of a server", where+"."+key, node, i, 2)
		}
	})
}

func (c *changes) settings(where string, node *yaml.Node) {
	entries(node, func(i int, key string, value *yaml.Node) {
		c.without("condition", where+"."+key, node, i, 2)
		c.around("value of a condition", where+"."+key, value)
	})
}

// looks finds actions that change nothing.
var looks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(Describe|List|Get)`) })

// acts reports whether a call changes something, or something uses its answer. Others only
// assert.
func acts(call *yaml.Node) bool {
	if child(call, "save") != nil {
		return true
	}
	code, status := child(child(call, "expect"), "code"), child(child(call, "expect"), "status")
	refused := code != nil && code.Value != "OK" || status != nil && !strings.HasPrefix(status.Value, "2")
	return !refused && !looks().MatchString(child(call, "action").Value)
}

// steps lists the changes of steps: each is taken out unless it only asserts.
func (c *changes) steps(where string, list *yaml.Node) {
	if list == nil {
		return
	}
	clients := make(map[string]bool)
	for i, step := range list.Content {
		at := fmt.Sprintf("%s[%d]", where, i)
		entries(step, func(_ int, kind string, value *yaml.Node) {
			gone := true
			switch kind {
			case "set":
				c.settings(at+".set", value)
				gone = false // its conditions are
			case "fault":
				c.fault(at+".fault", value)
			case "serve":
				c.server(at+".serve", value)
			case "call":
				gone = acts(value)
				c.expected(at+".call.expect", child(value, "expect"))
			case "wait":
				gone = acts(child(value, "call"))
				c.expected(at+".wait.call.expect", child(child(value, "call"), "expect"))
			case "clock":
				advance := child(value, "advance")
				if d, err := time.ParseDuration(advance.Value); err == nil {
					c.value("advance", at+".clock.advance", advance, (d / 2).String())
				}
			case "traffic":
				kept := child(value, "clients")
				gone = kept != nil && !clients[kept.Value] // it opens connections
				if kept != nil {
					clients[kept.Value] = true
				}
				c.expected(at+".traffic.expect", child(value, "expect"))
			case "repeat":
				c.steps(at+".repeat.steps", child(value, "steps"))
				gone = false // its steps are
			case "expect":
				c.expected(at+".expect", value)
				gone = false
			case "name":
				gone = false
			}
			if gone {
				c.without(kind, at, list, i, 1)
			}
		})
	}
}

func (c *changes) fault(where string, node *yaml.Node) {
	entries(child(node, "when"), func(_ int, key string, value *yaml.Node) {
		c.around("when of a fault", where+".when."+key, value)
	})
	entries(child(child(node, "effect"), "error"), func(_ int, key string, value *yaml.Node) {
		at := where + ".effect.error." + key
		switch key {
		case "code":
			c.value("code of a fault", at, value, otherCode)
		case "message":
			c.value("message of a fault", at, value, value.Value+"x")
		default:
			c.around("status of a fault", at, value)
		}
	})
}

// otherCode is a code that any action can be refused with, and that no scenario has.
const otherCode = "SignatureNonceUsed"

// expected lists the changes of what is expected, of an answer or by an expectation.
func (c *changes) expected(where string, node *yaml.Node) {
	if node == nil {
		return
	}
	for i, element := range node.Content {
		if node.Kind != yaml.SequenceNode {
			break
		}
		if at := fmt.Sprintf("%s[%d]", where, i); element.Kind == yaml.ScalarNode {
			c.value(last(where), at, element, element.Value+"x")
		} else {
			c.expected(at, element)
		}
	}
	entries(node, func(i int, key string, value *yaml.Node) {
		at := where + "." + key
		switch {
		case key == "listeners", key == "statuses":
			c.amounts(key, at, value)
		case key == "shares":
			c.shares(at, value, child(node, "tolerance"))
		case value.Kind != yaml.ScalarNode:
			c.expected(at, value)
		default:
			c.expectedValue(where, node, i, value)
		}
	})
}

// amounts lists the changes of numbers by name: the numbers, and the names.
func (c *changes) amounts(kind, where string, node *yaml.Node) {
	entries(node, func(i int, name string, n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			c.next(kind, where+"."+name, n)
		} else {
			c.expected(where+"."+name, n)
		}
		c.without(kind, where+"."+name, node, i, 2)
	})
}

// shares lists the changes of shares, each by more than is tolerated.
func (c *changes) shares(where string, node, tolerance *yaml.Node) {
	by := 1.0
	if tolerance != nil {
		by += 2 * number(tolerance.Value)
	}
	entries(node, func(_ int, server string, share *yaml.Node) {
		if number(share.Value)+by > 100 {
			by = -by
		}
		c.value("shares", where+"."+server, share, fmt.Sprint(number(share.Value)+by))
	})
}

func number(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64) // 0 is changed as well
	return n
}

// next gives a number the next one, and a text another letter.
func (c *changes) next(kind, where string, node *yaml.Node) {
	if n, err := strconv.Atoi(node.Value); err == nil {
		c.value(kind, where, node, strconv.Itoa(n+1))
		return
	}
	c.value(kind, where, node, node.Value+"x")
}

// expectedValue lists the changes of the i-th entry of what is expected.
func (c *changes) expectedValue(where string, node *yaml.Node, i int, value *yaml.Node) {
	key := node.Content[i].Value
	at := where + "." + key
	switch key {
	case "within", "for", "tolerance": // slack
	case "product": // a name
	case "none":
		c.replace("none", where, node, i, "atLeast", "1")
	case "absent":
		switch {
		case last(where) == "loadBalancer":
			c.value("absent", at, value, "false")
		case last(where) == "code":
			c.replace("absent", where, node, i, "equals", otherCode)
		default:
			c.replace("absent", where, node, i, "matches", "^")
		}
	case "lost":
		c.value("lost", at, value, "false")
	case "latency":
		c.value("latency", at, value, "1ns")
	case "code":
		c.value("code", at, value, otherCode)
	case "action":
		if last(where) == "calls" { // TestMutants has the others
			c.value("action", at, value, "DescribeRegions")
		}
	case "matches":
		c.value("matches", at, value, "^zz(?:"+value.Value+")")
	case "atLeast":
		if n := int(number(value.Value)); c.program {
			c.value("atLeast", at, value, strconv.Itoa(n+1000))
		} else {
			c.next("atLeast", at, value)
		}
	case "atMost":
		c.value("atMost", at, value, strconv.Itoa(int(number(value.Value))-1))
	default:
		kind := key
		for _, of := range []string{"fields", "params"} {
			if strings.HasSuffix(where, "."+of) || strings.Contains(where, "."+of+".") {
				kind = of
			}
		}
		c.next(kind, at, value)
	}
}

// last returns the last name of a path.
func last(where string) string {
	return strings.TrimRight(where[strings.LastIndex(where, ".")+1:], "[]0123456789")
}
