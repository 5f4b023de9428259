package command

import (
	"bytes"
	"fmt"
	"io"
	"log"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
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
		if terminal.Is(w) {
			format = logConsole
		}
	}
	switch format {
	case logConsole:
		w = zerolog.ConsoleWriter{Out: terminal.Unguarded(w), FormatMessage: escapedMessage, NoColor: terminal.NoColour()}
	case logJSON:
	default:
		return zerolog.Logger{}, fmt.Errorf("--log-format is %s, %s or %s, not %q", logAuto, logConsole, logJSON, format)
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger(), nil
}

// escapedMessage returns a message as a terminal may show it; zerolog quotes the fields.
func escapedMessage(message any) string {
	text, _ := message.(string) // nil where there is none
	return terminal.Escape(text)
}

// takeStandardLog lets l have what libraries print with package log, such as net/http
// when a backend server sends an unsolicited response.
func takeStandardLog(l zerolog.Logger) {
	log.SetFlags(0)
	log.SetOutput(standardLog{l})
}

type standardLog struct{ zerolog.Logger }

func (l standardLog) Write(line []byte) (int, error) {
	l.Debug().Msg(string(bytes.TrimSpace(line)))
	return len(line), nil
}
