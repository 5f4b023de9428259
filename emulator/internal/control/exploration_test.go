package control_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestExploration proves that the results of an exploration are kept as they were sent, that
// others replace them, and that what is none is refused and changes nothing.
func TestExploration(t *testing.T) {
	f := newFixture(t, nil)
	get := func() string { return f.send("GET", "/v1/exploration", "", nil).Body.String() }
	if got := get(); got != "{}" {
		t.Errorf("before = %s", got)
	}
	for body, want := range map[string]int{
		`{"scenario": "<b>"}`: http.StatusOK,
		`[]`:                  http.StatusBadRequest,
		`null`:                http.StatusBadRequest,
		`{"scenario":`:        http.StatusBadRequest,
		``:                    http.StatusBadRequest,
		`{"a": "` + strings.Repeat("a", 33<<20) + `"}`: http.StatusRequestEntityTooLarge,
	} {
		if w := f.send("PUT", "/v1/exploration", body, nil); w.Code != want {
			t.Errorf("PUT %.20s = %d %.100s, want %d", body, w.Code, w.Body, want)
		}
	}
	if got := get(); got != `{"scenario": "<b>"}` {
		t.Errorf("after what was refused = %.100s", got)
	}
	f.send("PUT", "/v1/exploration", `{"scenario": "b"}`, nil)
	if got := get(); got != `{"scenario": "b"}` {
		t.Errorf("after another = %.100s", got)
	}
}
