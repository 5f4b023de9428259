package scenarios

import (
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/spelling"
	"github.com/clbemu/clbemu/emulator/yamlfile"
	"github.com/clbemu/clbemu/scenarios/internal/cluster"
)

// What a scenario names in a cluster is there by an earlier step, or is listed in
// given.cluster: an Event about an object that does not exist is absent for good.

// idOf returns the id of an object: its kind, namespace and name.
func idOf(kind, namespace, name string) string {
	return strings.ToLower(kind) + " " + orDefault(namespace) + "/" + name
}

// add lets steps from here on name an object. Its name may count.
func (in scope) add(kind, namespace, name string) {
	id := idOf(kind, namespace, name)
	parts := template().Split(id, -1)
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(part)
	}
	pattern := strings.Join(parts, "(.+)")
	if found := template().FindStringSubmatch(id); found != nil && found[1] == counter {
		pattern = strings.Replace(pattern, "(.+)", "[0-9]+", 1)
	}
	in.objects[id] = regexp.MustCompile("^" + pattern + "$")
}

// known wants an object that the cluster has.
func (c *checker) known(at spot, kind, namespace, name string, in scope) {
	if kind == "" || name == "" {
		c.refuse(at, "an object needs its kind and its metadata.name")
		return
	}
	id := idOf(kind, namespace, name)
	for _, pattern := range in.objects {
		if pattern.MatchString(id) {
			return
		}
	}
	c.missing(at, "no earlier step applies the %s, and given.cluster does not list it%s", id, suggest(id, sortedKeys(in.objects), "apply it first"))
}

// reference checks kind/name.
func (c *checker) reference(at spot, object, namespace string, in scope) {
	kind, name, ok := strings.Cut(object, "/")
	if !ok || name == "" {
		c.refuse(at, "%q is not a kind and name, such as service/web", object)
		return
	}
	c.known(at, kind, namespace, name, in)
}

// objectsAt returns the objects of a manifest, which is an object, a list or a text.
func objectsAt(at spot) (all []spot) {
	switch at.node.Kind {
	case yaml.MappingNode:
		return []spot{at}
	case yaml.SequenceNode:
		for i := range at.node.Content {
			all = append(all, at.at(i))
		}
		return all
	}
	for d := yaml.NewDecoder(strings.NewReader(at.node.Value)); ; {
		var document yaml.Node
		if d.Decode(&document) != nil || len(document.Content) == 0 {
			return all
		}
		shiftLines(document.Content[0], at.node.Line)
		all = append(all, spot{document.Content[0], at.path})
	}
}

// shiftLines gives nodes of a text within a file the lines of the file.
func shiftLines(node *yaml.Node, lines int) {
	node.Line += lines
	node.Column = 0 // it is that of the inner text
	for _, child := range node.Content {
		shiftLines(child, lines)
	}
}

// find goes on by keys, to an empty node when one of them is not there.
func (s spot) find(keys ...string) spot {
	for _, key := range keys {
		under := s.in(key)
		if under.node == s.node {
			return spot{&yaml.Node{}, s.path}
		}
		s = under
	}
	return s
}

// text returns a text under an object, or "" if there is none.
func (s spot) text(keys ...string) string { return s.find(keys...).node.Value }

// kindOf finds a kind, by any of its API versions if the file names none.
func kindOf(apiVersion, name string) cluster.Kind {
	for _, k := range cluster.Kinds() {
		if strings.EqualFold(k.Name, name) && (apiVersion == "" || apiVersion == k.APIVersion) {
			return k
		}
	}
	return cluster.Kind{}
}

// kind refuses a kind that there is not, or not in that API version. Those of
// other groups than Kubernetes' own are for kubectl to judge.
func (c *checker) kind(at spot, apiVersion, name string) bool {
	var names []string
	group, _, grouped := strings.Cut(apiVersion, "/")
	own := !grouped
	for _, k := range cluster.Kinds() {
		if k.Name == name && (apiVersion == "" || apiVersion == k.APIVersion) {
			return true
		}
		known, _, _ := strings.Cut(k.APIVersion, "/")
		names, own = append(names, k.Name), own || spelling.Distance(known, group) < typo
	}
	if !own {
		return true
	}
	if k := kindOf("", name); k.Name == name {
		c.refuse(at, "a %s is one of %s, not of %s", name, k.APIVersion, apiVersion)
	} else {
		c.refuse(at, "there is no kind %s%s", name, suggest(name, names, "kubectl api-resources lists them"))
	}
	return false
}

// typo is the number of letters that make another name of a name that may be anything.
const typo = 3

// manifest checks the fields of an object, its annotations, and what it belongs to.
func (c *checker) manifest(at spot, kind cluster.Kind, in scope) {
	if kind.Fields != nil {
		c.objectFields(at, kind, nil)
	}
	c.misspelt(at.find("metadata", "annotations"), annotations.Keys())
	c.misspelt(at.find("metadata", "labels"), cluster.Labels)
	if service := at.text("metadata", "labels", cluster.ServiceName); service != "" {
		c.known(at.in("metadata", "labels", cluster.ServiceName), "Service", at.text("metadata", "namespace"), service, in)
	}
}

// objectFields refuses fields that a kind does not have.
func (c *checker) objectFields(at spot, kind cluster.Kind, path []string) {
	if at.node.Kind == yaml.SequenceNode {
		for i := range at.node.Content {
			c.objectFields(at.at(i), kind, append(path, "0"))
		}
		return
	}
	if values := kind.Values(path...); at.node.Kind == yaml.ScalarNode && values != nil && at.node.Tag != "!!null" &&
		!slices.Contains(values, at.node.Value) && !template().MatchString(at.node.Value) {
		c.refuse(at, "%s is no %s of a %s%s", at.node.Value, strings.Join(path, "."), kind.Name, suggest(at.node.Value, values, ""))
	}
	for i := 0; i+1 < len(at.node.Content); i += 2 {
		key := at.node.Content[i]
		under := append(slices.Clone(path), key.Value)
		switch found := shapeAt(kind.Fields, under); found {
		case leadsNowhere:
			c.refuse(spot{key, yamlfile.Join(at.path, key.Value)}, "there is no such field%s", suggest(key.Value, siblings(kind.Fields, path), ""))
		default:
			c.objectFields(spot{at.node.Content[i+1], yamlfile.Join(at.path, key.Value)}, kind, under)
		}
	}
}

// siblings returns the names that can come behind a path.
func siblings(fields, path []string) (names []string) {
	for _, field := range fields {
		parts := parts(field)
		if shapeIn(parts, path) > leadsToValue {
			names = append(names, parts[len(path)])
		}
	}
	return names
}

// misspelt refuses the keys of a map that are a few letters off a known one. Others are the user's.
func (c *checker) misspelt(at spot, known []string) {
	for i := 0; i+1 < len(at.node.Content); i += 2 {
		key := at.node.Content[i]
		if slices.Contains(known, key.Value) {
			continue
		}
		under := slices.ContainsFunc(annotations.Prefixes, func(prefix string) bool { return strings.HasPrefix(key.Value, prefix) })
		near := slices.ContainsFunc(known, func(name string) bool { return spelling.Distance(key.Value, name) < typo })
		if under || near {
			c.refuse(spot{key, yamlfile.Join(at.path, key.Value)}, "no controller reads it%s", suggest(key.Value, known, ""))
		}
	}
}
