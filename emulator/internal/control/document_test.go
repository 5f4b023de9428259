package control_test

import (
	"bytes"
	"cmp"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/jsonstream"
)

var update = flag.Bool("update", false, "write openapi.yaml")

// TestDocument proves that openapi.yaml is what the rows of routes, the types of their
// bodies and answers, and the comments of these say. With -update it writes it.
func TestDocument(t *testing.T) {
	w := documentWriter{T: t, comments: comments(t), constants: constants(t), types: make(map[string]reflect.Type)}
	var text bytes.Buffer
	text.WriteString("# Written by make golden.\n")
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(w.document(rowNames(t))); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("openapi.yaml", text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile("openapi.yaml"); err != nil || string(got) != text.String() {
		t.Errorf("openapi.yaml is not what the calls are (%v): make golden writes it", err)
	}
}

// pair is an entry of a mapping that keeps its order.
type pair struct {
	key   string
	value any
}

type block []pair

var _ yaml.Marshaler = (*block)(nil)

type flow []pair

var _ yaml.Marshaler = (*flow)(nil)

// MarshalYAML implements yaml.Marshaler.
func (b block) MarshalYAML() (any, error) { return mapping(b, 0) }

// MarshalYAML implements yaml.Marshaler.
func (f flow) MarshalYAML() (any, error) { return mapping(f, yaml.FlowStyle) }

func mapping(pairs []pair, style yaml.Style) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Style: style}
	for _, p := range pairs {
		var key, value yaml.Node
		if err := key.Encode(p.key); err != nil {
			return nil, err
		}
		if err := value.Encode(p.value); err != nil {
			return nil, err
		}
		n.Content = append(n.Content, &key, &value)
	}
	return n, nil
}

// described are the folders of the types that the document describes.
var described = []string{"../../controlapi", "../../journal", "../../../scenarios", "../../../state", "../../../faults"}

// constants returns the values of each type of text that has some, such as journal.Kind.
func constants(t *testing.T) map[string][]string {
	found := make(map[string][]string)
	for _, folder := range described {
		for _, file := range parsed(t, folder) {
			ast.Inspect(file, func(n ast.Node) bool {
				spec, ok := n.(*ast.ValueSpec)
				if !ok || len(spec.Values) != 1 {
					return true
				}
				of, typed := spec.Type.(*ast.Ident)
				text, literal := spec.Values[0].(*ast.BasicLit)
				if !typed || !literal || text.Kind != token.STRING {
					return true
				}
				value, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				name := file.Name.Name + "." + of.Name
				found[name] = append(found[name], value)
				return true
			})
		}
	}
	return found
}

// comments returns the doc comments of the types whose JSON the document describes, and of their
// fields: those of Server and Server.API in controlapi are controlapi.Server and
// controlapi.Server.API.
func comments(t *testing.T) map[string]string {
	found := make(map[string]string)
	for _, folder := range described {
		for _, file := range parsed(t, folder) {
			ast.Inspect(file, func(n ast.Node) bool {
				declared, ok := n.(*ast.GenDecl)
				if !ok || declared.Tok != token.TYPE {
					return true
				}
				for _, spec := range declared.Specs {
					of := spec.(*ast.TypeSpec)
					name := file.Name.Name + "." + of.Name.Name
					found[name] = oneLine(declared.Doc)
					if s, ok := of.Type.(*ast.StructType); ok {
						for _, field := range s.Fields.List {
							for _, f := range field.Names {
								found[name+"."+f.Name] = oneLine(field.Doc) + oneLine(field.Comment)
							}
						}
					}
				}
				return true
			})
		}
	}
	return found
}

func oneLine(of *ast.CommentGroup) string { return strings.Join(strings.Fields(of.Text()), " ") }

func parsed(t *testing.T, folder string) (files []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// rowNames returns the names of the rows, in the order of routes.All.
func rowNames(t *testing.T) (list []string) {
	for _, file := range parsed(t, "routes") {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
				if made, ok := spec.Values[0].(*ast.CallExpr); ok {
					if _, ok := made.Fun.(*ast.IndexListExpr); ok {
						list = append(list, spec.Names[0].Name)
					}
				}
			}
			return true
		})
	}
	if len(list) != len(routes.All) {
		t.Fatalf("there are %d calls, and %d rows", len(routes.All), len(list))
	}
	return list
}

// documentWriter writes the document, and gathers the schemas that it names.
type documentWriter struct {
	*testing.T
	comments  map[string]string
	constants map[string][]string
	schemas   block
	types     map[string]reflect.Type // of the schemas
}

