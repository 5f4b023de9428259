// Package clusterimport imports the nodes and pods of a Kubernetes cluster as instances
// and network interfaces. It must not know where their description comes from, or world
// files.
package clusterimport

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"strings"

	"github.com/clbemu/clbemu/state/jsonstream"
)

// Cluster is the nodes and pods of a Kubernetes cluster, or some of them.
type Cluster struct {
	nodes, pods objects
	skippedPods int
}

// Read reads what kubectl get -o json prints of nodes, of pods or of both.
func Read(r io.Reader) (*Cluster, error) {
	document := &clusterDocument{Reader: jsonstream.New(r)}
	err := document.Object(document.field)
	if err == nil {
		err = document.End()
	}
	if err != nil {
		return nil, fmt.Errorf("this is not what kubectl get -o json prints: %w", jsonstream.InWords(err))
	}
	return document.cluster()
}

// clusterDocument is an object, or a list of them that names its kind behind them.
type clusterDocument struct {
	*jsonstream.Reader
	root  object
	items objects
}

func (d *clusterDocument) field(key string) error {
	switch key {
	case "kind":
		return d.Value(&d.root.Kind)
	case "metadata":
		return d.Value(&d.root.Metadata)
	case "spec":
		return d.Value(&d.root.Spec)
	case "status":
		return d.Value(&d.root.Status)
	case "items":
		return d.Array(func() error {
			var o object
			if err := d.Value(&o); err != nil {
				return err
			}
			return d.items.add(o)
		})
	}
	return d.Skip()
}

func (d *clusterDocument) cluster() (*Cluster, error) {
	switch d.root.Kind {
	case "Node", "Pod":
		d.items = objects{}
		if err := d.items.add(d.root); err != nil {
			return nil, err
		}
	case "NodeList", "PodList", "List":
	default:
		return nil, fmt.Errorf("kind %.100q is neither Node nor Pod nor a list of them", d.root.Kind)
	}
	// The lists of the API name the kind once, kubectl's List names it in each item.
	d.items.kind = strings.TrimSuffix(d.root.Kind, "List")
	c, i := &Cluster{nodes: objects{kind: "Node"}, pods: objects{kind: "Pod"}}, 0
	for text := range d.items.Drain() {
		if o, err := d.items.read(text); err != nil {
			return nil, err
		} else if err := c.add(o, text); err != nil {
			return nil, fmt.Errorf("items[%d]: %w", i, err)
		}
		i++
	}
	return c, nil
}

func (c *Cluster) add(o object, text []byte) error {
	switch {
	case o.Kind == "Node":
		c.nodes.Add(text)
	case o.Kind != "Pod":
		return fmt.Errorf("kind %.100q is neither Node nor Pod", o.Kind)
	case o.hasOwnAddress():
		c.pods.Add(text)
	default:
		c.skippedPods++
	}
	return nil
}

// hasOwnAddress reports whether a pod runs and does not share its node's address.
func (o *object) hasOwnAddress() bool {
	ip, err := netip.ParseAddr(o.Status.PodIP)
	return !o.Spec.HostNetwork && o.Status.Phase != "Succeeded" && o.Status.Phase != "Failed" && err == nil && ip.Is4()
}

// object holds the fields read from a Node or a Pod, as kubectl prints them.
type object struct {
	Kind     string `json:"kind,omitzero"`
	Metadata struct {
		Name      string `json:"name,omitzero"`
		Namespace string `json:"namespace,omitzero"`
		Labels    struct {
			Zone         string `json:"topology.kubernetes.io/zone,omitzero"`
			InstanceType string `json:"node.kubernetes.io/instance-type,omitzero"`
		} `json:"labels,omitzero"`
	} `json:"metadata,omitzero"`
	Spec struct {
		ProviderID  string `json:"providerID,omitzero"`
		NodeName    string `json:"nodeName,omitzero"`
		HostNetwork bool   `json:"hostNetwork,omitzero"`
	} `json:"spec,omitzero"`
	Status struct {
		Phase     string        `json:"phase,omitzero"`
		PodIP     string        `json:"podIP,omitzero"`
		Addresses []nodeAddress `json:"addresses,omitempty"`
	} `json:"status,omitzero"`
}

type nodeAddress struct {
	Type    string `json:"type,omitzero"`
	Address string `json:"address,omitzero"`
}

// objects are kept as JSON texts: of a document of many small objects that is little
// more than the document. They have one kind, unless they state another.
type objects struct {
	kind string
	jsonstream.Texts
}

func (os *objects) add(o object) error {
	text, err := json.Marshal(o)
	os.Add(text)
	return err
}

// read decodes one of the objects.
func (os *objects) read(text []byte) (o object, err error) {
	err = json.Unmarshal(text, &o)
	o.Kind = cmp.Or(o.Kind, os.kind)
	return o, err
}

func (os *objects) all(yield func(*object) bool) {
	for text := range os.All() {
		if o, err := os.read(text); err != nil || !yield(&o) {
			return // it was written above
		}
	}
}
