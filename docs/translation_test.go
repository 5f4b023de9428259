package docs_test

import (
	"crypto/sha256"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// english names the page that a Chinese one translates, if it is one.
func english(name string) (of string, is bool) {
	if name == "docs/zh/library.md" {
		return name, false // TestChineseLibrary holds it to the library
	}
	if path.Dir(name) == "docs/zh" {
		return "docs/" + path.Base(name), true
	}
	stem, is := strings.CutSuffix(name, ".zh.md")
	return stem + ".md", is
}

// chinese returns the other language of an English page.
func chinese(name string) string {
	if name == "README.md" {
		return "README.zh.md"
	}
	return path.Join("docs/zh", path.Base(name))
}

var digestLine = regexp.MustCompile(`^<!-- translated from the English page with the digest ([0-9a-f]{16}) -->\n`)

// digest distinguishes one text of a page from another.
func digest(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:16] }

// behind says in what a Chinese page is not what the English one is.
func behind(from, to *page, in map[string]*page) (all []string) {
	found := digestLine.FindStringSubmatch(to.text)
	if found == nil || found[1] != digest(from.text) {
		all = append(all, fmt.Sprintf("%s has changed since it was translated: look at what has changed, and let the first line be\n<!-- translated from the English page with the digest %s -->", from.name, digest(from.text)))
	}
	if a, b := levels(from), levels(to); !slices.Equal(a, b) {
		all = append(all, fmt.Sprintf("the levels of the headings are %v, and of %s %v", b, from.name, a))
	}
	if len(from.blocks) != len(to.blocks) {
		all = append(all, fmt.Sprintf("there are %d blocks of code, and in %s %d", len(to.blocks), from.name, len(from.blocks)))
	}
	for i := range min(len(from.blocks), len(to.blocks)) {
		a, b := from.blocks[i], to.blocks[i]
		if a.lang != b.lang || a.text != b.text || a.mark != b.mark {
			all = append(all, fmt.Sprintf("the block of line %d differs from line %d of %s", b.line, a.line, from.name))
		}
	}
	if a, b := leads(from, in), leads(to, in); !slices.Equal(a, b) {
		all = append(all, fmt.Sprintf("the links lead to\n%q\nand in %s to\n%q", b, from.name, a))
	}
	return all
}

func levels(p *page) (list []int) {
	for _, h := range p.headings {
		list = append(list, h.level)
	}
	return list
}

// leads returns the targets of a page's links, in any language and in any order.
func leads(p *page, in map[string]*page) (list []string) {
	for _, l := range p.links {
		name, place, err := p.target(l.target, in)
		if err != nil {
			continue // TestLinks reports it
		}
		if of, is := english(name); is {
			name = of
		}
		if own, _ := english(p.name); name == p.name || name == own {
			name = "this page" // which may lead to its other language
		}
		list = append(list, fmt.Sprint(name, " ", place))
	}
	slices.Sort(list)
	return list
}

// TestTranslations proves that the README, the index of the pages and those for
// getting started are there in Chinese, and that none has fallen behind.
func TestTranslations(t *testing.T) {
	wanted := []string{"README.md", "docs/README.md"}
	_, start, found := strings.Cut(pages()["docs/README.md"].text, "\n## Getting started\n")
	start, _, more := strings.Cut(start, "\n## ")
	if !found || !more {
		t.Fatal("docs/README.md does not begin with how to get started")
	}
	for _, l := range parse("docs/README.md", start).links {
		name, _, _ := pages()["docs/README.md"].target(l.target, pages()) // TestLinks reports it
		wanted = append(wanted, name)
	}
	if len(wanted) < 6 {
		t.Errorf("there are %q to begin with", wanted)
	}
	for _, name := range wanted {
		if _, is := english(name); !is && pages()[chinese(name)] == nil {
			t.Errorf("there is no %s, and there is %s", chinese(name), name)
		}
	}
	for _, name := range names() {
		of, is := english(name)
		if !is {
			continue
		}
		if pages()[of] == nil {
			t.Errorf("%s is translated from %s, which is not there", name, of)
			continue
		}
		for _, what := range behind(pages()[of], pages()[name], pages()) {
			t.Errorf("%s has fallen behind: %s", name, what)
		}
	}
}

// TestFallingBehind proves that a page which falls behind in any way is found.
func TestFallingBehind(t *testing.T) {
	const text = "# Start\n\nSee [Terraform](terraform.md#two) and [kind](https://kind.sigs.k8s.io).\n\n## Run it\n\n<!-- serves -->\n```sh\nmake run\n```\n"
	head := "<!-- translated from the English page with the digest " + digest(text) + " -->\n"
	const body = "# 开始\n\n参见 [Terraform](terraform.md#二) 和 [kind](https://kind.sigs.k8s.io)。\n\n## 运行\n\n<!-- serves -->\n```sh\nmake run\n```\n"
	for name, test := range map[string]struct{ english, chinese, want string }{
		"current":            {text, head + body, ""},
		"no digest":          {text, body, "has changed since it was translated"},
		"English changed":    {strings.Replace(text, "See", "Look at", 1), head + body, "has changed since it was translated"},
		"heading missing":    {text, head + strings.Replace(body, "## 运行\n", "", 1), "the levels of the headings are [1], "},
		"heading deeper":     {text, head + strings.Replace(body, "## 运行", "### 运行", 1), "the levels of the headings are [1 3]"},
		"command changed":    {text, head + strings.Replace(body, "make run", "make start", 1), "the block of line 9 differs from line 8"},
		"mark lost":          {text, head + strings.Replace(body, "<!-- serves -->\n", "", 1), "differs from line 8"},
		"block missing":      {text, head + body[:strings.Index(body, "<!--")], "there are 0 blocks of code"},
		"link missing":       {text, head + strings.Replace(body, "[kind](https://kind.sigs.k8s.io)", "kind", 1), "the links lead to"},
		"link to elsewhere":  {text, head + strings.Replace(body, "#二", "#一", 1), "the links lead to"},
		"link to other page": {text, head + strings.Replace(body, "terraform.md#二", "start.md", 1), "the links lead to"},
	} {
		from, to := parse("docs/start.md", test.english), parse("docs/zh/start.md", test.chinese)
		in := map[string]*page{
			"docs/start.md": from, "docs/zh/start.md": to,
			"docs/terraform.md": parse("docs/terraform.md", "# One\n## Two\n"), "docs/zh/terraform.md": parse("docs/zh/terraform.md", "# 一\n## 二\n"),
		}
		got := strings.Join(behind(from, to, in), "\n")
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %q", name, got, test.want)
		}
	}
}

// TestChineseIsNotWrapped proves that no paragraph in Chinese goes on in a second line:
// between Chinese words a line break is shown as a space.
func TestChineseIsNotWrapped(t *testing.T) {
	begins := regexp.MustCompile(`^(- |#|<!--|!\[|\||$)`)
	for _, name := range names() {
		if _, is := english(name); !is {
			continue
		}
		fenced, before := false, ""
		for i, line := range strings.Split(pages()[name].text, "\n") {
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			} else if !fenced && !begins.MatchString(line) && !begins.MatchString(strings.Replace(before, "- ", "", 1)) && !strings.HasPrefix(before, "```") {
				t.Errorf("%s:%d goes on with the paragraph of the line before", name, i+1)
			}
			before = line
		}
	}
}
