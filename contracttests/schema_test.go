package contracttests

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// schema says of what type the fields of answers are, by product, action and path
// such as Slb.DescribeZones.Zones.Zone[].ZoneId: string, int, int64, bool or
// float64. It is testdata/responses.txt, from the API's metadata of July 2024: a line
// for each action, and one for each field below it.
type schema map[string]string

func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile("testdata/responses.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, action := make(schema), ""
	for line := range strings.Lines(string(text)) {
		field, below := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "\t")
		if !below {
			action = field
			continue
		}
		path, kind, _ := strings.Cut(field, " ")
		s[action+"."+path] = kind
	}
	return s
}

// undocumented are the fields that are answered all the same, with the reason.
var undocumented = map[string]string{
	"Slb.DescribeLoadBalancerTCPListenerAttribute.HealthCheckSwitch": "a CCM reads it: CLB-0146",
}

// TestAnswersFollowSchema holds every golden answer of success against the
// documented response: no field is extra or of another type. That none is missing
// is held for the answers' types, by TestActionsMatchMetadata of the products.
func TestAnswersFollowSchema(t *testing.T) {
	documented, used := readSchema(t), make(map[string]bool)
	answers := 0
	for _, c := range apiCases() {
		_, known := documented[c.product+"."+c.action+".RequestId"]
		if !known && c.product == "Slb" && c.action != "ServiceManagedControl" { // which no publication has
			t.Errorf("%s: the action's response is not documented", c)
		}
		if !known || c.code != "" {
			continue
		}
		answers++
		for _, problem := range documented.problems(c, goldenBody(t, c), used) {
			t.Errorf("%s: %s", c, problem)
		}
	}
	if answers == 0 {
		t.Error("no answer was compared")
	}
	for field, reason := range undocumented {
		if !used[field] {
			t.Errorf("%s (%s) is answered nowhere: remove the exception", field, reason)
		}
	}
}

// goldenBody returns the recorded JSON answer of a case.
func goldenBody(t *testing.T, c apiCase) (body map[string]any) {
	t.Helper()
	archive, err := txtar.ParseFile(goldenArchive(goldenDir, c))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == c.name+".json" })
	if at < 0 {
		t.Fatalf("%s has no answer of %s", goldenArchive(goldenDir, c), c)
	}
	_, document, _ := strings.Cut(joinLines(string(archive.Files[at].Data)), "\n")
	if err := json.Unmarshal([]byte(document), &body); err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	return body
}

// problems returns the fields of an answer that are not as documented.
func (s schema) problems(c apiCase, body any, used map[string]bool) (list []string) {
	for field, value := range leavesOf(body, c.product+"."+c.action) {
		want, ok := s[field]
		switch {
		case !ok && undocumented[field] != "":
			used[field] = true
		case !ok:
			list = append(list, field+" is not documented")
		case !ofType(value, want):
			list = append(list, fmt.Sprintf("%s is %#v, documented as %s", field, value, want))
		}
	}
	return list
}

// leavesOf yields the paths and values of a document; an empty list has none.
func leavesOf(value any, path string) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) { walkLeaves(value, path, yield) }
}

func walkLeaves(value any, path string, yield func(string, any) bool) bool {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if !walkLeaves(inner, path+"."+name, yield) {
				return false
			}
		}
	case []any:
		for _, inner := range value {
			if !walkLeaves(inner, path+"[]", yield) {
				return false
			}
		}
	default:
		return yield(path, value)
	}
	return true
}

func ofType(value any, documented string) bool {
	switch value := value.(type) {
	case string:
		return documented == "string"
	case bool:
		return documented == "bool"
	case float64:
		return documented == "float64" || strings.HasPrefix(documented, "int") && value == float64(int64(value))
	}
	return false
}

// The comparison finds each kind of difference.
func TestSchemaProblems(t *testing.T) {
	documented := schema{"Slb.Do.Port": "int", "Slb.Do.Tags[].Key": "string", "Slb.Do.On": "bool"}
	of := apiCase{product: "Slb", action: "Do"}
	for text, want := range map[string]int{
		`{"Port":1,"Tags":[{"Key":"a"},{"Key":"b"}],"On":true}`: 0,
		`{"Port":"1"}`:            1,
		`{"Port":1.5}`:            1,
		`{"On":"true"}`:           1,
		`{"Tags":[{"Key":null}]}`: 1,
		`{"Tags":[{"Colour":"a"}],"More":{"A":1}}`: 2,
	} {
		var body any
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
		if got := documented.problems(of, body, make(map[string]bool)); len(got) != want {
			t.Errorf("%s has the problems %q, want %d", text, got, want)
		}
	}
}
