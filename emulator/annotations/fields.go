package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// types are the types of Services.
var types = []string{"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"}

// checkType returns what Kubernetes rejects of a Service.
func (s *Service) checkType() (problems []Problem) {
	add := func(key, advice, format string, args ...any) {
		problems = append(problems, Problem{Key: key, Breaks: true, Text: "Kubernetes rejects the Service: " + fmt.Sprintf(format, args...), Advice: advice})
	}
	if !slices.Contains(types, s.Type) {
		advice := ""
		if near := spelling.Nearest(s.Type, types); near != "" {
			advice = "do you mean " + near + "?"
		}
		add("spec.type", advice, "%q is no type of Services", s.Type)
	}
	seen := make(map[string]bool)
	for _, port := range s.Ports {
		place := fmt.Sprintf("port %d of %s", port.Number, port.Protocol)
		switch {
		case port.Number < 1 || port.Number > 65535:
			add("spec.ports", "", "%d is no port", port.Number)
		case seen[place]:
			add("spec.ports", "", "%s is there twice", place)
		case port.Name == "" && len(s.Ports) > 1:
			add("spec.ports", "", "%s has no name, which each of several ports needs", place)
		}
		seen[place] = true
	}
	for _, key := range slices.Sorted(maps.Keys(s.Untyped)) {
		add(key, fmt.Sprintf("write %q in quotes", s.Annotations[key]), "in YAML the value %s is no text", s.Annotations[key])
	}
	return problems
}

// checkPlaces returns the annotations of the controller that are elsewhere than in the
// annotations of the Service.
func (s *Service) checkPlaces() (problems []Problem) {
	for _, key := range slices.Sorted(maps.Keys(s.Elsewhere)) {
		if _, known := Find(key); known {
			problems = append(problems, Problem{Key: key, Text: "it takes no effect in " + s.Elsewhere[key], Advice: "move it to metadata.annotations"})
		}
	}
	return problems
}

// checkClass returns what is wrong with a class that is not the controller's, and looks as if
// it should be.
func (s *Service) checkClass() []Problem {
	if lower := strings.ToLower(s.Class); !strings.HasPrefix(lower, "alibaba") && !strings.HasPrefix(lower, "alicloud") && !strings.HasPrefix(lower, "aliyun") {
		return nil // another controller's
	}
	return []Problem{{Key: "spec.loadBalancerClass", Breaks: true, Text: fmt.Sprintf("the Service will not come up: the controller does not take the class %q", s.Class), Advice: "use " + nlbClass + " for a Network Load Balancer, and no class for a CLB"}}
}

// sendsEmptyAddress reports whether a version of the CCM makes an intranet Network Load Balancer
// for the Service with a zone that has an empty address.
func (s *Service) sendsEmptyAddress(version string) bool {
	id, _ := s.get("id")
	zones, _ := s.get("zone-maps")
	addressType, _ := s.get("address-type")
	return s.Product() == NLB && addressType == "intranet" && id == "" && !s.HasAddress && zones != "" && version != "" && !Before(version, nlbSince) && Before(version, emptyAddressUntil) &&
		slices.ContainsFunc(strings.Split(zones, ","), func(zone string) bool {
			parts := strings.Split(zone, ":")
			return len(parts) < 3 || parts[2] == ""
		})
}

// addressAdvice says how a Service asks for an address, by its product.
var addressAdvice = map[string]string{CLB: "use the annotation " + Prefixes[0] + "ip for a private address, or id for a load balancer that has the address"}

// checkFields returns what is wrong with fields of the Service itself.
func (s *Service) checkFields(version string) (problems []Problem) {
	product := s.Product()
	add := func(key, finding, text, advice string) {
		problems = append(problems, Problem{Key: key, Note: finding == noted, Breaks: finding == Breaks, Text: text, Advice: advice})
	}
	if product == NLB && version != "" && Before(version, nlbSince) {
		add("spec.loadBalancerClass", Breaks, "the controller makes Network Load Balancers from "+nlbSince+" on, and has the version "+version, "upgrade the controller")
	}
	if s.sendsEmptyAddress(version) {
		add("spec.loadBalancerClass", Breaks, "the Service will not come up: a controller of the version "+version+" sends an empty address for each zone, which the cloud refuses of an intranet one", "upgrade the controller")
	}
	for i := range Needs() {
		if n := &Needs()[i]; n.Of(".", product, version) && n.Missing(s) {
			add("spec.loadBalancerClass", n.Finding, "the Service will not come up without "+n.Words(s), "")
		}
	}
	for _, port := range s.Ports {
		if !slices.Contains([]string{"TCP", "UDP"}, port.Protocol) {
			add("spec.ports", Breaks, fmt.Sprintf("the Service will not come up: port %d has the protocol %s, and listeners have TCP or UDP", port.Number, port.Protocol), "")
		}
	}
	if s.IP != "" {
		add("spec.loadBalancerIP", effectless, "the controller does not read it", addressAdvice[product])
	}
	if kind, _ := s.get("backend-type"); s.NoNodePorts && kind != "eni" {
		add("spec.allocateLoadBalancerNodePorts", noted, "the Service will not come up without "+bare+`backend-type: "eni", unless pods are the backends of the cluster by default`, "")
	}
	problems = append(problems, s.checkTraps(version)...)
	if !s.SourceRanges {
		return problems
	}
	id, _ := s.get("id")
	switch {
	case product == CLB:
		add("spec.loadBalancerSourceRanges", effectless, "the controller ignores it for CLB, and the Service is open to all", "use the annotations "+Prefixes[0]+"acl-id, acl-type and acl-status")
	case version != "" && Before(version, sourceRangesSince):
		add("spec.loadBalancerSourceRanges", effectless, "the controller reads it from "+sourceRangesSince+" on, has the version "+version+", and the Service is open to all", "upgrade the controller")
	case id != "":
		add("spec.loadBalancerSourceRanges", effectless, "the controller ignores it for a reused load balancer, and the Service is open to all", "use security groups of the load balancer")
	}
	return problems
}
