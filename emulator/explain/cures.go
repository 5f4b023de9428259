package explain

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"
)

// cure tells an operator how to deal with codes.
type cure struct {
	Codes    []string `yaml:"codes"`
	Happened string   `yaml:"happened"`
	Cures    []string `yaml:"cures"`
	// Begin and End are for a code that no row of the tests of refusals has.
	Begin string `yaml:"begin"`
	End   string `yaml:"end"`
}

//go:embed cures.yaml
var curesText []byte

var cures = sync.OnceValues(func() (all []cure, err error) {
	d := yaml.NewDecoder(bytes.NewReader(curesText))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("read the cures of codes: %w", err)
	}
	return all, nil
})

// cureOf returns the cure of a code, or nil for none.
func cureOf(code string) *cure {
	all, err := cures()
	if i := slices.IndexFunc(all, func(c cure) bool { return slices.Contains(c.Codes, code) }); err == nil && i >= 0 {
		return &all[i]
	}
	return nil
}

// cure gives a refusal what operators do about its code.
func (a *Answer) cure() {
	c := cureOf(a.Code)
	if c == nil || a.known {
		return
	}
	// What one scenario says to authors of controllers is not about the code.
	a.Happened, a.Cures, a.Advice = c.Happened, c.Cures, nil
}
