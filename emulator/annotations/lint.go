package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// Service has the parts of a Service that Check reads.
type Service struct {
	Namespace, Name string
	Type            string
	// Class is spec.loadBalancerClass.
	Class       string
	Annotations map[string]string
	// Ports are the Service's ports.
	Ports []int
	// HasAddress reports whether its status has an address.
	HasAddress bool
}

// Problem is something about an annotation of a Service.
type Problem struct {
	// Key is the annotation.
	Key string `json:"annotation"`
	// Note is true where the annotation takes effect all the same, at some time.
	Note bool `json:"note"`
	// Text says what is wrong, Advice what to do.
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// nlbClass is the load balancer class of Services with Network Load Balancers.
const nlbClass = "alibabacloud.com/nlb"

// Product is that whose load balancer a Service gets.
func (s *Service) Product() string {
	if s.Class == nlbClass {
		return NLB
	}
	return CLB
}

// get is the value of an annotation by its name; the newer prefix wins.
func (s *Service) get(name string) (value string, ok bool) {
	for _, key := range []string{Prefixes[0] + name, Prefixes[1] + name, bare + name} {
		if value, ok = s.Annotations[key]; ok {
			return value, true
		}
	}
	return "", false
}

// Check returns what is wrong with the annotations of a Service for a version of the CCM,
// or for the newest one where version is empty.
func Check(s *Service, version string) (problems []Problem) {
	for _, key := range slices.Sorted(maps.Keys(s.Annotations)) {
		a, known := Find(key)
		if !known {
			if p := unknown(key); p != nil {
				problems = append(problems, *p)
			}
			continue
		}
		for _, p := range a.check(s, s.Annotations[key], version) {
			p.Key = key
			problems = append(problems, p)
		}
	}
	return problems
}

// unknown is the problem of a key that no CCM reads, nil for one that is anybody's.
func unknown(key string) *Problem {
	ours := slices.ContainsFunc(Prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
	near := spelling.Nearest(key, Keys())
	if !ours && near == "" {
		return nil
	}
	p := &Problem{Key: key, Text: "no version of the controller reads it"}
	if near != "" {
		p.Advice = "do you mean " + near + "?"
	}
	return p
}

// check returns what is wrong with a value.
func (a *Annotation) check(s *Service, value, version string) (problems []Problem) {
	add := func(note bool, advice, format string, args ...any) {
		problems = append(problems, Problem{Note: note, Text: fmt.Sprintf(format, args...), Advice: advice})
	}
	product := s.Product()
	switch {
	case s.Type != "LoadBalancer":
		add(false, "set spec.type to LoadBalancer", "the Service has the type %s, and gets no load balancer", s.Type)
		return problems
	case !a.Of(product):
		add(false, "", "it is about %s, and the Service gets a load balancer of %s", strings.ToUpper(a.Products[0]), strings.ToUpper(product))
		return problems
	case version != "" && Before(version, a.Since):
		add(false, "upgrade the controller", "the controller reads it from %s on, and has the version %s", a.Since, version)
	}
	if a.Until != "" && (version == "" || !Before(version, a.Until)) {
		add(false, "use "+Prefixes[0]+a.Successor, "the controller no longer reads it from %s on", a.Until)
	}
	if !a.Takes(value) {
		add(false, "", "%q is not of the form %s", value, a.Form)
	}
	if missing := a.missing(s, product); missing != "" {
		add(false, "", "it takes no effect without %s", missing)
	}
	if effects, ok := a.Effects[product]; ok && s.HasAddress {
		switch effects.Added {
		case Refused:
			add(true, "create the Service again to change it", "the controller rejects a change of it once there is a load balancer: %s", effects.Event)
		case Ignored:
			if effects.Created == Acts {
				add(true, "create the Service again to change it", "a change of it takes no effect once there is a load balancer")
			}
		}
	}
	return problems
}

// missing is an annotation of With that the Service lacks, "" if it has all.
func (a *Annotation) missing(s *Service, product string) string {
	for _, name := range slices.Sorted(maps.Keys(a.With)) {
		other, _ := Find((&Annotation{Name: name}).Key())
		wanted, value := a.With[name], ""
		if !other.Of(product) {
			continue
		}
		value, has := s.get(name)
		switch {
		case name == "protocol-port":
			if product == CLB && !hasProtocol(value, wanted) {
				return "a listener of HTTP or HTTPS, by the annotation " + other.Key()
			}
			if product == NLB && !strings.HasPrefix(wanted, "http:") && !strings.Contains(value, "tcpssl:") {
				return "a listener of TCPSSL, by the annotation " + other.Key()
			}
		case strings.Contains(wanted, "{{") || !fixed(name):
			if !has {
				return other.Key()
			}
		case !strings.EqualFold(value, wanted):
			return fmt.Sprintf("%s: %q", other.Key(), wanted)
		}
	}
	return ""
}

// fixed reports whether only one value of an annotation makes others take effect. Others
// are needed with any value.
func fixed(name string) bool {
	return slices.Contains([]string{"acl-status", "charge-type", "instance-charge-type", "address-type", "sticky-session", "health-check-flag", "alpn", "cacert", "proxy-protocol",
		"ip-version", "connection-drain", "sticky-session-type", "backend-type"}, name)
}

// hasProtocol reports whether protocol-port names a listener of the wanted protocol, or of
// HTTPS where HTTP is wanted.
func hasProtocol(value, wanted string) bool {
	protocol, _, _ := strings.Cut(wanted, ":")
	return strings.Contains(value, "https:") || protocol == "http" && strings.Contains(value, "http:")
}
