// Package annotations knows the annotations of Services that a Cloud Controller Manager
// (CCM) reads: their names, values and versions, and when they take effect, as measured
// with a real one. It must not know how Services are read or shown.
package annotations

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Prefixes are the two under which a CCM takes an annotation; the second is the former
// one.
var Prefixes = []string{"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-", "service.beta.kubernetes.io/alicloud-loadbalancer-"}

// bare is the prefix of the few annotations that are not named after load balancers.
const bare = "service.beta.kubernetes.io/"

// bareNames lists those annotations.
var bareNames = []string{"backend-type", "class"}

// The products that a Service can get a load balancer of.
const (
	CLB = "clb"
	NLB = "nlb"
)

// Annotation is an annotation of Services.
type Annotation struct {
	// Name follows the prefix.
	Name string `json:"name"`
	// Products lists the products whose load balancers it sets.
	Products []string `json:"products"`
	// Since is the first tagged version of the CCM that reads it.
	Since string `json:"since"`
	// Until is the first that no longer does, and Successor the name since then; empty
	// where all newer ones read it.
	Until     string `json:"until,omitempty"`
	Successor string `json:"successor,omitempty"`
	// Form has its values, as ValuesOf reads them.
	Form string `json:"form"`
	// Help says what the annotation sets.
	Help string `json:"help"`
	// With holds the annotations, with their values, without which this one takes no effect. A
	// value such as {{lb}} stands for an id. Needs lists what else it needs.
	With map[string]string `json:"with,omitempty"`
	// Beside holds With, and the annotations that a test sets in addition.
	Beside map[string]string `json:"-"`
	// Values are two that differ, for a test.
	Values [2]string `json:"-"`
	// Unmeasured says why no effect of a real CCM was measured, or is empty if Effects say it. It
	// begins with the product if the other one's effect was measured.
	Unmeasured string `json:"-"`
	// Effects say what a real CCM did, by product.
	Effects map[string]Effects `json:"effects,omitempty"`
}

// Effect says what a change of an annotation did.
type Effect string

const (
	// Acts means that the load balancer became as the annotation says.
	Acts Effect = "acts"
	// Ignored means that nothing changed, and no Event said why.
	Ignored Effect = "ignored"
	// Refused means that an Event said why nothing changed.
	Refused Effect = "refused"
)

// Effects say what a real CCM did about an annotation.
type Effects struct {
	// Created is about a Service created with it.
	Created Effect `json:"created"`
	// Added, Changed and Removed are about one that has a load balancer.
	Added   Effect `json:"added"`
	Changed Effect `json:"changed"`
	Removed Effect `json:"removed"`
	// Event has the CCM's words for a refusal.
	Event string `json:"event,omitempty"`
}

//go:embed annotations.tsv
var table string

//go:embed measured.json
var measured []byte

// Measured has the content of measured.json: the version of the CCM, and effects by product and
// annotation.
type Measured struct {
	CCM     string                        `json:"ccm"`
	Effects map[string]map[string]Effects `json:"effects"`
}

// CCM returns the version of the CCM that was measured.
func CCM() string { return measurements().CCM }

var measurements = sync.OnceValue(func() (m Measured) {
	if err := json.Unmarshal(measured, &m); err != nil {
		panic(err) // it is part of the program
	}
	return m
})

// All lists the annotations by name.
var All = sync.OnceValue(func() (all []Annotation) {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		versions := append(strings.Fields(columns[2]), "", "")
		a := Annotation{
			Name: columns[0], Products: []string{columns[1]}, Since: versions[0], Until: versions[1], Successor: versions[2], Form: columns[3], Values: [2]string{columns[4], columns[5]}, Unmeasured: columns[7], Help: columns[8],
			With: make(map[string]string), Beside: make(map[string]string), Effects: make(map[string]Effects),
		}
		if columns[1] == "both" {
			a.Products = []string{CLB, NLB}
		}
		for _, with := range strings.Fields(columns[6]) {
			name, value, _ := strings.Cut(strings.TrimPrefix(with, "~"), "=")
			if a.Beside[name] = value; !strings.HasPrefix(with, "~") {
				a.With[name] = value
			}
		}
		for _, product := range a.Products {
			if effects, ok := measurements().Effects[product][a.Name]; ok {
				a.Effects[product] = effects
			}
		}
		all = append(all, a)
	}
	return all
})

// Key returns the key of the annotation on a Service.
func (a *Annotation) Key() string {
	if slices.Contains(bareNames, a.Name) {
		return bare + a.Name
	}
	return Prefixes[0] + a.Name
}

// Find returns the annotation of a key, under either prefix.
func Find(key string) (Annotation, bool) {
	for _, a := range All() {
		if key == a.Key() || key == Prefixes[1]+a.Name {
			return a, true
		}
	}
	return Annotation{}, false
}

// Keys lists the keys of all annotations, under both prefixes.
var Keys = sync.OnceValue(func() (keys []string) {
	for _, a := range All() {
		if keys = append(keys, a.Key()); !slices.Contains(bareNames, a.Name) {
			keys = append(keys, Prefixes[1]+a.Name)
		}
	}
	return keys
})

// Of reports whether the annotation is about load balancers of a product.
func (a *Annotation) Of(product string) bool { return slices.Contains(a.Products, product) }

// Measured reports whether what a real CCM does with it is measured for a product.
func (a *Annotation) Measured(product string) bool {
	only, _, _ := strings.Cut(a.Unmeasured, " ")
	return a.Unmeasured == "" || (only == CLB || only == NLB) && only != product
}

// Before reports whether a version, such as v2.9.1, comes before another one. What is no
// version comes before none.
func Before(version, other string) bool {
	a, b := numbers(version), numbers(other)
	return a != nil && slices.Compare(a, b) < 0
}

// IsVersion reports whether a text is a version, such as v2.9.1 or 2.14.0-aliyun.1. Unknown says so
// if clbemu knows nothing of such a new version, and is "" otherwise.
func IsVersion(version string) (unknown string, is bool) {
	if !reaches(version) {
		unknown = "clbemu knows the CCM up to " + newest() + ", and not what " + version + " changes"
	}
	return unknown, len(numbers(version)) > 1
}

// numbers returns the numbers of a version, or nil if the text is no version.
func numbers(version string) (list []uint64) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}
