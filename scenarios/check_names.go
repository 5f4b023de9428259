package scenarios

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/faults"
)

// settled refuses a name that what is saved while it is played is to tell: lint could not check it.
func (c *checker) settled(at spot, name string) bool {
	if template().MatchString(name) {
		c.refuse(at, "it is not known before the scenario runs: write it out, or take it from values")
		return false
	}
	return true
}

// action checks the product, the action and the parameters of a call.
func (c *checker) action(at spot, product, name string, params map[string]Value, accepts bool) (found Action, ok bool) {
	if c.names == nil || name == "" || !c.settled(at.in("product"), product) || !c.settled(at.in("action"), name) {
		return found, false
	}
	all := c.names.Actions()
	emulated := func(a Action) bool { return a.Product == orSlb(product) && a.Emulated }
	i := slices.IndexFunc(all, func(a Action) bool { return a.Name == name && emulated(a) })
	if i >= 0 {
		c.parameters(at.in("params"), all[i], params, accepts)
		if accepts {
			c.required(at, all[i], params)
		}
		return all[i], true
	}
	products := namesOf(all, Action.product)
	if !c.listed(at.in("product"), orSlb(product), products, "there is no product %s", "") {
		return found, false
	}
	if i := slices.IndexFunc(all, func(a Action) bool { return a.Name == name && a.Emulated }); i >= 0 {
		c.refuse(at.in("action"), "%s is an action of %s: add product: %s", name, all[i].Product, all[i].Product)
		return found, false
	}
	known := slices.DeleteFunc(slices.Clone(all), func(a Action) bool { return !emulated(a) })
	c.refuse(at.in("action"), "no emulated action of %s is called %s%s", orSlb(product), name, suggest(name, namesOf(known, Action.name), "clbemu actions lists them"))
	return found, false
}

// flattenParams writes a list or a map as the cloud's lists of parameters: ZoneMappings with two
// elements is ZoneMappings.1.ZoneId, and so on. It returns keys and values in turn.
func flattenParams(name string, value *yaml.Node) (pairs []*yaml.Node) {
	switch value.Kind {
	case yaml.SequenceNode:
		for i, element := range value.Content {
			pairs = append(pairs, flattenParams(fmt.Sprintf("%s.%d", name, i+1), element)...)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(value.Content); i += 2 {
			pairs = append(pairs, flattenParams(name+"."+value.Content[i].Value, value.Content[i+1])...)
		}
	default:
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: value.Line, Column: value.Column}
		pairs = append(pairs, key, value)
	}
	return pairs
}

// flattenLists replaces the lists in parameters that the action reads element by element,
// which leaves those that it reads as JSON.
func flattenLists(action Action, params *yaml.Node) (names []string) {
	var content []*yaml.Node
	for i := 0; i+1 < len(params.Content); i += 2 {
		pair := params.Content[i : i+2]
		if name := pair[0].Value; pair[1].Kind == yaml.SequenceNode && !slices.Contains(action.Parameters, name) && action.readsList(name) {
			pair = flattenParams(name, pair[1])
		}
		content = append(content, pair...)
	}
	params.Content = content
	for i := 0; i < len(content); i += 2 {
		names = append(names, content[i].Value)
	}
	return names
}

// parameters checks the parameters of a call; accepts is whether it must succeed.
func (c *checker) parameters(at spot, action Action, params map[string]Value, accepts bool) {
	if at.node.Kind != yaml.MappingNode || len(params) == 0 {
		return
	}
	for _, name := range flattenLists(action, at.node) {
		under := at.in(name)
		if !c.settled(under, name) {
			continue
		}
		// The cloud takes a name in any letter case.
		folded := slices.ContainsFunc(action.Parameters, func(p string) bool { return strings.EqualFold(p, numbered(name)) })
		if !folded && !reads([]Action{action}, name) {
			c.refuse(under, "%s has no such parameter%s", action.Name, suggest(name, parametersOf([]Action{action}), ""))
			continue
		}
		if values := action.Values[numbered(name)]; accepts && values != nil && !slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, string(params[name])) }) && !template().MatchString(string(params[name])) && params[name] != "" {
			c.refuse(under, "%s is none of %s: if the cloud is to refuse it, expect its code", params[name], strings.Join(values, ", "))
		}
		if text := action.Ranges[numbered(name)]; accepts && !within(text, string(params[name])) {
			c.refuse(under, "%s is not in %s: if the cloud is to refuse it, expect its code", params[name], text)
		}
		for _, err := range checkJSON(action.jsonFields(name), string(params[name])) {
			c.addErr(under, err)
		}
	}
}

