// Package durable writes files that a crash leaves whole or absent: it writes them
// under a temporary name in the same folder, syncs and renames them, and syncs the
// folder. It owns the temporary names, and knows nothing of the contents.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// unfinished ends the names of unfinished files.
const unfinished = ".unfinished"

// Create opens a new file with mode 0600 next to path, for Publish or Replace to
// give its name.
func Create(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*"+unfinished)
}

// Write creates a file of mode 0600, replacing an existing one.
func Write(path string, fill func(io.Writer) error) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	err = errors.Join(fill(f), f.Sync(), f.Close())
	if err == nil {
		err = Replace(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, Discard(f.Name()))
	}
	return nil
}

// replaceable returns an error if there is something else than a regular file at path: a link,
// a device or a folder is not replaced, since something else may depend on it.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%s is no regular file, and only such a file is replaced: name another", path)
	}
	return err
}

// Replace renames a synced file to path, replacing an existing one which must be a regular file.
func Replace(from, path string) error {
	if err := replaceable(path); err != nil {
		return err
	}
	if err := os.Rename(from, path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// Publish gives a synced file its name unless a file has that name, which it leaves alone and
// reports as fs.ErrExist.
func Publish(from, path string) error {
	err := os.Link(from, path)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	if err != nil { // a file system without links
		if _, there := os.Lstat(path); there == nil {
			return fmt.Errorf("%s: %w", path, fs.ErrExist)
		}
		return Replace(from, path)
	}
	return errors.Join(os.Remove(from), SyncFolder(filepath.Dir(path)))
}

// Discard removes a file; a missing one is no error.
func Discard(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// MakeFolder makes a folder of mode 0700 with its parents, and syncs the parent of
// each new one.
func MakeFolder(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MakeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil {
		return os.MkdirAll(dir, 0o700) // made meanwhile, or in the way: MkdirAll says which
	}
	return SyncFolder(parent)
}

// SyncFolder makes the creations, renames and removals in a folder durable.
func SyncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil // the file system keeps its folders in another way
	}
	return errors.Join(err, d.Close())
}

// CleanUp removes what a crash left unfinished in a folder. No other process may be
// writing there.
func CleanUp(dir string) error {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		if strings.HasPrefix(f.Name(), ".") && strings.HasSuffix(f.Name(), unfinished) {
			errs = append(errs, Discard(filepath.Join(dir, f.Name())))
		}
	}
	return errors.Join(errs...)
}
