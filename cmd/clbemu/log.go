package main

import (
	"fmt"
	"io"
	"os"

	"github.com/rs/zerolog"
)

// The values of --log-format.
const (
	logAuto    = "auto"
	logConsole = "console"
	logJSON    = "json"
)

// newLog writes to w, for people when it is a terminal and as JSON otherwise,
// unless the format says which.
func newLog(w io.Writer, format, level string) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		return zerolog.Logger{}, fmt.Errorf("--log-level is debug, info, warn or error, not %q", level)
	}
	if format == logAuto {
		format = logJSON
		if isTerminal(w) {
			format = logConsole
		}
	}
	switch format {
	case logConsole:
		w = zerolog.ConsoleWriter{Out: w, NoColor: noColour()}
	case logJSON:
	default:
		return zerolog.Logger{}, fmt.Errorf("--log-format is %s, %s or %s, not %q", logAuto, logConsole, logJSON, format)
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger(), nil
}

// noColour is the user's wish for none, by the convention of no-color.org.
func noColour() bool { return os.Getenv("NO_COLOR") != "" }

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
