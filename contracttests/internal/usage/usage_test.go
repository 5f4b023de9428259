package usage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/clbemu/clbemu/emulator/journal"
)

// TestWrite proves that a client's calls are counted without clbemu's own and with the
// indexes of lists left out, and that another client's lines stay.
func TestWrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "usage.tsv")
	if err := os.WriteFile(file, []byte("# head\na\tSlb\tX\tcalls\t-\t1\nb\tSlb\tY\tcalls\t-\t2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var c Calls
	call := &journal.Entry{Product: "Nlb", Action: "TagResources", Parameters: journal.Parameters{{Name: "Tag.1.Key", Value: "a"}, {Name: "Tag.2.Key", Value: "b"}}}
	c.Add([]*journal.Entry{call, call, {Product: "Nlb", Action: "TagResources", UserAgent: "clbemu"}, {Product: "Vpc", Action: "DescribeVpcs"}})
	if err := c.Write(file, "a"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := "# head\na\tNlb\tTagResources\tcalls\t-\t2\na\tNlb\tTagResources\tparameter\tTag.Key\t2\nb\tSlb\tY\tcalls\t-\t2\n"; err != nil || string(got) != want {
		t.Errorf("the file has %q (%v), want %q", got, err, want)
	}
}
