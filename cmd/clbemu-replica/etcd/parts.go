package etcd

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/state/engine"
)

// A commit that etcd does not take at once, such as an import, is written to parts, which
// no reader sees. One transaction shows it: it puts the key state/staged. Then the leader
// moves the values to their rows, and removes the key and the parts. Who leads next does
// that for one who was killed.

// staged is the content of the key of that name.
type staged struct {
	Commit string `json:"commit"`
	Parts  int    `json:"parts"`
}

func readStaged(text []byte) (*staged, error) {
	var s staged
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	if s.Commit == "" || s.Parts < 1 {
		return nil, fmt.Errorf("it names no commit: %.100q", text)
	}
	return &s, nil
}

func (e *Engine) part(commit string, n int) string {
	return e.key("parts", commit, fmt.Sprintf("%08d", n))
}

// commitInParts makes a commit of any size.
func (e *Engine) commitInParts(ctx context.Context, changes engine.ChangeSet, sets int) error {
	term, err := e.leading()
	if err != nil {
		return notMade(err)
	}
	e.parts++
	n := e.parts
	all, s := changes, &staged{Commit: fmt.Sprintf("%016x-%d", term.created, n)}
	for len(changes) > 0 {
		var text []byte
		text, changes = packPart(changes)
		if err := e.do(ctx, term, clientv3.OpPut(e.part(s.Commit, s.Parts), string(text))); err != nil {
			return notMade(err)
		}
		s.Parts++
	}
	text, err := json.Marshal(s)
	if err != nil {
		return notMade(err)
	}
	e.pending = s
	if err := e.advance(ctx, sets, all, clientv3.OpPut(e.key("state", "staged"), string(text))); err != nil {
		e.pending = nil // takeOver learns what became of it
		return err
	}
	// It is made. What is left is tried again by the next commit.
	_ = e.finish(ctx, s)
	return nil
}

// do makes changes that are no commit, on the precondition that the term lasts.
func (e *Engine) do(ctx context.Context, term *term, ops ...clientv3.Op) error {
	done, err := e.transact(ctx, []clientv3.Cmp{term.leads()}, append(ops, term.stamp()))
	if err == nil && !done.Succeeded {
		err = engine.ErrFenced
	}
	return err
}

// finish moves the values of a commit in parts to their rows. It may have been begun
// before: the values are the same.
func (e *Engine) finish(ctx context.Context, s *staged) error {
	term, err := e.leading()
	if err != nil {
		return err
	}
	for n := range s.Parts {
		changes, err := e.readPart(ctx, s.Commit, n, 0)
		if err != nil {
			return err
		}
		for len(changes) > 0 {
			take := min(len(changes), maxOps)
			ops := make([]clientv3.Op, take)
			for i, c := range changes[:take] {
				ops[i] = e.op(c)
			}
			if err := e.do(ctx, term, ops...); err != nil {
				return err
			}
			changes = changes[take:]
		}
	}
	if err := e.do(ctx, term, clientv3.OpDelete(e.key("state", "staged"))); err != nil {
		return err
	}
	e.pending = nil
	return e.removeParts(ctx, term)
}

// removeParts removes all parts, of commits that finished and of those that were never shown.
func (e *Engine) removeParts(ctx context.Context, term *term) error {
	return e.do(ctx, term, clientv3.OpDelete(e.key("parts")+"/", clientv3.WithPrefix()))
}

// readPart reads a part as it was at a revision of etcd; 0 is now.
func (e *Engine) readPart(ctx context.Context, commit string, n int, at int64) (engine.ChangeSet, error) {
	key := e.part(commit, n)
	kept, err := e.get(ctx, key, clientv3.WithRev(at))
	if err != nil {
		return nil, err
	}
	if len(kept.Kvs) == 0 {
		return nil, fmt.Errorf("%w: %s is gone", engine.ErrDamaged, key)
	}
	changes, err := unpackPart(kept.Kvs[0].Value)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", engine.ErrDamaged, key, err)
	}
	return changes, nil
}

// packPart returns as many of the changes as a part holds, and the others. Each is its
// table, its id, and its value with a byte before it that is 0 for a deletion.
func packPart(changes engine.ChangeSet) (text []byte, rest engine.ChangeSet) {
	add := func(s string) {
		text = binary.AppendUvarint(text, uint64(len(s)))
		text = append(text, s...)
	}
	for i, c := range changes {
		if i > 0 && len(text)+size(c) > maxBytes {
			return text, changes[i:]
		}
		add(c.Table)
		add(c.ID)
		if c.Value == nil {
			text = append(text, 0)
			continue
		}
		text = append(text, 1)
		add(string(c.Value))
	}
	return text, nil
}

var errShort = errors.New("a part ends too early")

func unpackPart(text []byte) (changes engine.ChangeSet, err error) {
	next := func() []byte {
		n, width := binary.Uvarint(text)
		if width <= 0 || n > uint64(len(text)-width) {
			err = errShort
			return nil
		}
		var s []byte
		s, text = text[width:width+int(n)], text[width+int(n):]
		return s
	}
	for len(text) > 0 && err == nil {
		c := engine.Change{Table: string(next())}
		if err == nil {
			c.ID = string(next())
		}
		if err != nil || len(text) == 0 {
			return nil, errShort
		}
		there := text[0]
		text = text[1:]
		if there > 1 {
			return nil, fmt.Errorf("a part says %d of a value", there)
		}
		if there == 1 {
			c.Value = next()
		}
		changes = append(changes, c)
	}
	return changes, err
}
