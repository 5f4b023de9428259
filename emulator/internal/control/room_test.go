package control

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestRoomWhileClosing proves that a call whose context has ended is made where
// there is room, and refused where there is none: never answered with success by
// nobody.
func TestRoomWhileClosing(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		room room
		made int
		want int
	}{
		"room":    {make(room, 1), 100, http.StatusTeapot},
		"no room": {make(room), 0, http.StatusServiceUnavailable},
	} {
		made := 0
		handler := c.room.bound(func(w http.ResponseWriter, _ *http.Request) {
			made++
			w.WriteHeader(http.StatusTeapot)
		})
		for range 100 {
			w := httptest.NewRecorder()
			handler(w, httptest.NewRequestWithContext(ended, http.MethodPut, "/", nil))
			if w.Code != c.want {
				t.Fatalf("%s: %d, want %d", name, w.Code, c.want)
			}
		}
		if made != c.made {
			t.Errorf("%s: %d calls were made, want %d", name, made, c.made)
		}
	}
}
