package emulator_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
)

// TestCallers proves that calls come from programs: not under a name that a web
// page may have made resolve to the API's address, and not from a page of
// another site.
func TestCallers(t *testing.T) {
	header := func(name, value string) map[string]string { return map[string]string{name: value} }
	for _, test := range []struct {
		name, host string
		headers    map[string]string
		taken      bool
	}{
		{"loopback address", "127.0.0.1:9600", nil, true},
		{"IPv6 loopback", "[::1]:9600", nil, true},
		{"without a port", "127.0.0.1", nil, true},
		{"address of a Service", "10.96.96.96:9600", nil, true},
		{"address of the metadata service", "100.100.100.200", nil, true},
		{"loopback name", "localhost:9600", nil, true},
		{"loopback name in capitals, with a dot", "LOCALHOST.:9600", nil, true},
		{"name under localhost", "clbemu.localhost:9600", nil, true},
		{"the cloud's name", "slb.aliyuncs.com", nil, true},
		{"the cloud's name of a region", "slb-vpc.cn-hangzhou.aliyuncs.com:9600", nil, true},
		{"the listener's name", "clb.test:9600", nil, true},
		{"a name that is allowed", "clbemu.clbemu.svc:9600", nil, true},
		{"a name under one that is allowed", "a.b.internal", nil, true},
		{"another name", "evil.test:9600", nil, false},
		{"a name that ends like the cloud's", "evilaliyuncs.com", nil, false},
		{"a name that begins like localhost", "localhost.evil.test", nil, false},
		{"a name that begins like an address", "127.0.0.1.evil.test:9600", nil, false},
		{"the domain of what is allowed", "internal", nil, false},
		{"no host", "", nil, false},
		{"page of another site", "127.0.0.1:9600", header("Sec-Fetch-Site", "cross-site"), false},
		{"page of another port", "127.0.0.1:9600", header("Sec-Fetch-Site", "same-site"), false},
		{"address bar", "127.0.0.1:9600", header("Sec-Fetch-Site", "none"), true},
		{"own page", "127.0.0.1:9600", header("Sec-Fetch-Site", "same-origin"), true},
		{"form of another site", "127.0.0.1:9600", header("Origin", "https://evil.test"), false},
		{"form of no site", "127.0.0.1:9600", header("Origin", "null"), false},
		{"own form", "127.0.0.1:9600", header("Origin", "http://127.0.0.1:9600"), true},
		{"image in a page of another site", "10.96.96.96:9600", header("Referer", "http://evil.test/page"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := mustNew(t, emulator.Config{Listen: "clb.test:9600", AllowedHosts: []string{"clbemu.clbemu.svc", "*.internal"}})
			defer e.Close(context.Background())
			for _, call := range []struct {
				method, path string
			}{
				{"POST", "/?Version=2014-05-15&Action=CreateLoadBalancer&RegionId=cn-hangzhou&AddressType=internet"},
				{"GET", "/?Version=2014-05-15&Action=CreateLoadBalancer&RegionId=cn-hangzhou&AddressType=internet"},
				{"GET", "/latest/meta-data/instance-id"},
			} {
				r := httptest.NewRequest(call.method, call.path, nil)
				r.Host = test.host
				for name, value := range test.headers {
					r.Header.Set(name, value)
				}
				w := httptest.NewRecorder()
				e.Handler().ServeHTTP(w, r)
				want := map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[test.taken]
				if w.Code != want {
					t.Errorf("%s %s = %d %s, want %d", call.method, call.path, w.Code, w.Body, want)
				}
				if !test.taken && test.headers == nil && !strings.Contains(w.Body.String(), "--allowed-host") {
					t.Errorf("%s %s is refused with %s, want what to do", call.method, call.path, w.Body)
				}
			}
			if want := map[bool]int{true: 2}[test.taken]; loadBalancers(t, e) != want {
				t.Errorf("there are %d load balancers, want %d", loadBalancers(t, e), want)
			}
		})
	}
}

// TestForeignCallerGetsTheCloudsForm proves that an SDK can read why its call
// was not taken.
func TestForeignCallerGetsTheCloudsForm(t *testing.T) {
	e := mustNew(t, emulator.Config{StrictAuth: true})
	defer e.Close(context.Background())
	r := httptest.NewRequest("POST", "http://evil.test/?Version=2014-05-15&Action=DescribeRegions", nil)
	w := httptest.NewRecorder()
	e.Handler().ServeHTTP(w, r)
	var refusal map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil || refusal["Code"] != "Forbidden.Caller" || refusal["RequestId"] == "" {
		t.Errorf("answer %s with %v, %v", w.Body, slices.Sorted(maps.Keys(refusal)), err)
	}
}

// TestUnsignedRemote proves that only who says so lets other machines change the
// cloud without a key.
func TestUnsignedRemote(t *testing.T) {
	for _, test := range []struct {
		listen         string
		strict, remote bool
		ok             bool
	}{
		{"127.0.0.1:0", false, false, true}, {"localhost:0", false, false, true},
		{"0.0.0.0:0", false, false, false}, {":0", false, false, false},
		{"0.0.0.0:0", true, false, true}, {"0.0.0.0:0", false, true, true},
	} {
		e := mustNew(t, emulator.Config{Listen: test.listen, ControlListen: "127.0.0.1:0", StrictAuth: test.strict, UnsignedRemote: test.remote})
		err := e.Start()
		if (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "--unsigned-remote") {
			t.Errorf("Start on %s, strict %t, remote %t = %v, want success %t", test.listen, test.strict, test.remote, err, test.ok)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}
