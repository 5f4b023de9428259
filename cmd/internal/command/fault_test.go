package command

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// A kind of effect is in the help, the reference, the JSON Schema and the console by its
// row alone.
func TestFaultKinds(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Defs map[string]struct {
			Properties map[string]struct{ Properties map[string]any }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(scenarios.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	script := httptest.NewRecorder()
	request := httptest.NewRequest("GET", "/console/templates.js", nil)
	request.Host = "127.0.0.1"
	quietEmulator(t, &memory.Engine{}).ControlHandler().ServeHTTP(script, request)
	for _, kind := range faults.Kinds() {
		for where, found := range map[string]bool{
			"the help":       strings.Contains(newFault().Long, "\n  "+kind.Name),
			"the reference":  strings.Contains(string(page), "| `"+kind.Form()+"` | "+kind.About),
			"the schema":     schema.Defs["FaultRule"].Properties["effect"].Properties[kind.Name] != nil,
			"the console":    strings.Contains(script.Body.String(), `"kind": "`+kind.Name+`"`),
			"a kind's field": len(kind.Fields()) == 0 || strings.Contains(newFault().Long, kind.Name+": {"+kind.Fields()[0]),
		} {
			if !found {
				t.Errorf("%s: %s has it not", kind.Name, where)
			}
		}
	}
}
