package main_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

var update = flag.Bool("update", false, "write the README's generated parts")

const readme = "../../README.md"

func readReadme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeIsCurrent proves that the tables of the README and of the page of actions
// say what the binary does. With -update it writes them.
func TestReadmeIsCurrent(t *testing.T) {
	for page, parts := range map[string]map[string]string{
		readme:                  {"flags": flagTable(t), "example": example(t)},
		"../../docs/actions.md": {"actions": actionTable(t)},
	} {
		read, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(read)
		want := text
		for name, table := range parts {
			part := regexp.MustCompile(`(?s)(<!-- ` + name + `: [^>]*-->\n).*(<!-- end of ` + name + ` -->)`)
			if !part.MatchString(want) {
				t.Fatalf("%s has no place for its %s", page, name)
			}
			want = part.ReplaceAllString(want, "${1}"+strings.ReplaceAll(table, "$", "$$")+"${2}")
		}
		if text == want {
			continue
		}
		if !*update {
			t.Fatalf("%s is stale: run make golden", page)
		}
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// example is the test that the author of a controller would copy.
func example(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../emulator/emulatortest/example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return "```go\n" + string(text) + "```\n"
}

// actionTable lists the emulated actions of each product.
func actionTable(t *testing.T) string {
	var rows []struct {
		Product, Version, Action string
		Emulated                 bool
	}
	if err := json.Unmarshal([]byte(binary.Run(t, "actions", "--json").Stdout), &rows); err != nil {
		t.Fatal(err)
	}
	var products []string
	emulated, known := make(map[string][]string), make(map[string]int)
	for _, row := range rows {
		product := row.Product + " " + row.Version
		if known[product]++; known[product] == 1 {
			products = append(products, product)
		}
		if row.Emulated {
			emulated[product] = append(emulated[product], "`"+row.Action+"`")
		}
	}
	var table bytes.Buffer
	for _, product := range products {
		fmt.Fprintf(&table, "## %s: %d of %d\n\n", product, len(emulated[product]), known[product])
		for _, action := range emulated[product] {
			fmt.Fprintf(&table, "- %s\n", action)
		}
		fmt.Fprintln(&table)
	}
	return table.String()
}

var flagLine = regexp.MustCompile(`^ +(?:-h, )?--([a-z-]+)(?: [a-z0-9]+)? {2,}(.*)$`)

// flagTable lists the flags of serve as its help does.
func flagTable(t *testing.T) string {
	var table bytes.Buffer
	fmt.Fprint(&table, "| flag | environment | meaning |\n|---|---|---|\n")
	own, _, _ := strings.Cut(binary.Run(t, "serve", "--help").Stdout, "Flags of every command:")
	for line := range strings.Lines(own) {
		if found := flagLine.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil && found[1] != "help" {
			env := "CLBEMU_" + strings.ToUpper(strings.ReplaceAll(found[1], "-", "_"))
			fmt.Fprintf(&table, "| `--%s` | `%s` | %s |\n", found[1], env, found[2])
		}
	}
	return table.String()
}

// TestReadmeCommands proves that the README's commands work as they stand
// there, one after the other in one shell, against a server on free ports.
func TestReadmeCommands(t *testing.T) {
	blocks := regexp.MustCompile("(?s)<!-- tested -->\n```sh\n(.*?)```").FindAllStringSubmatch(readReadme(t), -1)
	if len(blocks) < 5 {
		t.Fatalf("the README has %d tested blocks, want at least 5", len(blocks))
	}
	s := binary.Serve(t, "--engine", "memory", "--auth", "off")
	script := "set -eu\n"
	for _, block := range blocks {
		script += block[1]
	}
	// The reader has the default ports and this test has free ones; curl must
	// fail where the server refuses.
	script = strings.ReplaceAll(script, "http://127.0.0.1:9601", s.Control)
	// What the scenario has is an emulator of its own.
	script = strings.ReplaceAll(script, "clbemu scenario run", "CLBEMU_SERVER= clbemu scenario run")
	script = strings.ReplaceAll(script, "curl ", "curl -sSf ")
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = t.TempDir()
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
		"PATH="+filepath.Dir(binary.Path)+":"+os.Getenv("PATH"), "CLBEMU_SERVER="+s.Control)
	r := binary.Finish(t, cmd)
	if r.Code != 0 {
		t.Fatalf("the README's commands fail: %s\n%s", r.Stderr, r.Stdout)
	}
	for _, want := range []string{`"LoadBalancerId": "lb-`, "(web)  Slb  active", "ORDER.ARREARAGE", "refused, as the bill is unpaid", "1 passed, 0 failed", `"LoadBalancerId":"lb-`, `"TotalCount":2`, "i-bp1clbemu0000000001", "world.yaml is valid", "the state is consistent",
		"lost-reply  afterCommit", "world: set conditions  account.balance=5000", `"counts":[`, "the state is that of before-upgrade"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("the README's commands do not answer %s:\n%s", want, r.Stdout)
		}
	}
}
