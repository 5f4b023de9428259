package annotations_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/annotations"
)

// TestTable proves that each row is whole: sorted, with values of its form that differ,
// with annotations next to it that exist and take their values, and with what a real
// controller did about it.
func TestTable(t *testing.T) {
	all := annotations.All()
	if len(all) < 82 {
		t.Errorf("the table has %d annotations, want all that the controller reads", len(all))
	}
	version := regexp.MustCompile(`^v[0-9]+(\.[0-9]+)+$`)
	placeholder := regexp.MustCompile(`\{\{\w+\}\}`)
	prefix := map[string]string{"clb": "lb-1", "vsw": "vsw-1", "subnet": "vsw-1", "group": "rg-1", "sg": "sg-1", "zones": "a:vsw-1,b:vsw-2", "vgroup": "rsp-1"}
	filled := func(value string) string {
		return placeholder.ReplaceAllStringFunc(value, func(found string) string {
			if id := prefix[strings.Trim(found, "{}23")]; id != "" {
				return id
			}
			return "id-1"
		})
	}
	for i, a := range all {
		if i > 0 && a.Name <= all[i-1].Name && !slices.Contains([]string{"backend-type", "class"}, a.Name) {
			t.Errorf("%s comes after %s", a.Name, all[i-1].Name)
		}
		if !version.MatchString(a.Since) || a.Help == "" {
			t.Errorf("%s: since %q, help %q", a.Name, a.Since, a.Help)
		}
		for _, product := range a.Products {
			for _, value := range a.Values {
				if values := a.ValuesOf(product); value != "" && !values.Takes(filled(value)) && !otherProduct(&a, value) {
					t.Errorf("%s of %s does not take its value %q: %s", a.Name, product, value, values.Words())
				}
			}
			if values := a.ValuesOf(product); values.Words() == "" && (values.Takes("") || !values.Takes("any text")) {
				t.Errorf("%s of %s takes all, even nothing, or does not say what", a.Name, product)
			}
		}
		for name, value := range a.Beside {
			other, ok := annotations.Find((&annotations.Annotation{Name: name}).Key())
			if !ok || !slices.ContainsFunc(other.Products, func(product string) bool { return other.ValuesOf(product).Takes(filled(value)) }) {
				t.Errorf("%s is beside %s=%s, which is no annotation or does not take that", a.Name, name, value)
			}
		}
		for _, product := range a.Products {
			if _, ok := a.Effects[product]; ok != a.Measured(product) {
				t.Errorf("%s of %s is measured: %t, and not measured as %q", a.Name, product, ok, a.Unmeasured)
			}
		}
		for _, key := range []string{a.Key(), annotations.Prefixes[1] + a.Name} {
			if found, ok := annotations.Find(key); (!ok || found.Name != a.Name) && a.Name != "class" && a.Name != "backend-type" {
				t.Errorf("Find(%s) = %s, %t", key, found.Name, ok)
			}
		}
	}
}

// otherProduct reports whether only another product of the annotation takes a value.
func otherProduct(a *annotations.Annotation, value string) bool {
	return slices.ContainsFunc(a.Products, func(product string) bool {
		return a.ValuesOf(product).Takes(strings.NewReplacer("{{clb}}", "lb-1", "{{clb2}}", "lb-2").Replace(value))
	})
}

