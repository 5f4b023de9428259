package state

import (
	"errors"
	"fmt"
	"testing"
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
