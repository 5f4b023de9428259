// Package names_test holds the names that scenarios know of a cluster against
// Kubernetes itself.
package names_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

var update = flag.Bool("update", false, "rewrite the names that scenarios know of Kubernetes")

const namesFile = "../../../scenarios/internal/cluster/kubernetes.txt"

// withFields are the kinds whose fields scenarios look at.
var withFields = map[string]reflect.Type{
	"v1 Service": reflect.TypeFor[corev1.Service](),
	"v1 Node":    reflect.TypeFor[corev1.Node](),
	//lint:ignore SA1019 clusters still have them, and scenarios may look at them
	"v1 Endpoints":                      reflect.TypeFor[corev1.Endpoints](),
	"discovery.k8s.io/v1 EndpointSlice": reflect.TypeFor[discoveryv1.EndpointSlice](),
}

// stable is a version that stays.
var stable = regexp.MustCompile(`^v[0-9]+$`)

// notObjects are kinds that are sent and not kept, or lists.
var notObjects = regexp.MustCompile(`(List|Options|Review|PodStatusResult|^Binding|^Status|Eviction|Scale|WatchEvent|APIGroup|APIVersions|SerializedReference|RangeAllocation|TokenRequest)$`)

// TestNames proves that scenarios know the kinds of Kubernetes, and the fields of
// those that they look at. With -update it writes them.
func TestNames(t *testing.T) {
	lines := make(map[string]bool)
	for kind := range scheme.Scheme.AllKnownTypes() {
		if name := kind.GroupVersion().String() + " " + kind.Kind; stable.MatchString(kind.Version) && !notObjects.MatchString(kind.Kind) {
			lines[name] = true
		}
	}
	for kind, of := range withFields {
		for _, path := range paths(of, "") {
			lines[kind+" "+path] = true
		}
	}
	want := strings.Join(slices.Sorted(maps.Keys(lines)), "\n") + "\n"
	if *update {
		if err := os.WriteFile(namesFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(namesFile); err != nil || string(got) != want {
		t.Errorf("%s is not what Kubernetes has (%v): run go test ./names -update in contracttests/kubernetes", namesFile, err)
	}
}

var marshaler = reflect.TypeFor[json.Marshaler]()

// paths returns the paths of all fields of a type in JSON: [] behind lists, .* behind
// maps.
func paths(t reflect.Type, under string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler):
		return []string{under}
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return paths(t.Elem(), under+"[]")
	case t.Kind() == reflect.Map:
		return paths(t.Elem(), under+".*")
	case t.Kind() != reflect.Struct:
		return []string{under}
	}
	var all []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "":
			all = append(all, paths(t.Field(i).Type, under)...)
		default:
			all = append(all, paths(t.Field(i).Type, strings.TrimPrefix(under+"."+name, "."))...)
		}
	}
	return all
}
