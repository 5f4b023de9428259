package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/rs/zerolog"
)

// file is the journal on disk: JSON lines, and one older file of them. It is no library,
// as those for rotation, such as lumberjack, leave half a line where the disk is full.
type file struct {
	path  string
	limit int64
	log   zerolog.Logger

	f       *os.File // nil when it could not be opened again
	size    int64
	failing bool
	lost    int // entries, while it fails
}

func (w *file) open() error {
	f, err := os.OpenFile(w.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		// One that was there could be others' to read.
		err = f.Chmod(0o600)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	w.f, w.size = f, info.Size()
	return nil
}

// write appends an entry. A disk that takes nothing is no reason to fail the call
// that the entry is about: write logs it once until the disk works again.
func (w *file) write(e *Entry) {
	err := w.append(e)
	switch {
	case err != nil:
		if w.lost++; !w.failing {
			w.failing = true
			w.log.Error().Err(err).Msg("the journal file can't be written: calls go on, entries are missing there until it can")
		}
	case w.failing:
		w.log.Warn().Int("missing", w.lost).Msg("the journal file is written again")
		w.failing, w.lost = false, 0
	}
}

func (w *file) append(e *Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if w.size > 0 && w.size+int64(len(line)) > w.limit && w.mayRotate() {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	if w.f == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	n, err := w.f.Write(line)
	if err != nil {
		// No half line stays, as far as the disk lets go of it.
		return errors.Join(err, w.cutTo(w.size, n))
	}
	w.size += int64(n)
	return nil
}

func (w *file) cutTo(size int64, written int) error {
	if written == 0 {
		return nil
	}
	return w.f.Truncate(size)
}

// mayRotate reports whether the path is a regular file. A link or a device, such as
// /dev/stdout, is not renamed, and so has no limit.
func (w *file) mayRotate() bool {
	info, err := os.Lstat(w.path)
	return err != nil || info.Mode().IsRegular()
}

// rotate renames the file to the older one, replacing that, and starts a new
// one.
func (w *file) rotate() error {
	if w.f != nil {
		if err := w.close(); err != nil {
			return err
		}
	}
	if err := os.Rename(w.path, w.path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("rotate: %w", err)
	}
	return w.open()
}

func (w *file) close() error {
	if w.f == nil {
		return nil
	}
	f := w.f
	w.f = nil
	return f.Close()
}
