package main_test

import (
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
)

var collectorPercent = regexp.MustCompile(`(?m)^go_gc_gogc_percent (\S+)$`)

// TestServeTunesCollector proves that a server has the usual garbage collection when it
// has started, and leaves GOGC to the user.
func TestServeTunesCollector(t *testing.T) {
	for _, c := range []struct {
		env  string
		want []string // in this order; a slow start may hide all but the last
	}{
		{"GOGC=", []string{"400", "100"}},
		{"GOGC=70", []string{"70"}},
	} {
		cmd := binary.Command("--engine", "memory")
		cmd.Env = append(os.Environ(), c.env)
		s := binary.Await(t, cmd)
		last := len(c.want) - 1
		for deadline := time.Now().Add(time.Minute); ; {
			status, metrics, err := s.Ask("GET", "/metrics", nil)
			found := collectorPercent.FindSubmatch(metrics)
			if err != nil || found == nil {
				t.Fatalf("GET /metrics = %d, %v, want go_gc_gogc_percent", status, err)
			}
			switch percent := slices.Index(c.want, string(found[1])); {
			case percent < 0 || time.Now().After(deadline):
				t.Fatalf("with %s it is %s %%, want %v", c.env, found[1], c.want)
			case percent < last:
				continue
			}
			break
		}
	}
}
