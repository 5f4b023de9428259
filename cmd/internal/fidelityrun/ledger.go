package fidelityrun

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
)

// The states of an entry of a ledger.
const (
	intended = "intended" // the creation may have gone out
	made     = "made"
	refused  = "refused" // it created nothing
	gone     = "gone"
)

// line is a line of the file: a first one about the file, and then a state of an entry each.
type line struct {
	// Account tells accounts apart: things are only looked for in the one that has them.
	Account string `json:"account,omitempty"`

	Entry     int        `json:"entry,omitempty"`
	State     string     `json:"state,omitempty"`
	Time      *time.Time `json:"time,omitempty"`
	Product   string     `json:"product,omitempty"`
	Create    string     `json:"create,omitempty"`
	Region    string     `json:"region,omitempty"`
	Mark      string     `json:"mark,omitempty"` // the value of its tag
	Statement string     `json:"statement,omitempty"`
	ID        string     `json:"id,omitempty"`
}

// Entry is something that a run made, or may have made.
type Entry struct {
	Number                                   int
	State                                    string
	Time                                     time.Time
	Product, Create, Region, Mark, Statement string
	ID                                       string // "" if the answer did not come
	// read is true if the file had it: an editor may have changed it since the run.
	read bool
}

// Open reports whether the thing may exist.
func (e *Entry) Open() bool { return e.State == intended || e.State == made }

// Ledger records what all runs create. Each line reaches the disk before its call is sent, or at
// the latest before the next call.
type Ledger struct {
	Path    string
	account string
	file    *os.File
	lock    *flock.Flock
	entries []*Entry
	size    int64 // of the file's whole lines
	failed  error // that of the first line that could not be written
}

// OpenLedger opens the ledger of an account for this process alone: another one would take
// what this one is about to create for leftovers. A missing ledger is created, or nil if
// create is false.
func OpenLedger(path, account string, create bool) (*Ledger, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path) // one file, one lock
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	l := &Ledger{Path: path, account: fingerprint(account), file: file, lock: flock.New(real+".lock", flock.SetPermissions(0o600))}
	free, err := l.lock.TryLock()
	switch {
	case err != nil:
		return nil, errors.Join(err, file.Close())
	case !free:
		return nil, errors.Join(fmt.Errorf("%s is in use by another process: wait for its end, or give another --ledger", path), file.Close())
	}
	if err := l.read(); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// read reads the file. An incomplete last line is about a call that was not sent yet,
// or whose outcome is unknown, as the entry says without it.
func (l *Ledger) read() error {
	text, err := os.ReadFile(l.Path)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	l.size = int64(whole)
	if err := l.file.Truncate(int64(whole)); err != nil {
		return err
	}
	if whole == 0 {
		return l.write(line{Account: l.account})
	}
	number := 0
	for one := range bytes.Lines(text[:whole]) {
		number++
		var read line
		if err := json.Unmarshal(one, &read); err != nil {
			return fmt.Errorf("%s:%d is no line of a ledger: %w: put it right, since it may be about something that exists", l.Path, number, err)
		}
		switch {
		case number == 1 && read.Account != l.account:
			return fmt.Errorf("%s is about another account than the one of these credentials: use that account's, or another --ledger", l.Path)
		case number > 1 && read.Entry == len(l.entries)+1 && read.Time != nil:
			l.entries = append(l.entries, &Entry{Number: read.Entry, State: read.State, Time: *read.Time, Product: read.Product, Create: read.Create,
				Region: read.Region, Mark: read.Mark, Statement: read.Statement, ID: read.ID, read: true})
		case number > 1 && read.Entry >= 1 && read.Entry <= len(l.entries):
			l.entries[read.Entry-1].State = read.State
			if read.ID != "" {
				l.entries[read.Entry-1].ID = read.ID
			}
		case number > 1:
			return fmt.Errorf("%s:%d is about entry %d, which no line before it begins: put it right", l.Path, number, read.Entry)
		}
	}
	return nil
}

// write adds a line. Of one that finds no room, nothing stays.
func (l *Ledger) write(w line) error {
	text, err := json.Marshal(w)
	if err == nil {
		_, err = l.file.WriteAt(append(text, '\n'), l.size)
	}
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		_ = l.file.Truncate(l.size) // the next one to open it does the same
		err = fmt.Errorf("can't keep the ledger %s, so nothing more is created: %w", l.Path, err)
		l.failed = cmp.Or(l.failed, err)
		return err
	}
	l.size += int64(len(text)) + 1
	return nil
}

// intend records a creation that is about to start.
func (l *Ledger) intend(e Entry) (*Entry, error) {
	e.Number, e.State = len(l.entries)+1, intended
	if e.ID != "" {
		e.State = made
	}
	w := line{Entry: e.Number, State: e.State, Time: &e.Time, Product: e.Product, Create: e.Create, Region: e.Region, Mark: e.Mark, Statement: e.Statement, ID: e.ID}
	if err := l.write(w); err != nil {
		return nil, err
	}
	l.entries = append(l.entries, &e)
	return &e, nil
}

// set writes the new state of an entry. This process knows it even if it can't be written.
func (l *Ledger) set(e *Entry, state, id string) error {
	e.State, e.ID = state, cmp.Or(id, e.ID)
	return l.write(line{Entry: e.Number, State: state, ID: id})
}

// has reports whether an entry has an id.
func (l *Ledger) has(id string) bool {
	return slices.ContainsFunc(l.entries, func(e *Entry) bool { return e.ID == id })
}

// Left lists the entries of things that may exist, the newest first.
func (l *Ledger) Left() (left []*Entry) {
	for _, e := range slices.Backward(l.entries) {
		if e.Open() {
			left = append(left, e)
		}
	}
	return left
}

// Close closes the file, which another process may then open.
func (l *Ledger) Close() error { return errors.Join(l.file.Close(), l.lock.Close()) }
