package docs_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

var absolute = regexp.MustCompile(`^[a-z]+:`)

// anchors returns the places of a page that links may name, as GitHub makes them of headings.
func (p *page) anchors() (list []string) {
	seen := make(map[string]int)
	for _, h := range p.headings {
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, linkText.ReplaceAllString(h.text, "$1"))
		if n := seen[anchor]; n > 0 {
			anchor += "-" + strconv.Itoa(n)
		}
		seen[anchor]++
		list = append(list, anchor)
	}
	return list
}

var linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)

// target returns the target of a page's link: a path in the repository, and the
// position of a heading there, or -1. An absolute one is left as it is.
func (p *page) target(to string, in map[string]*page) (name string, place int, err error) {
	if absolute.MatchString(to) {
		return to, -1, nil
	}
	file, anchor, anchored := strings.Cut(to, "#")
	name = p.name
	if file != "" {
		name = path.Join(path.Dir(p.name), file)
	}
	if _, err := os.Stat(filepath.Join(root, name)); err != nil && in[name] == nil {
		return name, -1, fmt.Errorf("there is no %s", name)
	}
	if !anchored {
		return name, -1, nil
	}
	if in[name] == nil {
		return name, -1, fmt.Errorf("%s is no page with headings", name)
	}
	for i, a := range in[name].anchors() {
		if a == anchor {
			return name, i, nil
		}
	}
	return name, -1, fmt.Errorf("%s has no heading #%s", name, anchor)
}

// TestLinks proves that every relative link of every page leads to a file that there
// is, and to a heading of it.
func TestLinks(t *testing.T) {
	links := 0
	for _, name := range names() {
		for _, l := range pages()[name].links {
			links++
			if _, _, err := pages()[name].target(l.target, pages()); err != nil {
				t.Errorf("%s:%d: (%s): %v", name, l.line, l.target, err)
			}
		}
	}
	if links < 50 {
		t.Errorf("there are %d links, want the links of all pages", links)
	}
}

// TestLinkTargets proves that a link to a file or a heading that there is not is
// found.
func TestLinkTargets(t *testing.T) {
	in := map[string]*page{
		"docs/a.md": parse("docs/a.md", "# A page\n## What, with `code` and [a link](x.md)?\n## Twice\n## Twice\n## 运行 CCM\n```\n# no heading\n```\n"),
	}
	from := parse("docs/zh/b.md", "# B\n")
	for to, want := range map[string]string{
		"../a.md": "", "../a.md#a-page": "", "../a.md#what-with-code-and-a-link": "", "../a.md#twice-1": "", "../a.md#运行-ccm": "", "#b": "", "https://kind.sigs.k8s.io/#x": "",
		"a.md": "there is no docs/zh/a.md", "../a.md#no-heading": "has no heading #no-heading", "../a.md#twice-2": "has no heading", "../links_test.go#a": "no page with headings",
	} {
		in["docs/zh/b.md"] = from
		_, _, err := from.target(to, in)
		if got := fmt.Sprint(err); (err != nil) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("(%s) = %v, want %q", to, err, want)
		}
	}
}
