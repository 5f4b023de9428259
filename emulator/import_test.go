package emulator_test

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/state"
)

var replaySeed = flag.Uint64("replay.seed", 0, "seed of the random tests; 0 takes a new one")

var mutations = flag.Int("mutations", 0, "how many mutated states TestImportOfMutatedStates imports; 0 is 250, or 60 with -short")

// unsigned makes unsigned calls of an emulator in memory.
type unsigned struct {
	t *testing.T
	e *emulator.Emulator
}

func (u unsigned) request(h http.Handler, method, target string, body []byte) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, "http://localhost"+target, bytes.NewReader(body)))
	return w.Code, w.Body.String()
}

// call calls an action; its parameters are name=value.
func (u unsigned) call(version, action string, parameters ...string) (int, string) {
	query := url.Values{"Version": {version}, "Action": {action}, "RegionId": {"cn-hangzhou"}}
	for _, p := range parameters {
		name, value, _ := strings.Cut(p, "=")
		query.Set(name, value)
	}
	return u.request(u.e.Handler(), "GET", "/?"+query.Encode(), nil)
}

// make makes a call that must succeed, and returns a field of the answer.
func (u unsigned) make(field, version, action string, parameters ...string) string {
	u.t.Helper()
	code, body := u.call(version, action, parameters...)
	if code != http.StatusOK {
		u.t.Fatalf("%s(%v) = %d %s", action, parameters, code, body)
	}
	var fields map[string]any
	if err := json.Unmarshal([]byte(body), &fields); err != nil {
		u.t.Fatal(err)
	}
	text, _ := fields[field].(string)
	return text
}

const (
	slbVersion = "2014-05-15"
	vpcVersion = "2016-04-28"
	ecsVersion = "2014-05-26"
)

// furnish makes at least one of each kind of resource.
func furnish(u unsigned) {
	certificate, key := selfSigned(u.t)
	cert := u.make("ServerCertificateId", slbVersion, "UploadServerCertificate", "ServerCertificate="+certificate, "PrivateKey="+key)
	ca := u.make("CACertificateId", slbVersion, "UploadCACertificate", "CACertificate="+certificate)
	acl := u.make("AclId", slbVersion, "CreateAccessControlList", "AclName=acl")
	for _, zone := range []string{"vsw-bp1clbemu000000000001", "vsw-bp1clbemu000000000002"} {
		lb := u.make("LoadBalancerId", slbVersion, "CreateLoadBalancer", "VSwitchId="+zone, "AddressType=intranet", "InstanceChargeType=PayByCLCU", "ClientToken="+zone)
		backend := `[{"ServerId":"i-bp1clbemu0000000001","Port":"30080","Weight":"100"}]`
		group := u.make("VServerGroupId", slbVersion, "CreateVServerGroup", "LoadBalancerId="+lb, "BackendServers="+backend)
		u.make("", slbVersion, "AddBackendServers", "LoadBalancerId="+lb, `BackendServers=[{"ServerId":"i-bp1clbemu0000000002","Weight":"100"}]`)
		common := []string{"LoadBalancerId=" + lb, "VServerGroupId=" + group, "Bandwidth=-1"}
		u.make("", slbVersion, "CreateLoadBalancerTCPListener", append(common, "ListenerPort=22", "AclStatus=on", "AclType=white", "AclId="+acl)...)
		u.make("", slbVersion, "CreateLoadBalancerUDPListener", append(common, "ListenerPort=53")...)
		web := append(common, "HealthCheck=off", "StickySession=off")
		u.make("", slbVersion, "CreateLoadBalancerHTTPListener", append(web, "ListenerPort=80")...)
		u.make("", slbVersion, "CreateLoadBalancerHTTPSListener", append(web, "ListenerPort=443", "ServerCertificateId="+cert, "CACertificateId="+ca)...)
		u.make("", slbVersion, "StartLoadBalancerListener", "LoadBalancerId="+lb, "ListenerPort=80")
		u.make("", slbVersion, "CreateRules", "LoadBalancerId="+lb, "ListenerPort=80", `RuleList=[{"RuleName":"r","Domain":"a.example.com","VServerGroupId":"`+group+`"}]`)
		u.make("", slbVersion, "CreateDomainExtension", "LoadBalancerId="+lb, "ListenerPort=443", "Domain=b.example.com", "ServerCertificateId="+cert)
		u.make("", slbVersion, "TagResources", "ResourceType=instance", "ResourceId.1="+lb, "Tag.1.Key=k", "Tag.1.Value=v")
		eip := u.make("AllocationId", vpcVersion, "AllocateEipAddress")
		u.make("", vpcVersion, "AssociateEipAddress", "AllocationId="+eip, "InstanceId="+lb, "InstanceType=SlbInstance")
	}
	table := u.make("RouteTableId", vpcVersion, "CreateRouteTable", "VpcId=vpc-bp1clbemu000000000001")
	u.make("", vpcVersion, "CreateRouteEntry", "RouteTableId="+table, "DestinationCidrBlock=10.1.0.0/24", "NextHopId=i-bp1clbemu0000000001", "NextHopType=Instance")
	u.make("", ecsVersion, "CreateSecurityGroup", "VpcId=vpc-bp1clbemu000000000001")
}

