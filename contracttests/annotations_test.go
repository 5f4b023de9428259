package contracttests

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/annotations"
)

// annotated is an annotation with the call and the parameter that a CCM makes of it for a
// listener of a protocol.
type annotated struct {
	name, of, protocol         string
	product, action, parameter string
	beside                     params
}

// annotatedCalls returns the annotations whose values a parameter of one call takes as they are.
func annotatedCalls() (all []annotated) {
	layer4, layer7 := []string{"tcp", "udp"}, []string{"http", "https"}
	add := func(name, parameter string, protocols []string, beside params) {
		for _, protocol := range protocols {
			all = append(all, annotated{name, annotations.CLB, protocol, "Slb", "CreateLoadBalancer" + strings.ToUpper(protocol) + "Listener", parameter, beside})
		}
	}
	add("scheduler", "Scheduler", slices.Concat(layer4, layer7), nil)
	add("persistence-timeout", "PersistenceTimeout", []string{"tcp"}, nil)
	add("established-timeout", "EstablishedTimeout", []string{"tcp"}, nil)
	add("connection-drain-timeout", "ConnectionDrainTimeout", layer4, params{"ConnectionDrain": "on"})
	add("health-check-connect-timeout", "HealthCheckConnectTimeout", layer4, nil)
	add("health-check-interval", "healthCheckInterval", layer4, nil)
	add("idle-timeout", "IdleTimeout", layer7, nil)
	add("request-timeout", "RequestTimeout", layer7, nil)
	add("cookie-timeout", "CookieTimeout", layer7, params{"StickySession": "on", "StickySessionType": "insert"})
	add("xforwardedfor-proto", "XForwardedFor_proto", layer7, nil)
	nlb := func(name, parameter string, protocols []string, beside params) {
		for _, protocol := range protocols {
			p := maps.Clone(beside)
			if p == nil {
				p = params{}
			}
			p["Protocol"] = strings.ToUpper(protocol)
			all = append(all, annotated{name, annotations.NLB, protocol, "Nlb", "CreateServerGroup", parameter, p})
		}
	}
	nlb("scheduler", "Scheduler", layer4, nil)
	nlb("connection-drain-timeout", "ConnectionDrainTimeout", layer4, params{"ConnectionDrainEnabled": "true"})
	nlb("healthy-threshold", "HealthCheckConfig.HealthyThreshold", layer4, nil)
	nlb("unhealthy-threshold", "HealthCheckConfig.UnhealthyThreshold", layer4, nil)
	nlb("health-check-http-version", "HealthCheckConfig.HealthCheckHttpVersion", []string{"tcp"}, params{"HealthCheckConfig.HealthCheckType": "HTTP"})
	all = append(all, annotated{"idle-timeout", annotations.NLB, "tcp", "Nlb", "CreateListener", "IdleTimeout", nil}, annotated{"cps", annotations.NLB, "tcp", "Nlb", "CreateListener", "Cps", nil})
	return all
}

// TestAnnotationsAgree proves that clbemu lint-service takes the values of an annotation that
// the API takes of the call which a CCM makes of it: the bounds, those beyond, and those of
// other protocols.
func TestAnnotationsAgree(t *testing.T) {
	numbers := strings.Fields("0 1 2 9 10 11 20 21 50 51 60 61 180 181 300 301 900 901 3600 3601 86400 86401 1000000 1000001")
	words := strings.Fields("rr wrr wlc sch tch qch on off HTTP1.0 HTTP1.1 HTTP2.0 nosuch")
	played := 0
	for _, c := range annotatedCalls() {
		a, ok := annotations.Find(annotations.Prefixes[0] + c.name)
		if !ok {
			t.Fatalf("there is no annotation %s", c.name)
		}
		values := words
		if strings.HasPrefix(a.ValuesOf(c.of).Words(), "a whole number") {
			values = numbers
		}
		for _, value := range values {
			linted, answered := lints(&a, &c, value), takes(t, &c, value)
			played++
			if linted != answered {
				t.Errorf("%s of a %s listener of %s: lint takes %q: %t, %s takes it: %t", c.name, c.protocol, c.of, value, linted, c.action, answered)
			}
		}
	}
	t.Logf("%d values of %d annotations and protocols", played, len(annotatedCalls()))
}

// lints reports whether lint-service takes the value of an annotation for a listener.
func lints(a *annotations.Annotation, c *annotated, value string) bool {
	s := &annotations.Service{Type: "LoadBalancer", Annotations: make(map[string]string), Ports: []annotations.Port{{Number: 80, Protocol: "TCP"}}}
	if c.protocol == "udp" {
		s.Ports[0].Protocol = "UDP"
	}
	set := func(name, value string) { s.Annotations[annotations.Prefixes[0]+name] = value }
	if c.of == annotations.NLB {
		s.Class = "alibabacloud.com/nlb"
		set("zone-maps", "a:vsw-1,b:vsw-2")
	} else {
		set("protocol-port", c.protocol+":80")
		set("cert-id", "cert-1")
	}
	for name, value := range a.Beside {
		if name != "protocol-port" {
			set(name, value)
		}
	}
	set("health-check-flag", "on")
	set(a.Name, value)
	return !slices.ContainsFunc(annotations.Check(s, ""), func(p annotations.Problem) bool { return p.Breaks && p.Key == a.Key() })
}

// takes reports whether the API takes the value in the first call of the action's golden cases
// that succeeds.
func takes(t *testing.T, c *annotated, value string) bool {
	t.Helper()
	cases := apiCases()
	at := slices.IndexFunc(cases, func(one apiCase) bool { return one.product == c.product && one.action == c.action && one.code == "" })
	if at < 0 {
		t.Fatalf("%s has no case that succeeds", c.action)
	}
	cloud := preparedCloud(t, cases[at].before...)
	p := maps.Clone(cloud.names.resolve(cases[at].params))
	maps.Copy(p, c.beside)
	p[c.parameter] = value
	reply := cloud.send(c.product, c.action, "JSON", p)
	var body struct{ Code string }
	if err := json.Unmarshal(reply.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	return reply.Code == http.StatusOK
}
