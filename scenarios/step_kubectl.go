package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/annotations"
)

var kubectlKind = kind[Kubectl](Kind{Name: "kubectl", About: "Change the cluster."})

// Kubectl changes the cluster. It has exactly one of apply, patch and delete.
type Kubectl struct {
	Apply  Manifest `yaml:"apply" doc:"Objects to apply, as YAML. They are deleted at the end of the part."`
	Patch  *Patch   `yaml:"patch" doc:"A merge patch of one object."`
	Delete Manifest `yaml:"delete" doc:"Objects to delete, as YAML; kind and metadata are enough."`
	// Balancer saves what a controller calls the load balancer of the one Service in
	// apply, and what the cloud controller manager tags all with that it makes for it.
	Balancer string `yaml:"balancer" doc:"With apply of one Service, the value {{name}} that holds the name of its load balancer, which is also the value of its tag kubernetes.do.not.delete."`
}

// Patch is a merge patch.
type Patch struct {
	Object    string `yaml:"object" required:"true" doc:"Kind and name, such as service/web."`
	Namespace string `yaml:"namespace" doc:"The namespace, default if absent."`
	// Subresource is a part that only a separate request changes.
	Subresource string   `yaml:"subresource" doc:"The part of the object to patch, such as status."`
	Merge       Manifest `yaml:"merge" required:"true" doc:"The patch, as YAML."`
}

func (k *Kubectl) Validate() error {
	if k.Balancer != "" && k.Apply.text == "" {
		return errors.New("balancer is about a Service that apply makes: give apply")
	}
	return exactlyOne([]string{"apply", "patch", "delete"}, k.Apply.text != "", k.Patch != nil, k.Delete.text != "")
}

func (k *Kubectl) check(c *checker, at spot, in scope) {
	if in.part != KubernetesPart {
		c.refuse(at, "it needs a cluster: put it in the kubernetes part")
		return
	}
	if k.Balancer != "" {
		c.balancer(k, at, in)
	}
	switch {
	case c.names == nil:
	case k.Patch != nil:
		c.reference(at.in("patch", "object"), k.Patch.Object, k.Patch.Namespace, in)
		if part := k.Patch.Subresource; part != "" {
			c.listed(at.in("patch", "subresource"), part, []string{"status", "scale", "resize"}, "kubectl patches no subresource %s", "")
		}
		kind, _, _ := strings.Cut(k.Patch.Object, "/")
		for _, merge := range objectsAt(at.in("patch", "merge")) {
			c.manifest(merge, kindOf("", kind), in)
		}
	case k.Delete.text != "":
		for _, o := range objectsAt(at.in("delete")) {
			c.known(o, o.text("kind"), o.text("metadata", "namespace"), o.text("metadata", "name"), in)
		}
	default:
		applied := objectsAt(at.in("apply"))
		for _, o := range applied {
			if o.text("metadata", "name") == "" {
				c.refuse(o, "an object needs its kind and its metadata.name")
			}
			in.add(o.text("kind"), o.text("metadata", "namespace"), o.text("metadata", "name"))
		}
		for _, o := range applied {
			if c.kind(o.in("kind"), o.text("apiVersion"), o.text("kind")) {
				c.manifest(o, kindOf(o.text("apiVersion"), o.text("kind")), in)
			}
		}
	}
}

// balancer wants one Service, whose load balancer it gives a name.
func (c *checker) balancer(k *Kubectl, at spot, in scope) {
	services := 0
	for _, o := range objectsAt(at.in("apply")) {
		if o.text("kind") == "Service" {
			services++
		}
	}
	if services != 1 {
		c.refuse(at.in("balancer"), "it is about one Service, and apply has %d: apply the others in another step", services)
	}
	c.save(at.in("balancer"), k.Balancer, in)
	in.used["{{"+k.Balancer+"}}"] = true // by clbemu explore, if not by the scenario
}

func (k *Kubectl) do(ctx context.Context, p *play, _ *Step) error {
	switch {
	case k.Apply.text != "":
		p.applied = append(p.applied, k.Apply.text)
		return k.apply(ctx, p)
	case k.Patch != nil:
		args := []string{"patch", k.Patch.Object, "--namespace", orDefault(k.Patch.Namespace), "--type", "merge", "--patch", k.Patch.Merge.text}
		if k.Patch.Subresource != "" {
			args = append(args, "--subresource", k.Patch.Subresource)
		}
		_, err := p.Cluster.Kubectl(ctx, "", args...)
		return err
	}
	return k.delete(ctx, p)
}

func (k *Kubectl) apply(ctx context.Context, p *play) error {
	printed, err := p.Cluster.Kubectl(ctx, k.Apply.text, "apply", "--filename", "-", "--output", "json")
	if err != nil {
		return err
	}
	objects, err := appliedIn(printed)
	if err != nil {
		return err
	}
	p.noteApplied(objects)
	if k.Balancer == "" {
		return nil
	}
	for _, o := range objects {
		if o.Kind == "Service" && o.Metadata.UID != "" {
			p.names[k.Balancer] = (&annotations.Service{UID: o.Metadata.UID}).BalancerName()
			return nil
		}
	}
	return errors.New("balancer: kubectl apply printed no Service with a uid")
}

// appliedObject holds the fields read from an applied object.
type appliedObject struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
		UID       string `json:"uid"`
	} `json:"metadata"`
}

// appliedIn reads what kubectl apply printed: an object, or a list.
func appliedIn(printed []byte) ([]appliedObject, error) {
	if len(printed) == 0 {
		return nil, nil
	}
	var answer struct {
		appliedObject
		Items []appliedObject `json:"items"`
	}
	if err := json.Unmarshal(printed, &answer); err != nil {
		return nil, err
	}
	if answer.Items == nil {
		return []appliedObject{answer.appliedObject}, nil
	}
	return answer.Items, nil
}

// noteApplied notes the uids of applied objects.
func (p *play) noteApplied(objects []appliedObject) {
	for _, o := range objects {
		id := idOf(o.Kind, o.Metadata.Namespace, o.Metadata.Name)
		p.uids[id] = append(p.uids[id], o.Metadata.UID)
		if o.Kind == "Node" { // its Events may have its name for a uid, as the kubelet's do
			p.uids[id] = append(p.uids[id], o.Metadata.Name)
		}
	}
}

// delete names the objects to kubectl, which passes over one without its API version in a file.
func (k *Kubectl) delete(ctx context.Context, p *play) error {
	for d := yaml.NewDecoder(strings.NewReader(k.Delete.text)); ; {
		var o struct {
			Kind     string
			Metadata struct{ Name, Namespace string }
		}
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := p.Cluster.Kubectl(ctx, "", "delete", o.Kind, o.Metadata.Name, "--namespace", orDefault(o.Metadata.Namespace),
			"--ignore-not-found", "--wait=false"); err != nil {
			return err
		}
	}
}
