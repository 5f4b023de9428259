package control_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/world"
)

// stuck is the answer to a client that reads nothing until released.
type stuck struct {
	*httptest.ResponseRecorder
	begun *atomic.Int64
	read  <-chan struct{}
}

func (s stuck) Write(p []byte) (int, error) {
	s.begun.Add(1)
	<-s.read
	s.begun.Add(-1)
	return s.ResponseRecorder.Write(p)
}

// TestCrowdOfReaders proves that few large answers are made at a time, however
// many clients ask and don't read: others wait, get an error when that takes too long,
// and get theirs when there is room again.
func TestCrowdOfReaders(t *testing.T) {
	for _, path := range []string{"/v1/state", "/v1/journal"} {
		t.Run(path, func(t *testing.T) {
			store := gatewaytest.Store(t, world.Default().Plant)
			synctest.Test(t, func(t *testing.T) {
				f := fixtureOver(t, store, nil)
				read := make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var making, told, done atomic.Int64
				ask := func() {
					r := httptest.NewRequestWithContext(ctx, "GET", path, nil)
					r.Host = "localhost"
					w := stuck{httptest.NewRecorder(), &making, read}
					f.handler.ServeHTTP(w, r)
					switch w.Code {
					case http.StatusOK:
						done.Add(1)
					case http.StatusServiceUnavailable:
						told.Add(1)
					}
				}
				for range 200 {
					go ask()
				}
				synctest.Wait()
				if making.Load() == 0 || making.Load() > 10 {
					t.Errorf("%d large answers are made at a time, want a few", making.Load())
				}
				busy := making.Load()
				time.Sleep(time.Hour) // of this bubble
				close(read)
				synctest.Wait()
				if told.Load() != 200-busy || done.Load() != busy {
					t.Errorf("%d clients were told that too many ask, and %d got an answer, want %d and %d", told.Load(), done.Load(), 200-busy, busy)
				}
				ask()
				if done.Load() != busy+1 {
					t.Error("nobody gets an answer any more")
				}
			})
		})
	}
}

// TestOneImportAtATime proves that documents are read one after the other, and
// that who waits keeps nothing.
func TestOneImportAtATime(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant)
	synctest.Test(t, func(t *testing.T) {
		f := fixtureOver(t, store, nil)
		read := make(chan struct{})
		var reading atomic.Int64
		var refused atomic.Int64
		for _, call := range []struct{ method, path string }{{"PUT", "/v1/state"}, {"POST", "/v1/world/import"}, {"PUT", "/v1/state"}} {
			go func() {
				r := httptest.NewRequest(call.method, call.path, &halting{&reading, read})
				r.Host = "localhost"
				w := httptest.NewRecorder()
				f.handler.ServeHTTP(w, r)
				if w.Code == http.StatusServiceUnavailable && strings.Contains(w.Body.String(), "again") {
					refused.Add(1)
				}
			}()
		}
		synctest.Wait()
		if reading.Load() != 1 {
			t.Errorf("%d documents are read at a time, want one", reading.Load())
		}
		time.Sleep(time.Hour)
		close(read)
		synctest.Wait()
		if refused.Load() != 2 {
			t.Errorf("%d clients were told to come again, want two", refused.Load())
		}
	})
}

// halting is a body that does not come.
type halting struct {
	reading *atomic.Int64
	read    <-chan struct{}
}

func (s *halting) Read([]byte) (int, error) {
	s.reading.Add(1)
	<-s.read
	return 0, context.Canceled
}