func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	defer server.Close()
	pair := server.TLS.Certificates[0]
	private, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// document is an exported state that can be changed.
type document struct {
	SchemaVersion int
	Tables        map[string][]any
}

func parse(t *testing.T, text string) (d document) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// mutate changes one thing in a document and says what.
func mutate(random *rand.Rand, d document) string {
	tables := slices.Sorted(maps.Keys(d.Tables))
	table := tables[random.IntN(len(tables))]
	rows := d.Tables[table]
	n := random.IntN(len(rows))
	if random.IntN(10) == 0 {
		d.Tables[table] = slices.Delete(rows, n, n+1)
		return fmt.Sprintf("%s row %d is missing", table, n)
	}
	row := rows[n].(map[string]any)
	fields := slices.Sorted(maps.Keys(row))
	field := fields[random.IntN(len(fields))]
	row[field] = another(random, row[field], rows, field)
	return fmt.Sprintf("%s row %d has %s %v", table, n, field, row[field])
}

// another returns a value of the same type: of another row, empty, or odd.
func another(random *rand.Rand, value any, rows []any, field string) any {
	if random.IntN(3) == 0 {
		return rows[random.IntN(len(rows))].(map[string]any)[field]
	}
	odd := func(values ...any) any { return values[random.IntN(len(values))] }
	switch value := value.(type) {
	case string:
		return odd("", "nonsense", "9999999999999999", "cn-shanghai", "2026-13-01", value+"0", strings.ToUpper(value), "2001-01-01T00:00:00Z")
	case json.Number:
		return odd(json.Number("-1"), json.Number("0"), json.Number("65536"), json.Number("9007199254740993"))
	case []any:
		return odd([]any{}, append(slices.Clone(value), value...))
	case bool:
		return !value
	case map[string]any:
		changed := maps.Clone(value)
		for _, name := range slices.Sorted(maps.Keys(changed))[:1] {
			changed[name] = another(random, changed[name], []any{changed}, name)
		}
		return changed
	default:
		return nil
	}
}

