package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestMan proves that every command has a manual page with its description and its
// examples.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if code, _, problems := executed(t, "man", dir); code != exitOK {
		t.Fatal(problems)
	}
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil || !strings.Contains(string(page), ".SH EXAMPLE") {
			t.Errorf("its page is %.200s, %v", page, err)
		}
	})
}
