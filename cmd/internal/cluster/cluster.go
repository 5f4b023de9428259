// Package cluster copies a Kubernetes cluster: it reads what a Cloud Controller Manager (CCM) reads
// there, and puts it into a control plane of its own, a kube-apiserver with an etcd. It needs no library
// of Kubernetes, and must not know what a CCM does. It never reads a Secret.
package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Object is an object of Kubernetes as its API has it in JSON.
type Object map[string]any

// Map returns a part of an object that is an object, or nil if it has none.
func (o Object) Map(path ...string) map[string]any {
	part := map[string]any(o)
	for _, name := range path {
		part, _ = part[name].(map[string]any)
	}
	return part
}

// Text returns a field of an object that is a text, or "" if it has none.
func (o Object) Text(path ...string) string {
	text, _ := o.Map(path[:len(path)-1]...)[path[len(path)-1]].(string)
	return text
}

// List returns the objects of a list in an object.
func (o Object) List(path ...string) (list []Object) {
	items, _ := o.Map(path[:len(path)-1]...)[path[len(path)-1]].([]any)
	for _, item := range items {
		if one, ok := item.(map[string]any); ok {
			list = append(list, one)
		}
	}
	return list
}

// Texts returns the texts of a list in an object.
func (o Object) Texts(path ...string) (list []string) {
	items, _ := o.Map(path[:len(path)-1]...)[path[len(path)-1]].([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

// Kind, Namespace and Name say which object it is.
func (o Object) Kind() string { return o.Text("kind") }

// Namespace returns the object's namespace, or "" if it has none.
func (o Object) Namespace() string { return o.Text("metadata", "namespace") }

// Name returns the object's name, unique within its kind and namespace.
func (o Object) Name() string { return o.Text("metadata", "name") }

// Key returns NAMESPACE/NAME, or NAME.
func (o Object) Key() string { return strings.TrimPrefix(o.Namespace()+"/"+o.Name(), "/") }

// Clone returns a copy that shares nothing.
func (o Object) Clone() Object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // it was JSON
	}
	copied, err := decode(text)
	if err != nil {
		panic(err)
	}
	return copied
}

// decode keeps numbers as they are written.
func decode(text []byte) (o Object, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return o, d.Decode(&o)
}

// Copy holds the objects of a cluster that a CCM reads.
type Copy struct {
	// Services holds the Services of type LoadBalancer, and those that a CCM has not released yet.
	Services, Nodes, Slices, Endpoints []Object
	// Config is the section Global of the CCM's configuration, without keys.
	Config map[string]any
	// Args are the arguments of the CCM's Deployment or DaemonSet.
	Args []string
	// Notes say what was left out.
	Notes Notes
}

// Notes say how a copy differs.
type Notes []string

// Add adds a note, once.
func (n *Notes) Add(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(*n, text) {
		*n = append(*n, text)
	}
}

// The CCM's own objects.
const (
	systemNamespace = "kube-system"
	ccmName         = "cloud-controller-manager"
	ccmConfigMap    = "cloud-config"
)

// ErrNoServices is the error of a cluster without a Service of type LoadBalancer.
var ErrNoServices = errors.New("the cluster has no Service of type LoadBalancer")

// The errors of texts that kubectl does not print.
var (
	errNoObject = errors.New("a document is no object of Kubernetes, or has keys that are no texts: give what kubectl get -o json prints")
	errNoText   = errors.New("there is no object of Kubernetes: give what kubectl get -o json prints")
)

// Parse reads the objects of a text in JSON or YAML, also from lists and from several documents.
func Parse(text []byte) (objects []Object, err error) {
	next := yamlIn(text)
	if at := bytes.TrimSpace(text); len(at) > 0 && at[0] == '{' { // which is faster
		d := json.NewDecoder(bytes.NewReader(at))
		d.UseNumber() // as decode
		next = func() (o Object, err error) {
			if err = d.Decode(&o); err != nil && !errors.Is(err, io.EOF) {
				err = fmt.Errorf("this is not what kubectl get -o json prints: %w", err)
			}
			return o, err
		}
	}
	for first := true; ; first = false {
		o, err := next()
		switch {
		case errors.Is(err, io.EOF) && first:
			return nil, errNoText
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		}
		more, err := flatten(o)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
}

// yamlIn returns one document of a text after the other.
func yamlIn(text []byte) func() (Object, error) {
	documents := yaml.NewDecoder(bytes.NewReader(text))
	return func() (o Object, err error) {
		for o == nil { // past empty documents
			var document map[string]any
			if err := documents.Decode(&document); errors.As(err, new(*yaml.TypeError)) { // which has the value
				return nil, errNoObject
			} else if err != nil {
				return nil, err
			}
			text, err := json.Marshal(document)
			if err != nil {
				return nil, errNoObject
			}
			if o, err = decode(text); err != nil {
				return nil, err
			}
		}
		return o, nil
	}
}

// flatten returns an object, or the objects of a list.
func flatten(o Object) (objects []Object, err error) {
	if kind := o.Kind(); kind == "" {
		return nil, errors.New("an object has no kind: give what kubectl get -o json prints")
	} else if !strings.HasSuffix(kind, "List") {
		return []Object{o}, nil
	}
	for _, item := range o.List("items") {
		if item.Kind() == "" { // the lists of the API name the kind once
			item["kind"], item["apiVersion"] = strings.TrimSuffix(o.Kind(), "List"), o["apiVersion"]
		}
		more, err := flatten(item)
		if err != nil {
			return nil, err
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// Add keeps objects that a CCM reads.
func (c *Copy) Add(objects ...Object) {
	for _, o := range objects {
		c.add(o)
	}
}

func (c *Copy) add(o Object) {
	delete(o.Map("metadata"), "managedFields")
	switch kind := o.Kind(); kind {
	case "Service":
		if balanced(o) {
			c.Services = append(c.Services, o)
		}
	case "Node":
		delete(o.Map("status"), "images")
		c.Nodes = append(c.Nodes, o)
	case "EndpointSlice":
		c.Slices = append(c.Slices, o)
	case "Endpoints":
		c.Endpoints = append(c.Endpoints, o)
	case "ConfigMap":
		if o.Name() == ccmConfigMap && (o.Namespace() == systemNamespace || o.Namespace() == "") {
			c.configure(o)
		}
	case "Deployment", "DaemonSet":
		c.program(o)
	case "Secret":
		c.Notes.Add("Secret %s: not read, as no Secret is", o.Key())
	}
}

// balanced reports whether a Service has a load balancer, or a CCM's finalizer that says so.
func balanced(o Object) bool {
	return o.Text("spec", "type") == "LoadBalancer" || slices.ContainsFunc(o.Texts("metadata", "finalizers"), func(name string) bool {
		return strings.HasPrefix(name, "service.k8s.alibaba/")
	})
}

// configure reads the CCM's configuration, without its keys.
func (c *Copy) configure(o Object) {
	for name, text := range o.Map("data") {
		var config struct {
			Global map[string]any `yaml:"Global"`
		}
		content, _ := text.(string)
		if err := yaml.Unmarshal([]byte(content), &config); err != nil || config.Global == nil {
			c.Notes.Add("ConfigMap %s: %s is not a CCM's configuration", o.Key(), name)
			continue
		}
		withoutKeys(config.Global)
		c.Config = config.Global
	}
}

// withoutKeys removes what may be a credential, however it is spelt.
func withoutKeys(settings map[string]any) {
	for name, value := range settings {
		lower := strings.ToLower(name)
		if inner, is := value.(map[string]any); is {
			withoutKeys(inner)
		}
		if slices.ContainsFunc([]string{"accesskey", "secret", "token", "password", "credential"}, func(word string) bool { return strings.Contains(lower, word) }) {
			delete(settings, name)
		}
	}
}

// program reads how the CCM is started: the flags, each with its value.
func (c *Copy) program(o Object) {
	for _, container := range o.List("spec", "template", "spec", "containers") {
		if container.Text("name") != ccmName && o.Name() != ccmName {
			continue
		}
		c.Args = nil
		for _, word := range append(container.Texts("command"), container.Texts("args")...) {
			last := len(c.Args) - 1
			switch {
			case strings.HasPrefix(word, "--"):
				c.Args = append(c.Args, word)
			case last >= 0 && !strings.Contains(c.Args[last], "=") && !strings.HasPrefix(word, "-"):
				c.Args[last] += "=" + word
			}
		}
	}
}

// Kubectl runs kubectl, and returns what it prints.
type Kubectl interface {
	Kubectl(ctx context.Context, stdin string, args ...string) ([]byte, error)
}

// From reads a cluster by kubectl get alone.
func From(ctx context.Context, kubectl Kubectl) (*Copy, error) {
	c := &Copy{}
	for _, get := range []struct {
		needed bool
		args   []string
	}{
		{true, []string{"services,nodes", "--all-namespaces"}},
		{false, []string{"endpointslices", "--all-namespaces"}},
		{false, []string{"endpoints", "--all-namespaces"}},
		{false, []string{"configmap", ccmConfigMap, "--namespace", systemNamespace, "--ignore-not-found"}},
		{false, []string{"deployment,daemonset", ccmName, "--namespace", systemNamespace, "--ignore-not-found"}},
	} {
		text, err := kubectl.Kubectl(ctx, "", append(append([]string{"get"}, get.args...), "--output", "json")...)
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			var objects []Object
			objects, err = Parse(text)
			c.Add(objects...)
		}
		if err != nil && (get.needed || ctx.Err() != nil) {
			return nil, err
		}
		if err != nil {
			c.Notes.Add("%s: not read: %v", get.args[0], err)
		}
	}
	return c, c.Trim()
}

// Trim drops the slices and Endpoints of other Services.
func (c *Copy) Trim() error {
	if len(c.Services) == 0 {
		return ErrNoServices
	}
	kept := make(map[string]bool)
	for _, s := range c.Services {
		kept[s.Key()] = true
	}
	c.Slices = slices.DeleteFunc(c.Slices, func(o Object) bool { return !kept[ServiceOf(o)] })
	c.Endpoints = slices.DeleteFunc(c.Endpoints, func(o Object) bool { return !kept[o.Key()] })
	for _, list := range [][]Object{c.Services, c.Nodes, c.Slices} {
		slices.SortFunc(list, func(a, b Object) int { return cmp.Compare(a.Key(), b.Key()) })
	}
	return nil
}

// ServiceOf returns the key of the Service of an EndpointSlice.
func ServiceOf(slice Object) string {
	return slice.Namespace() + "/" + slice.Text("metadata", "labels", "kubernetes.io/service-name")
}

// serviceBlock returns a block that holds the addresses of all Services, of a size that the API
// server accepts.
func (c *Copy) serviceBlock() string {
	var block netip.Prefix
	for _, s := range c.Services {
		ip, err := netip.ParseAddr(s.Text("spec", "clusterIP"))
		if err != nil || !ip.Is4() {
			continue
		}
		if !block.IsValid() {
			block = netip.PrefixFrom(ip, 16)
		}
		for !block.Contains(ip) && block.Bits() > 12 {
			block = netip.PrefixFrom(block.Addr(), block.Bits()-1)
		}
	}
	if !block.IsValid() {
		return "10.96.0.0/16"
	}
	return block.Masked().String()
}
