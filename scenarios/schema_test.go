package scenarios_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

var update = flag.Bool("update", false, "write the schemas")

// object is a part of a JSON Schema.
type object = map[string]any

// refer returns a reference to a definition.
func refer(name string) object { return object{"$ref": "#/$defs/" + name} }

// explained returns a property with its meaning; parts are what it must match.
func explained(meaning string, parts ...any) object {
	property := object{"description": meaning}
	if one, ok := parts[0].(object); ok && len(parts) == 1 {
		maps.Copy(property, one)
	} else {
		property["allOf"] = parts
	}
	return property
}

// basics returns the definitions of values that every type has. A number or a truth may also be a
// template.
func basics() object {
	template := refer("template")
	return object{
		"template": object{"type": "string", "pattern": `\{\{`},
		"scalar":   object{"type": []string{"string", "number", "boolean"}},
		"duration": object{"type": "string", "pattern": `^([0-9.]+(ns|us|µs|ms|s|m|h))+$|\{\{`},
		"names":    object{"oneOf": []any{refer("scalar"), object{"type": "array", "items": refer("scalar"), "minItems": 1}}},
		"truth":    object{"oneOf": []any{object{"type": "boolean"}, template}},
		"integer":  object{"oneOf": []any{object{"type": "integer"}, template}},
		"number":   object{"oneOf": []any{object{"type": "number"}, template}},
	}
}

