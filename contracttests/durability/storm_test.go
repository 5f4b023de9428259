package durability_test

import (
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/clbemu/clbemu/emulator/apiclient"
)

// storm runs against a server until it dies: many writers, and now and then a change of
// the whole world next to their calls.
type storm struct {
	*cloud
	writers []*writer
	fuse    fuse

	over   atomic.Bool
	failed chan error // the first thing that was wrong
	// gate is held by each call of a writer, and by who needs them all to wait.
	gate     sync.RWMutex
	changing sync.Mutex // one change of the world at a time
}

// fuse does something once, after a number of events.
type fuse struct {
	left atomic.Int64
	blow func()
}

func (f *fuse) burn() {
	if f.left.Add(-1) == 0 {
		f.blow()
	}
}

// shorten lets the fuse blow after as many events at most.
func (f *fuse) shorten(to int64) {
	for left := f.left.Load(); left > to && !f.left.CompareAndSwap(left, to); left = f.left.Load() {
	}
}

// rage lets writers make calls until end is called, after a number of events, and has its
// effect. An event is a call sent or answered. It returns what was wrong with
// the answers.
func (c *cloud) rage(writers, events int, end func(*storm)) error {
	s := &storm{cloud: c, writers: c.writers[:writers], failed: make(chan error, 1)}
	s.fuse.left.Store(int64(events))
	s.fuse.blow = func() { end(s) }
	var all sync.WaitGroup
	client := c.server.Client()
	for _, w := range s.writers {
		all.Go(func() {
			for s.write(w, client) {
				if w.chance.IntN(changeEvery) == 0 {
					s.changeWorld()
				}
			}
		})
	}
	all.Wait()
	select {
	case err := <-s.failed:
		return err
	default:
		return nil
	}
}

// changeEvery is the number of calls for each change of the world.
const changeEvery = 60

// endBy ends a storm by ending the server.
func endBy(signal os.Signal) func(*storm) {
	return func(s *storm) { s.server.Cmd.Process.Signal(signal) }
}

// stopWriters ends a storm and leaves the server.
func stopWriters(s *storm) { s.over.Store(true) }

// ended waits for the server: one asked to end does so with success and in
// silence.
func (c *cloud) ended(signal os.Signal) error {
	err := c.server.Cmd.Wait()
	if signal != os.Kill && (err != nil || c.server.Stderr.Len() > 0) {
		return fmt.Errorf("after %v: %v and %q, want 0 and silence", signal, err, c.server.Stderr.String())
	}
	return nil
}

// write makes one call of a writer and notes the answer. It reports false when
// the storm is over.
func (s *storm) write(w *writer, client *apiclient.Client) bool {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.over.Load() {
		return false
	}
	next, ok := w.next(s.change)
	if !ok {
		return true
	}
	s.fuse.burn()
	reply, err := client.Call(next.version, next.action, next.params)
	s.fuse.burn()
	failed := s.diskFails && reply.Status >= http.StatusInternalServerError
	got := answered{call: next, reply: reply, lost: err != nil || failed}
	w.note(got)
	switch {
	case err != nil:
		return s.died(fmt.Errorf("%s: %w", next.action, err))
	case failed:
		s.counts.add("calls that failed with the disk")
		s.over.Store(true)
		return false
	}
	s.counts.add(next.action)
	if !got.succeeded() {
		s.counts.add("refused calls")
	}
	if s.change == nil {
		return s.may(w.explain())
	}
	return true
}

// died ends the storm at a call without an answer, which is an error when nobody
// has killed the server.
func (s *storm) died(err error) bool {
	s.over.Store(true)
	if s.fuse.left.Load() > 0 {
		return s.may(err)
	}
	return false
}

// may ends the storm at an error.
func (s *storm) may(err error) bool {
	if err == nil {
		return true
	}
	select {
	case s.failed <- err:
		s.server.Cmd.Process.Kill()
	default: // not the first
	}
	s.over.Store(true)
	return false
}

// changeWorld makes one change of the whole world next to the calls of the writers.
// Then these wait, and what each has is looked at.
func (s *storm) changeWorld() {
	if !s.changing.TryLock() {
		return
	}
	defer s.changing.Unlock()
	s.gate.Lock()
	if s.over.Load() {
		s.gate.Unlock()
		return
	}
	change := s.nextWorldChange()
	s.change = &change
	if s.endsAmidChanges && s.chance.IntN(4) == 0 {
		s.fuse.shorten(1 + s.chance.Int64N(int64(2*len(s.writers))))
	}
	s.gate.Unlock()
	var status int
	var answer []byte
	var err error
	var asking sync.WaitGroup
	asking.Go(func() { status, answer, err = s.server.Ask(change.method, change.path, change.body) })
	s.gate.Lock() // the calls next to it are answered
	defer s.gate.Unlock()
	asking.Wait()
	switch {
	case err != nil:
		change.done(nil, true)
		s.died(fmt.Errorf("%s: %w", change.name, err))
	case status != http.StatusOK:
		s.may(fmt.Errorf("%s = %d, %s", change.name, status, answer))
	default:
		s.counts.add(change.name)
		change.done(answer, false)
		s.changed()
	}
}

// changed finds out what the writers have after a change that succeeded. When the
// server is dead meanwhile, it is left to be found out after the restart.
func (s *storm) changed() {
	if len(s.change.become) > 0 {
		s.change.answered = true
		if err := s.settle(s.change.become...); err != nil {
			s.died(err)
			return
		}
	}
	s.change = nil
	for _, w := range s.writers {
		if w.lost == nil {
			s.may(w.explain())
		}
	}
}