// within reports whether a value lies in a range, such as 1..65535. A value that is not a number
// does.
func within(bounds, value string) bool {
	low, high, _ := strings.Cut(bounds, "..")
	n, err := strconv.Atoi(value)
	from, noFrom := strconv.Atoi(low)
	to, noTo := strconv.Atoi(high)
	return err != nil || (noFrom != nil || n >= from) && (noTo != nil || n <= to)
}

// required refuses a call that must succeed and lacks a parameter.
func (c *checker) required(at spot, action Action, params map[string]Value) {
	for _, name := range action.Required {
		if !slices.ContainsFunc(sortedKeys(params), func(key string) bool { return strings.EqualFold(key, name) || strings.HasPrefix(key, name+".") }) {
			c.refuse(at, "%s needs %s: if the cloud is to refuse the call, expect its code", action.Name, name)
		}
	}
}

func (c *checker) fields(at spot, action Action, fields map[string]Matcher) {
	for _, path := range sortedKeys(fields) {
		if under := at.in(path); c.settled(under, path) {
			if err := checkPath(action.answers(), path, fields[path].Count != nil); err != nil {
				c.refuse(under, "%s answers it not: %s", action.Name, err)
			} else if equals := fields[path].Equals; equals != nil && shapeAt(action.answers(), splitPath(path)) == leadsToList && !strings.HasPrefix(*equals, "[") && !template().MatchString(*equals) {
				c.refuse(under, "it is a list: give its count, or name an element, such as %s.0", path)
			}
		}
	}
}

// code wants a code with which one of the actions can fail, on its own or by a
// fault rule of the part.
func (c *checker) code(at spot, m *Matcher, actions []Action, in scope) {
	if m == nil || m.ofSuccess() {
		return
	}
	byRule := injected(in.rules, actions)
	refuses := func(is func(code string) bool) bool {
		return slices.ContainsFunc(byRule, is) || slices.ContainsFunc(actions, func(a Action) bool { return slices.ContainsFunc(a.Codes, is) })
	}
	switch {
	case m.Count != nil:
		c.refuse(at, "it is not a list, and has no count")
	case m.Equals != nil && !c.settled(at, *m.Equals):
	case m.Equals != nil && !refuses(equalTo(numbered(*m.Equals))):
		codes := byRule
		for _, a := range actions {
			codes = append(codes, a.Codes...)
		}
		c.refuse(at, "no such call is refused with %s, unless a fault rule of the scenario does it%s", *m.Equals, suggest(*m.Equals, codes, "clbemu fault --help shows how"))
	case m.pattern != nil && !refuses(m.pattern.MatchString):
		c.refuse(at, "no code of such a call matches %q", m.Matches)
	}
}

// id refuses the id of something that the world does not have. The world of a cluster is
// another one.
func (c *checker) id(field, id string, at spot, in scope) {
	if c.names != nil && in.part != KubernetesPart && !template().MatchString(id) {
		c.addErr(at, c.names.CheckID(field, id))
	}
}

// ids checks the ids in parameters, also those in the objects of a JSON text.
func (c *checker) ids(params map[string]Value, at spot, in scope) {
	for _, name := range sortedKeys(params) {
		under, value := at.in(name), string(params[name])
		var objects []map[string]any
		if json.Unmarshal([]byte(value), &objects) != nil {
			c.id(name, value, under, in)
			continue
		}
		for _, o := range objects {
			for _, field := range sortedKeys(o) {
				if id, ok := o[field].(string); ok {
					c.id(name+"."+field, id, under, in)
				}
			}
		}
	}
}

func equalTo(want string) func(string) bool { return func(text string) bool { return text == want } }

// injected returns the codes that rules give to one of the actions.
func injected(rules []faults.Rule, actions []Action) (codes []string) {
	for _, rule := range rules {
		effect, ok := rule.Effect.Value.(faults.ErrorEffect)
		if !ok {
			continue
		}
		if matched, _ := glob.Select(rule.Match.Actions(), actions, Action.name); rule.Match.Action == "" || len(matched) > 0 {
			codes = append(codes, effect.Code)
		}
	}
	return codes
}

func orSlb(product string) string { return cmp.Or(product, "Slb") }
