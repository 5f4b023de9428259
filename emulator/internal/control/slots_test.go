package control

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestSlotsWhileClosing proves that a call whose context has ended is made where
// a slot is free, and refused where none is: never answered with success by
// nobody.
func TestSlotsWhileClosing(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		free slots
		made int
		want int
	}{
		"a slot":  {make(slots, 1), 100, http.StatusTeapot},
		"no slot": {make(slots), 0, http.StatusServiceUnavailable},
	} {
		made := 0
		handler := c.free.bound(func(w http.ResponseWriter, _ *http.Request) {
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
