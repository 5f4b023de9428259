package exploring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// OnClusters lets the plays have clusters, each a play at a time. The emulator of a play
// has the cluster's nodes as instances.
func OnClusters(c *explore.Config, kubeconfigs []string) {
	c.Parallel = len(kubeconfigs)
	c.Cluster = func(worker int) scenarios.Cluster { return target.Kubectl{Kubeconfig: kubeconfigs[worker]} }
	c.Env = func(worker int) map[string]string { return ClusterEnv(kubeconfigs[worker]) }
	c.Open = func(ctx context.Context, worker int) (explore.Place, error) {
		return OnCluster(ctx, kubeconfigs[worker])
	}
}

// ClusterEnv returns what a controller needs to find a cluster.
func ClusterEnv(kubeconfig string) map[string]string {
	return map[string]string{"KUBECONFIG": kubeconfig}
}

// OnCluster returns an emulator next to a cluster, with its nodes as instances.
func OnCluster(ctx context.Context, kubeconfig string) (explore.Place, error) {
	e, err := private.NewOpen(ctx, false)
	if err != nil {
		return nil, err
	}
	place := &clusterPlace{e, target.Kubectl{Kubeconfig: kubeconfig}}
	if err := place.join(ctx); err != nil {
		return nil, errors.Join(err, e.Close(context.WithoutCancel(ctx)))
	}
	return place, nil
}

// clusterPlace is an emulator next to a cluster.
type clusterPlace struct {
	*private.Emulator

	cluster target.Kubectl
}

var _ explore.Place = (*clusterPlace)(nil)

// join creates the instances of the cluster's nodes.
func (p *clusterPlace) join(ctx context.Context) error {
	if err := p.release(ctx); err != nil {
		return fmt.Errorf("the cluster does not answer: %w", err)
	}
	nodes, err := p.cluster.Kubectl(ctx, "", "get", "nodes", "--output", "json")
	if err != nil {
		return err
	}
	return p.ImportCluster(ctx, bytes.NewReader(nodes))
}

// releaseTime limits how long Services may take to go.
const releaseTime = 30 * time.Second

// Close implements explore.Place.
func (p *clusterPlace) Close(ctx context.Context) error {
	return errors.Join(p.release(ctx), p.Emulator.Close(ctx))
}

// release deletes the Services of type LoadBalancer that a play left, and returns when the
// cluster lists none: until then the next play can't have their NodePorts. Their controller
// has ended, so that their finalizers go by hand.
func (p *clusterPlace) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	for {
		left, err := p.services(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("the Services of a play are not gone after %v: %w", releaseTime, ctx.Err())
		}
		if err != nil || len(left) == 0 {
			return err
		}
		for _, service := range left {
			if _, err := p.cluster.Kubectl(ctx, "", append([]string{"delete", "--wait=false", "--ignore-not-found"}, service...)...); err != nil {
				return err
			}
			// One that had no finalizer is gone by now, and the next list shows one that was not patched.
			_, _ = p.cluster.Kubectl(ctx, "", append([]string{"patch", "--type", "merge", "--patch", `{"metadata": {"finalizers": null}}`}, service...)...)
		}
	}
}

// services returns how kubectl names each Service of type LoadBalancer.
func (p *clusterPlace) services(ctx context.Context) ([][]string, error) {
	printed, err := p.cluster.Kubectl(ctx, "", "get", "services", "--all-namespaces", "--output", "json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []struct {
			Metadata struct{ Name, Namespace string }
			Spec     struct{ Type string }
		}
	}
	if err := json.Unmarshal(printed, &list); err != nil {
		return nil, err
	}
	var services [][]string
	for _, s := range list.Items {
		if s.Spec.Type == "LoadBalancer" {
			services = append(services, []string{"service", s.Metadata.Name, "--namespace", s.Metadata.Namespace})
		}
	}
	return services, nil
}
