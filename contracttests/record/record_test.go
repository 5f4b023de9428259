package record

import (
	"path/filepath"
	"reflect"
	"testing"
)

// TestText proves that each row has a line at any depth, and that what was written is read again.
func TestText(t *testing.T) {
	record := map[string]map[string][]string{"b": {"y": {"<1>", "2"}, "x": {}}, "a": {}}
	for depth, want := range []string{
		`{"a":{},"b":{"x":[],"y":["<1>","2"]}}` + "\n",
		"{\n \"a\": {},\n \"b\": {\"x\":[],\"y\":[\"<1>\",\"2\"]}\n}\n",
		"{\n \"a\": {},\n \"b\": {\n  \"x\": [],\n  \"y\": [\"<1>\",\"2\"]\n }\n}\n",
		"{\n \"a\": {},\n \"b\": {\n  \"x\": [],\n  \"y\": [\n   \"<1>\",\n   \"2\"\n  ]\n }\n}\n",
	} {
		if got := string(Text(t, record, depth)); got != want {
			t.Errorf("depth %d: %s, want %s", depth, got, want)
		}
		file := filepath.Join(t.TempDir(), "record.json")
		Write(t, file, record, depth)
		if got := Read[map[string]map[string][]string](t, file); !reflect.DeepEqual(got, record) {
			t.Errorf("depth %d: read %v, want %v", depth, got, record)
		}
	}
}
