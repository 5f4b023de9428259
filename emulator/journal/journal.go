// Package journal records every call with its answer, and every change through the
// control API. It decides what it keeps and how much, and keeps no secrets; it must
// not know how calls are served or changes made, or the store.
//
// A Journal holds the newest entries in memory and, if it is given a file,
// writes each as a line of JSON. Recording never waits for a reader: a slow reader
// misses overwritten entries, and learns how many.
package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// Config sets the limits of a journal.
type Config struct {
	// Entries limits the entries kept in memory. If it is 0, the limit is 10,000. A negative number
	// turns the journal off.
	Entries int
	// File, if set, is appended to.
	File string
	// FileSize is the size in bytes at which the file becomes File.1 and a new one is begun. If it
	// is 0, that is 64 MiB.
	FileSize int64
	// Log hears of a file that can't be written.
	Log zerolog.Logger
}

const (
	defaultEntries  = 10_000
	defaultFileSize = 64 << 20
)

// Journal is safe for concurrent use.
type Journal struct {
	size uint64 // 0 is off

	mu sync.Mutex
	// ring holds the entry with sequence s at (s-1-cleared) % size.
	ring    []*Entry
	last    uint64 // the newest sequence
	cleared uint64 // the newest sequence when the ring was last emptied
	answers answers
	marks   map[string]Mark
	file    *file
	news    chan struct{} // closed by the next entry, if a caller waits for it
	waited  bool
	closed  bool
}

// Mark is a named position: the position of its own entry.
type Mark struct {
	Name     string    `json:"name"`
	Sequence uint64    `json:"sequence"`
	Time     time.Time `json:"time"`
}

// New returns an empty journal. It fails when its file can't be opened.
func New(cfg Config) (*Journal, error) {
	j := &Journal{
		size:  uint64(max(cmp.Or(cfg.Entries, defaultEntries), 0)),
		marks: make(map[string]Mark),
		news:  make(chan struct{}),
	}
	if cfg.File == "" || j.size == 0 {
		return j, nil
	}
	j.file = &file{path: cfg.File, limit: cmp.Or(cfg.FileSize, defaultFileSize), log: cfg.Log}
	if err := j.file.open(); err != nil {
		return nil, fmt.Errorf("journal file: %w", err)
	}
	return j, nil
}

// Record appends an entry and sets its sequence number. The parameters sent, sorted by
// name, become the entry's. Record copies and bounds everything, and removes secrets.
func (j *Journal) Record(e Entry, sent ...Parameter) { j.RecordCall(e, nil, sent...) }

// RecordCall is like Record, for a call that has an answer.
func (j *Journal) RecordCall(e Entry, answer []byte, sent ...Parameter) {
	if j.size == 0 {
		return
	}
	e.clean(sent)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.record(&e)
	if len(answer) > 0 {
		j.answers.add(e.Sequence, answer)
	}
}

func (j *Journal) record(e *Entry) {
	j.last++
	e.Sequence = j.last
	if at := (j.last - 1 - j.cleared) % j.size; at < uint64(len(j.ring)) {
		j.ring[at] = e
	} else {
		j.ring = append(j.ring, e)
	}
	if j.file != nil {
		j.file.write(e)
	}
	if j.waited {
		j.waited = false
		close(j.news)
		j.news = make(chan struct{})
	}
}

// ErrMark is wrapped by errors about marks.
var ErrMark = errors.New("mark")

// Mark names the present end of the journal. A mark that has the name moves.
func (j *Journal) Mark(name string, now time.Time) (Mark, error) {
	if err := spelling.CheckName("a mark", name); err != nil {
		return Mark{}, fmt.Errorf("%w: %w", ErrMark, err)
	}
	if j.size == 0 {
		return Mark{}, fmt.Errorf("%w: the journal is off", ErrMark)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.record(&Entry{Time: now, Kind: KindMark, Action: name})
	m := Mark{Name: name, Sequence: j.last, Time: now}
	j.marks[name] = m
	if len(j.marks) > maxMarks {
		delete(j.marks, j.oldestMark())
	}
	return m, nil
}

// maxMarks bounds the memory for a program that makes up a mark for each call: it
// loses its oldest.
const maxMarks = 1 << 10

func (j *Journal) oldestMark() (name string) {
	oldest := j.last + 1
	for _, m := range j.marks {
		if m.Sequence < oldest {
			name, oldest = m.Name, m.Sequence
		}
	}
	return name
}

// Marks lists the marks in order of their positions.
func (j *Journal) Marks() []Mark {
	j.mu.Lock()
	defer j.mu.Unlock()
	list := make([]Mark, 0, len(j.marks))
	for _, m := range j.marks {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Mark) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return list
}

// Marked returns the mark of that name.
func (j *Journal) Marked(name string) (Mark, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	m, ok := j.marks[name]
	if !ok {
		return m, fmt.Errorf("%w: there is no mark %q", ErrMark, name)
	}
	return m, nil
}

// Clear empties the memory. Sequences go on, and marks stay.
func (j *Journal) Clear() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ring, j.cleared, j.answers = nil, j.last, answers{}
}

// ErrClosed ends the wait for news of a journal that is closed.
var ErrClosed = errors.New("the journal is closed")

// Await returns when there is an entry after since, or with an error when ctx
// ends or the journal is closed.
func (j *Journal) Await(ctx context.Context, since uint64) error {
	for {
		j.mu.Lock()
		there, closed, news := j.last > since, j.closed, j.news
		j.waited = true
		j.mu.Unlock()
		switch {
		case there:
			return nil
		case closed:
			return ErrClosed
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close ends all waits and closes the file. What is recorded later stays in
// memory.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	j.closed = true
	close(j.news)
	j.news = make(chan struct{})
	if j.file == nil {
		return nil
	}
	f := j.file
	j.file = nil
	return f.close()
}

// after returns the entries after since, the oldest first, with how many there
// were before them that are gone.
func (j *Journal) after(since uint64) (list []*Entry, first, last, missed uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.ring) == 0 {
		return nil, 0, j.last, 0
	}
	last, first = j.last, j.last-uint64(len(j.ring))+1
	since = min(max(since, j.cleared), last)
	from := max(since+1, first)
	list = make([]*Entry, 0, last+1-from)
	for s := from; s <= last; s++ {
		list = append(list, j.ring[(s-1-j.cleared)%j.size])
	}
	return list, first, last, from - 1 - since
}
