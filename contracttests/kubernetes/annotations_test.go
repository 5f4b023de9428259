package kubernetes_test

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator/annotations"
)

var updateAnnotations = flag.Bool("update-annotations", false, "record what the CCM of CCM_BIN does about each annotation")

const measuredFile = "../../emulator/annotations/measured.json"

// phases are the moments at which the load balancers are looked at: when they are made,
// when the plain Service gets the annotation, and when the other one gets another value
// and loses it.
const phases = 4

// measure is an annotation as it is measured: a plain Service that gets it, and one that
// is made with it.
type measure struct {
	annotations.Annotation
	product         string
	values          [2]string
	plain, made     string // names of the Services
	with, plainWith map[string]string
	// looks show the load balancers by phase, and failures what the controller said.
	looks, failures [phases]struct{ plain, made string }
}

// TestAnnotationEffects proves of each annotation that the real CCM does what
// emulator/annotations records: when a Service is created with it, and when a Service that
// has a load balancer gets it, changes it, and loses it.
func TestAnnotationEffects(t *testing.T) {
	requireCCM(t, annotated)
	if !*updateAnnotations && os.Getenv("E2E_ANNOTATIONS") == "" {
		t.Skip("E2E_ANNOTATIONS=1 measures each annotation again, in some 5 minutes")
	}
	now := annotations.Measured{CCM: ccmVersion(t), Effects: make(map[string]map[string]annotations.Effects)}
	t.Run("measure", func(t *testing.T) { // returns when both have
		for _, product := range []string{annotations.CLB, annotations.NLB} {
			effects := make(map[string]annotations.Effects)
			now.Effects[product] = effects
			t.Run(product, func(t *testing.T) {
				for _, m := range measureAll(t, product) {
					effects[m.Name] = m.effects()
				}
			})
		}
	})
	if *updateAnnotations && !t.Failed() {
		record.Write(t, measuredFile, now, 3)
		return
	}
	for product, effects := range now.Effects {
		for name, is := range effects {
			if a, _ := annotations.Find((&annotations.Annotation{Name: name}).Key()); a.Effects[product] != is {
				t.Errorf("%s of %s: %+v, recorded as %+v", name, product, is, a.Effects[product])
			}
		}
	}
}

func measureAll(t *testing.T, product string) (all []*measure) {
	f := start(t, ofScenario, func(f *fixture) {
		if product == annotations.NLB {
			withNLB(f)
		}
	})
	f.control("world", "set", "cloud.year=2024") // which sells specs
	for _, quota := range []string{"slb_quota_instances_num", "slb_quota_backendserver_attached_num", "slb_quota_acls_num", "nlb_quota_loadbalancers_num",
		"nlb_quota_servergroups_num", "slb_quota_certs_num", "slb_quota_tags_num"} {
		f.control("world", "set", "quota."+quota+"=1000")
	}
	if product == annotations.NLB { // for the IPv6 ones
		f.call("ModifyVpcAttribute", "--product", "Vpc", "VpcId="+cloud.VPC, "EnableIPv6=true")
		for n, vSwitch := range []string{cloud.VSwitch, cloud.VSwitch2} {
			f.call("ModifyVSwitchAttribute", "--product", "Vpc", "VSwitchId="+vSwitch, "EnableIPv6=true", fmt.Sprintf("Ipv6CidrBlock=%d", n+1))
		}
	}
	f.addNode(nodes + 1)
	f.changeNode(node(nodes+1).Name, func(n *corev1.Node) { n.Spec.Unschedulable = true })
	for _, a := range annotations.All() {
		if !a.Measured(product) || !a.Of(product) {
			continue
		}
		m := &measure{Annotation: a, product: product, plain: a.Name, made: a.Name + "-made"}
		own := f.resources(m)
		switch {
		case product == annotations.NLB && a.Name == "protocol-port": // which has no listeners of HTTP
			a.Values, a.Beside = [2]string{"tcpssl:80", "tcp:80"}, map[string]string{"cert-id": "{{nlbcert}}"}
		case product == annotations.NLB && a.Name == "ip-version":
			a.Values[0] = "DualStack"
		}
		m.values = [2]string{own(a.Values[0]), own(a.Values[1])}
		m.plainWith = filledWith(&a, product, own)
		m.with = m.plainWith
		if _, reuses := a.Beside["id"]; reuses || a.Name == "id" { // a load balancer is for one Service
			made := f.resources(m)
			m.with = filledWith(&a, product, made)
			m.with[a.Name] = made(a.Values[0])
		} else {
			m.with = maps.Clone(m.plainWith)
			m.with[a.Name] = m.values[0]
		}
		all = append(all, m)
	}
	both := func(m *measure) []string { return []string{m.plain, m.made} }
	one := func(m *measure) []string { return []string{m.made} }
	waitFor := f.heardSince(all, both)
	for _, m := range all {
		f.annotate(m, m.plain, m.plainWith)
		f.annotate(m, m.made, m.with)
	}
	f.look(all, 0, waitFor())
	for _, m := range all {
		if m.failures[0].plain != "" && m.failures[0].made != "" {
			f.Errorf("of %s nothing is measured: with it %s, without it %s", m.Name, m.failures[0].made, m.failures[0].plain)
		}
	}
	set := func(service string, m *measure, value string) {
		f.change(service, func(s *corev1.Service) {
			if delete(s.Annotations, m.Key()); value != "" {
				metav1.SetMetaDataAnnotation(&s.ObjectMeta, m.Key(), value)
			}
		})
	}
	waitFor = f.heardSince(all, func(m *measure) []string { return []string{m.plain} })
	for _, m := range all {
		set(m.plain, m, m.values[0])
	}
	f.look(all, 1, waitFor())
	changes := func(m *measure) []string {
		if m.values[1] == m.values[0] {
			return nil
		}
		return one(m)
	}
	waitFor = f.heardSince(all, changes)
	for _, m := range all {
		for _, service := range changes(m) {
			set(service, m, m.values[1])
		}
	}
	f.look(all, 2, waitFor())
	waitFor = f.heardSince(all, one)
	for _, m := range all {
		set(m.made, m, "")
	}
	f.look(all, 3, waitFor())
	// A Service that lost one of these is not deleted, as listeners keep its groups.
	for _, m := range all {
		switch m.Name {
		case "force-override-listeners":
			set(m.plain, m, "true")
			set(m.made, m, "true")
		case "id":
			set(m.plain, m, "")
			set(m.made, m, m.with["id"])
		}
	}
	return all
}

