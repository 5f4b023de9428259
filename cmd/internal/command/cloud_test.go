package command

import (
	"strings"
	"testing"
)

// TestCloudHint proves that the commands that a new cloud's owner is shown reach the
// emulator that has it.
func TestCloudHint(t *testing.T) {
	server := served(t)
	code, stdout, problems := executed(t, "cloud", "create", "team-a", "--server", server)
	if want := "clbemu get --cloud team-a --server " + server + "\n"; code != exitOK || !strings.Contains(stdout, want) {
		t.Errorf("cloud create = %d, %s%s, want %q", code, stdout, problems, want)
	}
}
