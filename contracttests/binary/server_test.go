package binary_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// TestRestart proves that a server which was killed is followed to where it starts again, and
// answers until the clean-ups of the test that started it are done.
func TestRestart(t *testing.T) {
	s := binary.Serve(t, "--engine", "memory")
	t.Cleanup(func() {
		if status, _, err := s.Ask(http.MethodGet, "/readyz", nil); err != nil || status != http.StatusOK {
			t.Errorf("/readyz = %d, %v", status, err)
		}
	})
	s.End(os.Kill)
	s.Restart(binary.Command("--engine", "memory"))
}