// schema describes a type for editors. A field of the faults package is left to that package.
func schema(t reflect.Type, definitions object) any {
	template, scalar := refer("template"), refer("scalar")
	switch t {
	case reflect.TypeFor[scenarios.Duration]():
		return refer("duration")
	case reflect.TypeFor[scenarios.Value]():
		return object{}
	case reflect.TypeFor[scenarios.Settings]():
		return object{"$ref": "#/$defs/settings"}
	case reflect.TypeFor[scenarios.NameList](), reflect.TypeFor[scenarios.Clear]():
		return refer("names")
	case reflect.TypeFor[scenarios.Manifest]():
		return object{"type": []string{"string", "object", "array"}}
	case reflect.TypeFor[scenarios.Fault]():
		return schema(reflect.TypeFor[faults.Rule](), definitions)
	case reflect.TypeFor[faults.Duration]():
		return schema(reflect.TypeFor[scenarios.Duration](), definitions)
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
		return refer("truth")
	case reflect.Int, reflect.Uint64:
		return refer("integer")
	case reflect.Float64:
		return refer("number")
	case reflect.String:
		return scalar
	}
	define(t, definitions)
	reference := refer(typeName(t))
	switch t {
	case reflect.TypeFor[scenarios.Matcher](), reflect.TypeFor[faults.Matcher](), reflect.TypeFor[faults.Hang]():
		return object{"oneOf": []any{scalar, reference}}
	case reflect.TypeFor[scenarios.Amount]():
		return object{"oneOf": []any{object{"type": "integer", "minimum": 0}, template, reference}}
	case reflect.TypeFor[scenarios.Exec]():
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
	properties, patterns := object{"action": object{"$ref": "#/$defs/action"}}, object{}
	for _, f := range faults.MatchFields {
		described := explained(f.About, matcher)
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
		properties[kind.Name] = explained(kind.About, schema(kind.Value, definitions))
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false, "minProperties": 1, "maxProperties": 1}
}

// mostProperties limits how many names of a condition are properties, not a pattern.
const mostProperties = 100

// settingsSchema lists the conditions of the world. What may stand for <…> is in it too,
// if it does not depend on a world.
func settingsSchema() object {
	properties, patterns := object{}, object{`\{\{`: object{}}
	for _, c := range conditions.All() {
		about := object{"description": c.Help + " (of the " + string(c.Scope) + ")"}
		if len(c.Value.Words) > 0 {
			about["examples"] = c.Value.Words
		}
		before, rest, variable := strings.Cut(c.Name, "<")
		_, after, _ := strings.Cut(rest, ">")
		named := emulator.Names().Named(&c)
		if len(named) > mostProperties {
			named = nil
		}
		switch {
		case !variable:
			properties[c.Name] = about
		case named == nil:
			patterns["^"+regexp.QuoteMeta(before)+".+"+regexp.QuoteMeta(after)+"$"] = about
		}
		for _, name := range named {
			properties[before+name+after] = about
		}
	}
	return object{"type": "object", "properties": properties, "patternProperties": patterns, "additionalProperties": false, "minProperties": 1}
}

// nameSchemas describe fields whose names are in the products' tables, by type and field. A
// code that a rule makes up passes too.
var nameSchemas = map[string]object{
	"Quota.name":            {"$ref": "#/$defs/quota"},
	"CallStep.action":       {"$ref": "#/$defs/action"},
	"Calls.action":          {"$ref": "#/$defs/action"},
	"Resource.action":       {"$ref": "#/$defs/action"},
	"refusedCalls.action":   {"$ref": "#/$defs/action"},
	"Reply.code":            {"anyOf": []any{object{"$ref": "#/$defs/code"}, object{}}},
	"Calls.code":            {"anyOf": []any{object{"$ref": "#/$defs/code"}, object{}}},
	"Resource.code":         {"anyOf": []any{object{"$ref": "#/$defs/code"}, object{}}},
	"FaultErrorEffect.code": {"anyOf": []any{object{"$ref": "#/$defs/code"}, object{}}},
}

// nameDefinitions are those that nameSchemas refer to.
func nameDefinitions() object {
	codes := slices.DeleteFunc(emulator.Names().AllCodes(), func(code string) bool { return strings.Contains(code, "%") })
	template := object{"type": "string", "pattern": `\{\{`}
	var actions []string
	for _, a := range emulator.Names().Actions() {
		actions = append(actions, a.Name)
	}
	slices.Sort(actions)
	return object{
		"action":   object{"anyOf": []any{object{"enum": slices.Compact(actions)}, object{"type": "string", "pattern": `[*?,\[]|\{\{`}}},
		"code":     object{"enum": codes},
		"settings": settingsSchema(),
		"quota":    object{"anyOf": []any{object{"enum": emulator.Names().Quotas()}, template}},
	}
}

// fieldsOf lists the fields of a struct that a file is read into. A step and an expectation
// have one for each kind.
func fieldsOf(t reflect.Type) (fields []reflect.StructField) {
	kinds := map[reflect.Type][]*scenarios.Kind{reflect.TypeFor[scenarios.Step](): scenarios.StepKinds(), reflect.TypeFor[scenarios.Expectation](): scenarios.ExpectationKinds()}[t]
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("yaml") != "" {
			fields = append(fields, f)
		} else if f.Name == "element" {
			for _, k := range kinds {
				fields = append(fields, reflect.StructField{Name: k.Name, Type: k.Value, Tag: reflect.StructTag(fmt.Sprintf("yaml:%q doc:%q", k.Name, k.About))})
			}
		}
	}
	return fields
}

// define puts a struct among the definitions.
func define(t reflect.Type, definitions object) {
	if definitions[typeName(t)] != nil {
		return
	}
	properties, required := object{}, []string{}
	definitions[typeName(t)] = object{}
	for _, f := range fieldsOf(t) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		all := []any{schema(f.Type, definitions)}
		if named, ok := nameSchemas[typeName(t)+"."+name]; ok {
			all = append(all, named)
		}
		if f.Tag.Get("counted") == "true" {
			all = append(all, object{"not": object{"const": 0}})
		}
		properties[name] = explained(f.Tag.Get("doc"), all...)
		if f.Tag.Get("required") == "true" {
			required = append(required, name)
		}
	}
	described := object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	if t == reflect.TypeFor[faults.ErrorEffect]() { // any code passes where custom is true
		described["if"] = object{"not": object{"properties": object{"custom": object{"const": true}}, "required": []string{"custom"}}}
		described["then"] = object{"properties": object{"code": object{"anyOf": []any{object{"$ref": "#/$defs/code"}, object{"pattern": `\{\{`}}}}}
	}
	definitions[typeName(t)] = described
}

