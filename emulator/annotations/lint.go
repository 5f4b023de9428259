package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// The first versions of the CCM that make Network Load Balancers, and that read the source
// ranges of their Services.
const (
	nlbSince          = "v2.5.1"
	sourceRangesSince = "v2.14.0"
)

// emptyAddressUntil is the first version of the CCM that sends no empty address for a zone of a new
// Network Load Balancer that has none, which the cloud refuses of an intranet one (NLB-0037).
const emptyAddressUntil = "v2.11.2"

// Check returns what is wrong with the annotations of a Service for a version of the CCM,
// or for the newest one if version is empty. Needs are in needs.tsv, pairs of annotations in
// pairs.go, values in annotations.tsv, fields of the Service in fields.go, and what goes wrong
// only with the rest of the Service in traps.go.
func Check(s *Service, version string) (problems []Problem) {
	problems = append(s.checkType(), s.checkPlaces()...)
	if s.Class != "" && s.Class != nlbClass {
		return append(problems, s.checkClass()...)
	}
	if s.Type == "LoadBalancer" {
		problems = append(problems, s.checkFields(version)...)
	}
	suggested := 0
	for _, key := range slices.Sorted(maps.Keys(s.Annotations)) {
		a, known := Find(key)
		if !known {
			if p := unknown(key, s.Annotations[key], suggested < mostSuggested); p != nil {
				if !reaches(version) && !p.Note {
					p.Note, p.Text = true, "no version of the controller up to "+newest()+" reads it, and "+version+" is newer"
				}
				problems, suggested = append(problems, *p), suggested+1
			}
			continue
		}
		if newer := Prefixes[0] + a.Name; key == Prefixes[1]+a.Name && s.Annotations[newer] != "" && s.Annotations[newer] != s.Annotations[key] {
			problems = append(problems, Problem{Key: key, Text: "it takes no effect beside " + newer + ", which the controller reads"})
			continue
		}
		for _, p := range a.check(s, s.Annotations[key], version) {
			p.Key = key
			problems = append(problems, p)
		}
	}
	return problems
}

// clouds are other clouds by how their annotations of Services begin.
var clouds = []struct{ prefix, name string }{
	{bare + "aws-load-balancer-", "AWS"}, {"alb.ingress.kubernetes.io/", "AWS"}, {bare + "azure-", "Azure"}, {"cloud.google.com/", "Google Cloud"}, {"networking.gke.io/", "Google Cloud"},
	{"service.kubernetes.io/qcloud-", "Tencent Cloud"}, {"service.cloud.tencent.com/", "Tencent Cloud"}, {"kubernetes.io/elb.", "Huawei Cloud"}, {bare + "do-loadbalancer-", "DigitalOcean"},
	{bare + "oci-load-balancer-", "Oracle Cloud"}, {"oci.oraclecloud.com/", "Oracle Cloud"}, {"load-balancer.hetzner.cloud/", "Hetzner"}, {bare + "linode-loadbalancer-", "Linode"},
	{"loadbalancer.openstack.org/", "OpenStack"}, {bare + "volcengine-loadbalancer-", "Volcano Engine"}, {"metallb.universe.tf/", "MetalLB"}, {"metallb.io/", "MetalLB"}, {bare + "cce-load-balancer-", "Baidu AI Cloud"},
	{"service.kubernetes.io/tke-", "Tencent Cloud"}, {"service.kubernetes.io/ibm-", "IBM Cloud"}, {bare + "ucloud-", "UCloud"}, {bare + "scw-loadbalancer-", "Scaleway"}, {bare + "exoscale-loadbalancer-", "Exoscale"}, {bare + "vultr-loadbalancer-", "Vultr"},
	{"loadbalancer.ovhcloud.com/", "OVHcloud"}, {"kubernetes.civo.com/", "Civo"}, {bare + "jdcloud-", "JD Cloud"}, {bare + "ksc-", "Kingsoft Cloud"}, {"io.cilium/lb-", "Cilium"}, {"lbipam.cilium.io/", "Cilium"}, {"kube-vip.io/", "kube-vip"}, {"eip.openelb.kubesphere.io/", "OpenELB"}, {"protocol.openelb.kubesphere.io/", "OpenELB"},
}

