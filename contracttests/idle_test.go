package contracttests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/state"
)

// TestUnreadParameters proves for every action that changes something that a parameter
// which nothing reads is refused, and leaves no trace: CLB-0529.
func TestUnreadParameters(t *testing.T) {
	for p, a := range emulated {
		if !a.Mutates {
			continue
		}
		t.Run(p.Name+"."+a.Name, func(t *testing.T) {
			t.Parallel()
			for _, name := range []string{"Invented", "Invented.1.Field", "DryRun.1"} {
				status, code, message := callWith(t, p, a, name, "true")
				if status != http.StatusBadRequest || code != emulator.NotEmulatedCode || !strings.Contains(message, name+" of "+a.Name) {
					t.Errorf("with %s: %d %s: %s, want a refusal of the parameter", name, status, code, message)
				}
			}
			if status, code, _ := callWith(t, p, a, "Invented", ""); status != http.StatusOK {
				t.Errorf("with an empty parameter: %d %s, want success", status, code)
			}
		})
	}
}

// TestIdleParameters proves of each idle parameter that its actions do not read it, take
// it, and take none of its other values.
func TestIdleParameters(t *testing.T) {
	for _, p := range products.All() {
		for _, e := range p.Idle {
			if len(e.Actions) == 0 || e.Why == "" {
				t.Errorf("%s: the idle parameter %s names no actions or no reason", p.Name, e.Parameter)
			}
			for _, name := range e.Actions {
				at := slices.IndexFunc(p.Actions, func(a products.Action) bool { return a.Name == name && a.Emulated && a.Mutates })
				if at < 0 {
					t.Fatalf("%s: no emulated action %s changes anything", p.Name, name)
				}
				a := p.Actions[at]
				read := parametersOf(a)
				if read[e.Parameter] {
					t.Errorf("%s.%s reads %s", p.Name, name, e.Parameter)
				}
				for parameter := range idleIn(p, e.Parameter, e.Of) {
					if read[parameter] {
						continue
					}
					t.Run(fmt.Sprintf("%s.%s/%s", p.Name, name, parameter), func(t *testing.T) {
						t.Parallel()
						value := "any"
						if e.Values != nil {
							value = e.Values[0]
						}
						named := strings.ReplaceAll(parameter, ".N.", ".1.")
						if status, code, message := callWith(t, p, a, named, value); code == emulator.NotEmulatedCode {
							t.Errorf("with %s=%s: %d %s: %s", named, value, status, code, message)
						}
						if status, code, _ := callWith(t, p, a, named, "any"); e.Values != nil && code != emulator.NotEmulatedCode {
							t.Errorf("with another value: %d %s, want a refusal", status, code)
						}
					})
				}
			}
		}
	}
}

// parametersOf returns the names of what an action reads.
func parametersOf(a products.Action) map[string]bool {
	names := make(map[string]bool)
	for _, parameter := range a.Parameters() {
		names[parameter.Name] = true
	}
	return names
}

// idleIn returns a parameter, or all that some actions read.
func idleIn(p *products.Product, parameter string, of []string) map[string]bool {
	if parameter != "" {
		return map[string]bool{parameter: true}
	}
	names := make(map[string]bool)
	for _, a := range p.Actions {
		if slices.Contains(of, a.Name) {
			maps.Copy(names, parametersOf(a))
		}
	}
	return names
}

// TestTerraformParameters proves that no parameter is refused which the Terraform provider
// sends with a call that changes something. contracttests/terraform records them, and the
// values of those that nothing reads.
func TestTerraformParameters(t *testing.T) {
	text, err := os.ReadFile("testdata/terraform.txt")
	if err != nil {
		t.Fatal(err)
	}
	sent := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		action := fields[0] + "." + fields[1]
		sent[action] = append(sent[action], fields[2])
	}
	for p, a := range emulated {
		action := p.Name + "." + a.Name
		names := sent[action]
		delete(sent, action)
		if !a.Mutates {
			continue
		}
		read := parametersOf(a)
		for _, parameter := range names {
			name, value, _ := strings.Cut(parameter, "=")
			if read[strings.ReplaceAll(name, ".1", ".N")] {
				continue
			}
			t.Run(action+"/"+parameter, func(t *testing.T) {
				t.Parallel()
				if status, code, message := callWith(t, p, a, name, cmp.Or(value, "any")); code == emulator.NotEmulatedCode {
					t.Errorf("%d %s: %s", status, code, message)
				}
			})
		}
	}
	for action := range sent {
		t.Errorf("Terraform calls %s, which is not emulated", action)
	}
}

// exported returns all of a state.
func exported(t *testing.T, store *state.Store) []byte {
	t.Helper()
	all, err := store.Export()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := all.Write(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// callWith makes the first call of an action's golden cases that succeeds, with one more
// parameter, and proves that a refusal of it leaves the state as it was.
func callWith(t *testing.T, p *products.Product, a products.Action, name, value string) (status int, code, message string) {
	t.Helper()
	cases := apiCases()
	at := slices.IndexFunc(cases, func(c apiCase) bool { return c.product == p.Name && c.action == a.Name && c.code == "" })
	c := preparedCloud(t, cases[at].before...)
	params := maps.Clone(c.names.resolve(cases[at].params))
	params[name] = value
	before := exported(t, c.store)
	reply := c.send(p.Name, a.Name, "JSON", params)
	if reply.Code != http.StatusOK && !bytes.Equal(exported(t, c.store), before) {
		t.Errorf("with %s the refused call changed the state", name)
	}
	var body struct{ Code, Message string }
	if err := json.Unmarshal(reply.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	return reply.Code, body.Code, body.Message
}