// files are the published schemas, and what each describes.
var files = map[string]struct {
	title string
	of    string // the definition that may name its apiVersion
	root  func(definitions object) any
}{
	"scenarios/schema.json": {"clbemu scenario", "Scenario", func(definitions object) any { return schema(reflect.TypeFor[scenarios.Scenario](), definitions) }},
	"faults/schema.json": {"clbemu fault rules", "FaultRule", func(definitions object) any {
		rule := schema(reflect.TypeFor[faults.Rule](), definitions)
		return object{"oneOf": []any{rule, object{"type": "array", "items": rule, "minItems": 1}}}
	}},
}

// described returns the schema of a file as published.
func described(t *testing.T, file string) []byte {
	t.Helper()
	definitions := object{}
	root := files[file].root(definitions)
	definitions[files[file].of].(object)["properties"].(object)["apiVersion"] = object{"const": "clbemu/v1", "description": "The form of the file; this one if absent."}
	maps.Copy(definitions, nameDefinitions())
	maps.Copy(definitions, basics())
	text := record.Text(t, object{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": published + file,
		"title": files[file].title, "allOf": []any{root}, "$defs": definitions}, record.Schema)
	return list.ReplaceAllFunc(text, filled)
}

// list is a list of texts, each on a line of its own.
var list = regexp.MustCompile(`\[(\n +"[^"\n]*",?)+\n +\]`)

// filled fills the lines of a list of texts: there are thousands of actions and codes.
func filled(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	indent := lines[1][:len(lines[1])-len(strings.TrimLeft(lines[1], " "))]
	b, width := strings.Builder{}, 0
	b.WriteString("[")
	for _, line := range lines[1 : len(lines)-1] {
		item := strings.TrimSpace(line)
		if width+1+len(item) > 120 || width == 0 {
			b.WriteString("\n" + indent + item)
			width = len(indent) + len(item)
		} else {
			b.WriteString(" " + item)
			width += 1 + len(item)
		}
	}
	b.WriteString("\n" + lines[len(lines)-1])
	return []byte(b.String())
}

// published is where the schemas are found by their paths.
const published = "https://raw.githubusercontent.com/clbemu/clbemu/main/"

