package scenarios

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/faults"
)

var update = flag.Bool("update", false, "write schema.json")

// object is a part of a JSON Schema.
type object = map[string]any

// schema describes a type for editors. A number or a truth may also be a template,
// and a field of the faults package is left to that package.
func schema(t reflect.Type, definitions object) any {
	template := object{"type": "string", "pattern": `\{\{`}
	scalar := object{"type": []string{"string", "number", "boolean"}}
	switch t {
	case reflect.TypeFor[Duration]():
		return object{"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$|\{\{`}
	case reflect.TypeFor[Value]():
		return object{}
	case reflect.TypeFor[Settings]():
		return object{"type": "object", "minProperties": 1}
	case reflect.TypeFor[NameList]():
		return object{"oneOf": []any{scalar, object{"type": "array", "items": scalar, "minItems": 1}}}
	case reflect.TypeFor[Manifest]():
		return object{"type": []string{"string", "object", "array"}}
	case reflect.TypeFor[Fault]():
		return schema(reflect.TypeFor[faults.Rule](), definitions)
	case reflect.TypeFor[faults.Duration]():
		return schema(reflect.TypeFor[Duration](), definitions)
	case reflect.TypeFor[faults.Point]():
		return object{"enum": faults.Points}
	case reflect.TypeFor[faults.Match]():
		return matchSchema(definitions)
	case reflect.TypeFor[faults.Effect]():
		return effectSchema(definitions)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema(t.Elem(), definitions)
	case reflect.Slice:
		return object{"type": "array", "items": schema(t.Elem(), definitions)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schema(t.Elem(), definitions)}
	case reflect.Bool:
		return object{"oneOf": []any{object{"type": "boolean"}, template}}
	case reflect.Int, reflect.Uint64:
		return object{"oneOf": []any{object{"type": "integer"}, template}}
	case reflect.Float64:
		return object{"oneOf": []any{object{"type": "number"}, template}}
	case reflect.String:
		return scalar
	}
	define(t, definitions)
	reference := object{"$ref": "#/$defs/" + typeName(t)}
	switch t {
	case reflect.TypeFor[Matcher](), reflect.TypeFor[faults.Matcher](), reflect.TypeFor[faults.Hang]():
		return object{"oneOf": []any{scalar, reference}}
	case reflect.TypeFor[Amount]():
		return object{"oneOf": []any{object{"type": "integer", "minimum": 0}, template, reference}}
	case reflect.TypeFor[Exec]():
		return object{"oneOf": []any{object{"type": "array", "items": scalar, "minItems": 1}, reference}}
	}
	return reference
}

// typeName returns the name of a struct among the definitions.
func typeName(t reflect.Type) string {
	if t.PkgPath() == reflect.TypeFor[faults.Rule]().PkgPath() {
		return "Fault" + t.Name()
	}
	return t.Name()
}

// matchSchema describes which calls a fault rule is about.
func matchSchema(definitions object) object {
	matcher := schema(reflect.TypeFor[faults.Matcher](), definitions)
	properties, patterns := object{"action": object{"type": "string"}}, object{}
	for _, f := range faults.MatchFields {
		described := object{"description": f.About, "allOf": []any{matcher}}
		if prefix, _, named := strings.Cut(f.Name, "<"); named {
			patterns["^"+regexp.QuoteMeta(prefix)+"."] = described
		} else {
			properties[f.Name] = described
		}
	}
	return object{"type": "object", "properties": properties, "patternProperties": patterns, "additionalProperties": false}
}

// effectSchema describes the effects of fault rules.
func effectSchema(definitions object) object {
	properties := object{}
	for _, kind := range faults.Kinds() {
		properties[kind.Name] = object{"description": kind.About, "allOf": []any{schema(kind.Value, definitions)}}
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 1}
}

// define puts a struct among the definitions.
func define(t reflect.Type, definitions object) {
	if definitions[typeName(t)] != nil {
		return
	}
	properties, required := object{}, []string{}
	definitions[typeName(t)] = object{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" {
			continue
		}
		properties[name] = object{"description": f.Tag.Get("doc"), "allOf": []any{schema(f.Type, definitions)}}
		if f.Tag.Get("required") == "true" {
			required = append(required, name)
		}
	}
	definitions[typeName(t)] = object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// TestSchema proves that the published JSON Schema is that of the types. With
// -update it writes it.
func TestSchema(t *testing.T) {
	definitions := object{}
	root := schema(reflect.TypeFor[Scenario](), definitions)
	want, err := json.MarshalIndent(object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "clbemu scenario",
		"allOf": []any{root}, "$defs": definitions}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if bytes.Equal(want, Schema) {
		return
	}
	if !*update {
		t.Fatal("schema.json is not that of the types: run go test ./scenarios -run Schema -update")
	}
	if err := os.WriteFile("schema.json", want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocumented proves that every field of a scenario is explained.
func TestDocumented(t *testing.T) {
	definitions := object{}
	schema(reflect.TypeFor[Scenario](), definitions)
	if len(definitions) < 15 {
		t.Fatalf("%d types are described, want all", len(definitions))
	}
	for name, d := range definitions {
		for field, property := range d.(object)["properties"].(object) {
			if text := property.(object)["description"].(string); !strings.HasSuffix(text, ".") {
				t.Errorf("%s.%s is explained as %q, want a sentence", name, field, text)
			}
		}
	}
}
