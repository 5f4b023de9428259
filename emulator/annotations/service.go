package annotations

import (
	"strconv"
	"strings"
)

// Service has the parts of a Service that Check reads.
type Service struct {
	Namespace, Name, UID string
	Type                 string
	// Class is spec.loadBalancerClass.
	Class       string
	Annotations map[string]string
	Ports       []Port
	// SourceRanges reports whether spec.loadBalancerSourceRanges has some.
	SourceRanges bool
	// IP is spec.loadBalancerIP.
	IP string
	// NoNodePorts reports whether spec.allocateLoadBalancerNodePorts is false.
	NoNodePorts bool
	// Untyped are the annotations whose values are no texts in YAML.
	Untyped map[string]bool
	// Elsewhere are fields with keys as annotations have them, such as labels, by the key.
	Elsewhere map[string]string
	// HasAddress reports whether its status has an address.
	HasAddress bool
	// Running reports whether it is read from a cluster: then problems that count only when a load
	// balancer is created are left out if there is one.
	Running bool
	// Local reports whether spec.externalTrafficPolicy is Local.
	Local bool
}

// BalancerName returns the name that Kubernetes has every controller give a Service's load
// balancer, and the value of a tag that a CCM gives it.
func (s *Service) BalancerName() string {
	const longest = 32
	name := "a" + strings.ReplaceAll(s.UID, "-", "")
	return name[:min(len(name), longest)]
}

// Port is a port of a Service; no protocol is TCP.
type Port struct {
	Number         int
	Protocol, Name string
	// Target is targetPort, a number or a name, and Node is nodePort.
	Target string
	Node   int
}

// Problem is something about an annotation of a Service.
type Problem struct {
	// Key is the annotation, or the field of the Service.
	Key string `json:"annotation"`
	// Note is true if the annotation takes effect all the same, at some time.
	Note bool `json:"note"`
	// Breaks is true if the Service will not come up.
	Breaks bool `json:"breaks"`
	// Text says what is wrong, and Advice what to do.
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// nlbClass is the load balancer class of Services with Network Load Balancers.
const nlbClass = "alibabacloud.com/nlb"

// Product returns the product whose load balancer the Service gets.
func (s *Service) Product() string {
	if s.Class == nlbClass {
		return NLB
	}
	return CLB
}

// get returns the value of an annotation by its name without the prefix; the newer prefix wins.
func (s *Service) get(name string) (value string, ok bool) {
	for _, key := range []string{Prefixes[0] + name, Prefixes[1] + name, bare + name} {
		if value, ok = s.Annotations[key]; ok {
			return value, true
		}
	}
	return "", false
}

// listens reports whether the CCM makes the listeners of a Service.
func (s *Service) listens() bool {
	id, _ := s.get("id")
	override, _ := s.get("force-override-listeners")
	return id == "" || override == "true"
}

// protocols lists the protocols of the listeners that the Service asks for, in lower case.
func (s *Service) protocols() (list []string) {
	chosen, _ := s.get("protocol-port")
	for _, port := range s.ports() {
		protocol := port.Protocol
		for pair := range strings.SplitSeq(chosen, ",") {
			if name, number, _ := strings.Cut(strings.TrimSpace(pair), ":"); number == strconv.Itoa(port.Number) {
				protocol = name
				break
			}
		}
		list = append(list, strings.ToLower(protocol))
	}
	return list
}

// ports returns the Service's ports, or those of protocol-port if the Service names none.
func (s *Service) ports() []Port {
	if len(s.Ports) > 0 {
		return s.Ports
	}
	ports := []Port{}
	chosen, _ := s.get("protocol-port")
	for pair := range strings.SplitSeq(chosen, ",") {
		_, number, _ := strings.Cut(pair, ":")
		n, _ := strconv.Atoi(number)
		ports = append(ports, Port{Number: n, Protocol: "TCP"})
	}
	return ports
}
