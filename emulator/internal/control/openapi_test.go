package control_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/mux"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/clbemu/clbemu/emulator/internal/control/routes"
)

// node is a part of the OpenAPI document.
type node = map[string]any

var document = sync.OnceValues(func() (node, error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	var doc node
	return doc, yaml.Unmarshal(text, &doc)
})

func mustDocument(t *testing.T) node {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// at walks down from a node by keys, following references; nil is nothing there.
func at(t *testing.T, from any, keys ...string) node {
	t.Helper()
	n, _ := from.(node)
	if ref, ok := n["$ref"].(string); ok {
		doc := mustDocument(t)
		n = at(t, doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		if n == nil {
			t.Fatalf("openapi.yaml: %s leads nowhere", ref)
		}
	}
	if len(keys) == 0 || n == nil {
		return n
	}
	return at(t, n[keys[0]], keys[1:]...)
}

var variable = regexp.MustCompile(`\\\{[a-z]+\\\}`)

// operation finds what the document says of a call; nil is nothing.
func operation(t *testing.T, method, path string) node {
	t.Helper()
	var found node
	for template, item := range at(t, mustDocument(t), "paths") {
		pattern := "^" + variable.ReplaceAllString(regexp.QuoteMeta(template), "[^/]+") + "$"
		// A path without variables comes before one with.
		if regexp.MustCompile(pattern).MatchString(path) && (found == nil || template == path) {
			if o := at(t, item, strings.ToLower(method)); o != nil {
				found = o
			}
		}
	}
	return found
}

// mustConform fails the test when an answer does not match the document. Unknown calls
// are answered with 404 or 405 and an error.
func mustConform(t *testing.T, r *http.Request, response *http.Response, body []byte) {
	t.Helper()
	call := fmt.Sprintf("%s %s = %d", r.Method, r.URL.Path, response.StatusCode)
	schema, isJSON := at(t, mustDocument(t), "components", "schemas", "Error"), true
	if o := operation(t, r.Method, r.URL.Path); o != nil {
		content := at(t, o, "responses", fmt.Sprint(response.StatusCode), "content")
		mediaType, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
		if schema = at(t, content, mediaType, "schema"); schema == nil {
			t.Errorf("%s with %s is not in openapi.yaml", call, mediaType)
			return
		}
		isJSON = mediaType == "application/json"
	} else if response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%s: there is no such call in openapi.yaml", call)
	}
	if !isJSON {
		return
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s answers no JSON: %s", call, body)
		return
	}
	for _, problem := range violations(t, schema, value) {
		t.Errorf("%s is not as openapi.yaml has it: %s", call, problem)
	}
}

// violations say where a value is not as a schema of the document wants it.
func violations(t *testing.T, schema node, value any) (problems []string) {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	root := node{"components": mustDocument(t)["components"], "schema": schema}
	if err := compiler.AddResource("openapi.yaml", plainJSON(t, root)); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("openapi.yaml#/schema")
	if err != nil {
		t.Fatal(err)
	}
	var invalid *jsonschema.ValidationError
	if err := compiled.Validate(value); errors.As(err, &invalid) {
		return causes(invalid)
	} else if err != nil {
		t.Fatal(err)
	}
	return nil
}

// causes returns the innermost reasons of a refusal.
func causes(refused *jsonschema.ValidationError) (list []string) {
	if len(refused.Causes) == 0 {
		return []string{"/" + strings.Join(refused.InstanceLocation, "/") + ": " + refused.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
	}
	for _, cause := range refused.Causes {
		list = append(list, causes(cause)...)
	}
	return list
}

// plainJSON returns a document of YAML as one of JSON is decoded.
func plainJSON(t *testing.T, document any) (plain any) {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err = jsonschema.UnmarshalJSON(bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestViolations proves that the check of answers finds what is wrong.
func TestViolations(t *testing.T) {
	schema := at(t, mustDocument(t), "components", "schemas", "FaultRules")
	const good = `{"faults":[{"name":"a","rule":"","at":"reply","since":"2026-01-02T03:04:05Z","seen":1,"hits":0,"spent":false}]}`
	for _, change := range []struct {
		old, now string
		want     int
	}{
		{"", "", 0},
		{`"seen":1`, `"seen":1.5`, 1},
		{`"seen":1`, `"seen":"1"`, 1},
		{`"seen":1,`, ``, 1},
		{`"seen":1`, `"Seen":1`, 2},
		{`"reply"`, `"later"`, 1},
		{`"2026-`, `"`, 1},
		{`false`, `null`, 1},
		{`"name":"a"`, `"name":["a"]`, 1},
		{`"name":"a"`, `"name":{"a":1}`, 1},
		{`"faults"`, `"fault"`, 2},
	} {
		var value any
		if err := json.Unmarshal([]byte(strings.Replace(good, change.old, change.now, 1)), &value); err != nil {
			t.Fatal(err)
		}
		if got := violations(t, schema, value); len(got) != change.want {
			t.Errorf("with %s for %s there is %q, want %d problems", change.now, change.old, got, change.want)
		}
	}
}

// TestDocumentHasEveryRoute proves that the document, the router and the API that
// clients go by know the same calls.
func TestDocumentHasEveryRoute(t *testing.T) {
	served := make(map[string]bool)
	router := newFixture(t, nil).handler.(*mux.Router)
	if err := router.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		methods, err := route.GetMethods()
		if err != nil {
			return nil // a group of routes
		}
		path, err := route.GetPathTemplate()
		for _, method := range methods {
			served[method+" "+path] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	described := make(map[string]bool)
	for path, item := range at(t, mustDocument(t), "paths") {
		for method := range item.(node) {
			if method != "parameters" {
				described[strings.ToUpper(method)+" "+path] = true
			}
		}
	}
	declared := make(map[string]bool)
	for _, route := range routes.All {
		declared[route.Method+" "+route.Path] = true
	}
	if !maps.Equal(served, declared) {
		t.Errorf("the router serves %v, and controlapi has %v", slices.Sorted(maps.Keys(served)), slices.Sorted(maps.Keys(declared)))
	}
	if !maps.Equal(served, described) || len(served) < 20 {
		t.Errorf("the router serves %v, and openapi.yaml has %v", slices.Sorted(maps.Keys(served)), slices.Sorted(maps.Keys(described)))
	}
}

// TestDocumentIsServed proves that the document can be had from the emulator, and
// that no reference in it leads nowhere.
func TestDocumentIsServed(t *testing.T) {
	var served node
	text := newFixture(t, nil).send("GET", "/v1/openapi.yaml", "", nil).Body.Bytes()
	if err := yaml.Unmarshal(text, &served); err != nil || served["openapi"] != "3.1.0" {
		t.Fatalf("GET /v1/openapi.yaml = %s, %v", text, err)
	}
	followAll(t, served)
}

func followAll(t *testing.T, value any) {
	t.Helper()
	switch v := value.(type) {
	case node:
		if _, ok := v["$ref"]; ok {
			at(t, v)
		}
		for _, element := range v {
			followAll(t, element)
		}
	case []any:
		for _, element := range v {
			followAll(t, element)
		}
	}
}
