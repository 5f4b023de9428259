package dataplane

import (
	"context"
	"errors"
	"testing"
)

// A wait ends after the look that checks and fault rules asked for, and not before.
func TestWait(t *testing.T) {
	d := newDirty()
	ended, end := context.WithCancel(t.Context())
	end()
	if err := d.wait(ended, 0); err != nil {
		t.Errorf("nothing was asked for: %v", err)
	}
	for name, ask := range map[string]func(){"a check": func() { d.mark("lb-1") }, "a fault rule": d.rulesChanged} {
		ask()
		if err := d.wait(ended, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s asked for a look, and nobody waits for it: %v", name, err)
		}
		round := d.take()
		ask()
		d.done(round)
		if err := d.wait(ended, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%s asked for a second look, and nobody waits for it: %v", name, err)
		}
		d.done(d.take())
		if err := d.wait(ended, 0); err != nil {
			t.Errorf("%s got its look: %v", name, err)
		}
	}
}
