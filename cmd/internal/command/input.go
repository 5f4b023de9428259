package command

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// mostInput bounds what a command reads whole, of a file or of standard input, in bytes.
const mostInput = 64 << 20

// readAll reads what is bounded by mostInput.
func readAll(from io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, mostInput+1))
	if err == nil && len(text) > mostInput {
		return nil, fmt.Errorf("%s has more than %d MiB, which is the most that is read: give less of it", named(name), mostInput>>20)
	}
	return text, err
}

// readPath reads a file.
func readPath(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	return readAll(file, path)
}

// readFile reads a file that the command line names, or standard input where that is -. It ends
// with the command: what a terminal or a pipe gives may never come.
func readFile(cmd *cobra.Command, name string) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		if name == "-" {
			text, err := readAll(cmd.InOrStdin(), name)
			done <- result{text, cannot(err)}
			return
		}
		text, err := readPath(name)
		done <- result{text, usage(err)}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-cmd.Context().Done():
		return nil, cannot(cmd.Context().Err())
	}
}
