package contracttests

import (
	"regexp"
	"slices"
	"testing"

	"github.com/clbemu/clbemu/emulator"
)

var elementNumber = regexp.MustCompile(`\.[1-9][0-9]*(\.|$)`)

// TestCodesAreKnown proves that each code with which a recorded case or a row of
// the page of refusals is refused is one that scenarios may expect of its action.
func TestCodesAreKnown(t *testing.T) {
	codes := make(map[string][]string)
	for _, a := range emulator.Names().Actions() {
		codes[a.Product+" "+a.Name] = a.Codes()
	}
	refused := make(map[string]string) // by product, action and code
	for _, c := range apiCases() {
		if c.code != "" {
			refused[c.product+" "+c.action+" "+c.code] = c.product + " " + c.action
		}
	}
	for _, r := range allRefusals() {
		product := r.product
		if product == "" {
			product = "Slb"
		}
		refused[product+" "+r.action+" "+r.code] = product + " " + r.action
	}
	if len(refused) < 100 {
		t.Fatalf("there are %d refusals, want hundreds", len(refused))
	}
	for refusal, action := range refused {
		code := elementNumber.ReplaceAllString(refusal[len(action)+1:], ".N$1")
		if !slices.Contains(codes[action], code) {
			t.Errorf("%s is refused with %s, which is none of its codes", action, code)
		}
	}
}
