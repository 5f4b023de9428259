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

// readFile reads a file that the command line names, or standard input where that is -.
func readFile(cmd *cobra.Command, name string) (text []byte, err error) {
	if name == "-" {
		text, err = readAll(cmd.InOrStdin(), name)
		return text, cannot(err)
	}
	text, err = readPath(name)
	return text, usage(err)
}
