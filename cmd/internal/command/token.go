package command

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/clbemu/clbemu/state/engine/durable"
)

// readToken reads the token of the control API from a file, or returns "" if there is none yet.
func readToken(file string) (string, error) {
	text, err := readPath(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// keptToken returns the token in a file, and creates the file with a new one if it does
// not exist. Only its owner can read it.
func keptToken(file string) (string, error) {
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file, and the token is to be kept in one: name another", file)
	}
	token, err := readToken(file)
	if token != "" || err != nil {
		return token, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	token = rand.Text()
	return token, durable.Write(file, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, token)
		return err
	})
}
