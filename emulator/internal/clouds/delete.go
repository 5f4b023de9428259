package clouds

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
)

// Reset implements control.Clouds. The cloud keeps its name, its port and its expiry.
func (s *Clouds) Reset(ctx context.Context, name string) (controlapi.Cloud, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	old, err := s.remove(name, true)
	if err != nil {
		return controlapi.Cloud{}, err
	}
	defer s.releaseWaiters(name)
	if _, leave, ok := s.enter(old.made.From); ok {
		leave()
	} else {
		s.restore(name, old)
		return controlapi.Cloud{}, fmt.Errorf("%w, from which %s was forked", s.unknown(old.made.From), name)
	}
	fresh := *old
	fresh.Cloud, fresh.calls = nil, new(sync.WaitGroup)
	err = errors.Join(old.drain(ctx), s.forget(ctx, name, old))
	if err == nil {
		err = s.fork(ctx, name, &fresh)
	}
	if err == nil {
		err = s.answer(&fresh)
	}
	if err == nil {
		err = s.publish(ctx, name, &fresh)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("the cloud %s could not be forked again, and is gone: %w", name, err), old.release(ctx))
		if fresh.Cloud != nil {
			err = errors.Join(err, fresh.Close(ctx), s.forget(ctx, name, &fresh))
		}
		return controlapi.Cloud{}, err
	}
	s.restore(name, &fresh)
	return s.show(name, &fresh), nil
}

// releaseWaiters lets those in who waited for a reset to end.
func (s *Clouds) releaseWaiters(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.resetting[name])
	delete(s.resetting, name)
}

// restore puts a cloud back that was removed.
func (s *Clouds) restore(name string, f *forkedCloud) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forked[name] = f
}

// remove takes a cloud out of s.forked, so that no call enters it. With reset, callers wait until
// releaseWaiters. The caller holds s.changing.
func (s *Clouds) remove(name string, reset bool) (*forkedCloud, error) {
	if name == controlapi.DefaultCloud {
		return nil, fmt.Errorf("%w: the default cloud stays: `clbemu state reset` resets it", control.ErrCloud)
	}
	s.mu.Lock()
	f := s.forked[name]
	delete(s.forked, name)
	if f != nil && reset {
		s.resetting[name] = make(chan struct{})
	}
	s.mu.Unlock()
	if f == nil {
		return nil, s.unknown(name)
	}
	return f, nil
}

// Delete implements control.Clouds.
func (s *Clouds) Delete(ctx context.Context, name string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if there, err := s.deleteUnopened(ctx, name); there {
		return err
	}
	f, err := s.remove(name, false)
	if err != nil {
		return err
	}
	return errors.Join(f.release(ctx), f.drain(ctx), s.forget(ctx, name, f))
}

// deleteUnopened deletes what is kept of a cloud that could not be opened. The caller holds
// s.changing.
func (s *Clouds) deleteUnopened(ctx context.Context, name string) (there bool, err error) {
	s.mu.RLock()
	there = s.unopened[name] != nil
	s.mu.RUnlock()
	if !there {
		return false, nil
	}
	if err := s.cfg.Keep.forget(ctx, name); err != nil {
		return true, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unopened, name)
	return true, nil
}

// expire deletes a cloud whose time is over, unless the name is another's by now.
func (s *Clouds) expire(name string, created time.Time) {
	s.mu.RLock()
	f := s.forked[name]
	s.mu.RUnlock()
	if f == nil || f.created != created {
		return
	}
	if err := s.Delete(context.Background(), name); err != nil && !errors.Is(err, control.ErrNoCloud) {
		s.cfg.Log.Warn().Err(err).Str("cloud", name).Msg("delete a cloud that expired")
	}
}

// release gives back what stays over a reset.
func (f *forkedCloud) release(ctx context.Context) error {
	if f.expiry != nil {
		f.expiry.Stop()
	}
	if f.port == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, deleteTimeout)
	defer cancel()
	f.Stop() // or calls that a fault holds would not end
	return f.port.Shutdown(ctx)
}

// drain ends a cloud that takes no new calls, once the calls in flight are answered.
func (f *forkedCloud) drain(ctx context.Context) error {
	f.Stop()
	ended := make(chan struct{})
	go func() {
		f.calls.Wait()
		close(ended)
	}()
	ctx, cancel := context.WithTimeout(ctx, deleteTimeout)
	defer cancel()
	select {
	case <-ended:
	case <-ctx.Done(): // a store that is closed answers them
	}
	return f.Close(ctx)
}

// Close ends all forks; durable ones stay where they are kept.
func (s *Clouds) Close(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	forked := s.forked
	s.forked, s.closed = nil, true
	s.mu.Unlock()
	var errs []error
	for _, f := range forked {
		errs = append(errs, f.release(ctx), f.drain(ctx))
	}
	return errors.Join(errs...)
}
