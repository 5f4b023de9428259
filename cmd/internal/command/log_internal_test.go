package command

import (
	"bytes"
	"log"
	"os"
	"strings"
	"testing"
)

// TestStandardLog proves that what libraries print with package log is a structured line
// of the level debug, which is off by default.
func TestStandardLog(t *testing.T) {
	defer log.SetOutput(os.Stderr)
	defer log.SetFlags(log.Flags())
	for level, want := range map[string]string{"info": "", "debug": `"level":"debug"`} {
		var b bytes.Buffer
		l, err := newLog(&b, logJSON, level)
		if err != nil {
			t.Fatal(err)
		}
		takeStandardLog(l)
		log.Printf("a server said %q", "x")
		if got := b.String(); (want == "") != (got == "") || !strings.Contains(got, want) || strings.Count(got, "\n") > 1 {
			t.Errorf("with --log-level %s: %q, want %q", level, got, want)
		}
	}
}
