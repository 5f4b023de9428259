package docs_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// foreign are words that people stumble over; CONTRIBUTING.md says what to write
// instead, under Words. The last ones are identifiers.
var foreign = regexp.MustCompile(`\b(?i:(is|are) told|tells whether|tell(s|ing)? of|told of|anew|what there is|comes about|takes? the place of|` +
	`in the place of|(is|are) let (be|go|through)|befalls?|told so|no matter of|` +
	`what else there is|brings? about|of the others (each|every)|what is there|(after|just|over) so many)\b` +
	`|\bdoors?\b|Doors?\b|Door[A-Z]|\bestates?\b|Estate|\bthrift|Thrift|letProgramGo`)

// read are the kinds of files that people read.
var read = []string{".go", ".md", ".js", ".mjs", ".html", ".css", ".yaml", ".yml", ".sh"}

// flat returns a text on one line, without what begins the lines of comments: a phrase may be
// broken over two.
func flat(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		b.WriteString(strings.TrimLeft(line, "/# "))
		b.WriteByte(' ')
	}
	return b.String()
}

// TestWords proves that no file has a foreign phrase, also where it is broken over two
// lines.
func TestWords(t *testing.T) {
	takes := func(name string) bool {
		return slices.Contains(read, path.Ext(name)) && path.Base(name) != "words_test.go"
	}
	eachFile(t, takes, func(name, text string) {
		all := flat(text)
		for _, at := range foreign.FindAllStringIndex(all, -1) {
			t.Errorf("%s: %q, in: %s", name, all[at[0]:at[1]], all[max(0, at[0]-60):min(len(all), at[1]+60)])
		}
	})
}

// eachFile reads the repository's files whose names takes reports.
func eachFile(t *testing.T, takes func(name string) bool, do func(name, text string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(notOurs, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !takes(name):
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil {
			do(name, string(text))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWordsAreFound proves that each phrase would be found.
func TestWordsAreFound(t *testing.T) {
	for _, text := range []string{
		"X is told of Y", "are\n// told", "Tells whether", "tells of", "begins anew", "what\n\t# there is", "comes about", "takes the place of",
		"in the place of", "is let be", "are let go", "befalls", "was told so", "no matter of",
		"what else there is", "brings about", "what is there", "after so many", "of the others each", "newDoor", "the estate", "deleteEstates", "thrifty", "letProgramGo",
	} {
		if !foreign.MatchString(flat(text)) {
			t.Errorf("%q is not found", text)
		}
	}
}