// filledWith returns the annotations in addition to the measured one.
func filledWith(a *annotations.Annotation, product string, own func(string) string) map[string]string {
	with := make(map[string]string)
	for name, value := range a.Beside {
		if other, ok := annotations.Find((&annotations.Annotation{Name: name}).Key()); !ok || other.Of(product) {
			with[name] = own(value)
		}
	}
	if product == annotations.NLB {
		if with["protocol-port"] != "" { // NLB has no listeners of HTTP
			with["protocol-port"] = "tcpssl:80"
			if with["cert-id"] == "" && a.Name != "cert-id" {
				with["cert-id"] = own("{{nlbcert}}")
			}
		}
		if a.Name != "zone-maps" {
			with["zone-maps"] = own("{{zones}}")
		}
	}
	return with
}

// annotate creates a Service with annotations and a pod.
func (f *fixture) annotate(m *measure, name string, with map[string]string) {
	f.Helper()
	service := f.service(name, func(s *corev1.Service) {
		s.Spec.Selector, s.Spec.Ports[0].TargetPort = nil, intstr.FromInt32(8080)
		if strings.Contains(with["protocol-port"], ",") {
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "second", Port: 443, TargetPort: intstr.FromInt32(8443)})
		}
		if m.product == annotations.NLB {
			class := "alibabacloud.com/nlb"
			s.Spec.LoadBalancerClass = &class
		}
		for annotation, value := range with {
			s.Annotations[(&annotations.Annotation{Name: annotation}).Key()] = value
		}
	})
	port, second, ready, first, other, on := int32(8080), int32(8443), true, "http", "second", node(1).Name
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name + "-1", Labels: map[string]string{discoveryv1.LabelServiceName: service.Name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: &first, Port: &port}, {Name: &other, Port: &second}},
		Endpoints:   []discoveryv1.Endpoint{{Addresses: instances()[0].PodAddresses[:1], NodeName: &on, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}},
	}
	if _, err := f.kubernetes.DiscoveryV1().EndpointSlices(f.namespace).Create(f.ctx, slice, metav1.CreateOptions{}); err != nil {
		f.Fatal(err)
	}
}

// reference is a resource in a value.
var reference = regexp.MustCompile(`\{\{(\w+)\}\}`)

