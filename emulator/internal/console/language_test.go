package console_test

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/internal/console"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/faults"
)

// TestPreferred proves that a page is in the language that the user chose, or else in the
// one that the browser prefers, and says so.
func TestPreferred(t *testing.T) {
	for _, test := range []struct{ accepts, cookie, want string }{
		{"", "", "en"},
		{"zh-CN,zh;q=0.9,en;q=0.8", "", "zh-CN"},
		{"zh", "", "zh-CN"},
		{"ZH-Hans-CN", "", "zh-CN"},
		{"en-US,en;q=0.9,zh-CN;q=0.8", "", "en"},
		{"en;q=0.1, zh;q=0.2", "", "zh-CN"},
		{"de,fr;q=0.9", "", "en"},
		{"de, zh;q=0.3", "", "zh-CN"},
		{"zh;q=0", "", "en"},
		{"zh;q=x", "", "en"},
		{"zhx", "", "en"},
		{"zh-CN", "en", "en"},
		{"en", "zh-CN", "zh-CN"},
		{"zh", "<script>", "zh-CN"},
	} {
		w := ask("GET", "/journal", "Accept-Language", test.accepts, "Cookie", "clbemu-language="+test.cookie)
		other := map[string]string{"en": "zh-CN", "zh-CN": "en"}[test.want]
		for _, want := range []string{`<html lang="` + test.want + `">`, `id="language" lang="` + other + `" value="` + other + `"`} {
			if !strings.Contains(w.Body.String(), want) {
				t.Errorf("%+v: the page has no %s", test, want)
			}
		}
		if w.Header().Get("Content-Language") != test.want || w.Header().Get("Vary") != "Accept-Language, Cookie" {
			t.Errorf("%+v: the headers are %v", test, w.Header())
		}
	}
}

// wire are texts of pages that stay as they are: names of clbemu, and examples.
var wire = []string{"clbemu", "· clbemu", "team-a", "before-upgrade", "36h", "lb-…", "Create*, Delete*", "OK, Throttling", "lost, quota, nlb", "中文"}

// literal is a text in a script: its key, the code before it on its line, and whether t
// translates it.
type literal struct {
	key, before string
	translated  bool
}

var (
	comment = regexp.MustCompile(`(^| )// .*|^\s*//.*`)
	text    = regexp.MustCompile("(?:\\bt)?`[^`]*`|'(?:[^'\\\\]|\\\\.)*'")
	hole    = regexp.MustCompile(`\$\{[^}]*\}`)
	escapes = strings.NewReplacer(`\'`, `'`, `\u00a0`, "\u00a0")
)

// scripts reads the texts of all scripts.
func scripts(t *testing.T) map[string][]literal {
	t.Helper()
	names, err := filepath.Glob("assets/*.js")
	if err != nil || len(names) < 10 {
		t.Fatal(names, err)
	}
	all := make(map[string][]literal)
	for _, name := range names {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(script)) {
			line = comment.ReplaceAllString(line, "")
			for _, at := range text.FindAllStringIndex(line, -1) {
				found, holes := line[at[0]:at[1]], -1
				key := hole.ReplaceAllStringFunc(strings.Trim(strings.TrimPrefix(found, "t`"), "'`"), func(string) string {
					holes++
					return fmt.Sprintf("{%d}", holes)
				})
				all[name] = append(all[name], literal{escapes.Replace(key), line[:at[0]], found[0] == 't'})
			}
		}
	}
	return all
}

