package kubernetes_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
)

// needsCCM says why the kubernetes part of a scenario is nothing for the driver.
var needsCCM = map[string]string{
	"backend-add-throttled":      finding,
	"cert-id-removed":            annotated,
	"domain-certificate-changed": finding,
	"eip-read-throttled":         annotated,
	"group-read-throttled":       finding,
	"instance-gone":              finding,
	"listener-deleted-unseen":    finding,
	"nlb-deletion-unseen":        finding,
	"nlb-health-check-late":      annotated,
	"nlb-port-range":             annotated,
	"nlb-preserved-port-removed": finding,
	"nlb-ranges-throttled":       finding,
	"nlb-reuse":                  annotated,
	"nlb-source-ranges":          annotated,
	"nlb-tls":                    annotated,
	"preserved-keeps-tag":        finding,
	"stopped-by-hand":            finding,
	"vgroup-changed":             finding,
	"vgroup-read-throttled":      finding,
	"vswitch-exhausted-fallback": "another vSwitch than the first",
}

const (
	annotated = "annotations that the driver does not read"
	finding   = "what a real CCM was found to do"
)

// findings are the scenarios that a real CCM fails, each with the step at which it
// does. docs/findings.md has their story; one that passes is none
// any more.
var findings = map[string]string{
	"instance-gone":                "expect calls of AddVServerGroupBackendServers",
	"listener-stopped-unseen":      "expect calls of StartLoadBalancerListener",
	"quota-beside-invalid-backend": "expect event SyncLoadBalancerFailed",
	"throttled-once":               "expect event SyncLoadBalancerFailed",
}

// TestFindings proves that docs/findings.md has each finding.
func TestFindings(t *testing.T) {
	page, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range findings {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("docs/findings.md does not have %s", name)
		}
	}
}

// longest begin first, and the others are played next to them.
var longest = []string{"five-minutes-of-503", "load-balancer-lost", "throttling-storm"}

// TestLibrary plays the kubernetes part of each scenario of the library, each
// with a cloud and a controller of its own, as many at once as there are control
// planes. The cloud has another Service's load balancer too, which is none of theirs.
func TestLibrary(t *testing.T) {
	begun, parts := time.Now(), kubernetesParts(t)
	t.Cleanup(func() {
		t.Logf("%d scenarios on %d control planes took %s", len(parts), planes, time.Since(begun).Round(time.Second))
	})
	for _, name := range parts {
		t.Run(name, func(t *testing.T) {
			if why := needsCCM[name]; why != "" {
				requireCCM(t, why)
			}
			if *recordVersion != "" {
				if why := cantRun(t, name); why != "" {
					recordOutcome(t, name, outcome{Verdict: notRun, Why: why})
					return
				}
				recordOutcome(t, name, outcome{Verdict: fails, Why: "the load balancer of another Service"}) // unless that one converges
			}
			f := start(t, ofScenario, func(f *fixture) {
				if nlbs(name) {
					withNLB(f)
				}
			})
			f.neighbour(nlbs(name))
			play(f, name)
		})
	}
}

// kubernetesParts returns the scenarios that have a kubernetes part, the longest first.
func kubernetesParts(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../scenarios/library/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nkubernetes:") {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		}
	}
	for _, name := range longest {
		if !slices.Contains(names, name) {
			t.Fatalf("%s is not among the scenarios with a kubernetes part: %q", name, names)
		}
	}
	others := slices.DeleteFunc(names, func(name string) bool { return slices.Contains(longest, name) })
	return slices.Concat(longest, others)
}

// ofScenario leaves to the scenario what becomes of its load balancers. The reset
// between its parts ends the sessions of RAM roles, and no access key.
func ofScenario(f *fixture) { f.leaves, f.accessKey = math.MaxInt, true }

func play(f *fixture, name string, flags ...string) {
	f.Cleanup(f.awaitServicesGone)
	f.forgetEvents()
	out, err := f.playPart(name, flags...)
	if *recordVersion != "" {
		recordOutcome(f.T, name, f.judged(out, err))
		return
	}
	told := findings[name]
	if ccmBinary() == "" {
		told = ""
	}
	switch {
	case told == "" && err != nil:
		f.Error(err)
	case told != "" && err == nil:
		f.Errorf("%s passes: it is a finding no more", name)
	case told != "" && !regexp.MustCompile(regexp.QuoteMeta(name)+`\.yaml:\d+: `+regexp.QuoteMeta(told)).MatchString(out):
		f.Errorf("%s fails at another step than %q", name, told)
	}
	f.record(name)
}

