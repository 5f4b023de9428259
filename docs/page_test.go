// Package docs_test holds the pages of this repository to what they say: their
// commands run, their links lead somewhere, and no language falls behind the other.
package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// root is the folder of the repository.
const root = ".."

// page is a Markdown file.
type page struct {
	// name is its path in the repository.
	name, text string
	blocks     []block
	headings   []heading
	links      []link
	// code are the spans of code in the prose.
	code []span
}

// block is a fenced block of code.
type block struct {
	lang, text string
	// mark is the comment on the line before.
	mark string
	line int
}

// The marks of a block: the comment on the line before.
const (
	serves = "serves" // it goes on in a terminal of its own
	fails  = "fails"  // it exits with 1
	alone  = "alone"  // it is without the emulator of the other terminal
)

// key returns the key of a block in lists: its page and first line.
func (p *page) key(b *block) string {
	line, _, _ := strings.Cut(b.text, "\n")
	return p.name + ": " + line
}

type heading struct {
	level int
	text  string
}

type link struct {
	target string
	line   int
}

type span struct {
	text string
	line int
}

var (
	marked   = regexp.MustCompile(`^<!-- (.*) -->$`)
	titled   = regexp.MustCompile(`^(#+) (.*)$`)
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeSpan = regexp.MustCompile("`([^`]+)`")
)

// parse reads a page.
func parse(name, text string) *page {
	p := &page{name: name, text: text}
	var open *block
	before := ""
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case open != nil && isFence:
			p.blocks, open = append(p.blocks, *open), nil
		case open != nil:
			open.text += line + "\n"
		case isFence:
			open = &block{lang: fence, line: i + 1}
			if found := marked.FindStringSubmatch(before); found != nil {
				open.mark = found[1]
			}
		default:
			p.prose(line, i+1)
		}
		before = line
	}
	return p
}

func (p *page) prose(line string, number int) {
	if found := titled.FindStringSubmatch(line); found != nil {
		p.headings = append(p.headings, heading{len(found[1]), found[2]})
	}
	for _, found := range codeSpan.FindAllStringSubmatch(line, -1) {
		p.code = append(p.code, span{found[1], number})
	}
	for _, found := range linked.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
		p.links = append(p.links, link{found[1], number})
	}
}

// notOurs are the folders whose pages are not this repository's, or are made for a
// test.
var notOurs = []string{".git", "bin", "node_modules", "testdata", "clbemu-data", "kind-artifacts"}

// pages holds the pages of the repository. They are read when a test runs, so that Go
// knows on which files its result depends.
var pages = sync.OnceValue(func() map[string]*page {
	all := make(map[string]*page)
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(notOurs, path.Base(name)):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		all[name] = parse(name, string(text))
		return err
	})
	if err != nil {
		panic(err)
	}
	return all
})

// names returns the pages in order.
func names() (list []string) {
	for name := range pages() {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
