package world

import (
	"bytes"
	"flag"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/record"
)

var updateSchema = flag.Bool("update", false, "write schema.json")

// object is a part of a JSON Schema.
type object = map[string]any

// enumerations are the values of fields that have few, by type and field.
var enumerations = map[string][]any{
	"spec.clouds":          {2021, 2024, "2021", "2024", "today"},
	"accessKeySpec.status": {"Active", "Inactive"},
}

// schemaOf describes a type of a world file for editors.
func schemaOf(t reflect.Type, definitions object) object {
	single := object{"$ref": "#/$defs/scalar"}
	switch {
	case t == reflect.TypeFor[scalar]():
		return single
	case t == reflect.TypeFor[pairs]():
		return object{"type": "object", "additionalProperties": single}
	case t.Kind() == reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem(), definitions)}
	}
	if definitions[t.Name()] == nil {
		properties, required := object{}, []string{}
		definitions[t.Name()] = object{"type": "object", "properties": properties, "additionalProperties": false}
		for _, f := range reflect.VisibleFields(t) {
			name := f.Tag.Get("yaml")
			if name == "" {
				continue
			}
			properties[name] = schemaOf(f.Type, definitions)
			if values := enumerations[t.Name()+"."+name]; values != nil {
				properties[name] = object{"enum": values}
			}
			if f.Tag.Get("required") == "true" {
				required = append(required, name)
			}
		}
		definitions[t.Name()].(object)["required"] = required
	}
	return object{"$ref": "#/$defs/" + t.Name()}
}

// TestSchema proves that the published JSON Schema is that of the types, that it takes the
// default world and the example, and refuses what lacks a field or has one that there is not.
// With -update it writes it.
func TestSchema(t *testing.T) {
	const id = "https://raw.githubusercontent.com/clbemu/clbemu/main/emulator/world/schema.json"
	definitions := object{}
	schema := object{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": id, "title": "clbemu world"}
	maps.Copy(schema, schemaOf(reflect.TypeFor[spec](), definitions))
	definitions["scalar"] = object{"type": []string{"string", "number", "boolean"}}
	schema["$defs"] = definitions
	definitions["spec"].(object)["properties"].(object)["apiVersion"] = object{"const": "clbemu/v1"}
	want := record.Text(t, schema, record.Schema)
	if *updateSchema {
		if err := os.WriteFile("schema.json", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("schema.json"); !bytes.Equal(got, want) {
		t.Fatalf("schema.json is not that of the types (%v): run go test ./emulator/world -run Schema -update", err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(id, parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile(id)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{"accounts: []": false, "{apiVersion: clbemu/v1, accounts: [], regions: []}": true, "{apiVersion: clbemu/v2, accounts: [], regions: []}": false, "{accounts: [], regions: [], vpc: []}": false}
	for _, file := range []string{"default.yaml", "../../examples/world/cluster.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[string(text)] = true
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := compiled.Validate(value); (err == nil) != texts[text] {
			t.Errorf("%.200s: %v, want it taken: %v", text, err, texts[text])
		}
	}
}