// resources returns what fills values: it creates each resource that they name once.
func (f *fixture) resources(m *measure) func(value string) string {
	known := make(map[string]string)
	id := f.created
	var fill func(value string) string
	create := map[string]func(n string) string{
		"acl": func(string) string {
			return id("AclId", "CreateAccessControlList", "AclName=a"+strings.ToLower(m.Name))
		},
		"cert":    func(n string) string { return f.certificate(m.product, n) },
		"nlbcert": func(n string) string { return f.certificate(m.product, n) },
		"cacert":  func(n string) string { return f.certificate(m.product, n) },
		"clb": func(string) string {
			if m.product == annotations.NLB {
				return id("LoadbalancerId", "CreateLoadBalancer", "--product", "Nlb", "AddressType=Internet", "VpcId="+cloud.VPC,
					"ZoneMappings.1.ZoneId=cn-hangzhou-h", "ZoneMappings.1.VSwitchId="+cloud.VSwitch,
					"ZoneMappings.2.ZoneId=cn-hangzhou-i", "ZoneMappings.2.VSwitchId="+cloud.VSwitch2)
			}
			return id("LoadBalancerId", "CreateLoadBalancer", "AddressType=internet", "InstanceChargeType=PayByCLCU")
		},
		"vgroup": func(n string) string {
			if m.product == annotations.NLB {
				return id("ServerGroupId", "CreateServerGroup", "--product", "Nlb", "ServerGroupName=mine-"+n, "VpcId="+cloud.VPC, "Protocol=TCP")
			}
			return id("VServerGroupId", "CreateVServerGroup", "LoadBalancerId="+fill("{{clb}}"), "VServerGroupName=mine-"+n)
		},
		"subnet": func(string) string { return cloud.VSwitch },
		"vsw": func(n string) string { // none of those that the CCM knows of
			return id("VSwitchId", "CreateVSwitch", "--product", "Vpc", "VpcId="+cloud.VPC, "ZoneId=cn-hangzhou-h",
				"CidrBlock="+map[string]string{"vsw": "192.168.201.0/24", "vsw2": "192.168.202.0/24"}[n])
		},
		"group": func(string) string {
			var answer struct{ ResourceGroup struct{ ID string } }
			name := fmt.Sprintf("g%d", time.Now().UnixNano())
			if err := json.Unmarshal([]byte(f.call("CreateResourceGroup", "--product", "ResourceManager", "Name="+name, "DisplayName="+name)), &answer); err != nil {
				f.Fatal(err)
			}
			return answer.ResourceGroup.ID
		},
		"sg": func(string) string {
			return id("SecurityGroupId", "CreateSecurityGroup", "--product", "Ecs", "VpcId="+cloud.VPC)
		},
		"package": func(string) string {
			return id("BandwidthPackageId", "CreateCommonBandwidthPackage", "--product", "Vpc", "Bandwidth=10")
		},
		"zones": func(n string) string {
			zones := "cn-hangzhou-h:" + cloud.VSwitch + ",cn-hangzhou-i:" + cloud.VSwitch2
			if n == "zones2" {
				return "cn-hangzhou-i:" + cloud.VSwitch2 + ",cn-hangzhou-h:" + cloud.VSwitch
			}
			return zones
		},
	}
	fill = func(value string) string {
		return reference.ReplaceAllStringFunc(value, func(found string) string {
			name := reference.FindStringSubmatch(found)[1]
			if known[name] == "" {
				known[name] = create[strings.TrimRight(name, "23")](name)
			}
			return known[name]
		})
	}
	return fill
}

// certificate uploads a certificate and returns its id in a product.
func (f *fixture) certificate(product, name string) string {
	f.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{name + ".example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		f.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		f.Fatal(err)
	}
	content := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	secret := string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
	if product == annotations.CLB {
		return f.created("ServerCertificateId", "UploadServerCertificate", "ServerCertificateName="+name, "ServerCertificate="+content, "PrivateKey="+secret)
	}
	unique := fmt.Sprintf("%s-%d", name, time.Now().UnixNano())
	return f.created("CertId", "UploadUserCertificate", "--product", "Cas", "Name="+unique, "Cert="+content, "Key="+secret) + "-" + cloud.Region
}

// created makes a call that creates something and returns a field of its answer.
func (f *fixture) created(field, action string, params ...string) string {
	f.Helper()
	var answer map[string]any
	decoder := json.NewDecoder(strings.NewReader(f.call(action, params...)))
	decoder.UseNumber()
	if err := decoder.Decode(&answer); err != nil {
		f.Fatal(err)
	}
	if answer[field] == nil {
		f.Fatalf("%s answers no %s: %v", action, field, answer)
	}
	return fmt.Sprint(answer[field])
}

// outcomes are the reasons of the Events that end a reconciliation.
var outcomes = []string{"EnsuredLoadBalancer", "SyncLoadBalancerFailed"}

