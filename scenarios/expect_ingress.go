package scenarios

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

var ingressKind = Kind{Name: "ingress", About: "Load balancers exist at the addresses in the status of the Services that the half applied, and the addresses are of the given kinds.", Value: reflect.TypeFor[ingressAddresses](), ofCluster: true, Rule: "status"}

// ingressAddresses expects load balancers at the addresses that Services have.
type ingressAddresses struct {
	Namespace string              `yaml:"namespace" doc:"The namespace, default if absent."`
	Kinds     map[string][]string `yaml:"kinds" doc:"By Service, the kinds of its addresses, public, private or name. One that is absent may have any."`
}

// look looks for the load balancers of the Services that the half applied.
func (i *ingressAddresses) look(ctx context.Context, p *play) error {
	all, err := p.Target.LoadBalancers(ctx, "")
	if err != nil {
		return err
	}
	services, err := ingressOf(ctx, p.Cluster, i.Namespace)
	if err != nil {
		return &difference{expected: "the Services of the cluster", seen: err.Error()}
	}
	for _, s := range services {
		if len(p.uids[idOf("Service", i.Namespace, s.name)]) == 0 {
			continue
		}
		for _, address := range s.addresses {
			if !slices.ContainsFunc(all, func(lb LoadBalancerState) bool { return slices.Contains(lb.Addresses, address) }) {
				return &difference{expected: "a load balancer at the address in the status of service/" + s.name, seen: address + ", which none has"}
			}
		}
		if kinds := s.kinds(); i.Kinds[s.name] != nil && !slices.Equal(kinds, i.Kinds[s.name]) {
			return &difference{expected: "addresses in the status of service/" + s.name + " that are " + strings.Join(i.Kinds[s.name], ", "),
				seen: cmp.Or(strings.Join(kinds, ", "), "none") + " " + fmt.Sprint(s.addresses)}
		}
	}
	return nil
}
