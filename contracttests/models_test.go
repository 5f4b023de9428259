package contracttests

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/fidelity"
)

// modelsFile has the names in the models of the newest SDKs whose source can be read; its
// first line says which.
const modelsFile = "testdata/models.tsv"

// unstatedFile has those of the names that no statement is about yet.
const unstatedFile = "testdata/unstated.tsv"

// model is an action in the SDK's words, without the indexes of lists.
type model struct{ parameters, fields []string }

func readModels(t *testing.T) map[string]model {
	t.Helper()
	text, err := os.ReadFile(modelsFile)
	if err != nil {
		t.Fatal(err)
	}
	models := make(map[string]model)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		names, m := strings.Fields(strings.ReplaceAll(row[3], "[]", "")), models[row[0]+" "+row[1]]
		switch row[2] {
		case "parameters":
			m.parameters = names
		case "fields":
			m.fields = names
		}
		models[row[0]+" "+row[1]] = m
	}
	return models
}

var (
	indexes = regexp.MustCompile(`\.\d+|\[\]`)
	aName   = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_.\[\]]*`)
)

// stated returns the names in what the statements of an action say, of fields or of all else.
func stated(f *fidelity.File, fields bool) map[string]bool {
	names := make(map[string]bool)
	for i := range f.Statements {
		if (f.Statements[i].Class == "field") != fields || f.Statements[i].Class == "error" && !strings.HasPrefix(f.Statements[i].ID, "dry-run") {
			continue
		}
		for _, name := range aName.FindAllString(f.Statements[i].Says, -1) {
			names[strings.TrimSuffix(indexes.ReplaceAllString(name, ""), ".")] = true
		}
		if f.Statements[i].ID == "dry-run" {
			names["DryRun"] = true
		}
	}
	return names
}

// TestModels proves that each request parameter and each field of an answer in the models of
// the SDKs has a statement, or stands in unstatedFile, and that what statements leave outside
// is in no model.
func TestModels(t *testing.T) {
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(unstatedFile)
	if err != nil {
		t.Fatal(err)
	}
	unstated := strings.Split(strings.TrimSpace(string(text)), "\n")
	models := readModels(t)
	for _, f := range files {
		m := models[f.Product+" "+f.Action] // empty for what the SDK calls no more
		for kind, names := range map[string][]string{"parameter": m.parameters, "field": m.fields} {
			has := stated(f, kind == "field")
			for _, name := range names {
				line := strings.Join([]string{f.Product, f.Action, kind, name}, "\t")
				if has[name] == slices.Contains(unstated, line) {
					t.Errorf("%s %s: a statement is about the %s %s: %t, and %s says otherwise", f.Product, f.Action, kind, name, has[name], unstatedFile)
				}
			}
		}
		checkOutside(t, f, m)
	}
}

func checkOutside(t *testing.T, f *fidelity.File, m model) {
	t.Helper()
	for _, o := range f.Outside {
		for _, field := range o.Fields {
			if slices.Contains(m.fields, indexes.ReplaceAllString(field, "")) {
				t.Errorf("%s %s: the answer has %s: it is not outside", f.Product, f.Action, field)
			}
		}
		if o.Parameter != "" && slices.Contains(m.parameters, o.Parameter) {
			t.Errorf("%s %s: the call has %s: its codes are not outside", f.Product, f.Action, o.Parameter)
		}
	}
}
