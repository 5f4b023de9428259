package state

import (
	"errors"
	"testing"
)

// TestFailureSaysAllOnce proves that what the check after a failed commit finds is added
// unless the commit said it.
func TestFailureSaysAllOnce(t *testing.T) {
	replaced := func() error { return errors.New("clbemu.db: the database was replaced") }
	for _, test := range []struct {
		f    failure
		want string
	}{
		{failure{commit: errors.New("write " + replaced().Error()), look: replaced()}, "write clbemu.db: the database was replaced"},
		{failure{commit: errors.New("write clbemu.db: no space left"), look: replaced()}, "write clbemu.db: no space left, and after that: clbemu.db: the database was replaced"},
	} {
		if got := test.f.Error(); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
