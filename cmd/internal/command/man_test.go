package command

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// manual is the folder for a release's manual pages. A test writes them and not a
// command, since each start of the program would pay for their generator.
var manual = flag.String("man", "", "write the manual pages into this folder")

// TestMan proves that every command has a manual page with its description and its
// examples.
func TestMan(t *testing.T) {
	dir := *manual
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "man1")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	root := plain.newRoot()
	root.DisableAutoGenTag = true // the same of every build
	eachCommand(root, func(cmd *cobra.Command) { cmd.Long = preformatted(cmd.Long) })
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: programName}, dir); err != nil {
		t.Fatal(err)
	}
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil || !strings.Contains(string(page), ".SH EXAMPLE") {
			t.Errorf("its page is %.200s, %v", page, err)
		}
		for block := range strings.SplitSeq(cmd.Long, "\n\n") {
			for line := range strings.Lines(block) {
				if line = strings.TrimSuffix(line, "\n"); laidOut.MatchString(block) && !strings.Contains(string(page), "\n"+line+"\n") {
					t.Errorf("its page has no line %q", line)
				}
			}
		}
	})
}

// eachCommand does something with a command and all below it.
func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, c := range cmd.Commands() {
		eachCommand(c, do)
	}
}

// laidOut matches a paragraph whose lines and columns count, such as YAML.
var laidOut = regexp.MustCompile(`(?m)^  |\S {3}`)

// preformatted marks such paragraphs, by four spaces, as those that a manual page must not
// fill.
func preformatted(text string) string {
	blocks := strings.Split(text, "\n\n")
	for i, block := range blocks {
		if laidOut.MatchString(block) {
			blocks[i] = "    " + strings.ReplaceAll(block, "\n", "\n    ")
		}
	}
	return strings.Join(blocks, "\n\n")
}
