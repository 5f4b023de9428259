package contracttests

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// published is where editors find the schemas by their paths.
const published = "https://raw.githubusercontent.com/clbemu/clbemu/main/"

// editor is a client of yaml-language-server, which VS Code and others ask about YAML.
type editor struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Reader
	asks int
	said map[string][]string // what the server finds wrong, by URI
}

// startEditor starts the server, or skips the test.
func startEditor(t *testing.T) *editor {
	t.Helper()
	dir, err := nodeFolder(t)
	if err != nil {
		if os.Getenv(nodeWanted) == "required" {
			t.Fatalf("%s is set, and the language server can't be tried: %v", nodeWanted, err)
		}
		t.Skipf("the language server is not tried: %v", err)
	}
	cmd := exec.Command("node", filepath.Join("node_modules", "yaml-language-server", "bin", "yaml-language-server"), "--stdio")
	cmd.Dir = dir
	in, out := startPiped(t, cmd)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	e := &editor{t: t, in: in, out: bufio.NewReader(out), said: make(map[string][]string)}
	e.ask("initialize", map[string]any{"processId": nil, "rootUri": nil, "capabilities": map[string]any{}})
	e.send(map[string]any{"method": "initialized", "params": map[string]any{}})
	e.send(map[string]any{"method": "workspace/didChangeConfiguration", "params": map[string]any{
		"settings": map[string]any{"yaml": map[string]any{"validate": true, "completion": true, "schemaStore": map[string]any{"enable": false}}},
	}})
	return e
}

func (e *editor) send(message map[string]any) {
	e.t.Helper()
	message["jsonrpc"] = "2.0"
	text, err := json.Marshal(message)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		e.t.Fatal(err)
	}
}

// receive returns the next message. What the server finds wrong is noted, and each setting
// that it asks for is as it is.
func (e *editor) receive() map[string]json.RawMessage {
	e.t.Helper()
	header, err := textproto.NewReader(e.out).ReadMIMEHeader()
	if err != nil {
		e.t.Fatal(err)
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		e.t.Fatal(err)
	}
	text, message := make([]byte, length), make(map[string]json.RawMessage)
	if _, err := io.ReadFull(e.out, text); err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &message); err != nil {
		e.t.Fatal(err)
	}
	switch {
	case string(message["method"]) == `"textDocument/publishDiagnostics"`:
		var found struct {
			URI         string
			Diagnostics []struct{ Message string }
		}
		if err := json.Unmarshal(message["params"], &found); err != nil {
			e.t.Fatal(err)
		}
		e.said[found.URI] = []string{}
		for _, d := range found.Diagnostics {
			e.said[found.URI] = append(e.said[found.URI], d.Message)
		}
	case message["method"] != nil && message["id"] != nil:
		e.send(map[string]any{"id": message["id"], "result": nil})
	}
	return message
}

// ask makes a request and returns its result.
func (e *editor) ask(method string, params any) json.RawMessage {
	e.t.Helper()
	e.asks++
	e.send(map[string]any{"id": e.asks, "method": method, "params": params})
	for {
		if m := e.receive(); m["method"] == nil && string(m["id"]) == strconv.Itoa(e.asks) {
			return m["result"]
		}
	}
}

// open shows a file to the server, with the schemas of this clone where it names the
// published ones.
func (e *editor) open(name, text string) {
	e.t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		e.t.Fatal(err)
	}
	e.send(map[string]any{"method": "textDocument/didOpen", "params": map[string]any{"textDocument": map[string]any{
		"uri": "file:///" + name, "languageId": "yaml", "version": 1, "text": strings.ReplaceAll(text, published, "file://"+filepath.ToSlash(root)+"/"),
	}}})
}

// problems waits for what the server finds wrong in a file.
func (e *editor) problems(name string) []string {
	e.t.Helper()
	for e.said["file:///"+name] == nil {
		e.receive()
	}
	return e.said["file:///"+name]
}

// completions lists what the server offers at a place of an open file.
func (e *editor) completions(name string, line, character int) (labels []string) {
	e.t.Helper()
	var list struct{ Items []struct{ Label string } }
	result := e.ask("textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": "file:///" + name}, "position": map[string]any{"line": line, "character": character}})
	if err := json.Unmarshal(result, &list); err != nil {
		e.t.Fatalf("%s: %v", result, err)
	}
	for _, item := range list.Items {
		labels = append(labels, strings.Trim(item.Label, `"`))
	}
	return labels
}

// TestEditor proves, with the language server of editors, that the files of the repository
// that name a schema are right by it, that what is wrong is found, and that an editor offers
// actions, conditions, quotas and effects.
func TestEditor(t *testing.T) {
	e := startEditor(t)
	var names []string
	for _, pattern := range []string{"scenarios/library/*.yaml", "examples/explore/*.yaml", "examples/world/*.yaml", "emulator/world/default.yaml"} {
		found, err := fs.Glob(os.DirFS(".."), pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %q, %v", pattern, found, err)
		}
		names = append(names, found...)
	}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "# yaml-language-server: $schema="+published) {
			t.Errorf("%s names no schema", name)
		}
		e.open(name, string(text))
	}
	for _, name := range names {
		if problems := e.problems(name); len(problems) > 0 {
			t.Errorf("%s: %q", name, problems)
		}
	}
	for i, c := range []struct {
		schema, text, problem string
		line, character       int
		offers                string
	}{
		{"scenarios/schema.json", "about: a\nclient: {steps: [{call: {action: CreateLoadBalancr}}]}\n", "Value is not accepted", 1, 33, "CreateLoadBalancer"},
		{"scenarios/schema.json", "about: a\ngiven:\n  world:\n    account.arears: true\n", "account.arears", 3, 4, "account.arrears"},
		{"scenarios/schema.json", "about: a\nclient:\n  expect:\n    - quota: {name: slb_quota, used: 1}\n", "Value is not accepted", 3, 20, "slb_quota_instances_num"},
		{"faults/schema.json", "name: a\neffect:\n  dela: {}\n", "dela", 2, 2, "delay"},
		{"emulator/world/schema.json", "accounts: []\nregions: []\nvpc: []\n", "vpc", 2, 0, "vpcs"},
	} {
		name := fmt.Sprintf("wrong-%d.yaml", i)
		e.open(name, "# yaml-language-server: $schema="+published+c.schema+"\n"+c.text)
		problems := strings.Join(e.problems(name), "\n")
		if !strings.Contains(problems, c.problem) {
			t.Errorf("of %s the editor says %q, want %s", c.text, problems, c.problem)
		}
		if offers := e.completions(name, c.line+1, c.character); !slices.Contains(offers, c.offers) {
			t.Errorf("in %s the editor offers %.300q, want %s", c.text, offers, c.offers)
		}
	}
	for schema, wants := range map[string][]string{
		"scenarios/schema.json": {"about", "given", "client", "kubernetes"}, "faults/schema.json": {"name", "match", "effect"}, "emulator/world/schema.json": {"accounts", "regions"},
	} {
		name := "empty-" + filepath.Dir(schema) + ".yaml"
		e.open(name, "# yaml-language-server: $schema="+published+schema+"\n")
		offers := e.completions(name, 1, 0)
		for _, want := range wants {
			if !slices.Contains(offers, want) {
				t.Errorf("in an empty document of %s the editor offers %.300q, want %s", schema, offers, want)
			}
		}
	}
}
