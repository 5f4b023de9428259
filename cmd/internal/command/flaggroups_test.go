package command

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestFlagGroups proves that the help of serve shows each flag once, in a group.
func TestFlagGroups(t *testing.T) {
	cmd := newServe(nil)
	cmd.InitDefaultHelpFlag()
	help := describeFlags(cmd)
	var grouped []string
	for line := range strings.Lines(serveGroups) {
		title, names, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if !strings.Contains(help, "\n  "+title+"\n") {
			t.Errorf("the help has no group %s", title)
		}
		grouped = append(grouped, strings.Fields(names)...)
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if n := len(regexp.MustCompile(`(?m)^ +(-\w, )?--`+f.Name+` `).FindAllString(help, -1)); n != 1 {
			t.Errorf("the help shows --%s %d times", f.Name, n)
		}
		grouped = slices.DeleteFunc(grouped, func(name string) bool { return name == f.Name })
	})
	if len(grouped) > 0 {
		t.Errorf("groups have flags that serve does not have: %v", grouped)
	}
}
