package contracttests

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldenDir = "testdata/golden"

// TestGolden compares the parameters of every case, and the bytes of its replies
// in both formats, with the files of the golden folder, and knows every file in
// it. A refused call must change nothing.
func TestGolden(t *testing.T) {
	if *update {
		if err := os.RemoveAll(goldenDir); err != nil {
			t.Fatal(err)
		}
	}
	expected := make(map[string]bool)
	for _, c := range apiCases() {
		t.Run(c.String(), func(t *testing.T) {
			stem := filepath.Join(goldenDir, c.product, c.action, c.name)
			for _, format := range []string{"JSON", "XML"} {
				cloud := newCloud(t).furnish()
				for _, s := range c.before {
					cloud.do(s)
				}
				p := cloud.names.resolve(c.params)
				reply := cloud.answer(c, format, p)
				golden(t, expected, stem+".req", requestText(p))
				golden(t, expected, stem+"."+strings.ToLower(format), replyText(reply))
			}
		})
	}
	t.Run("files", func(t *testing.T) { checkFiles(t, expected) })
}

// answer makes the call of a case. A refused call must leave everything as it was.
func (c *fixedCloud) answer(of apiCase, format string, p params) *httptest.ResponseRecorder {
	c.t.Helper()
	if of.code == "" {
		return c.send(of.product, of.action, format, p)
	}
	before := resources(c.t, c)
	reply := c.send(of.product, of.action, format, p)
	if resources(c.t, c) != before {
		c.t.Error("the refused call changed the state")
	}
	return reply
}

// requestText writes parameters in order, one a line.
func requestText(p params) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		value := p[name]
		if strings.ContainsAny(value, "\n\r\t") {
			value = strconv.Quote(value)
		}
		fmt.Fprintf(&b, "%s=%s\n", name, value)
	}
	return b.String()
}

// replyText is the status, the type and the body of a reply.
func replyText(reply *httptest.ResponseRecorder) string {
	return fmt.Sprintf("%d %s\n%s\n", reply.Code, reply.Header().Get("Content-Type"), reply.Body)
}

// resources is the state without the sequence of ids.
func resources(t testing.TB, c *fixedCloud) string {
	t.Helper()
	export, err := c.store.Export()
	if err != nil {
		t.Fatal(err)
	}
	delete(export.Tables, "Sequence")
	text, err := json.Marshal(export)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// golden compares a file with its text, or writes it.
func golden(t *testing.T, expected map[string]bool, path, text string) {
	t.Helper()
	expected[filepath.ToSlash(path)] = true
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v: run with -update to write it", err)
		return
	}
	if text != string(want) {
		t.Errorf("%s: %s", path, difference(text, string(want)))
	}
}

// difference shows where two texts part.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(text string) string { return text[max(0, at-60):min(len(text), at+60)] }
	return fmt.Sprintf("from byte %d on got\n%s, want\n%s", at, around(got), around(want))
}

// checkFiles fails for a file that no case has written.
func checkFiles(t *testing.T, expected map[string]bool) {
	err := filepath.WalkDir(goldenDir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !expected[filepath.ToSlash(path)] {
			t.Errorf("%s belongs to no case: delete it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
