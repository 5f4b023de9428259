package command

import (
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/names"
)

// TestHintIsOfTheAction proves that a failed call prints no cause that only another
// action has: of each code with a known cause, an action without one is tried.
func TestHintIsOfTheAction(t *testing.T) {
	known, tried := knownNames(), make(map[string]bool)
	for _, of := range known.Actions() {
		e, err := explain.Name(known, of.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range e.Causes {
			if tried[c.Code] {
				continue
			}
			code, err := explain.Name(known, c.Code)
			if err != nil {
				t.Fatal(err)
			}
			other, found := withoutCause(known.Actions(), code.Causes, c.Code)
			if tried[c.Code] = true; !found {
				continue
			}
			if told := hint(c.Code, c.Message, other); strings.Contains(told, "because") || !strings.Contains(told, "clbemu explain "+c.Code) {
				t.Errorf("%s, refused with %s, gets the hint of another action:\n%s", other.Name, c.Code, told)
			}
		}
	}
	if len(tried) < 50 {
		t.Errorf("%d codes with causes were tried", len(tried))
	}
}

// withoutCause returns an action that may be refused with a code, none of the causes of which is
// its own.
func withoutCause(actions []names.Action, causes []controlapi.Cause, code string) (names.Action, bool) {
	for _, a := range actions {
		own := !a.Emulated
		for _, c := range causes {
			own = own || c.Product == a.Product && c.Action == a.Name
		}
		for row := range a.Errors() {
			if !own && row.Code == code && row.Actions != nil {
				return a, true
			}
		}
	}
	return names.Action{}, false
}