// liveOn makes calls of all sorts on a state, to the deletion of everything.
func liveOn(u unsigned, ids map[string][]string) (failures []string) {
	try := func(version, action string, parameters ...string) {
		if code, body := u.call(version, action, parameters...); code >= 500 {
			failures = append(failures, fmt.Sprintf("%s(%v) = %d %s", action, parameters, code, body))
		}
	}
	for _, action := range []string{"DescribeLoadBalancers", "DescribeRegions", "DescribeZones", "DescribeAccessControlLists", "DescribeServerCertificates",
		"DescribeCACertificates", "DescribeLoadBalancerListeners", "ListTagResources"} {
		try(slbVersion, action, "ResourceType=instance")
	}
	for _, lb := range ids["LoadBalancer"] {
		try(slbVersion, "DescribeLoadBalancerAttribute", "LoadBalancerId="+lb)
		try(slbVersion, "DescribeHealthStatus", "LoadBalancerId="+lb)
		try(slbVersion, "DescribeVServerGroups", "LoadBalancerId="+lb)
		try(slbVersion, "SetLoadBalancerName", "LoadBalancerId="+lb, "LoadBalancerName=other")
		try(slbVersion, "DescribeRules", "LoadBalancerId="+lb, "ListenerPort=80")
		try(slbVersion, "CreateLoadBalancerTCPListener", "LoadBalancerId="+lb, "ListenerPort=99", "BackendServerPort=99", "Bandwidth=-1")
		for _, port := range []string{"22", "53", "80", "443"} {
			try(slbVersion, "StopLoadBalancerListener", "LoadBalancerId="+lb, "ListenerPort="+port)
			try(slbVersion, "StartLoadBalancerListener", "LoadBalancerId="+lb, "ListenerPort="+port)
		}
		try(slbVersion, "DeleteLoadBalancerListener", "LoadBalancerId="+lb, "ListenerPort=443")
	}
	for _, group := range ids["VServerGroup"] {
		try(slbVersion, "DescribeVServerGroupAttribute", "VServerGroupId="+group)
		try(slbVersion, "DeleteVServerGroup", "VServerGroupId="+group)
	}
	for _, acl := range ids["AccessControlList"] {
		try(slbVersion, "DescribeAccessControlListAttribute", "AclId="+acl)
		try(slbVersion, "DeleteAccessControlList", "AclId="+acl)
	}
	for _, action := range []string{"DescribeVpcs", "DescribeVSwitches", "DescribeEipAddresses", "DescribeRouteTableList"} {
		try(vpcVersion, action)
	}
	for _, action := range []string{"DescribeInstances", "DescribeNetworkInterfaces", "DescribeSecurityGroups"} {
		try(ecsVersion, action)
	}
	for _, eip := range ids["EIP"] {
		try(vpcVersion, "UnassociateEipAddress", "AllocationId="+eip)
		try(vpcVersion, "ReleaseEipAddress", "AllocationId="+eip)
	}
	for _, lb := range ids["LoadBalancer"] {
		try(slbVersion, "DeleteLoadBalancer", "LoadBalancerId="+lb)
	}
	for _, instance := range ids["Instance"] {
		try(ecsVersion, "DeleteInstance", "InstanceId="+instance, "Force=true")
	}
	return failures
}

// TestImportOfMutatedStates proves that an imported state either is refused or is
// one that can be lived on: one thing in a sound state is changed at random, and
// whatever is taken passes the check also after calls of all sorts and a month.
func TestImportOfMutatedStates(t *testing.T) {
	seed := *replaySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	if *mutations == 0 {
		*mutations = 250
		if testing.Short() {
			*mutations = 60
		}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	clock := state.NewManualClock(time.Now())
	u := unsigned{t, mustNew(t, emulator.Config{Seed: 1, Clock: clock})}
	furnish(u)
	code, sound := u.request(u.e.ControlHandler(), "GET", "/v1/state", nil)
	if code != http.StatusOK {
		t.Fatalf("GET /v1/state = %d %s", code, sound)
	}
	ids := make(map[string][]string)
	for table, rows := range parse(t, sound).Tables {
		for _, row := range rows {
			if id, ok := row.(map[string]any)["ID"].(string); ok {
				ids[table] = append(ids[table], id)
			}
		}
	}
	taken := 0
	for n := range *mutations {
		d := parse(t, sound)
		what := mutate(random, d)
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		code, body := u.request(u.e.ControlHandler(), "PUT", "/v1/state", text)
		if code >= 500 {
			t.Errorf("%s: import = %d %s", what, code, body)
		}
		if code != http.StatusOK {
			continue
		}
		taken++
		failures := liveOn(u, ids)
		if err := u.e.Store().AdjustClock(30*24*time.Hour, 1); err != nil {
			failures = append(failures, err.Error())
		}
		problems, err := u.e.Store().Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, failure := range append(failures, problems...) {
			t.Errorf("%d: %s: %s", n, what, failure)
		}
	}
	t.Logf("%d of %d mutated states were taken; replay with -replay.seed=%d", taken, *mutations, seed)
	if taken == 0 || taken == *mutations {
		t.Errorf("%d of %d mutated states were taken, want some and not all", taken, *mutations)
	}
}
