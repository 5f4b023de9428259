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

// otherRanges are published ranges that the rows differ from, by why.
var otherRanges = map[string]string{
	"Nlb CreateListener StartPort": "a listener for a range of ports starts at 1, as statements play",
	"Nlb CreateListener EndPort":   "a range of ports ends above its start, as statements play",
}

// TestRanges proves that a statement has the upper end of each range in the SDKs' text.
func TestRanges(t *testing.T) {
	text, err := os.ReadFile("testdata/ranges.tsv")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fidelity.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		row := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		at := slices.IndexFunc(files, func(f *fidelity.File) bool { return f.Product == row[0] && f.Action == row[1] })
		if len(row) < 5 || at < 0 {
			continue
		}
		bound := regexp.MustCompile(`\b` + row[4] + `\b`)
		has := slices.ContainsFunc(files[at].Statements, func(s fidelity.Statement) bool {
			name, _, _ := strings.Cut(s.Says, " ")
			return name == row[2] && s.Class == "range" && bound.MatchString(s.Says)
		})
		if name := strings.Join(row[:3], " "); has == (otherRanges[name] != "") {
			t.Errorf("%s: a statement has its end %s: %t, otherRanges says %q", name, row[4], has, otherRanges[name])
		}
	}
}
