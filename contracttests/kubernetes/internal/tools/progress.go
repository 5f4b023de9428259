package tools

import (
	"fmt"
	"io"
	"os"
	"time"
)

// The pace at which what takes minutes says that it goes on: on a terminal a line
// that is written over, in a log a line each time.
const (
	terminalPace = time.Second
	logPace      = time.Minute
)

// during runs do, and says meanwhile on progress what it does and for how long.
func during(progress io.Writer, what string, do func() error) error {
	pace, before, after := logPace, "", "\n"
	if file, ok := progress.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			pace, before, after = terminalPace, "\r\x1b[K", ""
		}
	}
	fmt.Fprint(progress, before, what, after)
	done := make(chan error, 1)
	go func() { done <- do() }()
	begun, ticker := time.Now(), time.NewTicker(pace)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			fmt.Fprintf(progress, "%s%s: %s\n", before, what, time.Since(begun).Round(time.Second))
			return err
		case <-ticker.C:
			fmt.Fprintf(progress, "%s%s: %s%s", before, what, time.Since(begun).Round(time.Second), after)
		}
	}
}
