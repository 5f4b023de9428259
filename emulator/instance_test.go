package emulator_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator"
)

// TestUnknownInstance proves that a missing instance for the metadata service is
// reported, with a suggestion, and nothing otherwise.
func TestUnknownInstance(t *testing.T) {
	for id, want := range map[string]string{"i-bp1clbemu000000001": "do you mean i-bp1clbemu0000000001?", "i-bp1clbemu0000000001": "", "": ""} {
		var log bytes.Buffer
		e, err := emulator.New(t.Context(), emulator.Config{InstanceID: id, Log: zerolog.New(&log)})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), want) || want == "" && log.Len() > 0 {
			t.Errorf("with the instance %q the log is %q, want %q", id, log.String(), want)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