// said lists all that the console says in English, with where it is said.
func said(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	pages, err := filepath.Glob("pages/*.html")
	if err != nil || len(pages) < 9 {
		t.Fatal(pages, err)
	}
	for _, link := range append([][]string{{"", "./"}}, regexp.MustCompile(`<a href="([^"]+)" data-key`).FindAllStringSubmatch(ask("GET", "/").Body.String(), -1)...) {
		page := "/" + strings.TrimPrefix(link[1], "./")
		console.EachText(ask("GET", page).Body.String(), func(text string) string {
			if regexp.MustCompile(`[A-Za-z]{2}`).MatchString(text) && !slices.ContainsFunc(wire, func(w string) bool { return strings.HasSuffix(text, w) }) {
				all[text] = page
			}
			return text
		})
	}
	missing, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/nosuch", nil)
	r.Header.Set("Accept", "text/html")
	console.Missing(nil).ServeHTTP(missing, r)
	console.EachText(missing.Body.String(), func(text string) string {
		if !slices.ContainsFunc(wire, func(w string) bool { return strings.HasSuffix(text, w) }) && regexp.MustCompile(`[A-Za-z]{2}`).MatchString(text) {
			all[text] = "/nosuch"
		}
		return text
	})
	for script, literals := range scripts(t) {
		for _, l := range literals {
			if l.translated {
				all[l.key] = script
			}
		}
	}
	symptoms, err := explain.Symptoms()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symptoms {
		all[s.Title] = "the symptom " + s.Name
		for _, cause := range s.Causes {
			all[cause.Cure] = "the symptom " + s.Name
			if cause.About != "" {
				all[cause.About] = "the symptom " + s.Name
			}
		}
	}
	for _, kind := range inventory.Kinds() {
		all[kind.Title] = "the kind " + kind.Name
	}
	for _, c := range conditions.All() {
		all[c.Help], all[string(c.Scope)] = "the condition "+c.Name, "the condition "+c.Name
	}
	for _, kind := range faults.Kinds() {
		for _, template := range kind.Templates {
			all[template.Title], all[template.About] = "the fault "+kind.Name, "the fault "+kind.Name
		}
	}
	return all
}

var (
	han         = regexp.MustCompile(`\p{Han}`)
	letters     = regexp.MustCompile(`[a-z]{2}`)
	placeholder = regexp.MustCompile(`\{\d\}|<code>[^<]*</code>|<[^>]*>`)
)

// TestChinese proves that all that the console says is in zh/words.yaml, with what is put
// in, and that the file has nothing else.
func TestChinese(t *testing.T) {
	words, said := console.InChinese().Words, said(t)
	for _, english := range slices.Sorted(maps.Keys(said)) {
		in, is := words[english]
		if !is {
			t.Errorf("zh/words.yaml has no %q of %s", english, said[english])
			continue
		}
		parts, inParts := placeholder.FindAllString(english, -1), placeholder.FindAllString(in, -1)
		slices.Sort(parts)
		slices.Sort(inParts)
		if !slices.Equal(parts, inParts) || !han.MatchString(in) && letters.MatchString(in) && in != english || strings.Contains(in, `"`) {
			t.Errorf("zh/words.yaml says %q of %q", in, english)
		}
	}
	for _, english := range slices.Sorted(maps.Keys(words)) {
		if said[english] == "" {
			t.Errorf("zh/words.yaml has %q, which the console does not say", english)
		}
	}
}

// aside are fields that no list shows in a column.
var aside = []string{"answersAt", "problem"}

// TestFieldsInChinese proves that the columns of all kinds are in zh/words.yaml, and that
// the file names nothing else.
func TestFieldsInChinese(t *testing.T) {
	fields := console.InChinese().Fields
	unseen := maps.Clone(fields)
	for _, kind := range inventory.Kinds() {
		for _, column := range kind.Columns {
			if fields[column.Name] == "" {
				t.Errorf("zh/words.yaml has no field %s of %s", column.Name, kind.Name)
			}
			delete(unseen, column.Name)
		}
	}
	for _, name := range aside {
		delete(unseen, name)
	}
	for name := range unseen {
		t.Errorf("zh/words.yaml has the field %s, which no resource has", name)
	}
}

// TestEveryTextIsTranslated proves that no script has a text for people which it does not
// give to t.
func TestEveryTextIsTranslated(t *testing.T) {
	prose := regexp.MustCompile(`[A-Za-z]{2,}[,.?!:]* [a-z]{2,}|^ ?[A-Z][a-z]+$|^[A-Z][a-z]+ \{`)
	code := regexp.MustCompile(`(class: |'data-focus': |\$\(|querySelectorAll\(|closest\(|matches\(|command\(|event\.key === |new Set\(\[[^\]]*|const english = .*|Authorization: )$`)
	names := []string{"Enter", "Escape", "Service", "Slb", "Nlb", "Int", "Servers", "Throttling", "card current", "clbemu call"}
	for script, literals := range scripts(t) {
		for _, l := range literals {
			if !l.translated && prose.MatchString(l.key) && !code.MatchString(l.before) && !slices.Contains(names, l.key) {
				t.Errorf("%s does not translate %q", script, l.key)
			}
		}
	}
}
