package dataplane

import (
	"fmt"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// TestFindWhileListenersCome proves that readers find each listener once it is there, while others
// come.
func TestFindWhileListenersCome(t *testing.T) {
	const listeners = 300
	p := &Plane{cfg: Config{Log: zerolog.Nop(), MaxListeners: listeners}, listeners: make(map[string]*listener), dirty: newDirty()}
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for n := range listeners {
				id := fmt.Sprintf("lsn-%d", n)
				l := p.find(id)
				for l == nil {
					l = p.find(id)
				}
				if l.id != id {
					t.Errorf("find %s = %s", id, l.id)
				}
			}
		})
	}
	for n := range listeners {
		if p.add(&topology.Frontend{ID: fmt.Sprintf("lsn-%d", n)}) == nil {
			t.Errorf("there is no place for listener %d of %d", n+1, listeners)
		}
	}
	if p.add(&topology.Frontend{ID: "lsn-more"}) != nil {
		t.Error("there is a place for one listener too many")
	}
	readers.Wait()
}