func (w *documentWriter) document(names []string) block {
	paths := block{}
	for i, route := range routes.All {
		operation := pair{strings.ToLower(route.Method), w.operation(names[i], route)}
		at := slices.IndexFunc(paths, func(p pair) bool { return p.key == route.Path })
		if at < 0 {
			paths = append(paths, pair{route.Path, block{operation}})
		} else {
			paths[at].value = append(paths[at].value.(block), operation)
		}
	}
	w.schema(reflect.TypeFor[controlapi.Missed]())
	refused := w.content(reflect.TypeFor[controlapi.Refusal]())
	slices.SortFunc(w.schemas, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	return block{
		{"openapi", "3.1.0"},
		{"info", block{
			{"title", "clbemu control API"},
			{"version", "1"},
			{"summary", "Health, state, conditions, faults and journal of a running clbemu."},
			{"description", "Served on its own listener, 127.0.0.1:9601 unless --control-listen says otherwise. Without a token (--control-token) the " +
				"Host of a call must be a loopback address or the one that was listened on. Every refusal is JSON with an error."},
		}},
		{"servers", []flow{{{"url", "http://127.0.0.1:9601"}}}},
		{"security", []flow{{}, {{"token", []string{}}}}},
		{"paths", paths},
		{"components", block{
			{"securitySchemes", block{{"token", flow{{"type", "http"}, {"scheme", "bearer"}, {"description", "The token of --control-token."}}}}},
			{"parameters", block{{"name", flow{{"name", "name"}, {"in", "path"}, {"required", true},
				{"schema", flow{{"type", "string"}, {"pattern", "^[0-9A-Za-z][0-9A-Za-z._-]{0,79}$"}}}}}}},
			{"responses", block{{"Refused", block{{"description", "The error."}, {"content", refused}}}}},
			{"schemas", w.schemas},
		}},
	}
}

func (w *documentWriter) operation(name string, route *routes.Route) block {
	o := block{{"operationId", name}, {"summary", route.Summary}}
	if route.Description != "" {
		o = append(o, pair{"description", route.Description})
	}
	if route.Open {
		o = append(o, pair{"security", []flow{}})
	}
	var parameters []flow
	if strings.Contains(route.Path, "{name}") {
		parameters = append(parameters, flow{{"$ref", "#/components/parameters/name"}})
	}
	for _, p := range route.Parameters {
		parameters = append(parameters, parameter(p))
	}
	if parameters != nil {
		o = append(o, pair{"parameters", parameters})
	}
	none := reflect.TypeFor[routes.None]()
	if route.Request != none {
		// A scenario may come by its name instead.
		required := route.Request != reflect.TypeFor[routes.YAML]()
		o = append(o, pair{"requestBody", block{{"required", required}, {"content", w.content(route.Request)}}})
	}
	responses := block{{"200", block{{"description", "Success."}, {"content", w.content(route.Answer)}}}}
	for _, status := range refusals(route) {
		responses = append(responses, pair{strconv.Itoa(status), flow{{"$ref", "#/components/responses/Refused"}}})
	}
	return append(o, pair{"responses", responses})
}

// refusals returns the statuses of all refusals of a call.
func refusals(route *routes.Route) []int {
	list := slices.Clone(route.Refusals)
	if !route.Open {
		list = append(list, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity)
	}
	if route.Request != reflect.TypeFor[routes.None]() {
		list = append(list, http.StatusRequestEntityTooLarge)
		if mediaType(route.Request) == "application/json" {
			list = append(list, http.StatusBadRequest)
		}
	}
	if route.Slots != routes.NoSlots {
		list = append(list, http.StatusServiceUnavailable)
	}
	slices.Sort(list)
	return list
}

func parameter(p routes.Parameter) flow {
	in, form := "query", string(p.Form)
	if p.Header {
		in = "header"
	}
	if form == "" {
		form = "string"
	}
	schema := flow{{"type", form}}
	described := flow{{"name", p.Name}, {"in", in}, {"description", p.Help}}
	switch p.Form {
	case routes.FormNumber:
		schema = append(schema, pair{"minimum", 0})
	case routes.FormFields:
		schema = append(schema, pair{"additionalProperties", flow{{"type", "string"}}})
		described = append(described, pair{"style", "form"}, pair{"explode", true})
	}
	return append(described, pair{"schema", schema})
}

func mediaType(of reflect.Type) string {
	switch of {
	case reflect.TypeFor[routes.Text]():
		return "text/plain"
	case reflect.TypeFor[routes.YAML](), reflect.TypeFor[routes.Rules]():
		return "application/yaml"
	}
	if strings.HasPrefix(of.Name(), "Events[") {
		return "text/event-stream"
	}
	return "application/json"
}

func (w *documentWriter) content(of reflect.Type) block {
	media, schema := mediaType(of), w.schema(of)
	if media == "text/event-stream" {
		schema = flow{{"type", "string"}} // each event has what was declared
	}
	return block{{media, flow{{"schema", schema}}}}
}

// special are the schemas of types whose JSON is not what their Go is.
var special = map[reflect.Type]flow{
	reflect.TypeFor[time.Time]():          {{"type", "string"}, {"format", "date-time"}},
	reflect.TypeFor[journal.Parameters](): {{"type", "object"}, {"additionalProperties", flow{{"type", "string"}}}},
	reflect.TypeFor[jsonstream.Texts]():   {{"type", "array"}, {"items", flow{{"type", "object"}}}},
	reflect.TypeFor[routes.Text]():        {{"type", "string"}},
	reflect.TypeFor[routes.YAML]():        {{"type", "object"}},
	reflect.TypeFor[routes.Object]():      {{"type", "object"}},
	reflect.TypeFor[faults.Match]():       {{"type", "object"}},
	reflect.TypeFor[faults.When]():        {{"type", "object"}},
	reflect.TypeFor[faults.Effect]():      {{"type", "object"}},
}

// stands are the types that the document describes for what has no type in a row.
var stands = map[reflect.Type]reflect.Type{
	reflect.TypeFor[routes.State](): reflect.TypeFor[state.Export](),
	reflect.TypeFor[routes.Rules](): reflect.TypeFor[faults.Rule](),
}

// titles are the names of schemas that their types don't have.
var titles = map[reflect.Type]string{
	reflect.TypeFor[controlapi.Refusal](): "Error",
	reflect.TypeFor[controlapi.Count]():   "ImportedCount",
}

func (w *documentWriter) schema(of reflect.Type) flow {
	if other := stands[of]; other != nil {
		of = other
	}
	if known := special[of]; known != nil {
		return known
	}
	switch of.Kind() {
	case reflect.Pointer:
		return w.schema(of.Elem())
	case reflect.Bool:
		return flow{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return flow{{"type", "integer"}}
	case reflect.Uint64:
		return flow{{"type", "integer"}, {"minimum", 0}}
	case reflect.Float64:
		return flow{{"type", "number"}}
	case reflect.String:
		return flow{{"type", "string"}}
	case reflect.Slice:
		return flow{{"type", "array"}, {"items", w.schema(of.Elem())}}
	case reflect.Map:
		return flow{{"type", "object"}, {"additionalProperties", w.schema(of.Elem())}}
	case reflect.Struct:
		return flow{{"$ref", "#/components/schemas/" + w.component(of)}}
	}
	return flow{} // anything
}

// component adds the schema of a struct to the document, and returns its name.
func (w *documentWriter) component(of reflect.Type) string {
	name := of.Name()
	if title := titles[of]; title != "" {
		name = title
	}
	if known := w.types[name]; known != nil {
		if known != of {
			w.Errorf("%v and %v have the name %s: give one another in titles", known, of, name)
		}
		return name
	}
	w.types[name] = of
	at := len(w.schemas)
	w.schemas = append(w.schemas, pair{key: name})
	properties, required := block{}, &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, f := range fields(of) {
		tag := f.Tag.Get("json") + f.Tag.Get("yaml")
		key, options, _ := strings.Cut(tag, ",")
		if key == "" {
			key = f.Name
		}
		if !strings.Contains(options, "omitempty") {
			required.Content = append(required.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: key})
		}
		properties = append(properties, pair{key, w.property(of, f)})
	}
	schema := block{{"type", "object"}, {"additionalProperties", false}, {"required", required}, {"properties", properties}}
	if comment := w.comments[of.String()]; comment != "" {
		schema = append(block{{"description", comment}}, schema...)
	}
	w.schemas[at].value = schema
	return name
}

// property returns the schema of a field, with its comment and the values that it can have: those
// that its tag lists, or the constants of its type or of the one that its tag names.
func (w *documentWriter) property(of reflect.Type, f reflect.StructField) flow {
	schema := w.schema(f.Type)
	tag := cmp.Or(f.Tag.Get("enum"), f.Type.String())
	list := w.constants[tag]
	if list == nil && f.Tag.Get("enum") != "" {
		list = strings.Split(tag, ",")
	}
	if list != nil {
		values := pair{"enum", list}
		if f.Type.Kind() == reflect.Slice {
			schema[1].value = append(schema[1].value.(flow), values)
		} else {
			schema = append(schema, values)
		}
	}
	if least := f.Tag.Get("minimum"); least != "" {
		schema = append(schema, pair{"minimum", &yaml.Node{Kind: yaml.ScalarNode, Value: least}})
	}
	if comment := w.comments[of.String()+"."+f.Name] + f.Tag.Get("doc"); comment != "" {
		schema = append(schema[:len(schema):len(schema)], pair{"description", comment})
	}
	return schema
}

// fields are those that a struct has in JSON, with those of what it embeds.
func fields(of reflect.Type) (list []reflect.StructField) {
	for i := range of.NumField() {
		f := of.Field(i)
		switch {
		case f.Anonymous:
			list = append(list, fields(f.Type)...)
		case f.IsExported() && f.Tag.Get("json") != "-":
			list = append(list, f)
		}
	}
	return list
}
