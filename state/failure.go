package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/clbemu/clbemu/state/engine"
)

// ErrNotKept is in the errors of writes when the engine fails.
var ErrNotKept = errors.New("the state can't be kept")

// NotKeptError is the engine's failure as the answer to a write.
type NotKeptError struct {
	Cause error
	// Unknown says that the write reached the engine: it may be durable, and may show
	// after a restart. Otherwise the store refused it before.
	Unknown bool
}

func (e *NotKeptError) Error() string {
	if e.Unknown {
		return "it is not known whether the change is kept: " + e.Cause.Error()
	}
	return ErrNotKept.Error() + ": " + e.Cause.Error()
}

func (e *NotKeptError) Unwrap() []error { return []error{ErrNotKept, e.Cause} }

// failure holds why writes are refused: a commit failed, and then the check of what the
// engine kept.
type failure struct {
	commit, recovery error
	retry            time.Time // when it is worth looking again
}

func (f *failure) Error() string {
	if root := rootOf(f.recovery); errors.Is(f.commit, root) {
		return f.commit.Error() // which says it all
	}
	return fmt.Sprintf("%v, and after that: %v", f.commit, f.recovery)
}

// said returns the text for the log.
func (f *failure) said() string {
	outcome := "it is not known whether it is kept: a restart may show it"
	if errors.Is(f.commit, engine.ErrNotMade) {
		outcome = "clients know that it is not kept"
	}
	return "a write failed, and " + outcome + "; until it is known what is kept, writes are refused and reads show what was acknowledged: " + f.Error()
}

func (f *failure) Unwrap() []error { return []error{f.commit, f.recovery} }

// rootOf returns the innermost of the errors that an error wraps one by one.
func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) == 1 {
			inner = joined.Unwrap()[0]
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}

// retryAfter keeps many refused writers from reading the whole state in turn.
const retryAfter = time.Second

// Failing returns why the store refuses writes, nil while it takes them. Reads are
// always served.
func (s *Store) Failing() error {
	if f := s.failing.Load(); f != nil {
		return &NotKeptError{Cause: f}
	}
	return nil
}

// unwritten is a commit that failed.
type unwritten struct {
	error
	at time.Time
}

// worthSaying is the time for which the failure of the last commit is reported: only another commit
// finds out whether the disk takes one again.
const worthSaying = time.Minute

// Unwritten returns why the last commit failed, if that was within the last minute, or nil if it
// did not, or was before that.
func (s *Store) Unwritten() error {
	if u := s.unwritten.Load(); u != nil && time.Since(u.at) < worthSaying {
		return u.error
	}
	return nil
}

// Recovered counts how often the store has read the kept state again, after a commit whose outcome
// was unknown. What follows from the state may differ then.
func (s *Store) Recovered() uint64 { return s.recovered.Load() }

// recover finds out what the engine keeps after a commit that failed, and goes on from there. While
// that can't be found out, the store serves what was acknowledged and refuses writes. The caller
// holds the lock, and nothing is on its way to the disk.
func (s *Store) recover(cause error) {
	err := s.engine.Recover(context.Background())
	if err == nil {
		err = s.reload(context.Background())
	}
	if err == nil {
		s.recovered.Add(1)
	}
	failed := s.failing.Load() != nil
	switch {
	case err == nil && failed:
		s.failing.Store(nil)
		s.warn("writes are taken again: what is kept is known and can be written")
	case err == nil:
		s.warn(fmt.Sprintf("a write failed (%v): what is kept was read again, and is served", cause))
	default:
		f := &failure{commit: cause, recovery: err, retry: time.Now().Add(retryAfter)}
		s.failing.Store(f)
		if !failed {
			s.warn(f.said())
		}
	}
}

// writable refuses a write while the kept state is unknown, and tries from time to time to find it
// out.
func (s *Store) writable() error {
	f := s.failing.Load()
	if f == nil {
		return nil
	}
	if !time.Now().Before(f.retry) {
		s.recover(f.commit)
	}
	return s.Failing()
}