// mostSuggested is the most unknown annotations of a Service for which a known one is looked
// for by its spelling, which takes long.
const mostSuggested = 20

// unknown returns the problem of a key that no CCM reads, or nil for a key that is not the CCM's.
// Suggest says whether to look for what was meant.
func unknown(key, value string, suggest bool) *Problem {
	if cloud := cloudOf(key); cloud != "" {
		return &Problem{Key: key, Note: true, Text: "it is an annotation of " + cloud + ", which this controller does not read"}
	}
	ours := alibabas(key)
	near := ""
	advice := advised(key)
	if advice == "" {
		near = meant(key, suggest)
	}
	if !ours && near == "" {
		return nil
	}
	p := &Problem{Key: key, Text: "no version of the controller reads it", Advice: advice}
	if near != "" {
		p.Advice = "do you mean " + near + "?"
	}
	switch kind := strings.ToLower(value); kind {
	case NLB, nlbClass:
		p.Advice = "set spec.loadBalancerClass to " + nlbClass
	case CLB, "slb":
		p.Advice = "leave it out: without spec.loadBalancerClass it is a CLB"
	}
	return p
}

// alibabas reports whether the name of a key is Alibaba Cloud's.
func alibabas(key string) bool {
	name := key[strings.Index(key, "/")+1:]
	return strings.Contains(name, "alibaba") || strings.Contains(name, "alicloud")
}

// cloudOf returns the other cloud to which an annotation belongs, or "" for none.
func cloudOf(key string) string {
	for _, cloud := range clouds {
		if strings.HasPrefix(key, cloud.prefix) {
			return cloud.name
		}
	}
	last, found := strings.CutPrefix(strings.ToLower(key), bare)
	if found && (strings.Contains(last, "load-balancer") || strings.Contains(last, "loadbalancer")) && !alibabas(last) {
		return "another cloud"
	}
	return ""
}

// meant returns the annotation that a misspelt key probably means, or "" for none. Suggest says
// whether to look for one by its spelling.
func meant(key string, suggest bool) string {
	domain, last, slashed := strings.Cut(key, "/")
	if !slashed {
		domain, last = "", key
	}
	name := last
	// The last word is there twice in loadbalancer-loadbalancer-id, as people write it.
	for _, prefix := range []string{"alibaba-cloud-", "alicloud-", "loadbalancer-", "loadbalancer-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	switch {
	case alibabas(key):
		if near := longer(name); near != "" || !suggest {
			return near
		}
		return spelling.Nearest(key, Keys())
	case domain+"/" == bare: // of the few without the name of a cloud
		if near := spelling.Nearest(last, bareNames); near != "" {
			return bare + near
		}
	case domain == "" && strings.Contains(last, "-"):
		return longer(name)
	}
	return ""
}

// longer returns the annotation with the name, or the longest one whose name has some words more or
// less at its ends.
func longer(name string) string {
	best := ""
	for _, a := range All() {
		more := strings.Contains(a.Name, "-") && (strings.HasSuffix(name, "-"+a.Name) || strings.HasSuffix(a.Name, "-"+name) || strings.HasPrefix(a.Name, name+"-"))
		if a.Name == name || more && len(a.Name) > len(best) {
			best = a.Name
		}
		if a.Name == name {
			break
		}
	}
	if best == "" {
		return ""
	}
	return (&Annotation{Name: best}).Key()
}

