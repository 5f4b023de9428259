package scenarios

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/scenarios/internal/cluster"
)

var finalizerKind = Kind{Name: "finalizer", About: "A finalizer of a Kubernetes object.", Value: reflect.TypeFor[Finalizer](), ofCluster: true}

// Finalizer is a finalizer of an object.
type Finalizer struct {
	Namespace string `yaml:"namespace" doc:"The namespace, default if absent."`
	Object    string `yaml:"object" required:"true" doc:"Kind and name, such as service/web."`
	Name      string `yaml:"name" required:"true" doc:"The finalizer, such as service.k8s.alibaba/resources."`
	Custom    bool   `yaml:"custom" doc:"true: allow a finalizer that the Cloud Controller Manager does not have."`
	Absent    bool   `yaml:"absent" doc:"true: the object must not have it, or be gone."`
}

func (f *Finalizer) ofNothing() bool { return f.Absent }

func (f *Finalizer) title() string { return "finalizer " + f.Name }

func (f *Finalizer) check(c *checker, at spot, in scope) {
	c.reference(at.in("object"), f.Object, f.Namespace, in)
	if !f.Custom && !slices.Contains(cluster.Finalizers, f.Name) {
		c.refuse(at.in("name"), "the cloud controller manager sets no %s, and custom: true takes any%s", f.Name, suggest(f.Name, cluster.Finalizers, ""))
	}
}

func (f *Finalizer) look(ctx context.Context, p *play) error {
	var object struct {
		Metadata struct {
			Finalizers []string `json:"finalizers"`
		} `json:"metadata"`
	}
	if err := p.get(ctx, &object, f.Object, f.Namespace, "--ignore-not-found"); err != nil {
		return err
	}
	if slices.Contains(object.Metadata.Finalizers, f.Name) != f.Absent {
		return nil
	}
	expected := "the finalizer " + f.Name + " on " + f.Object
	if f.Absent {
		expected = "no finalizer " + f.Name + " on " + f.Object
	}
	return &difference{expected: expected, seen: "the finalizers: " + strings.Join(object.Metadata.Finalizers, ", ")}
}
