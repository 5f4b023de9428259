package etcd

import "context"

// turn lets one caller at a time commit, or learn which rows belong to a revision. Unlike a mutex's,
// the wait ends with the caller's context.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// take waits for the turn. It returns ctx's error when that ends before.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := ctx.Err(); err != nil { // both were possible
		t.give()
		return err
	}
	return nil
}

func (t turn) give() { <-t }