// check returns what is wrong with a value.
func (a *Annotation) check(s *Service, value, version string) (problems []Problem) {
	if unread := a.unread(s, value, version); unread != nil {
		return []Problem{*unread}
	}
	if wrong := a.misread(s, value, version); wrong != nil {
		problems = append(problems, *wrong)
	} else if narrow := a.narrowed(s, value); narrow != nil {
		problems = append(problems, *narrow)
	} else if check := pairs[a.Name]; check != nil {
		problems = check(s, value)
	}
	problems = append(problems, a.creation(s, version)...)
	return append(problems, a.once(s, s.Product())...)
}

func found(finding, advice, format string, args ...any) *Problem {
	return &Problem{Note: finding == noted, Breaks: finding == Breaks, Text: fmt.Sprintf(format, args...), Advice: advice}
}

// unread says why the controller does not read the annotation of a Service, or returns nil if it
// does.
func (a *Annotation) unread(s *Service, value, version string) *Problem {
	product := s.Product()
	switch {
	case s.Type != "LoadBalancer":
		return found(effectless, "set spec.type to LoadBalancer", "the Service has the type %s, and gets no load balancer", s.Type)
	case !a.Of(product):
		return found(effectless, "", "it is about %s, and the Service gets a load balancer of %s", strings.ToUpper(a.Products[0]), strings.ToUpper(product))
	case version != "" && Before(version, a.Since):
		return found(effectless, "upgrade the controller", "the controller reads it from %s on, and has the version %s", a.Since, version)
	case a.Until != "" && (version == "" || !Before(version, a.Until)):
		return found(effectless, "use "+Prefixes[0]+a.Successor, "the controller no longer reads it from %s on", a.Until)
	case value == "":
		return found(noted, "give it a value, or take it away", "it is empty, which is as if it were not there")
	}
	return nil
}

// misread says what the Service lacks for a value, or what is wrong with it; nil for neither.
func (a *Annotation) misread(s *Service, value, version string) *Problem {
	product := s.Product()
	values := a.ValuesOf(product)
	need := a.need(s, product, version)
	switch {
	case placeholder().MatchString(value):
		return found(effectless, "put the value in its place", "the value %q is a placeholder", value)
	case need != nil && values.reads(value) && (need.Finding != noted || values.Takes(value)):
		return found(need.Finding, "", "%s", need.sentence(s))
	case values.Takes(value):
		return nil
	case values.lenient && len(values.list) == 1:
		return found(effectless, "write "+values.Words(), "it takes no effect with the value %q", value)
	case values.lenient:
		return found(effectless, "write "+values.Words(), "the controller takes %q for %s", value, values.list[len(values.list)-1])
	}
	return found(Breaks, "", "the Service will not come up: the value is %q, and must be %s", value, values.Words())
}

// need returns the first need of the annotation that the Service lacks, or nil if it has all.
func (a *Annotation) need(s *Service, product, version string) *need {
	for i := range Needs() {
		n := &Needs()[i]
		if n.Of(a.Name, product, version) && (s.listens() || !n.listens()) && n.Missing(s) {
			return n
		}
	}
	return nil
}

// sentence says what a need is about.
func (n *need) sentence(s *Service) string {
	switch {
	case n.text != "":
		return n.text
	case n.Finding == Breaks:
		return "the Service will not come up without " + n.Words(s)
	case n.Finding == noted:
		return "the controller makes no listener on a reused load balancer without " + n.Words(s)
	}
	return "it takes no effect without " + n.Words(s)
}

// once returns a note where a change counts only when the load balancer is created.
func (a *Annotation) once(s *Service, product string) (problems []Problem) {
	effects, ok := a.Effects[product]
	if !ok || !s.HasAddress {
		return nil
	}
	const advice = "create the Service again to change it"
	switch {
	case effects.Added == Refused:
		problems = append(problems, Problem{Note: true, Text: "the controller rejects a change of it once there is a load balancer: " + effects.Event, Advice: advice})
	case effects.Added == Ignored && effects.Created == Acts:
		problems = append(problems, Problem{Note: true, Text: "a change of it takes no effect once there is a load balancer", Advice: advice})
	}
	return problems
}
