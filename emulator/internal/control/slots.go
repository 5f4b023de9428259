package control

import (
	"context"
	"net/http"
	"time"
)

// slots limits how many memory-hungry calls run at once.
type slots chan struct{}

// patience limits how long a call waits for a slot: as long as a stuck one keeps it.
const patience = 30 * time.Second

// bound makes calls wait for a slot, and refuses those that wait too long or until clbemu
// closes. Where one is free, a call runs even while clbemu closes: only its handler
// can answer with success.
func (s slots) bound(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		if refused := s.enter(request.Context()); refused != "" {
			w.Header().Set("Retry-After", "30")
			fail(w, http.StatusServiceUnavailable, refused)
			return
		}
		defer func() { <-s }()
		handle(w, request)
	}
}

// enter takes a slot, or says why none is free.
func (s slots) enter(ctx context.Context) (refused string) {
	select {
	case s <- struct{}{}:
		return ""
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case s <- struct{}{}:
		return ""
	case <-timer.C:
		return "too many calls that take much memory are under way: call again later"
	case <-ctx.Done():
		return "clbemu is closing, or the call was given up"
	}
}
