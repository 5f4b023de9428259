package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

// rendered returns the objects by kind and name, each of which has fields of its kind alone.
func rendered(t *testing.T, set ...string) map[string]any {
	t.Helper()
	var out bytes.Buffer
	o := options{chart: "../chart", release: "web", namespace: "test"}
	o.values.Values = set
	if err := o.run(&out); err != nil {
		t.Fatal(err)
	}
	objects := make(map[string]any)
	for text := range strings.SplitSeq(out.String(), "\n---\n") {
		var about unstructured.Unstructured
		if err := yaml.Unmarshal([]byte(text), &about.Object); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		object := map[string]any{
			"ConfigMap": &corev1.ConfigMap{}, "Secret": &corev1.Secret{}, "Service": &corev1.Service{},
			"StatefulSet": &appsv1.StatefulSet{}, "PodDisruptionBudget": &policyv1.PodDisruptionBudget{}, "ServiceMonitor": &map[string]any{},
		}[about.GetKind()]
		if err := strict.UnmarshalStrict([]byte(text), object); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
		objects[about.GetKind()+" "+about.GetName()] = object
	}
	return objects
}

// container returns the only one of the pods, with them.
func container(t *testing.T, objects map[string]any) (corev1.Container, *appsv1.StatefulSet) {
	t.Helper()
	set, ok := objects["StatefulSet web"].(*appsv1.StatefulSet)
	if !ok || len(set.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("the objects are %v", objects)
	}
	return set.Spec.Template.Spec.Containers[0], set
}

// TestOne proves that the chart as it is installs one clbemu, which keeps its state.
func TestOne(t *testing.T) {
	objects := rendered(t)
	c, set := container(t, objects)
	if *set.Spec.Replicas != 1 || c.Command[0] != "/clbemu" || c.Image != "ghcr.io/clbemu/clbemu:latest" {
		t.Errorf("%d replicas of %s run %q", *set.Spec.Replicas, c.Image, c.Command)
	}
	if claims := set.Spec.VolumeClaimTemplates; len(claims) != 1 || claims[0].Name != "data" {
		t.Errorf("the claims are %+v", claims)
	}
	if c.StartupProbe == nil || c.LivenessProbe == nil || c.ReadinessProbe == nil || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Error("a probe is missing")
	}
	for _, none := range []string{"PodDisruptionBudget web", "ServiceMonitor web"} {
		if objects[none] != nil {
			t.Errorf("there is a %s", none)
		}
	}
	_, set = container(t, rendered(t, "persistence.size=2.5Gi", "resources.limits.cpu=500m", "tolerations[0].operator=Exists"))
	if claim := set.Spec.VolumeClaimTemplates[0].Spec; claim.Resources.Requests.Storage().String() != "2560Mi" {
		t.Errorf("the claim is %+v", claim)
	}
	if _, set := container(t, rendered(t, "persistence.enabled=false")); len(set.Spec.VolumeClaimTemplates) != 0 {
		t.Errorf("without persistence the claims are %+v", set.Spec.VolumeClaimTemplates)
	}
}

// TestSeveral proves that replicas share their state in etcd, and keep nothing themselves.
func TestSeveral(t *testing.T) {
	objects := rendered(t, "replicas=3", "etcd.endpoints={http://etcd-0:2379,http://etcd-1:2379}")
	c, set := container(t, objects)
	if *set.Spec.Replicas != 3 || c.Command[0] != "/clbemu" || len(set.Spec.VolumeClaimTemplates) != 0 || objects["PodDisruptionBudget web"] == nil {
		t.Errorf("%d replicas run %q with %+v", *set.Spec.Replicas, c.Command, objects)
	}
	environment := make(map[string]string)
	for _, e := range c.Env {
		environment[e.Name] = e.Value
	}
	for name, want := range map[string]string{
		"CLBEMU_ENGINE": "etcd", "CLBEMU_ETCD_ENDPOINTS": "http://etcd-0:2379,http://etcd-1:2379",
		"CLBEMU_ADVERTISE": "http://$(CLBEMU_REPLICA)." + set.Spec.ServiceName + ":9600",
	} {
		if environment[name] != want {
			t.Errorf("%s is %q, want %q", name, environment[name], want)
		}
	}
}

