package control

import (
	"context"
	"net/http"
	"time"
)

// room limits how many memory-hungry calls run at once.
type room chan struct{}

// patience limits how long a call waits for room: as long as a stuck one keeps it.
const patience = 30 * time.Second

// bound makes calls wait for room, and refuses those that wait too long or until clbemu
// closes. Where there is room, a call runs even while clbemu closes: only its handler
// can answer with success.
func (r room) bound(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		if refused := r.enter(request.Context()); refused != "" {
			w.Header().Set("Retry-After", "30")
			fail(w, http.StatusServiceUnavailable, refused)
			return
		}
		defer func() { <-r }()
		handle(w, request)
	}
}

// enter takes room, or says why there is none.
func (r room) enter(ctx context.Context) (refused string) {
	select {
	case r <- struct{}{}:
		return ""
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case r <- struct{}{}:
		return ""
	case <-timer.C:
		return "too many calls that take much memory are under way: call again later"
	case <-ctx.Done():
		return "clbemu is closing, or the call was given up"
	}
}
