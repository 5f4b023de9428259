// Package console serves the web console: the cloud's resources, the journal, faults,
// conditions and scenarios. It owns the pages, their scripts and their security
// headers. The scripts call the control API like any client; the package must not know
// the store, the products, or how that API answers.
//
// The pages contain nothing secret, and so need no token: they ask for it, keep it in
// the tab's sessionStorage, and send it as a header. A cookie would go to every port of
// the host, and with calls from other sites. The language that a user chose is in one.
//
// A page and a script say their texts in English, which are the keys of zh/words.yaml: a
// page as it stands, a script through t of words.js.
package console

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/faults"
)

//go:embed pages assets
var files embed.FS

// page is a page with its own address; its name is the name of its file
// and of its script.
type page struct{ address, name, title string }

// pages are in the order of their links; the key of a link is its number.
var pages = []page{
	{"/", "topology", "Topology"},
	{"/journal", "journal", "Journal"},
	{"/faults", "faults", "Faults"},
	{"/conditions", "conditions", "Conditions"},
	{"/scenarios", "scenarios", "Scenarios"},
	{"/resources", "resources", "Resources"},
	{"/clouds", "clouds", "Clouds"},
	{"/explore", "explore", "Explore"},
	{"/symptoms", "symptoms", "Symptoms"},
}

// nosuch is the page of all other addresses.
var nosuch = page{"", "nosuch", "No such page"}

// assetPath is the path of the pages' script and style.
const assetPath = "/console/"

// Has reports whether the console serves a path.
func Has(path string) bool {
	return strings.HasPrefix(path, assetPath) || slices.ContainsFunc(pages, func(p page) bool { return p.address == path })
}

// Missing answers a browser that asks for an address without a page with a page, and all
// others with otherwise.
func Missing(otherwise http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !strings.Contains(r.Header.Get("Accept"), "text/html") {
			otherwise.ServeHTTP(w, r)
			return
		}
		content := contents()[place{nosuch.address, preferred(r)}]
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", mediaTypes[content.kind])
		w.WriteHeader(http.StatusNotFound)
		// The client may be gone, which is not an error here.
		_, _ = w.Write(upTo(content.text, strings.Count(r.URL.Path, "/")-1))
	})
}

// upTo rewrites the relative links of a page for a page that lies so many folders deeper.
func upTo(text []byte, folders int) []byte {
	return relative().ReplaceAll(text, []byte(`${1}="`+strings.Repeat("../", folders)+`${2}"`))
}

var relative = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(href|src)="([^"#]*)"`) })

// headers let a page load what is here and nothing else, be shown in no frame, and
// make no markup of text: every text from a client of the cloud stays one.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-cache", // asks each time whether it is still so
}

// Handler serves the paths that the console has.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this is a page: use GET", http.StatusMethodNotAllowed)
			return
		}
		language := preferred(r)
		content, ok := contents()[place{r.URL.Path, language}]
		if !ok {
			http.Error(w, "the console has no such page", http.StatusNotFound)
			return
		}
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Type", mediaTypes[content.kind])
		if content.kind == ".html" {
			w.Header().Set("Content-Language", language)
			w.Header().Set("Vary", "Accept-Language, Cookie")
		}
		w.Header().Set("ETag", content.tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content.text))
	})
}

var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// content is a file served under a path.
type content struct {
	kind, tag string
	text      []byte
}

func newContent(kind string, text []byte) content {
	sum := sha256.Sum256(text)
	return content{kind, `"` + hex.EncodeToString(sum[:12]) + `"`, text}
}

// place says where to find a content, and for which language.
type place struct{ path, language string }

// contents are built on the first request.
var contents = sync.OnceValue(func() map[place]content {
	all := make(map[place]content)
	zh := inChinese()
	for _, p := range append(slices.Clone(pages), nosuch) {
		all[place{p.address, english}] = newContent(".html", p.text(english, chinese, "中文", func(text string) string { return text }))
		all[place{p.address, chinese}] = newContent(".html", p.text(chinese, english, "English", zh.say))
	}
	scripts := map[string][]byte{"templates.js": faultTemplates(), "zh.js": zh.script()}
	assets, _ := files.ReadDir("assets") // which are a part of the program
	for _, a := range assets {
		scripts[a.Name()] = read("assets/" + a.Name())
	}
	for name, text := range scripts {
		asset := newContent(path.Ext(name), text)
		all[place{assetPath + name, english}], all[place{assetPath + name, chinese}] = asset, asset
	}
	return all
})

// text returns the page in a language, with a button that switches to the other one.
func (p page) text(language, other, otherName string, say func(text string) string) []byte {
	var links strings.Builder
	for i, p := range pages {
		fmt.Fprintf(&links, "<a href=\"%s\" data-key=\"%d\">%s</a>\n", cmp.Or(strings.TrimPrefix(p.address, "/"), "./"), i+1, p.title)
	}
	text := strings.NewReplacer("{{title}}", say(p.title), "{{name}}", p.name, "{{links}}", strings.TrimSpace(links.String()),
		"{{lang}}", language, "{{other}}", other, "{{otherName}}", otherName,
		"{{page}}", string(read("pages/"+p.name+".html"))).Replace(string(read("pages/shell.html")))
	return []byte(eachText(text, say))
}

// faultTemplates returns a script with the templates of the kinds of faults.
func faultTemplates() []byte {
	type template struct {
		Kind string `json:"kind"`
		faults.Template
	}
	var templates []template
	for _, kind := range faults.Kinds() {
		for _, t := range kind.Templates {
			templates = append(templates, template{kind.Name, t})
		}
	}
	list, err := json.MarshalIndent(templates, "", "  ")
	if err != nil {
		panic(err) // texts
	}
	return []byte("// Rules to begin with; each is for an action.\nexport const templates = " + string(list) + ";\n")
}

// read reads a file that is a part of the program.
func read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return text
}
