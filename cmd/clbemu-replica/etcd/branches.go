package etcd

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/clbemu/clbemu/state/engine"
)

// A branch is a state with keys of its own below the prefix. It has no election: what is
// written to it has the precondition that its process leads, as all else.

// NewBranch implements engine.Elected.
func (e *Engine) NewBranch(ctx context.Context, name string) (engine.Engine, error) {
	term, err := e.leading()
	if err != nil {
		return nil, err
	}
	about := e.branchInfoKey(name)
	kept, err := e.get(ctx, about)
	if err != nil {
		return nil, err
	}
	if len(kept.Kvs) > 0 && len(kept.Kvs[0].Value) > 0 {
		return nil, fmt.Errorf("%s in etcd: %w", about, fs.ErrExist)
	}
	// Who began it before may not have completed it.
	if err := e.do(ctx, term, clientv3.OpPut(about, ""), clientv3.OpDelete(e.branchKeys(name), clientv3.WithPrefix())); err != nil {
		return nil, err
	}
	return e.Branch(ctx, name)
}

// Branch implements engine.Elected.
func (e *Engine) Branch(ctx context.Context, name string) (engine.Engine, error) {
	term, err := e.leading()
	if err != nil {
		return nil, err
	}
	b := &Engine{client: e.client, prefix: e.branchKeys(name), root: e.root, home: e, seen: e.seen, sums: &sums{}, commits: newTurn(), clock: e.clock}
	if err := b.takeOver(ctx, term); err != nil {
		return nil, err
	}
	if b.pending != nil {
		err = b.finish(ctx, b.pending)
	} else {
		err = b.removeParts(ctx, term)
	}
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.branches == nil {
		e.branches = make(map[*Engine]struct{})
	}
	e.branches[b] = struct{}{}
	return b, nil
}

func (e *Engine) branchInfoKey(name string) string { return e.key("branch", name) }

func (e *Engine) branchKeys(name string) string { return e.key("branches", name) + "/" }

// leading returns the term, if this process leads.
func (e *Engine) leading() (*term, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.term == nil {
		return nil, engine.ErrFenced
	}
	return e.term, nil
}

// KeepBranch implements engine.Elected.
func (e *Engine) KeepBranch(ctx context.Context, name string, about []byte) error {
	term, err := e.leading()
	if err != nil {
		return err
	}
	return e.do(ctx, term, clientv3.OpPut(e.branchInfoKey(name), string(about)))
}

// Branches implements engine.Elected.
func (e *Engine) Branches(ctx context.Context) (map[string][]byte, error) {
	prefix := e.branchInfoKey("")
	found, err := e.get(ctx, prefix, clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	kept := make(map[string][]byte)
	for _, kv := range found.Kvs {
		name := strings.TrimPrefix(string(kv.Key), prefix)
		if len(kv.Value) > 0 {
			kept[name] = kv.Value
			continue
		}
		if err := e.DropBranch(ctx, name); err != nil {
			return nil, fmt.Errorf("drop the branch %s, which was not completed: %w", name, err)
		}
	}
	return kept, nil
}

// DropBranch implements engine.Elected.
func (e *Engine) DropBranch(ctx context.Context, name string) error {
	term, err := e.leading()
	if err != nil {
		return err
	}
	return e.do(ctx, term, clientv3.OpDelete(e.branchInfoKey(name)), clientv3.OpDelete(e.branchKeys(name), clientv3.WithPrefix()))
}