// TestCheck proves each kind of problem, and that an annotation without one passes.
func TestCheck(t *testing.T) {
	const p, old = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-", "service.beta.kubernetes.io/alicloud-loadbalancer-"
	tests := map[string]checked{
		"right":              {annotations: map[string]string{p + "instance-charge-type": "PayByCLCU", p + "scheduler": "wrr"}},
		"the former prefix":  {annotations: map[string]string{old + "address-type": "intranet"}},
		"an unknown owner's": {annotations: map[string]string{"example.com/id": "1"}},
		"misspelt":           {annotations: map[string]string{p + "adress-type": "intranet"}, want: []string{"no version of the controller reads it; do you mean " + p + "address-type?"}},
		"of no version":      {annotations: map[string]string{p + "completely-unheard-of": "1"}, want: []string{"no version of the controller reads it"}},
		"a value":            {annotations: map[string]string{p + "delete-protection": "true"}, want: []string{`breaks: the Service will not come up: the value is "true", and must be on or off`}},
		"another product":    {annotations: map[string]string{p + "zone-maps": "a:b"}, want: []string{"it is about NLB, and the Service gets a load balancer of CLB"}},
		"NLB": {
			annotations: map[string]string{p + "zone-maps": "a:b,c:d", p + "spec": "slb.s1.small"}, change: func(s *annotations.Service) { s.Class = "alibabacloud.com/nlb" },
			want: []string{"it is about CLB, and the Service gets a load balancer of NLB"},
		},
		"no load balancer": {
			annotations: map[string]string{p + "name": "a"}, change: func(s *annotations.Service) { s.Type = "NodePort" },
			want: []string{"the Service has the type NodePort, and gets no load balancer; set spec.type to LoadBalancer"},
		},
		"an old controller":        {annotations: map[string]string{p + "default-weight": "50"}, version: "v2.9.1", want: []string{"the controller reads it from v2.14.0 on, and has the version v2.9.1; upgrade the controller"}},
		"a new controller":         {annotations: map[string]string{p + "default-weight": "50"}, version: "v2.14.0"},
		"a pre-release":            {annotations: map[string]string{p + "default-weight": "50"}, version: "v2.14.0-aliyun.1"},
		"the former name":          {annotations: map[string]string{p + "slb-network-type": "vpc", p + "address-type": "intranet"}, want: []string{"the controller no longer reads it from v2.12.4 on; use " + p + "network-type"}},
		"the name of then":         {annotations: map[string]string{p + "slb-network-type": "vpc", p + "address-type": "intranet"}, version: "v2.5.1"},
		"without another":          {annotations: map[string]string{p + "bandwidth": "10"}, want: []string{`it takes no effect without ` + p + `charge-type: "paybybandwidth"`}},
		"without an id":            {annotations: map[string]string{p + "acl-status": "on", p + "acl-type": "white"}, want: []string{"breaks: the Service will not come up without " + p + "acl-id", "it takes no effect without " + p + "acl-id"}},
		"without HTTP":             {annotations: map[string]string{p + "request-timeout": "20"}, want: []string{"it takes no effect without a listener of HTTP or HTTPS, by the annotation " + p + "protocol-port"}},
		"with HTTPS for HTTP":      {annotations: map[string]string{p + "request-timeout": "20", p + "protocol-port": "https:443", p + "cert-id": "c"}},
		"default weight of NLB":    {annotations: map[string]string{p + "zone-maps": "a:b,c:d", p + "default-weight": "50"}, change: func(s *annotations.Service) { s.Class = "alibabacloud.com/nlb" }},
		"backends of NLB by IPv6":  {annotations: map[string]string{p + "zone-maps": "a:b,c:d", p + "ip-version": "DualStack", p + "backend-ip-version": "ipv6"}, change: func(s *annotations.Service) { s.Class = "alibabacloud.com/nlb" }},
		"graceful shutdown":        {annotations: map[string]string{p + "graceful-shutdown": "on"}, version: "v2.15.0"},
		"graceful shutdown, early": {annotations: map[string]string{p + "graceful-shutdown": "on"}, version: "v2.14.0", want: []string{"the controller reads it from v2.15.0 on"}},
		"a version of the future":  {annotations: map[string]string{p + "of-the-future": "on"}, version: "v2.99.0", want: []string{"note: no version of the controller up to v2.15.0 reads it, and v2.99.0 is newer"}},
		"a scheduler of UDP":       {annotations: map[string]string{p + "scheduler": "qch"}, change: one("TCP"), want: []string{`breaks: the Service will not come up: a listener of TCP does not take "qch"`}},
		"a scheduler for UDP":      {annotations: map[string]string{p + "scheduler": "qch"}, change: one("UDP")},
		"a scheduler of layer 4":   {annotations: map[string]string{p + "scheduler": "sch", p + "protocol-port": "http:80"}, change: one("TCP"), want: []string{`breaks: the Service will not come up: a listener of HTTP does not take "sch"`}},
		"a timeout of TCP":         {annotations: map[string]string{p + "zone-maps": "a:b,c:d", p + "idle-timeout": "100"}, change: func(s *annotations.Service) { one("UDP")(s); s.Class = "alibabacloud.com/nlb" }, want: []string{`breaks: the Service will not come up: a listener of UDP does not take "100", but a whole number from 10 to 20`}},
		"a name":                   {annotations: map[string]string{p + "name": "-bad"}, want: []string{`breaks: the Service will not come up: the value is "-bad"`}},
		"a zone twice":             {annotations: map[string]string{p + "zone-maps": "a:b,a:d"}, change: func(s *annotations.Service) { s.Class = "alibabacloud.com/nlb" }, want: []string{"breaks: the Service will not come up: the zone a is there twice"}},
		"private IPv6":             {annotations: map[string]string{p + "ip-version": "ipv6", p + "address-type": "intranet"}, want: []string{"breaks: the Service will not come up without taking away " + p + `address-type: "intranet"`}},
		"a placeholder":            {annotations: map[string]string{p + "cert-id": "${YOUR_CERT_ID}", p + "protocol-port": "https:443"}, want: []string{`the value "${YOUR_CERT_ID}" is a placeholder; put the value in its place`}},
		"decrypted to HTTPS": {annotations: map[string]string{p + "cert-id": "c", p + "protocol-port": "https:443"}, change: func(s *annotations.Service) {
			s.Ports = []annotations.Port{{Number: 443, Protocol: "TCP", Target: "443"}}
		}, want: []string{"note: the listener of port 443 decrypts"}},
		"a local port": {change: func(s *annotations.Service) {
			s.Ports = []annotations.Port{{Number: 80, Protocol: "TCP", Node: 40000}}
		}, want: []string{"note: nodePort 40000 is among the local ports of nodes"}},
		"a named target": {annotations: map[string]string{"service.beta.kubernetes.io/backend-type": "eni"}, version: "v2.9.1", change: func(s *annotations.Service) {
			s.Ports = []annotations.Port{{Number: 80, Protocol: "TCP", Target: "web"}}
		}, want: []string{"note: a controller before v2.12.4 may send targetPort"}},
		"Local without weights": {annotations: map[string]string{p + "scheduler": "rr"}, change: func(s *annotations.Service) { s.Local = true }, want: []string{"note: with Local, nodes have weights by their pods"}},
		"Local by default":      {change: func(s *annotations.Service) { s.Local = true }, want: []string{`note: with Local, nodes have weights by their pods, which the scheduler "rr" ignores`}},
		"Local, reused":         {annotations: map[string]string{p + "id": "lb-1"}, change: func(s *annotations.Service) { s.Local = true }, want: []string{"note: the controller makes no listener"}},
		"Local, and an address": {change: func(s *annotations.Service) { s.Local, s.HasAddress = true, true }},
		"Local of NLB":          {annotations: map[string]string{p + "zone-maps": "a:b,c:d"}, change: func(s *annotations.Service) { s.Class, s.Local = "alibabacloud.com/nlb", true }},
		"Local with pods":       {annotations: map[string]string{"service.beta.kubernetes.io/backend-type": "eni"}, change: func(s *annotations.Service) { s.Local = true }},
		"a value with a dot": {annotations: map[string]string{p + "zone-maps": "a:b,c:d", p + "health-check-flag": "on", p + "health-check-type": "http", p + "health-check-http-version": "HTTP3"}, version: "v2.15.0",
			change: func(s *annotations.Service) { s.Class = "alibabacloud.com/nlb" }, want: []string{`breaks: the Service will not come up: the value is "HTTP3", and must be HTTP1.0 or HTTP1.1`}},
		"another's name": {annotations: map[string]string{p + "access-control-list": "a"}, want: []string{"no version of the controller reads it; do you mean " + p + "acl-id?"}},
		"access logs":    {annotations: map[string]string{p + "enable-access-log": "on"}, want: []string{"no version of the controller reads it; there is none for access logs"}},
		"a load balancer from before": {annotations: map[string]string{p + "charge-type": "paybybandwidth", p + "bandwidth": "10", p + "spec": "slb.s1.small"}, version: "v2.14.0", change: func(s *annotations.Service) { s.HasAddress = true },
			want: []string{"note: the load balancer that exists keeps what it has; for a new one, the Service will not come up without", "note: the load balancer that exists keeps what it has; for a new one, it takes no effect without"}},
		"a load balancer of a cluster": {annotations: map[string]string{p + "charge-type": "paybybandwidth", p + "bandwidth": "10", p + "spec": "slb.s1.small"}, version: "v2.14.0", change: func(s *annotations.Service) { s.HasAddress, s.Running = true, true }},
		"once there is one": {
			annotations: map[string]string{p + "vswitch-id": "vsw-2", p + "address-type": "intranet"}, change: func(s *annotations.Service) { s.HasAddress = true },
			want: []string{"note: the controller rejects a change of it", "note: a change of it takes no effect once there is a load balancer; create the Service again to change it"},
		},
	}
	runChecks(t, tests)
}

