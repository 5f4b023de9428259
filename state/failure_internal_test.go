package state

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/state/engine"
)

// TestFailureSaysAllOnce proves that what the check after a failed commit finds is added
// unless the commit said it.
func TestFailureSaysAllOnce(t *testing.T) {
	replaced := errors.New("the database was replaced")
	found := errors.Join(fmt.Errorf("clbemu.db: %w", replaced), nil) // as an engine opens its file again
	for _, test := range []struct {
		f    failure
		want string
	}{
		{failure{commit: fmt.Errorf("write clbemu.db: %w", replaced), recovery: found}, "write clbemu.db: the database was replaced"},
		{failure{commit: errors.New("write clbemu.db: no space left"), recovery: found}, "write clbemu.db: no space left, and after that: clbemu.db: the database was replaced"},
	} {
		if got := test.f.Error(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

// TestFailureSaysWhatIsKnown proves that the log calls the outcome of a write unknown only if
// it is.
func TestFailureSaysWhatIsKnown(t *testing.T) {
	lost := errors.New("the disk is gone")
	for _, test := range []struct {
		commit  error
		unknown bool
	}{{lost, true}, {fmt.Errorf("%w: %w", engine.ErrNotMade, lost), false}} {
		said := (&failure{commit: test.commit, recovery: lost}).said()
		if unknown := strings.Contains(said, "it is not known whether it is kept"); unknown != test.unknown || !strings.Contains(said, "the disk is gone") {
			t.Errorf("%v: the log says %q, want unknown: %v, and the reason", test.commit, said, test.unknown)
		}
	}
}
