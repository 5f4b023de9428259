package annotations_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/annotations"
)

// TestTable proves that each row is whole: sorted, with values of its form that differ,
// with annotations beside it that exist and take their values, and with what a real
// controller did about it.
func TestTable(t *testing.T) {
	all := annotations.All()
	if len(all) < 82 {
		t.Errorf("the table has %d annotations, want all that the controller reads", len(all))
	}
	version := regexp.MustCompile(`^v[0-9]+(\.[0-9]+)+$`)
	placeholder := regexp.MustCompile(`\{\{\w+\}\}`)
	prefix := map[string]string{"clb": "lb-1", "vsw": "vsw-1", "subnet": "vsw-1", "group": "rg-1", "sg": "sg-1", "zones": "a:vsw-1", "vgroup": "rsp-1"}
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
		for _, value := range a.Values {
			if value != "" && !a.Takes(filled(value)) {
				t.Errorf("%s does not take its value %q", a.Name, value)
			}
		}
		for name, value := range a.Beside {
			other, ok := annotations.Find((&annotations.Annotation{Name: name}).Key())
			if !ok || !other.Takes(filled(value)) {
				t.Errorf("%s is beside %s=%s, which is no annotation or does not take that", a.Name, name, value)
			}
		}
		for _, product := range a.Products {
			if _, ok := a.Effects[product]; ok != (a.Unmeasured == "") {
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

// TestCheck proves each kind of problem, and that an annotation without one passes.
func TestCheck(t *testing.T) {
	const p, old = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-", "service.beta.kubernetes.io/alicloud-loadbalancer-"
	tests := map[string]struct {
		annotations map[string]string
		change      func(*annotations.Service)
		version     string
		want        []string // "text", "note: text", with "; advice" where there is one
	}{
		"right":             {annotations: map[string]string{p + "spec": "slb.s1.small", p + "instance-charge-type": "PayBySpec", p + "scheduler": "wrr"}},
		"the former prefix": {annotations: map[string]string{old + "address-type": "intranet"}},
		"somebody's":        {annotations: map[string]string{"example.com/id": "1"}},
		"misspelt":          {annotations: map[string]string{p + "adress-type": "intranet"}, want: []string{"no version of the controller reads it; do you mean " + p + "address-type?"}},
		"nobody's":          {annotations: map[string]string{p + "completely-unheard-of": "1"}, want: []string{"no version of the controller reads it"}},
		"a value":           {annotations: map[string]string{p + "delete-protection": "true"}, want: []string{`"true" is not of the form on|off`}},
		"another product":   {annotations: map[string]string{p + "zone-maps": "a:b"}, want: []string{"it is about NLB, and the Service gets a load balancer of CLB"}},
		"NLB": {
			annotations: map[string]string{p + "zone-maps": "a:b", p + "spec": "slb.s1.small"}, change: func(s *annotations.Service) { s.Class = "alibabacloud.com/nlb" },
			want: []string{"it is about CLB, and the Service gets a load balancer of NLB"},
		},
		"no load balancer": {
			annotations: map[string]string{p + "name": "a"}, change: func(s *annotations.Service) { s.Type = "NodePort" },
			want: []string{"the Service has the type NodePort, and gets no load balancer; set spec.type to LoadBalancer"},
		},
		"an old controller":   {annotations: map[string]string{p + "default-weight": "50"}, version: "v2.9.1", want: []string{"the controller reads it from v2.14.0 on, and has the version v2.9.1; upgrade the controller"}},
		"a new controller":    {annotations: map[string]string{p + "default-weight": "50"}, version: "v2.14.0"},
		"a pre-release":       {annotations: map[string]string{p + "default-weight": "50"}, version: "v2.14.0-aliyun.1"},
		"the former name":     {annotations: map[string]string{p + "slb-network-type": "vpc", p + "address-type": "intranet"}, want: []string{"the controller no longer reads it from v2.12.4 on; use " + p + "network-type"}},
		"the name of then":    {annotations: map[string]string{p + "slb-network-type": "vpc", p + "address-type": "intranet"}, version: "v2.5.1"},
		"without another":     {annotations: map[string]string{p + "bandwidth": "10", p + "instance-charge-type": "PayBySpec"}, want: []string{`it takes no effect without ` + p + `charge-type: "paybybandwidth"`}},
		"without an id":       {annotations: map[string]string{p + "acl-status": "on", p + "acl-type": "white"}, want: []string{"it takes no effect without " + p + "acl-id", "it takes no effect without " + p + "acl-id"}},
		"without HTTP":        {annotations: map[string]string{p + "request-timeout": "20"}, want: []string{"it takes no effect without a listener of HTTP or HTTPS, by the annotation " + p + "protocol-port"}},
		"with HTTPS for HTTP": {annotations: map[string]string{p + "request-timeout": "20", p + "protocol-port": "https:443", p + "cert-id": "c"}},
		"once there is one": {
			annotations: map[string]string{p + "vswitch-id": "vsw-2", p + "address-type": "intranet"}, change: func(s *annotations.Service) { s.HasAddress = true },
			want: []string{"note: the controller rejects a change of it", "note: a change of it takes no effect once there is a load balancer; create the Service again to change it"},
		},
	}
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
		if got := annotations.IsVersion(version); got != is {
			t.Errorf("IsVersion(%q) = %t", version, got)
		}
	}
}