// heardSince returns what waits until the controller said of some Services how it went, and
// returns what it said where it failed, by Service.
func (f *fixture) heardSince(all []*measure, of func(*measure) []string) func() map[string]string {
	f.Helper()
	latest := func() (versions, failures map[string]string) {
		events, err := f.kubernetes.CoreV1().Events(f.namespace).List(f.ctx, metav1.ListOptions{})
		if err != nil {
			f.Fatal(err)
		}
		versions, failures = make(map[string]string), make(map[string]string)
		last := make(map[string]time.Time)
		for _, e := range events.Items {
			name := e.InvolvedObject.Name
			if !slices.Contains(outcomes, e.Reason) || e.LastTimestamp.Time.Before(last[name]) {
				continue
			}
			last[name], versions[name] = e.LastTimestamp.Time, versions[name]+e.ResourceVersion
			delete(failures, name)
			if e.Reason == "SyncLoadBalancerFailed" {
				failures[name] = withoutIDs(e.Message)
			}
		}
		return versions, failures
	}
	before, _ := latest()
	return func() (failures map[string]string) {
		f.Helper()
		deadline := time.Now().Add(4 * time.Minute)
		f.patience = 5 * time.Minute
		f.eventually("all Services heard of", func() error {
			var now map[string]string
			now, failures = latest()
			for _, m := range all {
				for _, service := range of(m) {
					if now[service] == before[service] && time.Now().Before(deadline) {
						return fmt.Errorf("not of %s", service)
					}
				}
			}
			return nil
		})
		return failures
	}
}

// look takes down what the cloud has of each Service.
func (f *fixture) look(all []*measure, phase int, failures map[string]string) {
	f.Helper()
	export, err := f.cloud.Control(f.ctx, "state", "export")
	if err != nil {
		f.Fatal(err)
	}
	var state struct{ Tables map[string][]map[string]any }
	if err := json.Unmarshal([]byte(export), &state); err != nil {
		f.Fatal(err)
	}
	for _, m := range all {
		m.failures[phase].plain, m.failures[phase].made = failures[m.plain], failures[m.made]
		m.looks[phase].plain, m.looks[phase].made = f.fingerprint(state.Tables, m, m.plain), f.fingerprint(state.Tables, m, m.made)
	}
}

// changing is what differs between two load balancers that are alike.
var changing = regexp.MustCompile(`"(i|eni|lb|nlb|lsn|sgp|rsp|acl|vsw|sg|cbwp|eip|job)-[a-z0-9.-]+"|"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+"|"[0-9]{4}-[0-9]{2}-[0-9]{2}T[^"]*"|\b3[0-2][0-9]{3}\b|[0-9a-f]{8,}[@#a-z0-9]*`)

// fingerprint is what the cloud and the status have of a Service, with the same text for
// what differs between alike ones.
func (f *fixture) fingerprint(tables map[string][]map[string]any, m *measure, name string) string {
	f.Helper()
	service, err := f.kubernetes.CoreV1().Services(f.namespace).Get(f.ctx, name, metav1.GetOptions{})
	if err != nil {
		f.Fatal(err)
	}
	owned := map[string]bool{}
	tag := "a" + strings.ReplaceAll(string(service.UID), "-", "")
	for _, row := range tables["Tag"] {
		if row["Value"] == tag[:min(len(tag), 32)] {
			owned[fmt.Sprint(row["ResourceID"])] = true
		}
	}
	if id := service.Annotations[annotationPrefix+"id"]; id != "" {
		owned[id] = true
	}
	var lines []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		for _, row := range tables[table] {
			text, err := json.Marshal(row)
			if err != nil {
				f.Fatal(err)
			}
			for id := range owned {
				if strings.Contains(string(text), `"`+id+`"`) && table != "ClientToken" && table != "Job" {
					lines = append(lines, table+" "+string(text))
					break
				}
			}
		}
	}
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		if m.Name == "hostname" {
			lines = append(lines, "status "+ingress.Hostname)
		}
	}
	text := strings.Join(lines, "\n")
	for i, value := range m.values { // an id or an address that the annotation names
		if strings.ContainsAny(value, "-.") {
			text = strings.ReplaceAll(text, `"`+value+`"`, fmt.Sprintf(`"value %d"`, i))
		}
	}
	text = strings.ReplaceAll(text, name+"/", "NAME/")
	text = strings.ReplaceAll(text, "."+name+".", ".NAME.")
	text = changing.ReplaceAllString(text, `"ID"`)
	sorted := strings.Split(text, "\n")
	slices.Sort(sorted)
	return strings.Join(sorted, "\n")
}

// effects judges the looks.
func (m *measure) effects() (e annotations.Effects) {
	judge := func(before, after, failure string) annotations.Effect {
		switch {
		case failure != "":
			e.Event = cmp.Or(e.Event, failure)
			return annotations.Refused
		case before == after:
			return annotations.Ignored
		}
		return annotations.Acts
	}
	e.Created = judge(m.looks[0].plain, m.looks[0].made, m.failures[0].made)
	e.Added = judge(m.looks[0].plain, m.looks[1].plain, m.failures[1].plain)
	if m.values[1] != m.values[0] {
		e.Changed = judge(m.looks[1].made, m.looks[2].made, m.failures[2].made)
	}
	e.Removed = judge(m.looks[2].made, m.looks[3].made, m.failures[3].made)
	return e
}
