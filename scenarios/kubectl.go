package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (p *play) kubectl(ctx context.Context, k *Kubectl) error {
	switch {
	case k.Apply.set():
		p.applied = append(p.applied, k.Apply.text)
		return p.apply(ctx, k)
	case k.Patch != nil:
		args := []string{"patch", k.Patch.Object, "--namespace", orDefault(k.Patch.Namespace), "--type", "merge", "--patch", k.Patch.Merge.text}
		if k.Patch.Subresource != "" {
			args = append(args, "--subresource", k.Patch.Subresource)
		}
		_, err := p.Cluster.Kubectl(ctx, "", args...)
		return err
	}
	return p.kubectlDeleteNamed(ctx, k.Delete.text)
}

func (p *play) apply(ctx context.Context, k *Kubectl) error {
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
			p.names[k.Balancer] = balancerName(o.Metadata.UID)
			return nil
		}
	}
	return errors.New("balancer: kubectl apply printed no Service with a uid")
}

// balancerName returns the name that Kubernetes has every controller give a Service's
// load balancer.
func balancerName(uid string) string {
	const longest = 32
	name := "a" + strings.ReplaceAll(uid, "-", "")
	return name[:min(len(name), longest)]
}

// appliedObject holds the fields that are read from an object that was applied.
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

// kubectlDeleteNamed is kubectlDelete of objects of which kind and name are enough:
// in a file, kubectl passes over one without its API version.
func (p *play) kubectlDeleteNamed(ctx context.Context, manifest string) error {
	for d := yaml.NewDecoder(strings.NewReader(manifest)); ; {
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

// kubectlDelete asks for the deletion and does not wait for it: a controller that
// can't let go of an object may be the subject of a scenario.
func (p *play) kubectlDelete(ctx context.Context, manifest string) error {
	_, err := p.Cluster.Kubectl(ctx, manifest, "delete", "--filename", "-", "--ignore-not-found", "--wait=false")
	return err
}

func orDefault(namespace string) string {
	if namespace == "" {
		return "default"
	}
	return namespace
}

// clusterHas returns an error unless the objects that the scenario requires exist.
func (p *play) clusterHas(ctx context.Context, objects []Object) error {
	for _, o := range objects {
		if _, err := p.Cluster.Kubectl(ctx, "", "get", o.Kind, o.Name, "--namespace", orDefault(o.Namespace)); err != nil {
			return fmt.Errorf("given.cluster: %w", err)
		}
	}
	return nil
}
