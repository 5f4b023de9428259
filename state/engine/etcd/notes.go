package etcd

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// Notes are put under leases, which are not renewed: a note is there for an hour or
// less, and half an hour or more.
const (
	noteLease = time.Hour
	newLease  = noteLease / 2
)

// notes is what this process needs to share notes.
type notes struct {
	lease clientv3.LeaseID
	since time.Time
	count int
}

// Share implements engine.Elected.
func (e *Engine) Share(ctx context.Context, note []byte) error {
	e.sharing.Lock()
	if n := &e.notes; n.lease == 0 || time.Since(n.since) > newLease {
		granted, err := e.client.Grant(ctx, int64(noteLease/time.Second))
		if err != nil {
			e.sharing.Unlock()
			return fmt.Errorf("share: %w", inWords(err))
		}
		*n = notes{lease: granted.ID, since: time.Now()}
	}
	e.notes.count++
	key, lease := e.key("shared", fmt.Sprintf("%016x-%d", e.notes.lease, e.notes.count)), e.notes.lease
	e.sharing.Unlock()
	if _, err := e.transact(ctx, nil, []clientv3.Op{clientv3.OpPut(key, string(note), clientv3.WithLease(lease))}); err != nil {
		return fmt.Errorf("share: %w", err)
	}
	return nil
}

// Shared implements engine.Elected. A position is a revision of etcd.
func (e *Engine) Shared(ctx context.Context, after int64) (list [][]byte, position int64, err error) {
	kept, err := e.get(ctx, e.key("shared")+"/", clientv3.WithPrefix(), clientv3.WithMinModRev(after+1))
	if err != nil {
		return nil, after, fmt.Errorf("read what is shared: %w", err)
	}
	for _, kv := range kept.Kvs {
		list = append(list, kv.Value)
	}
	return list, kept.Header.Revision, nil
}
