package scenarios

import (
	"context"
	"reflect"
)

var serviceKind = Kind{Name: "service", About: "A Kubernetes Service.", Value: reflect.TypeFor[Service](), ofCluster: true}

// Service is a Service with fields.
type Service struct {
	Namespace string             `yaml:"namespace" doc:"The namespace, default if absent."`
	Name      string             `yaml:"name" required:"true" doc:"The Service."`
	Fields    map[string]Matcher `yaml:"fields" required:"true" doc:"Fields by path, such as status.loadBalancer.ingress.0.ip."`
}

func (s *Service) title() string { return "service " + s.Name }

func (s *Service) check(c *checker, at spot, in scope) {
	c.known(at.in("name"), "Service", s.Namespace, s.Name, in)
	for _, path := range sortedKeys(s.Fields) {
		if under := at.in("fields").in(path); c.settled(under, path) {
			if err := checkPath(kindOf("v1", "Service").Fields, path, s.Fields[path].Count != nil); err != nil {
				c.refuse(under, "%s", err)
			}
		}
	}
}

func (s *Service) look(ctx context.Context, p *play) error {
	var service any
	if err := p.get(ctx, &service, "service/"+s.Name, s.Namespace); err != nil {
		return err
	}
	if d := compare(service, s.Fields); d != nil {
		return d
	}
	return nil
}
