package command

import (
	"flag"
	"os"
	"path/filepath"
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
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: programName}, dir); err != nil {
		t.Fatal(err)
	}
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil || !strings.Contains(string(page), ".SH EXAMPLE") {
			t.Errorf("its page is %.200s, %v", page, err)
		}
	})
}
