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

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenDir has an archive an action, in which each case has what it sends and what
// is answered in both formats.
const goldenDir = "testdata/golden"

// TestGolden compares the parameters of every case, and the bytes of its replies
// in both formats, with the golden archives, and knows every file in them. A refused
// call must change nothing.
func TestGolden(t *testing.T) {
	played := make(map[string]*txtar.Archive)
	for _, c := range apiCases() {
		t.Run(c.String(), func(t *testing.T) {
			archive := goldenArchive(c)
			if played[archive] == nil {
				played[archive] = &txtar.Archive{}
			}
			add := func(kind, text string) {
				played[archive].Files = append(played[archive].Files, txtar.File{Name: c.name + "." + kind, Data: []byte(text)})
			}
			for _, format := range []string{"JSON", "XML"} {
				cloud := newCloud(t).prepareAll()
				for _, s := range c.before {
					cloud.do(s)
				}
				p := cloud.names.resolve(c.params)
				reply := cloud.answer(c, format, p)
				if format == "JSON" {
					add("req", requestText(p))
				}
				add(strings.ToLower(format), replyText(reply))
			}
		})
	}
	if *update {
		writeGolden(t, played)
	}
	compareGolden(t, played)
}

// goldenArchive is the file that has a case.
func goldenArchive(c apiCase) string {
	return filepath.ToSlash(filepath.Join(goldenDir, c.product, c.action+".txtar"))
}

// writeGolden writes the archives anew.
func writeGolden(t *testing.T, archives map[string]*txtar.Archive) {
	t.Helper()
	if err := os.RemoveAll(goldenDir); err != nil {
		t.Fatal(err)
	}
	for path, archive := range archives {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// compareGolden wants in the folder what was played, and nothing else.
func compareGolden(t *testing.T, played map[string]*txtar.Archive) {
	t.Helper()
	kept := make(map[string]string)
	err := filepath.WalkDir(goldenDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return err
		}
		for _, f := range archive.Files {
			kept[filepath.ToSlash(path)+": "+f.Name] = string(f.Data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, archive := range played {
		for _, f := range archive.Files {
			name := path + ": " + f.Name
			want, found := kept[name]
			delete(kept, name)
			switch got := string(f.Data); {
			case !found:
				t.Errorf("%s is missing: run with -update to write it", name)
			case got != want:
				t.Errorf("%s: %s", name, difference(got, want))
			}
		}
	}
	for name := range kept {
		t.Errorf("%s belongs to no case: run with -update to remove it", name)
	}
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

// difference shows where two texts part.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(text string) string { return text[max(0, at-60):min(len(text), at+60)] }
	return fmt.Sprintf("from byte %d on got\n%s, want\n%s", at, around(got), around(want))
}
