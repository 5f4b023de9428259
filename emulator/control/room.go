package control

import (
	"net/http"
	"time"
)

// room is for so many calls at a time that take much memory.
type room chan struct{}

// patience is how long a call waits for room: as long as one that is stuck keeps
// it.
const patience = 30 * time.Second

// bound lets calls wait for room, and refuses those that wait too long.
func (r room) bound(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, request *http.Request) {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		select {
		case r <- struct{}{}:
			defer func() { <-r }()
			handle(w, request)
		case <-timer.C:
			w.Header().Set("Retry-After", "30")
			fail(w, http.StatusServiceUnavailable, "too many calls that take much memory are under way: call again later")
		case <-request.Context().Done():
		}
	}
}
