package annotations

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// newest is the newest version of the CCM that clbemu knows.
var newest = sync.OnceValue(func() (last string) {
	for _, a := range All() {
		if last == "" || Before(last, a.Since) {
			last = a.Since
		}
	}
	return last
})

// reaches reports whether the annotations known here cover a version: it is not newer than all of
// them.
func reaches(version string) bool { return version == "" || !Before(newest(), version) }

// placeholder matches a value that a person was to replace.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[^}]*\}|\$\([^)]*\)|\{\{.*\}\}|^<[^<>]+>$|(?i)^(?:your|my)[-_ ].*(?:id|name)$|^[a-z]*-?x{3,}$|^(?:todo|changeme|replaceme)$|^\{your[^}]*\}$`)
})

// narrow lists the values that listeners of some protocols take, for annotations that take more
// with others. The emulator's own calls hold them: contracttests.TestAnnotationsAgree.
var narrow = []struct {
	name, product string
	on            []string
	form          string
}{
	{"scheduler", CLB, []string{"tcp"}, "rr;wrr;wlc;sch;tch"},
	{"scheduler", CLB, []string{"http", "https"}, "rr;wrr;wlc"},
	{"scheduler", NLB, []string{"tcp", "tcpssl"}, "rr;wrr;wlc;sch;tch"},
	{"idle-timeout", NLB, []string{"udp"}, "10..20"},
}

// narrowed says that a listener's protocol does not take a value that others take.
func (a *Annotation) narrowed(s *Service, value string) *Problem {
	product := s.Product()
	if !s.listens() && product == CLB {
		return nil
	}
	for _, n := range narrow {
		if n.name != a.Name || n.product != product {
			continue
		}
		taken := valuesOf(n.form)
		taken.anyCase = product == NLB
		for _, protocol := range s.protocols() {
			if slices.Contains(n.on, protocol) && !taken.Takes(value) {
				return found(Breaks, "", "the Service will not come up: a listener of %s does not take %q, but %s", strings.ToUpper(protocol), value, taken.Words())
			}
		}
	}
	return nil
}

// creation returns a note about what a Service with a load balancer lacks for a new one.
func (a *Annotation) creation(s *Service, version string) []Problem {
	if !s.HasAddress || s.Running {
		return nil
	}
	fresh := *s
	fresh.HasAddress = false
	need, now := a.need(&fresh, s.Product(), version), a.need(s, s.Product(), version)
	if need == nil || now != nil || need.Finding == noted {
		return nil
	}
	return []Problem{{Note: true, Text: "the load balancer that exists keeps what it has; for a new one, " + need.sentence(&fresh)}}
}

// others are names that people write for annotations, with what they mean.
var others = map[string]string{
	"access-control-enable": "acl-status", "access-control-list": "acl-id", "access-control-type": "acl-type", "redirect-http-to-https": "forward-port", "http-redirect": "forward-port", "force-https": "forward-port",
	"ssl-cert": "cert-id", "certificate-id": "cert-id", "ssl-ports": "protocol-port", "backend-protocol": "protocol-port", "internal": "address-type", "loadbalancer-type": "address-type", "proxy-protocol-v2": "proxy-protocol", "security-group-id": "security-group-ids", "security-groups": "security-group-ids",
}

// advised returns advice about a key that people write instead of another one, or "" for none.
func advised(key string) string {
	name := key
	for _, prefix := range Prefixes {
		name = strings.TrimPrefix(name, prefix)
	}
	switch {
	case name == key:
		return ""
	case strings.Contains(name, "access-log"):
		return "there is none for access logs: turn them on in the console of the load balancer"
	case others[name] != "":
		return "do you mean " + Prefixes[0] + others[name] + "?"
	}
	return ""
}

// The local ports of Linux by default, from which clients on a node choose.
const firstLocal, lastLocal = 32768, 60999

// namedTargetSince is the first version that leaves out endpoints without the port of a name.
const namedTargetSince = "v2.12.4"

// checkTraps returns what is right alone and goes wrong with the rest of a Service.
func (s *Service) checkTraps(version string) (problems []Problem) {
	note := func(key, advice, format string, args ...any) {
		problems = append(problems, Problem{Key: key, Note: true, Text: fmt.Sprintf(format, args...), Advice: advice})
	}
	protocols := s.protocols()
	eni, _ := s.get("backend-type")
	for i, port := range s.Ports {
		if port.Node >= firstLocal && port.Node <= lastLocal {
			note("spec.ports", "choose one from 30000 to 32767", "nodePort %d is among the local ports of nodes, %d to %d, so that connections and health checks fail at times", port.Node, firstLocal, lastLocal)
		}
		if i >= len(protocols) {
			continue
		}
		if (protocols[i] == "https" || protocols[i] == "tcpssl") && (port.Target == "443" || port.Target == "https") {
			note("spec.ports", "let targetPort be the port on which the pod speaks HTTP, such as 80", "the listener of port %d decrypts, and the pod gets plain HTTP at targetPort %s: \"The plain HTTP request was sent to HTTPS port\"", port.Number, port.Target)
		}
		if _, err := strconv.Atoi(port.Target); port.Target != "" && err != nil && eni == "eni" && version != "" && Before(version, namedTargetSince) {
			note("spec.ports", "make targetPort a number, or upgrade the controller", "a controller before %s may send targetPort %q as the port 0, which the cloud refuses", namedTargetSince, port.Target)
		}
	}
	scheduler, set := s.get("scheduler")
	if !set && s.Product() == CLB && !s.HasAddress {
		scheduler = "rr" // the CCM's own for a new listener; an NLB's group has wrr where none is named
	}
	if s.Local && s.listens() && scheduler != "" && eni != "eni" && !strings.EqualFold(scheduler, "wrr") && !strings.EqualFold(scheduler, "wlc") {
		note("spec.externalTrafficPolicy", "set "+Prefixes[0]+`scheduler to "wrr"`, "with Local, nodes have weights by their pods, which the scheduler %q ignores", scheduler)
	}
	return problems
}

// listeners returns the listeners that the CCM makes of a load balancer that the Service reuses.
func (s *Service) listeners() (all []string) {
	id, _ := s.get("id")
	if id == "" || s.Type != "LoadBalancer" || !s.listens() {
		return nil
	}
	protocols := s.protocols()
	for n, port := range s.ports() {
		transport := "tcp"
		if protocols[n] == "udp" {
			transport = "udp"
		}
		all = append(all, fmt.Sprint(id, " ", transport, " ", port.Number))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Shares returns the listeners of a load balancer which the Service reuses that a Service before it
// wants too. Who wants a listener is kept in wanted, to which it adds the Service.
func (s *Service) Shares(wanted map[string][]*Service) (problems []Problem) {
	listeners := s.listeners()
	for _, at := range listeners {
		id, port := at[:strings.Index(at, " ")], at[strings.LastIndex(at, " ")+1:]
		for _, o := range wanted[at] {
			problems = append(problems, Problem{Key: (&Annotation{Name: "id"}).Key(), Text: fmt.Sprintf("%s/%s reuses %s too, and both want its listener of port %s: one of them takes it from the other", o.Namespace, o.Name, id, port), Advice: "give one of them another port, or a load balancer of its own"})
		}
	}
	for _, at := range listeners {
		wanted[at] = append(wanted[at], s)
	}
	return problems
}
