package kubernetes_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/emulator/annotations"
)

// broken is a Service that clbemu lint-service says will not come up: the annotation that
// is wrong, and all annotations by their names.
type broken struct{ about, product, with string }

// brokenServices has each of the needs without which a Service does not come up, and each
// kind of value that is rejected.
var brokenServices = map[string]broken{
	"https-without-certificate":  {"protocol-port", annotations.CLB, "protocol-port=https:80"},
	"tcpssl-without-certificate": {"protocol-port", annotations.NLB, "protocol-port=tcpssl:80 zone-maps={{zones}}"},
	"acl-without-id":             {"acl-status", annotations.CLB, "acl-status=on"},
	"bandwidth-by-use":           {"charge-type", annotations.CLB, "charge-type=paybybandwidth bandwidth=10"},
	"bandwidth-unknown":          {"charge-type", annotations.CLB, "charge-type=paybybandwidth instance-charge-type=PayBySpec spec=slb.s1.small"},
	"sticky-without-type":        {"sticky-session", annotations.CLB, "protocol-port=http:80 sticky-session=on"},
	"sticky-without-timeout":     {"sticky-session", annotations.CLB, "protocol-port=http:80 sticky-session=on sticky-session-type=insert"},
	"forward-to-nothing":         {"forward-port", annotations.CLB, "protocol-port=http:80 forward-port=80:443"},
	"range-to-nodes":             {"listener-port-range", annotations.NLB, "listener-port-range=8000-8100:80 backend-type=ecs zone-maps={{zones}}"},
	"range-upside-down":          {"listener-port-range", annotations.NLB, "listener-port-range=8100-8000:80 backend-type=eni zone-maps={{zones}}"},
	"label-without-value":        {"backend-label", annotations.CLB, "backend-label=app"},
	"no-zones":                   {".", annotations.NLB, "address-type=intranet"},
	"one-zone":                   {"zone-maps", annotations.NLB, "zone-maps=cn-hangzhou-h:" + cloud.VSwitch},
	"tcpssl-of-clb":              {"protocol-port", annotations.CLB, "protocol-port=tcpssl:80"},
	"https-of-nlb":               {"protocol-port", annotations.NLB, "protocol-port=https:80 zone-maps={{zones}}"},
	"udp-check-of-tcp":           {"health-check-type", annotations.NLB, "health-check-flag=on health-check-type=udp zone-maps={{zones}}"},
	"nlb-for-clb":                {"id", annotations.CLB, "id=nlb-abc force-override-listeners=true"},
	"number-out-of-range":        {"persistence-timeout", annotations.CLB, "persistence-timeout=9999"},
	"number-that-is-none":        {"idle-timeout", annotations.CLB, "protocol-port=http:80 idle-timeout=1m"},
	"value-of-a-list":            {"delete-protection", annotations.CLB, "delete-protection=true"},
	"number-of-nlb":              {"cps", annotations.NLB, "cps=many zone-maps={{zones}}"},
	"spec-that-is-none":          {"spec", annotations.CLB, "instance-charge-type=PayBySpec spec=small"},
	"private-ipv6":               {"ip-version", annotations.CLB, "ip-version=ipv6 address-type=intranet"},
}

// annotations returns the annotations of a broken Service by their names.
func (b broken) annotations(fill func(string) string) map[string]string {
	with := make(map[string]string)
	for field := range strings.FieldsSeq(b.with) {
		name, value, _ := strings.Cut(field, "=")
		with[name] = fill(value)
	}
	return with
}

// service returns the broken Service as lint-service reads it.
func (b broken) service(with map[string]string) *annotations.Service {
	s := &annotations.Service{Type: "LoadBalancer", Annotations: make(map[string]string), Ports: []annotations.Port{{Number: 80, Protocol: "TCP"}}}
	if b.product == annotations.NLB {
		s.Class = "alibabacloud.com/nlb"
	}
	for name, value := range with {
		s.Annotations[(&annotations.Annotation{Name: name}).Key()] = value
	}
	return s
}

// TestBrokenServices proves that the Services of the next test cover what breaks a Service,
// and that lint-service finds each.
func TestBrokenServices(t *testing.T) {
	zones := func(value string) string { return strings.ReplaceAll(value, "{{zones}}", "a:vsw-1,b:vsw-2") }
	for name, b := range brokenServices {
		s := b.service(b.annotations(zones))
		if found := annotations.Check(s, ""); !slices.ContainsFunc(found, func(p annotations.Problem) bool { return p.Breaks }) {
			t.Errorf("lint-service finds %+v in %s, nothing that breaks it", found, name)
		}
	}
	for i := range annotations.Needs() {
		n := &annotations.Needs()[i]
		for _, product := range []string{annotations.CLB, annotations.NLB} {
			for _, about := range n.Names {
				if n.Finding == annotations.Breaks && n.Of(about, product, "") && !slices.ContainsFunc(slices.Collect(maps.Values(brokenServices)), func(b broken) bool {
					return b.about == about && b.product == product && n.Missing(b.service(b.annotations(zones)))
				}) {
					t.Errorf("no broken Service lacks what %s of %s needs: %s", about, product, n.Shown())
				}
			}
		}
	}
}

// TestBroken proves with the real CCM that Services which lint-service says will not come up
// get no address, and an Event says why.
func TestBroken(t *testing.T) {
	requireCCM(t, annotated)
	for _, product := range []string{annotations.CLB, annotations.NLB} {
		t.Run(product, func(t *testing.T) {
			f := start(t, ofScenario, func(f *fixture) {
				if product == annotations.NLB {
					withNLB(f)
				}
			})
			f.control("world", "set", "cloud.year=2024") // so that no Service fails for what is sold
			var all []*measure
			for _, name := range slices.Sorted(maps.Keys(brokenServices)) {
				if b := brokenServices[name]; b.product == product {
					m := &measure{product: product, plain: name}
					m.with = b.annotations(f.resources(m))
					all = append(all, m)
				}
			}
			heard := f.heardSince(all, func(m *measure) []string { return []string{m.plain} })
			for _, m := range all {
				f.annotate(m, m.plain, m.with)
			}
			failures := heard()
			for _, m := range all {
				service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, m.plain, metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if failures[m.plain] == "" || len(service.Status.LoadBalancer.Ingress) > 0 {
					t.Errorf("%s with %v has the address %v, and the Event says %q, want none and why", m.plain, m.with, service.Status.LoadBalancer.Ingress, failures[m.plain])
				}
				t.Logf("%s: %s", m.plain, failures[m.plain])
			}
		})
	}
}