// playPart plays the kubernetes part of a scenario of the library or of a file.
func (f *fixture) playPart(name string, flags ...string) (out string, err error) {
	f.cloud.Env = []string{"PATH=" + filepath.Dir(f.cluster.Kubectl()) + ":" + os.Getenv("PATH")}
	out, err = f.cloud.Control(f.ctx, append([]string{"scenario", "run", name, "--part", "kubernetes",
		"--api", "http://" + f.cloud.Endpoint, "--kubeconfig", f.cluster.Kubeconfig}, flags...)...)
	f.Log(out)
	return out, err
}

// nlbs reports whether a scenario is about Network Load Balancers.
func nlbs(scenario string) bool { return strings.HasPrefix(scenario, "nlb-") }

// neighbour is another Service in the cloud of a scenario, with a load balancer of the
// same product.
func (f *fixture) neighbour(nlb bool) {
	f.Helper()
	if nlb {
		f.service("neighbour", ofNLB)
		f.convergedNLB("neighbour")
		return
	}
	f.service("neighbour")
	f.converged("neighbour", func() map[string]int { return everywhere(nodes) })
}

// TestNeighbour proves that a scenario does not take the load balancer of another
// Service for its own Service's, which no controller serves.
func TestNeighbour(t *testing.T) {
	const scenario = `about: A Service that nobody serves has no load balancer.
kubernetes:
  steps:
    - kubectl:
        balancer: own
        apply: {apiVersion: v1, kind: Service, metadata: {name: unserved}, spec: {type: LoadBalancer, loadBalancerClass: example.com/none, ports: [{port: 80}]}}
    - wait:
        call:
          action: DescribeLoadBalancers
          params: {Tags: [{TagKey: %s}]}
          expect: {fields: {LoadBalancers.LoadBalancer: {count: 1}}}
        within: 3s
  expect:
    - resource: {action: DescribeLoadBalancers, params: {LoadBalancerName: "{{own}}"}, fields: {LoadBalancers.LoadBalancer: {count: 0}}}
`
	f := start(t)
	f.neighbour(false)
	for tag, found := range map[string]bool{`kubernetes.do.not.delete, TagValue: "{{own}}"`: false, "kubernetes.do.not.delete": true} {
		file := filepath.Join(f.dir, "unserved.yaml")
		if err := os.WriteFile(file, fmt.Appendf(nil, scenario, tag), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := f.playPart(file); (err == nil) != found {
			t.Errorf("by the tag %s: %v\n%s\nwant a load balancer found: %v", tag, err, out, found)
		}
		f.awaitServicesGone()
	}
}

// awaitServicesGone keeps what a scenario leaves from the next controller: some
// are about load balancers that a controller can't let go of.
func (f *fixture) awaitServicesGone() {
	err := wait.PollUntilContextTimeout(f.ctx, pollEvery, time.Minute, true, func(ctx context.Context) (bool, error) {
		return f.servicesGone(ctx) == nil, nil
	})
	if err != nil {
		f.Logf("the scenario's Services stay, and lose their finalizers: %v", f.servicesGone(f.ctx))
		f.releaseServices(metav1.NamespaceDefault)
	}
}

func (f *fixture) servicesGone(ctx context.Context) error {
	services, err := f.kubernetes.CoreV1().Services(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, service := range services.Items {
		if service.Name != "kubernetes" {
			return fmt.Errorf("service %s is there", service.Name)
		}
	}
	return nil
}

// inKindsWorld are the scenarios that name what the world has, which in a kind cluster
// must be there as well.
var inKindsWorld = []string{"add-before-delete-at-quota", "eni-on-shared", "network-conflict", "rebinding", "vswitch-exhausted", "zone-sold-out"}

// TestLibraryInKind plays them in the world of the kind cluster, into which worldwatch
// brings the nodes, also after the reset between the parts.
func TestLibraryInKind(t *testing.T) {
	requireCCM(t, annotated)
	worldwatch := filepath.Join(shared.dir, "worldwatch")
	if err := binary.Release("../../deploy/worldwatch", worldwatch); err != nil {
		t.Fatal(err)
	}
	world := kindsWorld(t, "172.18.0.0/16")
	for _, name := range inKindsWorld {
		t.Run(name, func(t *testing.T) {
			f := start(t, ofScenario, func(f *fixture) { f.world = world })
			watch, err := process.Start(process.Command{Dir: f.dir, Name: "worldwatch", Path: worldwatch, Args: []string{
				"--kubeconfig", f.cluster.Kubeconfig, "--server", f.cloud.ControlURL(), "--pods=false"}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(watch.Kill)
			play(f, name, "--reset")
		})
	}
}
