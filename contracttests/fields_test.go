package contracttests

import (
	"bytes"
	"os"
	"path"
	"reflect"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/products"
)

// collect notes which fields of a response have a value.
func collect(found map[string]bool, action string, response any) {
	if answer, ok := response.(map[string]any); ok {
		filledJSON(answer, action, found)
		return
	}
	filled(reflect.ValueOf(response), action, found)
}

// excuse says why fields of the SDK's responses are never filled.
type excuse struct {
	Reason string   `yaml:"reason"`
	Fields []string `yaml:"fields"`
}

const excusesFile = "testdata/unfilled.yaml"

// checkFilled fails for a field of a response type of the SDK that no case fills
// and no excuse names, and for an excuse that nothing needs or that covers too much. An excuse is a path
// such as Slb.DescribeZones.Zones.Zone.LocalName, in which * stands for anything.
func checkFilled(t *testing.T, found map[string]bool) {
	var patterns []string
	for _, e := range readExcuses(t) {
		patterns = append(patterns, e.Fields...)
	}
	needed := make(map[string]bool)
	clients := &sdkClients{}
	for p, a := range emulated {
		if slices.Contains(unlisted, p.Name+"."+a.Name) {
			continue
		}
		fields, err := clients.fields(p, a)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, field := range fields {
			matching := matches(patterns, field)
			for _, pattern := range matching {
				needed[pattern] = true
				if found[field] {
					t.Errorf("%s: %s covers %s, which is filled", excusesFile, pattern, field)
				}
			}
			if !found[field] && matching == nil {
				t.Errorf("no case fills %s: fill it, or say why not in %s", field, excusesFile)
			}
		}
	}
	for _, pattern := range patterns {
		if !needed[pattern] {
			t.Errorf("%s: %s needs no excuse", excusesFile, pattern)
		}
	}
}

// fields lists the fields that the answers of an action can hold.
func (c *sdkClients) fields(p *products.Product, a products.Action) ([]string, error) {
	if slices.Contains(untyped, p.Name) {
		return untypedFields(p.Name, a), nil
	}
	method, err := c.method(p.Name, a.Name)
	if err != nil {
		return nil, err
	}
	return leaves(method.Type().Out(0), p.Name+"."+a.Name), nil
}

func readExcuses(t *testing.T) (excuses []excuse) {
	t.Helper()
	text, err := os.ReadFile(excusesFile)
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&excuses); err != nil {
		t.Fatalf("%s: %v", excusesFile, err)
	}
	for _, e := range excuses {
		if e.Reason == "" {
			t.Errorf("%s: %v have no reason", excusesFile, e.Fields)
		}
	}
	return excuses
}

// matches returns the patterns that a field matches.
func matches(patterns []string, field string) (matching []string) {
	for _, pattern := range patterns {
		if ok, _ := path.Match(pattern, field); ok {
			matching = append(matching, pattern)
		}
	}
	return matching
}