// TestValues proves that the world, fault rules, settings and the monitor come from values.
func TestValues(t *testing.T) {
	objects := rendered(t, "world=regions: []", "faults=[]", "settings.log-level=info", "settings.allowed-host=a.example", "serviceMonitor.enabled=true", "existingSecret=mine")
	files := objects["ConfigMap web"].(*corev1.ConfigMap).Data
	if strings.TrimSpace(files["world.yaml"]) != "regions: []" || strings.TrimSpace(files["faults.yaml"]) != "[]" {
		t.Errorf("the files are %q", files)
	}
	for _, want := range []string{"world: /etc/clbemu/world.yaml", "faults: /etc/clbemu/faults.yaml", "log-level: info", "allowed-host: a.example"} {
		if !strings.Contains(files["clbemu.yaml"], want) {
			t.Errorf("the settings lack %s:\n%s", want, files["clbemu.yaml"])
		}
	}
	if objects["Secret web"] != nil || objects["ServiceMonitor web"] == nil {
		t.Errorf("the objects are %v", objects)
	}
}

// TestWrongValues proves that values that mean nothing are refused, by name.
func TestWrongValues(t *testing.T) {
	for value, want := range map[string]string{
		"replica=3":              "replica",
		"image.name=x":           "name",
		"settings.listen=:1":     "listen",
		"settings.log-levle=x":   "log-levle",
		"replicas=0":             "replicas",
		"service.type=Public":    "service/type",
		"replicas=2":             "etcd.endpoints is empty: several replicas share their state in etcd",
		"etcd.endpoints={etcd}":  "endpoints",
		"persistence.size=false": "size",
		"persistence=null":       "persistence",
		"replicas=null":          "replicas",
		"image.repository=":      "repository",

		"imagePullSecrets[0].nam=x":            "nam",
		"persistence.size=lots":                "size",
		"persistence.storageClass=-":           "storageClass",
		"existingSecret=My_Secret":             "existingSecret",
		"etcd.endpoints={http://etcd-0:2379}":  "replicas is 1",
		"settings.data-plane=false":            "data-plane", // what YAML makes of off
		"settings.log-level=verbose":           "log-level",
		"serviceMonitor.interval=soon":         "interval",
		"resources.request.cpu=1":              "request",
		"resources.limits.memory=much":         "memory",
		"tolerations={NoSchedule}":             "tolerations/0",
		"tolerations[0].effect=No":             "effect",
		"affinity.nodeAfinity.x=1":             "nodeAfinity",
		"podAnnotations.a=true":                "podAnnotations/a",
		"service.type=LoadBalancer,service.x=": "x",
	} {
		o := options{chart: "../chart", release: "web", namespace: "test"}
		o.values.Values = []string{value}
		if err := o.run(&bytes.Buffer{}); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "service.type", "service/type"), want) {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
	}
}

// made are the settings that the chart makes of its other values, or that its pods have no
// use for.
var made = []string{
	"advertise", "advertise-control", "control-listen", "control-token", "control-token-file", "data-dir", "debug-listen", "engine",
	"etcd-endpoints", "etcd-prefix", "faults", "fork", "listen", "replica", "world",
}

// TestSettings proves that the chart takes the settings that serve has, and sets no others.
func TestSettings(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	var all, want []string
	for _, found := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| `(CLBEMU_[A-Z_]+)`").FindAllStringSubmatch(string(page), -1) {
		if all = append(all, found[2]); !slices.Contains(made, found[1]) {
			want = append(want, found[1])
		}
	}
	var schema struct {
		Properties struct {
			Settings struct{ Properties map[string]any }
		}
	}
	text, err := os.ReadFile("../chart/values.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := strict.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	var got []string
	for name := range schema.Properties.Settings.Properties {
		got = append(got, name)
	}
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("the chart takes the settings\n%q, want\n%q", got, want)
	}
	templates, err := filepath.Glob("../chart/templates/*.yaml")
	if err != nil || len(templates) == 0 {
		t.Fatalf("the templates are %q, %v", templates, err)
	}
	for _, file := range templates {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`CLBEMU_[A-Z_]+`).FindAllString(string(text), -1) {
			if !slices.Contains(all, name) {
				t.Errorf("%s sets %s, which serve does not have", file, name)
			}
		}
	}
}
