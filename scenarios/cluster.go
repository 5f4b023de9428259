package scenarios

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
)

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

// get reads an object of the cluster. One that is ignored when it is not found
// leaves the target as it is.
func (p *play) get(ctx context.Context, into any, object, namespace string, args ...string) error {
	out, err := p.Cluster.Kubectl(ctx, "", append([]string{"get", object, "--namespace", orDefault(namespace), "--output", "json"}, args...)...)
	if err != nil {
		return &difference{expected: object + " in the cluster", seen: err.Error()}
	}
	if len(out) == 0 {
		return nil
	}
	return json.Unmarshal(out, into)
}

// ingressOf lists the Services of a namespace.
func ingressOf(ctx context.Context, cluster Cluster, namespace string) (all []serviceIngress, err error) {
	out, err := cluster.Kubectl(ctx, "", "get", "services", "--namespace", orDefault(namespace), "--output", "json")
	if err != nil {
		return nil, err
	}
	var services struct {
		Items []struct {
			Metadata struct{ Name string }
			Status   struct {
				LoadBalancer struct {
					Ingress []struct{ IP, Hostname string }
				}
			}
		}
	}
	if err := json.Unmarshal(out, &services); err != nil {
		return nil, err
	}
	for _, item := range services.Items {
		s := serviceIngress{name: item.Metadata.Name}
		for _, at := range item.Status.LoadBalancer.Ingress {
			s.addresses = append(s.addresses, at.IP+at.Hostname)
		}
		all = append(all, s)
	}
	return all, nil
}

// serviceIngress is a Service with the addresses in its status.
type serviceIngress struct {
	name      string
	addresses []string
}

// kinds returns what each address is: public, private or name.
func (s *serviceIngress) kinds() (kinds []string) {
	for _, address := range s.addresses {
		kind := "public"
		if ip, err := netip.ParseAddr(address); err != nil {
			kind = "name"
		} else if ip.IsPrivate() {
			kind = "private"
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// IngressKinds returns the kinds of the addresses that a namespace's Services have, by name.
// The addresses themselves differ between plays; whether clients in the internet can reach
// them must not.
func IngressKinds(ctx context.Context, cluster Cluster, namespace string) (map[string][]string, error) {
	services, err := ingressOf(ctx, cluster, namespace)
	all := make(map[string][]string)
	for _, s := range services {
		if s.addresses != nil {
			all[s.name] = s.kinds()
		}
	}
	return all, err
}
