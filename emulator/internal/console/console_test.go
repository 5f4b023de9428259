package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/console"
)

func ask(method, path string, headers ...string) *httptest.ResponseRecorder {
	r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	console.Handler().ServeHTTP(w, r)
	return w
}

var reference = regexp.MustCompile(`(?:src|href)="([^"#]*)"|from '(\./[^']*)'`)

// TestPages proves that every page has what it loads and links to, that a browser which
// has it gets 304, and that no answer lets a page do more than it must.
func TestPages(t *testing.T) {
	seen := make(map[string]bool)
	var visit func(path string)
	visit = func(path string) {
		if seen[path] {
			return
		}
		seen[path] = true
		w := ask("GET", path)
		if w.Code != http.StatusOK || !console.Has(path) {
			t.Errorf("GET %s = %d %s", path, w.Code, w.Body)
			return
		}
		policy := w.Header().Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s may do more than %s: %s", path, want, policy)
			}
		}
		if again := ask("GET", path, "If-None-Match", w.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("GET %s again = %d, want 304", path, again.Code)
		}
		if head := ask("HEAD", path); head.Code != http.StatusOK || head.Body.Len() > 0 || head.Header().Get("Content-Type") != w.Header().Get("Content-Type") {
			t.Errorf("HEAD %s = %d with %d bytes", path, head.Code, head.Body.Len())
		}
		if strings.Contains(w.Body.String(), "{{") {
			t.Errorf("%s has a part that was not filled in", path)
		}
		for _, found := range reference.FindAllStringSubmatch(w.Body.String(), -1) {
			to, _, _ := strings.Cut(found[1], "?")
			to = "/" + strings.TrimPrefix(to, "./") // as a page at the root or at a cloud's finds it
			if found[2] != "" {
				to = "/console/" + strings.TrimPrefix(found[2], "./")
			}
			visit(to)
		}
	}
	visit("/")
	visit("/console/nosuch.js")
	files, err := filepath.Glob("assets/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if !seen["/console/"+filepath.Base(file)] {
			t.Errorf("no page loads %s", file)
		}
	}
}

// TestLinks proves that each page is linked with its key, and described in docs/console.md.
func TestLinks(t *testing.T) {
	described, err := os.ReadFile("../../../docs/console.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`<a href="([^"]+)" data-key="(\d)">`).FindAllStringSubmatch(ask("GET", "/").Body.String(), -1)
	for i, link := range links {
		address := "/" + strings.TrimPrefix(link[1], "./")
		if link[2] != strconv.Itoa(i+1) || !console.Has(address) || !strings.Contains(string(described), "\n| `"+address+"`") {
			t.Errorf("the link %q leads to no page, has another key than %d, or is not in docs/console.md", link[0], i+1)
		}
	}
	if keys := fmt.Sprintf("`1` to `%d` go to a page", len(links)); !strings.Contains(string(described), keys) {
		t.Errorf("docs/console.md does not say that %s", keys)
	}
}

// TestMissing proves that a browser gets a page for an address that has none, with links that
// lead from there to the pages, and that programs get what they got.
func TestMissing(t *testing.T) {
	missing := console.Missing(http.NotFoundHandler())
	for path, up := range map[string]string{"/nosuch": "", "/v1/nosuch": "../", "/clouds/gone/journal": "../../"} {
		r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		missing.ServeHTTP(w, r)
		if text := w.Body.String(); w.Code != http.StatusNotFound || w.Header().Get("Content-Security-Policy") == "" || !strings.Contains(text, "<h1>No such page</h1>") ||
			!strings.Contains(text, ` src="`+up+`console/nosuch.js"`) || !strings.Contains(text, `<a href="`+up+`journal"`) || !strings.Contains(text, `href="`+up+`./"`) {
			t.Errorf("GET %s = %d %s", path, w.Code, text)
		}
		r, w = httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
		if missing.ServeHTTP(w, r); w.Body.String() != "404 page not found\n" {
			t.Errorf("GET %s by a program = %d %s", path, w.Code, w.Body)
		}
	}
}

// TestRefusals proves that other paths and methods are rejected.
func TestRefusals(t *testing.T) {
	for call, want := range map[string]int{"POST /": 405, "DELETE /console/api.js": 405, "GET /console/none.js": 404, "GET /console/../pages/shell.html": 404} {
		method, path, _ := strings.Cut(call, " ")
		if w := ask(method, path); w.Code != want {
			t.Errorf("%s = %d, want %d", call, w.Code, want)
		}
	}
	for _, path := range []string{"/v1/state", "/console", "/healthz", ""} {
		if console.Has(path) {
			t.Errorf("%q is a page of the console", path)
		}
	}
}

// TestScriptMakesNoMarkup proves that no script makes elements of texts, and that no page
// has script or style within it, which the headers forbid too.
func TestScriptMakesNoMarkup(t *testing.T) {
	forbidden := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTMLUnsafe|createContextualFragment|<script>|<style| style=| on[a-z]+="`)
	files, err := filepath.Glob("*/*")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := forbidden.FindString(string(text)); found != "" {
			t.Errorf("%s has %s", file, found)
		}
	}
}
