package binary_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// TestRestart proves that a server which was killed starts again at its addresses, and
// then answers until the clean-ups of the test that started it are done.
func TestRestart(t *testing.T) {
	s := binary.Serve(t, "--engine", "memory")
	t.Cleanup(func() {
		if status, _, err := s.Ask(http.MethodGet, "/readyz", nil); err != nil || status != http.StatusOK {
			t.Errorf("/readyz = %d, %v", status, err)
		}
	})
	s.End(os.Kill)
	api, control := s.API, s.Control
	s.Restart(binary.Command("--engine", "memory", "--listen", strings.TrimPrefix(api, "http://"), "--control-listen", strings.TrimPrefix(control, "http://")))
	if s.API != api || s.Control != control {
		t.Errorf("it restarted at %s and %s, want %s and %s", s.API, s.Control, api, control)
	}
}
