package console

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// root is the folder of the repository, and siteBase where GitHub serves its site.
const root, siteBase = "../..", "/clbemu/"

// sources are the files of which the site is made. They are read, so that Go knows on which
// files the results depend.
var sources = sync.OnceValues(func() (map[string][]byte, error) {
	all := make(map[string][]byte)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		top, _, _ := strings.Cut(name, "/")
		folder := slices.Contains([]string{".", "docs", "scenarios", "examples", "contracttests"}, top) || strings.HasPrefix("emulator/internal/console/assets", name)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && !folder:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case strings.HasPrefix(name, "docs/") || strings.HasSuffix(name, ".md") || path.Base(name) == "icon.svg" || name == "go.mod":
			all[name], err = os.ReadFile(filepath.Join(root, name))
		}
		return err
	})
	return all, err
})

// built is the folder of the built site.
var built = sync.OnceValues(func() (string, error) {
	if _, err := sources(); err != nil {
		return "", err
	}
	build := exec.Command("make", "--no-print-directory", "-C", root, "site")
	build.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") })
	text, err := build.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("make site: %w\n%s", err, text)
	}
	return filepath.Join(root, "bin", "site"), err
})

// site builds the site, or skips the test without npm.
func site(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil && !required {
		t.Skipf("the site is not built: %v", err)
	}
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// file returns the file that GitHub serves at a path, if there is one.
func file(dir, at string) string {
	name, ours := strings.CutPrefix(at, siteBase)
	for _, ending := range []string{"", ".html", "index.html"} {
		full := filepath.Join(dir, filepath.FromSlash(name)) + ending
		if strings.HasSuffix(name, "/") || name == "" {
			full = filepath.Join(dir, name, ending)
		}
		if info, err := os.Stat(full); ours && err == nil && !info.IsDir() {
			return full
		}
	}
	return ""
}

// openSite opens a tab at the site, served as GitHub does.
func openSite(t *testing.T) *tab {
	t.Helper()
	dir := site(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := file(dir, r.URL.Path); name != "" {
			http.ServeFile(w, r, name)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	b := &tab{T: t, origin: server.URL}
	b.start()
	return b
}

// TestSite proves that the search finds words in both languages, in Chinese also between
// others; that links of the sidebars lead somewhere, and those of languages to the same page.
func TestSite(t *testing.T) {
	b := openSite(t)
	for _, language := range []struct{ front, word, found, title, link, other string }{
		{"", "ServiceMonitor", "install#in-kubernetes", "Install", "packets", "zh/packets"},
		{"zh/", "派生", "zh/clouds", "云", "zh/packets", "packets"},
	} {
		b.visit(siteBase + language.front)
		b.shows("h1", "clbemu")
		b.until("document.querySelector('#app').__vue_app__") // its buttons do nothing before
		b.click(".DocSearch-Button")
		b.write("#localsearch-input", language.word)
		b.until(fmt.Sprintf("document.querySelector('#localsearch-list a.result')?.getAttribute('href').startsWith(%q)", siteBase+language.found))
		b.press("Enter")
		b.shows("h1", language.title)
		b.click(fmt.Sprintf(".VPSidebar a[href=%q]", siteBase+language.link))
		b.until(fmt.Sprintf("location.pathname === %q && document.querySelector('.VPSidebar .is-active a')", siteBase+language.link))
		b.until(fmt.Sprintf("document.querySelector('.VPNavBarTranslations a[href=%q]')", siteBase+language.other))
	}
	b.visit(siteBase + "reference/actions")
	b.until(fmt.Sprintf("document.querySelector('.VPNavBarTranslations a[href=%q]')", siteBase+"zh/")) // as it is not translated
}

// TestSiteFits proves that no page is wider than its window, in which all text can be read:
// wide tables scroll.
func TestSiteFits(t *testing.T) {
	b := openSite(t)
	for _, page := range []string{"", "zh/", "seeds", "ccm-versions", "zh/library"} {
		for _, window := range []struct {
			scheme string
			width  int64
		}{{"light", 400}, {"light", 2560}, {"light", 1280}, {"dark", 1280}} {
			b.colours(window.scheme)
			b.size(window.width, 860)
			b.visit(siteBase + page)
			b.until("document.querySelector('h1')?.checkVisibility()")
			if over := value[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s is %d pixels wider than a window of %d", page, over, window.width)
			}
			for _, faint := range slices.Compact(value[[]string](b, contrasts)) {
				t.Errorf("%s, %s, %d wide: %s", page, window.scheme, window.width, faint)
			}
		}
	}
}

var (
	siteLink = regexp.MustCompile(` (?:href|src)="([^"]*)"`)
	siteID   = regexp.MustCompile(` id="([^"]*)"`)
)

// TestSiteLinks proves that every page of the repository is on the site, that all links there
// lead to a file and a heading, and that no page shows what is for tests.
func TestSiteLinks(t *testing.T) {
	dir := site(t)
	pages := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".html" {
			return err
		}
		text, err := os.ReadFile(name)
		pages[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all, _ := sources()
	want := 1 // 404.html
	for name := range all {
		if path.Ext(name) == ".md" && name != "AGENTS.md" {
			want++
		}
	}
	if len(pages) != want {
		t.Errorf("there are %d pages, want %d", len(pages), want)
	}
	for name, text := range pages {
		if strings.Contains(text, "translated from the English page") || strings.Contains(text, "<!-- serves") {
			t.Errorf("%s has comments of its source", name)
		}
		for _, found := range siteLink.FindAllStringSubmatch(text, -1) {
			to, anchor, _ := strings.Cut(found[1], "#")
			target := name
			switch {
			case strings.Contains(to, ":"):
				continue
			case to != "":
				target = file(dir, to)
			}
			if target == "" {
				t.Errorf("%s links to %s, which is not there", name, found[1])
			} else if anchor != "" && !slices.ContainsFunc(siteID.FindAllStringSubmatch(pages[target], -1), func(id []string) bool { return id[1] == anchor }) {
				t.Errorf("%s links to %s, which has no such heading", name, found[1])
			}
		}
	}
}

// TestSiteDeadLink proves that a link to a page that is not there fails the build.
func TestSiteDeadLink(t *testing.T) {
	site(t)
	all, _ := sources()
	dir := t.TempDir()
	for name, text := range all {
		switch {
		case name == "CHANGELOG.md":
			text = []byte("# Changes\n\n[Nothing](docs/nothing.md)\n")
		case path.Ext(name) == ".md":
			text = []byte("# Page\n\nclbemu is here.\n")
		}
		name = strings.Replace(name, "docs/site/", "bin/site-build/", 1)
		if err := os.MkdirAll(filepath.Join(dir, path.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	modules, err := filepath.Abs(filepath.Join(root, "bin", "site-build", "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("npm", "run", "--silent", "build")
	build.Dir = filepath.Join(dir, "bin", "site-build")
	if err := os.Symlink(modules, filepath.Join(build.Dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if text, err := build.CombinedOutput(); err == nil || !strings.Contains(string(text), "CHANGELOG.md links to docs/nothing.md, and there is no docs/nothing.md") {
		t.Errorf("the build says %v, %s", err, text)
	}
}