// TestSchema proves that the published JSON Schemas are those of the types. With
// -update it writes them.
func TestSchema(t *testing.T) {
	for file := range files {
		want := described(t, file)
		got, err := os.ReadFile("../" + file)
		if bytes.Equal(want, got) {
			continue
		}
		if !*update {
			t.Errorf("%s is not that of the types (%v): run go test ./scenarios -run Schema -update", file, err)
			continue
		}
		if err := os.WriteFile("../"+file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDocumented proves that every field of a scenario has an explanation.
func TestDocumented(t *testing.T) {
	definitions := object{}
	schema(reflect.TypeFor[scenarios.Scenario](), definitions)
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

// taker compiles a schema. What it returns reports why the schema refuses a text.
func taker(t *testing.T, file string) func(text []byte) error {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(described(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(published+file, parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile(published + file)
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		var value any
		if err := yaml.Unmarshal(text, &value); err != nil {
			return err
		}
		plain, err := json.Marshal(keyed(value))
		if err != nil {
			return err
		}
		instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(plain))
		if err != nil {
			return err
		}
		return compiled.Validate(instance)
	}
}

// TestSchemaOfFaults proves that the schema takes a rule and several, with what
// faults.ParseFile takes, and refuses effects, fields and actions that there are not.
func TestSchemaOfFaults(t *testing.T) {
	takes := taker(t, "faults/schema.json")
	for text, ok := range map[string]bool{
		"{name: a, match: {action: 'Create*'}, effect: {delay: {fixed: 1s}}}":                                                                true,
		"[{name: a, effect: {error: {code: Throttling}}}, {name: b, match: {action: DescribeRegions}, effect: {error: {code: Throttling}}}]": true,
		"{apiVersion: clbemu/v1, name: a, effect: {delay: {fixed: 1s}}}":                                                                     true, "{apiVersion: v1, name: a, effect: {delay: {fixed: 1s}}}": false,
		"{name: a, effect: {delays: {fixed: 1s}}}": false, "{name: a, match: {actions: x}, effect: {delay: {fixed: 1s}}}": false,
		"{name: a, match: {action: CreateLoadBalancers}, effect: {delay: {fixed: 1s}}}": false, "[]": false,
	} {
		if err := takes([]byte(text)); (err == nil) != ok {
			t.Errorf("%s = %v, want it taken: %v", text, err, ok)
		}
		if _, err := faults.ParseFile("f.yaml", []byte(text), emulator.Names().ResolveFault); (err == nil) != ok {
			t.Errorf("faults.ParseFile(%s) = %v, want it taken: %v", text, err, ok)
		}
	}
}

// modeline is what names the schema to an editor.
const modeline = "# yaml-language-server: $schema=" + published + "scenarios/schema.json\n"

// TestSchemaOfNames proves that the schema takes every scenario of the library, which names it,
// and refuses actions, conditions, quotas and codes that there are not.
func TestSchemaOfNames(t *testing.T) {
	takes := taker(t, "scenarios/schema.json")
	files, err := fs.Glob(os.DirFS("library"), "*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("the library has %d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile("library/" + file)
		if err == nil {
			err = takes(text)
		}
		if !strings.HasPrefix(string(text), modeline) {
			t.Errorf("%s does not begin with\n%s", file, modeline)
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	for text, ok := range map[string]bool{
		"given: {world: {account.arrears: true}}": true, "given: {world: {account.arears: true}}": false, "given: {world: {quota.slb_quota_instances_num: 3}}": true,
		"given: {world: {quota.slb_quota_instances: 3}}": false, "given: {world: {stock.cn-hangzhou-h: soldout}}": true, "given: {world: {'{{c}}': 1}}": true,
		"given: {world: {life.nlb.job: 1s}}": true, "given: {world: {life.nlb.jobs: 1s}}": false, "given: {world: {server.i-1.health: abnormal}}": true,
		"client: {expect: [{quota: {name: slb_quota_instances_num, used: 1}}]}": true, "client: {expect: [{quota: {name: slb_quota_instances, used: 1}}]}": false,
		"client: {steps: [{fault: {name: a, effect: {error: {code: Throttling}}}}]}": true, "client: {steps: [{fault: {name: a, effect: {error: {code: Throtling}}}}]}": false,
		"client: {steps: [{fault: {name: a, effect: {error: {code: Own, custom: true}}}}]}": true, "client: {steps: [{fault: {name: a, effect: {error: {code: '{{code}}'}}}}]}": true,
		"client: {expect: [{calls: {action: 'Create*', code: Own, none: true}}]}": true, "client: {steps: [{call: {action: CreateLoadBalancer}}]}": true,
		"client: {steps: [{call: {action: CreateLoadBalancers}}]}": false, "client: {steps: [{call: {action: '{{action}}'}}]}": true,
	} {
		if err := takes([]byte("about: a\n" + text + "\n")); (err == nil) != ok {
			t.Errorf("%s = %v, want it taken: %v", text, err, ok)
		}
	}
}

// keyed returns a value of YAML whose maps have texts for keys, as JSON's have.
func keyed(value any) any {
	switch v := value.(type) {
	case map[any]any:
		texts := object{}
		for key, of := range v {
			text, _ := json.Marshal(key)
			texts[strings.Trim(string(text), `"`)] = keyed(of)
		}
		return texts
	case object:
		for key, of := range v {
			v[key] = keyed(of)
		}
	case []any:
		for i := range v {
			v[i] = keyed(v[i])
		}
	}
	return value
}