// one gives a Service port 80 of a protocol.
func one(protocol string) func(*annotations.Service) {
	return func(s *annotations.Service) { s.Ports = []annotations.Port{{Number: 80, Protocol: protocol}} }
}

// TestShared proves that Services which want the same listener of a load balancer that they
// reuse are found, and those with ports of their own are not.
func TestShared(t *testing.T) {
	reusing := func(name string, port int) *annotations.Service {
		return &annotations.Service{Namespace: "default", Name: name, Type: "LoadBalancer", Ports: []annotations.Port{{Number: port, Protocol: "TCP"}},
			Annotations: map[string]string{annotations.Prefixes[0] + "id": "lb-1", annotations.Prefixes[0] + "force-override-listeners": "true"}}
	}
	twice := reusing("c", 80)
	twice.Ports = append(twice.Ports, twice.Ports...)
	other := reusing("d", 80)
	other.Annotations[annotations.Prefixes[0]+"id"] = "lb-2"
	var found []string
	wanted := make(map[string][]*annotations.Service)
	for _, s := range []*annotations.Service{reusing("a", 80), reusing("b", 81), twice, other} {
		for _, p := range s.Shares(wanted) {
			found = append(found, s.Name+": "+p.Text)
		}
	}
	if want := []string{"c: default/a reuses lb-1 too, and both want its listener of port 80: one of them takes it from the other"}; !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// checked is a Service with what Check says of it.
type checked struct {
	annotations map[string]string
	change      func(*annotations.Service)
	version     string
	want        []string // "text", "note: text" or "breaks: text", with "; advice" where there is one
}

func runChecks(t *testing.T, tests map[string]checked) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := annotations.Service{Type: "LoadBalancer", Annotations: test.annotations}
			if test.change != nil {
				test.change(&s)
			}
			var got []string
			for _, p := range annotations.Check(&s, test.version) {
				text := p.Text
				if p.Note {
					text = "note: " + text
				}
				if p.Breaks {
					text = "breaks: " + text
				}
				if p.Advice != "" {
					text += "; " + p.Advice
				}
				got = append(got, text)
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) || len(got) != len(test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestNeeds proves what annotations need, by product and version of the CCM.
func TestNeeds(t *testing.T) {
	const p = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
	with := func(pairs ...string) map[string]string {
		m := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			key := pairs[i]
			if !strings.Contains(key, "/") && !strings.HasPrefix(key, "=") {
				key = p + key
			}
			m[strings.TrimPrefix(key, "=")] = pairs[i+1]
		}
		return m
	}
	nlb := func(s *annotations.Service) { s.Class = "alibabacloud.com/nlb" }
	ports := func(numbers ...int) func(*annotations.Service) {
		return func(s *annotations.Service) {
			for _, n := range numbers {
				s.Ports = append(s.Ports, annotations.Port{Number: n, Protocol: "TCP"})
			}
		}
	}
	named := func(numbers ...int) func(*annotations.Service) {
		return func(s *annotations.Service) {
			for i, n := range numbers {
				s.Ports = append(s.Ports, annotations.Port{Number: n, Protocol: "TCP", Name: string(rune('a' + i))})
			}
		}
	}
	ranges := func(s *annotations.Service) { s.SourceRanges = true }
	const up = "breaks: the Service will not come up"
	runChecks(t, map[string]checked{
		"TCP checked by HTTP":           {annotations: with("health-check-type", "http", "health-check-uri", "/ready"), change: ports(80)},
		"TCP checked by TCP":            {annotations: with("health-check-type", "tcp", "health-check-uri", "/ready"), change: ports(80), want: []string{"it takes no effect without " + p + `health-check-type: "http", or a listener of HTTP or HTTPS`}},
		"a new one by specification":    {annotations: with("spec", "slb.s1.small", "instance-charge-type", "PayBySpec"), want: []string{"note: a new load balancer can't have it since 2025-06-01"}},
		"an old one by specification":   {annotations: with("spec", "slb.s1.small", "instance-charge-type", "PayBySpec"), change: func(s *annotations.Service) { s.HasAddress = true }, want: []string{"note: the controller rejects a change of it"}},
		"a reused one by specification": {annotations: with("spec", "slb.s1.small", "instance-charge-type", "PayBySpec", "id", "lb-1", "force-override-listeners", "true")},
		"spec of v2.3.0":                {annotations: with("spec", "slb.s1.small"), version: "v2.3.0"},
		"spec of v2.11.2":               {annotations: with("spec", "slb.s1.small"), version: "v2.11.2"},
		"spec of v2.11.2 by use":        {annotations: with("spec", "slb.s1.small", "instance-charge-type", "PayByCLCU"), version: "v2.11.2", want: []string{"it takes no effect without taking away " + p + "instance-charge-type"}},
		"spec of v2.12.4":               {annotations: with("spec", "slb.s1.small"), version: "v2.12.4", want: []string{"it takes no effect without " + p + `instance-charge-type: "PayBySpec"`}},
		"reused without override":       {annotations: with("id", "lb-1", "protocol-port", "http:80"), change: ports(80), want: []string{"note: the controller makes no listener", "it takes no effect without " + p + `force-override-listeners: "true"`}},
		"reused with server groups":     {annotations: with("id", "lb-1", "vgroup-port", "rsp-1:80"), change: ports(80)},
		"reused with override":          {annotations: with("id", "lb-1", "force-override-listeners", "true", "protocol-port", "http:80"), change: ports(80)},
		"HTTPS without a certificate":   {annotations: with("protocol-port", "https:443"), change: ports(443), want: []string{up + " without " + p + "cert-id"}},
		"TCPSSL without a certificate":  {annotations: with("protocol-port", "tcpssl:443", "zone-maps", "a:b,c:d"), change: nlb, want: []string{up + " without " + p + "cert-id"}},
		"TCPSSL of CLB":                 {annotations: with("protocol-port", "tcpssl:8883"), want: []string{up + `: the value is "tcpssl:8883", and must be pairs of tcp, udp, http or https`}},
		"HTTPS of NLB":                  {annotations: with("protocol-port", "https:443", "zone-maps", "a:b,c:d"), change: nlb, want: []string{up + `: the value is "https:443", and must be pairs of tcp, udp or tcpssl`}},
		"an NLB for CLB":                {annotations: with("id", "nlb-abc", "force-override-listeners", "true"), want: []string{up + `: the value is "nlb-abc", and must be an ID that begins with lb-`}},
		"bandwidth by use":              {annotations: with("charge-type", "paybybandwidth", "bandwidth", "10"), want: []string{up + " without " + p + `instance-charge-type: "PayBySpec"`}},
		"bandwidth by use of v2.11.2":   {annotations: with("charge-type", "paybybandwidth", "bandwidth", "10"), version: "v2.11.2"},
		"a short name without prefix":   {annotations: with("=loadbalancer-spec", "slb.s1.small"), want: []string{"no version of the controller reads it; do you mean " + p + "spec?"}},
		"a name of its own":             {annotations: with("=my-spec", "a", "=spec", "b")},
		"more words":                    {annotations: with("health-check-healthy-threshold", "4"), want: []string{"no version of the controller reads it; do you mean " + p + "healthy-threshold?"}},
		"older product by annotation":   {annotations: with("type", "slb"), want: []string{"no version of the controller reads it; leave it out: without spec.loadBalancerClass it is a CLB"}},
		"product by annotation":         {annotations: with("instance-type", "nlb"), want: []string{"no version of the controller reads it; set spec.loadBalancerClass to alibabacloud.com/nlb"}},
		"source ranges of CLB":          {change: ranges, want: []string{"the controller ignores it for CLB, and the Service is open to all; use the annotations"}},
		"source ranges of an old NLB":   {annotations: with("zone-maps", "a:b,c:d"), change: func(s *annotations.Service) { nlb(s); ranges(s) }, version: "v2.13.0", want: []string{"the controller reads it from v2.14.0 on"}},
		"source ranges of NLB":          {annotations: with("zone-maps", "a:b,c:d"), change: func(s *annotations.Service) { nlb(s); ranges(s) }},
		"one zone":                      {annotations: with("zone-maps", "a:vsw-1"), change: nlb, want: []string{up + `: the value is "a:vsw-1", and must be two or more zones`}},
		"no zone":                       {change: nlb, want: []string{up + " without " + p + "zone-maps"}},
		"persistence-timeout":           {annotations: with("persistence-timeout", "9999"), change: ports(80), want: []string{up + `: the value is "9999", and must be a whole number from 0 to 3600`}},
		"a number that is none":         {annotations: with("idle-timeout", "1m"), change: ports(80), want: []string{up + `: the value is "1m", and must be a whole number from 1 to 60`}},
		"drain without its timeout":     {annotations: with("connection-drain", "on"), change: ports(80), want: []string{"it takes no effect without " + p + "connection-drain-timeout"}},
		"sticky without a type":         {annotations: with("protocol-port", "http:80", "sticky-session", "on"), change: ports(80), want: []string{up + " without " + p + `sticky-session-type: "insert" and `}},
		"SCTP":                          {change: func(s *annotations.Service) { s.Ports = []annotations.Port{{Number: 80, Protocol: "SCTP"}} }, want: []string{up + ": port 80 has the protocol SCTP"}},
		"without its prefix":            {annotations: map[string]string{"health-check-type": "tcp"}, want: []string{"no version of the controller reads it; do you mean " + p + "health-check-type?"}},
		"without half its prefix":       {annotations: map[string]string{"alibaba-cloud-loadbalancer-spec": "slb.s1.small"}, want: []string{"no version of the controller reads it; do you mean " + p + "spec?"}},
		"AWS":                           {annotations: map[string]string{"service.beta.kubernetes.io/aws-load-balancer-alpn-policy": "HTTP2Preferred"}, want: []string{"note: it is an annotation of AWS, which this controller does not read"}},
		"a port that the Service lacks": {annotations: with("protocol-port", "http:80,http:8080"), change: ports(80), want: []string{"http:8080 takes no effect: the Service has no port 8080"}},
		"a flag of NLB":                 {annotations: with("zone-maps", "a:b,c:d", "cacert", "true"), change: nlb, want: []string{`the controller takes "true" for off; write on or off`}},
		"letters of NLB":                {annotations: with("zone-maps", "a:b,c:d", "ip-version", "dualstack", "address-type", "Internet", "protocol-port", "TCPSSL:443", "cert-id", "1"), change: nlb},
		"letters of CLB":                {annotations: with("protocol-port", "HTTPS:443", "cert-id", "1"), want: []string{up + `: the value is "HTTPS:443"`}},
		"UDP checked by UDP":            {annotations: with("zone-maps", "a:b,c:d", "health-check-flag", "on", "health-check-type", "udp"), change: func(s *annotations.Service) { nlb(s); s.Ports = []annotations.Port{{Number: 53, Protocol: "UDP"}} }},
		"TCP checked by UDP":            {annotations: with("zone-maps", "a:b,c:d", "health-check-flag", "on", "health-check-type", "udp"), change: func(s *annotations.Service) { nlb(s); ports(80)(s) }, want: []string{up + " without " + p + `health-check-type: "tcp" or "http"`}},
		"CLB checked by UDP":            {annotations: with("health-check-type", "udp"), change: ports(80), want: []string{up + `: the value is "udp", and must be tcp or http`}},
		"letters of backend-type":       {annotations: map[string]string{"service.beta.kubernetes.io/backend-type": "ENI"}, want: []string{`the controller takes "ENI" for ecs; write eni or ecs`}},
		"letters of a flag":             {annotations: with("id", "lb-1", "force-override-listeners", "True"), want: []string{`the controller takes "True" for false`}},
		"letters of a flag of CLB":      {annotations: with("remove-unscheduled-backend", "ON", "proxy-protocol", "On", "external-ip-type", "EIP"), change: ports(80), want: []string{`it takes no effect with the value "EIP"; write eip`, `the controller takes "On" for off`, `the controller takes "ON" for off`}},
		"letters of a flag of both":     {annotations: with("ignore-weight-update", "ON"), change: ports(80)},
		"a vSwitch for a reused one":    {annotations: with("id", "lb-1", "force-override-listeners", "true", "vswitch-id", "vsw-1", "address-type", "intranet"), want: []string{"it takes no effect without taking away " + p + "id"}},
		"a word twice":                  {annotations: with("loadbalancer-id", "lb-1"), want: []string{"no version of the controller reads it; do you mean " + p + "id?"}},
		"a space between ports":         {annotations: with("protocol-port", "http:80, https:443", "cert-id", "c"), change: named(80, 443), want: []string{up + `: the value is "http:80, https:443"`}},
		"an NLB of v2.9.1":              {annotations: with("zone-maps", "a:b,c:d"), change: nlb, version: "v2.9.1"},
		"an intranet NLB of v2.9.1":     {annotations: with("zone-maps", "a:b,c:d", "address-type", "intranet"), change: nlb, version: "v2.9.1", want: []string{up + ": a controller of the version v2.9.1 sends an empty address for each zone, which the cloud refuses of an intranet one; upgrade the controller"}},
		"an NLB of v2.10.0 by address":  {annotations: with("zone-maps", "a:b:192.0.2.1,c:d:192.0.2.2", "address-type", "intranet"), change: nlb, version: "v2.10.0"},
		"a reused NLB of v2.10.0":       {annotations: with("id", "nlb-1", "zone-maps", "a:b,c:d", "force-override-listeners", "true", "address-type", "intranet"), change: nlb, version: "v2.10.0"},
		"an intranet NLB of v2.5.1":     {annotations: with("zone-maps", "a:b,c:d", "address-type", "intranet"), change: nlb, version: "v2.5.1", want: []string{up + ": a controller of the version v2.5.1 sends an empty address for each zone, which the cloud refuses of an intranet one; upgrade the controller"}},
		"an NLB of v2.11.2":             {annotations: with("zone-maps", "a:b,c:d", "address-type", "intranet"), change: nlb, version: "v2.11.2"},
		"a space between zones":         {annotations: with("zone-maps", "a:b, c:d"), change: nlb, want: []string{up + `: the value is "a:b, c:d", and must be two or more zones`}},
		"a space between groups":        {annotations: with("zone-maps", "a:b,c:d", "security-group-ids", "sg-1 ,sg-2"), change: nlb, want: []string{up + `: the value is "sg-1 ,sg-2", and must be IDs that begin with sg-`}},
		"two groups":                    {annotations: with("zone-maps", "a:b:192.0.2.1:eip-1,c:d", "security-group-ids", "sg-1,sg-2"), change: nlb},
		"misspelt backend-type":         {annotations: map[string]string{"service.beta.kubernetes.io/backend-tpye": "eni"}, want: []string{"no version of the controller reads it; do you mean service.beta.kubernetes.io/backend-type?"}},
		"fewer words":                   {annotations: with("xforwardedfor", "on"), want: []string{"no version of the controller reads it; do you mean " + p + "xforwardedfor-"}},
		"another version of the prefix": {annotations: map[string]string{"service.alpha.kubernetes.io/alibaba-cloud-loadbalancer-spec": "slb.s1.small"}, want: []string{"no version of the controller reads it; do you mean " + p + "spec?"}},
		"a misspelt prefix":             {annotations: map[string]string{"service.beta.kubernetes.io/alibabacloud-loadbalancer-spec": "slb.s1.small"}, want: []string{"no version of the controller reads it; do you mean " + p + "spec?"}},
		"of other controllers":          {annotations: map[string]string{"prometheus.io/scrape": "true", "external-dns.alpha.kubernetes.io/hostname": "a", "service.beta.kubernetes.io/example": "z", "name": "x", "app-name": "y", "kubectl.kubernetes.io/last-applied-configuration": "{}", "meta.helm.sh/release-name": "web"}},
		"clouds":                        {annotations: map[string]string{"service.kubernetes.io/ibm-load-balancer-cloud-provider-zone": "z", "service.kubernetes.io/tke-existed-lbid": "lb-1", "service.beta.kubernetes.io/unheard-of-load-balancer-type": "x"}, want: []string{"note: it is an annotation of another cloud", "note: it is an annotation of IBM Cloud", "note: it is an annotation of Tencent Cloud"}},
		"a class that is none":          {annotations: with("spec", "x"), change: func(s *annotations.Service) { s.Class = "alibabacloud.com/clb" }, want: []string{up + `: the controller does not take the class "alibabacloud.com/clb"; use alibabacloud.com/nlb for`}},
		"a label without a value":       {annotations: with("backend-label", "app"), want: []string{up + `: the value is "app", and must be labels of nodes with their values`}},
		"the port of backends":          {annotations: with("health-check-connect-port", "-520"), change: ports(80)},
		"the port of backends of NLB":   {annotations: with("zone-maps", "a:b,c:d", "health-check-flag", "on", "health-check-connect-port", "0"), change: nlb},
		"a status that is a number":     {annotations: with("protocol-port", "http:80", "health-check-flag", "on", "health-check-httpcode", "200"), change: ports(80), want: []string{up + `: the value is "200", and must be statuses such as http_2xx`}},
		"a range upside down":           {annotations: with("zone-maps", "a:b,c:d", "listener-port-range", "90-80:80", "service.beta.kubernetes.io/backend-type", "eni"), change: nlb, want: []string{up + ": 90-80 is no range of ports"}},
		"ranges with a port in common": {annotations: with("zone-maps", "a:b,c:d", "listener-port-range", "400-500:80", "service.beta.kubernetes.io/backend-type", "eni"), change: func(s *annotations.Service) {
			nlb(s)
			s.Ports = []annotations.Port{{Number: 80, Protocol: "TCP", Name: "a"}, {Number: 443, Protocol: "TCP", Name: "b"}, {Number: 450, Protocol: "UDP", Name: "c"}}
		}, want: []string{up + ": the listeners of port 80 and port 443 have ports in common"}},
		"forwarded to another protocol":    {annotations: with("protocol-port", "http:80,https:443", "cert-id", "c", "forward-port", "80:8443"), want: []string{up + ": no listener of HTTPS has the port 8443"}},
		"forwarded from a port it lacks":   {annotations: with("protocol-port", "http:80,https:443", "cert-id", "c", "forward-port", "81:443"), change: named(80, 443), want: []string{"81:443 takes no effect: the Service has no port 81"}},
		"a group for a port that it lacks": {annotations: with("id", "lb-1", "vgroup-port", "rsp-1:8080"), change: ports(80), want: []string{"rsp-1:8080 takes no effect: the Service has no port 8080"}},
		"an NLB for CLB without override":  {annotations: with("id", "nlb-abc"), want: []string{up + `: the value is "nlb-abc"`}},
		"both prefixes":                    {annotations: map[string]string{p + "address-type": "intranet", "service.beta.kubernetes.io/alicloud-loadbalancer-address-type": "internet"}, want: []string{"it takes no effect beside " + p + "address-type"}},
		"a type that is none":              {change: func(s *annotations.Service) { s.Type = "LoadBalance" }, want: []string{`breaks: Kubernetes rejects the Service: "LoadBalance" is no type of Services; do you mean LoadBalancer?`}},
		"ports that are none":              {change: named(70000, 80, 80), want: []string{"breaks: Kubernetes rejects the Service: 70000 is no port", "breaks: Kubernetes rejects the Service: port 80 of TCP is there twice"}},
		"ports without names":              {change: ports(80, 443), want: []string{"breaks: Kubernetes rejects the Service: port 80 of TCP has no name", "breaks: Kubernetes rejects the Service: port 443 of TCP has no name"}},
		"an address in the spec":           {change: func(s *annotations.Service) { s.IP = "192.0.2.1" }, want: []string{"the controller does not read it; use the annotation " + p + "ip"}},
		"no node ports":                    {change: func(s *annotations.Service) { s.NoNodePorts = true }, want: []string{"note: the Service will not come up without service.beta.kubernetes.io/backend-type"}},
		"no node ports for pods":           {annotations: with("service.beta.kubernetes.io/backend-type", "eni"), change: func(s *annotations.Service) { s.NoNodePorts = true }},
		"kept by false":                    {annotations: with("preserve-lb-on-delete", "false"), want: []string{"any value keeps the load balancer"}},
		"another controller's":             {annotations: with("spec", "x"), change: func(s *annotations.Service) { s.Class = "example.com/lb" }},
		"empty":                            {annotations: with("spec", ""), want: []string{"note: it is empty"}},
		"a range of ports to nodes":        {annotations: with("zone-maps", "a:b,c:d", "listener-port-range", "80-90:80", "service.beta.kubernetes.io/backend-type", "ecs"), change: nlb, want: []string{up + " without service.beta.kubernetes.io/backend-type"}},
		"an NLB before there were some":    {annotations: with("zone-maps", "a:b,c:d"), change: nlb, version: "v2.3.0", want: []string{"breaks: the controller makes Network Load Balancers from v2.5.1 on", "the controller reads it from v2.5.1 on"}},
	})
}

// TestBefore proves the order of versions.
func TestBefore(t *testing.T) {
	ordered := []string{"v1.9.3.101-g3400084-aliyun", "v1.9.3.239", "v2.1.0", "2.9.1", "v2.10.0", "v2.14.0"}
	for i, a := range ordered {
		for j, b := range ordered {
			if got := annotations.Before(a, b); got != (i < j) {
				t.Errorf("Before(%s, %s) = %t", a, b, got)
			}
		}
	}
	if annotations.Before("newest", "v2.1.0") {
		t.Error("what is no version comes before v2.1.0")
	}
}

// TestIsVersion proves what is a version.
func TestIsVersion(t *testing.T) {
	for version, is := range map[string]bool{
		"v2.9.1": true, "2.14.0-aliyun.1": true, "v2.9": true,
		"": false, "v2": false, "newest": false, "v2.-1": false, "v2.+1": false, "v2.9.": false,
	} {
		if _, got := annotations.IsVersion(version); got != is {
			t.Errorf("IsVersion(%q) = %t", version, got)
		}
	}
}
