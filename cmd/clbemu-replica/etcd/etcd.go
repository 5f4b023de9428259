// Package etcd keeps values in etcd, for several processes that share a state: one of
// them leads and writes, the others follow. It owns the keys below a prefix, their
// format, and the election of the leader. It knows no resource.
//
// The keys, after the prefix:
//
//	format                 what wrote the state
//	state/rows/TABLE/ID    the values
//	state/revision         the revision; its own etcd revision fences writers
//	state/clock            what the leader's clock shows
//	state/staged           names the parts of a large commit that is made, while its
//	                       values are on their way to state/rows
//	parts/COMMIT/N         the parts of large commits
//	leader/LEASE           who leads, and who waits to
//	hand                   the term of the last transaction, see hand.go
//	branch/NAME            what is said about a branch; nothing while it is made
//	branches/NAME/         keys state and parts of a branch
package etcd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/clbemu/clbemu/state/engine"
)

// Config says where etcd keeps the state.
type Config struct {
	Endpoints []string
	// Prefix begins all keys. Another prefix holds another state.
	Prefix             string
	TLS                *tls.Config
	Username, Password string
	// Clock is the machine's; nil means time.Now.
	Clock func() time.Time
	// Seen, if set, is what earlier engines of this process have seen of etcd: one that
	// was replaced by an older copy is refused.
	Seen *Seen
}

// Bounds of etcd, by its defaults (--max-txn-ops, --max-request-bytes), less what a
// transaction has in addition to its values.
const (
	maxOps   = 120
	maxBytes = 1 << 20
)

const (
	// dialTimeout limits how long the start waits for etcd.
	dialTimeout = 5 * time.Second
	// callTimeout limits how long etcd may take for one call.
	callTimeout = 10 * time.Second
	// pageSize is the number of values read at once.
	pageSize = 4096
)

// Engine is a state in etcd. Commit needs a term as the leader, see Campaign.
type Engine struct {
	client *clientv3.Client
	prefix string
	root   string  // the prefix, without that of a branch
	home   *Engine // of a branch, see branches.go

	seen     *Seen
	sums     *sums
	watching sync.Once // for changes of other programs

	clock func() time.Time
	ahead atomic.Int64 // what Ahead returns, in nanoseconds

	mu    sync.Mutex
	term  *term  // nil while another process leads
	fence int64  // the etcd revision of the last commit
	count uint64 // the revision after it
	// branches holds the open branches.
	branches map[*Engine]struct{}

	commits turn // taken during a commit, and until a comparison knows its revision

	// pending is the commit in parts that is made and not yet moved to its rows; parts
	// counts such commits. Only who commits, or begins a term, looks at them.
	pending *staged
	parts   int
}

var _ engine.Elected = (*Engine)(nil)
var _ engine.Election = (*Engine)(nil)
var _ engine.Engine = (*Engine)(nil)
var _ engine.Followed = (*Engine)(nil)

// format is the content of the key of this name.
type format struct {
	Version int `json:"version"`
	Schema  int `json:"schema"`
}

// formatVersion is the version of the keys.
const formatVersion = 1

// Open connects to etcd and looks at the state there. It refuses a state that a newer version or
// another program wrote.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	if !strings.HasPrefix(cfg.Prefix, "/") || !strings.HasSuffix(cfg.Prefix, "/") || strings.Contains(cfg.Prefix, "//") || len(cfg.Prefix) < 3 {
		return nil, fmt.Errorf("the prefix of keys in etcd begins and ends with a slash, such as /clbemu/, not %.100q", cfg.Prefix)
	}
	e, err := dial(cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if err := e.checkFormat(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("etcd at %s, keys %s: %w", strings.Join(cfg.Endpoints, ", "), cfg.Prefix, err), e.client.Close())
	}
	return e, nil
}

// dial returns an engine without calling etcd.
func dial(cfg Config) (*Engine, error) {
	client, err := clientv3.New(clientv3.Config{
		Endpoints: cfg.Endpoints, TLS: cfg.TLS, Username: cfg.Username, Password: cfg.Password,
		DialTimeout: dialTimeout, DialKeepAliveTime: 2 * time.Second, DialKeepAliveTimeout: 2 * time.Second,
		Logger: zap.NewNop(),
	})
	if err != nil {
		return nil, fmt.Errorf("etcd at %s: %w", strings.Join(cfg.Endpoints, ", "), errorText(err))
	}
	e := &Engine{client: client, prefix: cfg.Prefix, root: cfg.Prefix, seen: cfg.Seen, commits: newTurn(), clock: cfg.Clock}
	if e.seen == nil {
		e.seen = &Seen{}
	}
	if e.clock == nil {
		e.clock = time.Now
	}
	e.sums = &e.seen.sums
	return e, nil
}

func (e *Engine) key(parts ...string) string { return e.prefix + strings.Join(parts, "/") }

func (e *Engine) rows() string { return e.key("state", "rows") + "/" }

// checkFormat reads the format, and writes it where nothing is.
func (e *Engine) checkFormat(ctx context.Context) error {
	ours, err := json.Marshal(format{formatVersion, engine.SchemaVersion})
	if err != nil {
		return err
	}
	found, err := e.get(ctx, e.prefix, clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil {
		return err
	}
	at := e.key("format")
	if len(found.Kvs) == 0 {
		_, err := e.transact(ctx, []clientv3.Cmp{clientv3.Compare(clientv3.CreateRevision(at), "=", 0)}, []clientv3.Op{clientv3.OpPut(at, string(ours))})
		if err != nil {
			return err
		}
	}
	kept, err := e.get(ctx, at)
	if err != nil {
		return err
	}
	if len(kept.Kvs) == 0 {
		return fmt.Errorf("there are keys such as %.100q that clbemu did not write: choose another prefix with --etcd-prefix", found.Kvs[0].Key)
	}
	var f format
	switch err := json.Unmarshal(kept.Kvs[0].Value, &f); {
	case err != nil || f.Version < 1 || f.Schema < 1:
		return fmt.Errorf("%s is not clbemu's: choose another prefix with --etcd-prefix", at)
	case f.Version > formatVersion || f.Schema > engine.SchemaVersion:
		return fmt.Errorf("a newer clbemu wrote it (format %d, schema %d; this one reads %d and %d)", f.Version, f.Schema, formatVersion, engine.SchemaVersion)
	}
	return nil
}

// get reads keys. Like all calls of etcd it has its own time: an import may need many.
func (e *Engine) get(ctx context.Context, key string, options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	before := e.seen.newest()
	kept, err := e.client.Get(ctx, key, options...)
	if err != nil {
		return nil, errorText(err)
	}
	return kept, e.seen.checkHeader(kept.Header, before)
}

// transact makes a transaction of etcd.
func (e *Engine) transact(ctx context.Context, when []clientv3.Cmp, then []clientv3.Op, otherwise ...clientv3.Op) (*clientv3.TxnResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	before := e.seen.newest()
	done, err := e.client.Txn(ctx).If(when...).Then(then...).Else(otherwise...).Commit()
	if err != nil {
		return nil, errorText(err)
	}
	return done, e.seen.checkHeader(done.Header, before)
}

// errorText says what a user can do about an error of etcd's client.
func errorText(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	hint := ""
	switch {
	case errors.Is(err, rpctypes.ErrNoSpace):
		hint = "etcd is full: compact and defragment it, raise its --quota-backend-bytes, and clear the alarm with `etcdctl alarm disarm`"
	case errors.Is(err, rpctypes.ErrPermissionDenied):
		hint = "the user has no right to read and write the keys: grant a role with `etcdctl role grant-permission ROLE --prefix=true readwrite PREFIX`"
	case errors.Is(err, rpctypes.ErrAuthFailed), errors.Is(err, rpctypes.ErrUserEmpty), errors.Is(err, rpctypes.ErrInvalidAuthToken):
		hint = "check --etcd-user and --etcd-password-file"
	case errors.Is(err, context.DeadlineExceeded), status.Code(err) == codes.Unavailable:
		hint = "etcd did not answer: check --etcd-endpoints, the certificates, and that most of its members run"
	default:
		return err
	}
	return fmt.Errorf("%s: %w", hint, err)
}

// isRejected reports an error after which nothing was done.
func isRejected(err error) bool {
	for _, certain := range []error{rpctypes.ErrNoSpace, rpctypes.ErrPermissionDenied, rpctypes.ErrRequestTooLarge, rpctypes.ErrTooManyOps,
		rpctypes.ErrInvalidAuthToken, rpctypes.ErrUserEmpty, rpctypes.ErrTooManyRequests} {
		if errors.Is(err, certain) {
			return true
		}
	}
	return false
}

// op returns the operation of etcd that makes the change.
func (e *Engine) op(c engine.Change) clientv3.Op {
	at := e.rows() + c.Table + "/" + c.ID
	if c.Value == nil {
		return clientv3.OpDelete(at)
	}
	return clientv3.OpPut(at, string(c.Value))
}

func size(c engine.Change) int { return len(c.Table) + len(c.ID) + len(c.Value) + 64 }

// Commit implements engine.Engine: as few transactions as etcd's bounds allow, and one
// for each change set at least. The precondition of each is that this process leads and
// wrote last.
func (e *Engine) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	if err := e.commits.take(ctx); err != nil {
		return notMade(fmt.Errorf("wait to commit: %w", err))
	}
	defer e.commits.give()
	if e.pending != nil {
		if err := e.finish(ctx, e.pending); err != nil {
			return notMade(err)
		}
	}
	made := false
	for len(sets) > 0 {
		n, changes := mergeSets(sets)
		err := e.commit(ctx, changes, n)
		if err != nil {
			if made && errors.Is(err, engine.ErrNotMade) {
				err = errors.New(err.Error()) // of the later ones, but not of all
			}
			return err
		}
		made, sets = true, sets[n:]
	}
	return nil
}

// notMade says that nothing of a commit was made.
func notMade(err error) error { return fmt.Errorf("%w: %w", err, engine.ErrNotMade) }

// mergeSets returns how many of the sets, at least one, fit into one transaction, and
// their changes in order of place, the last of each.
func mergeSets(sets []engine.ChangeSet) (n int, changes engine.ChangeSet) {
	type place struct{ table, id string }
	places, bytes := make(map[place]struct{}), 0
	for ; n < len(sets); n++ {
		for _, c := range sets[n] {
			places[place{c.Table, c.ID}] = struct{}{}
			bytes += size(c)
		}
		if n > 0 && (len(places) > maxOps || bytes > maxBytes) {
			break
		}
	}
	return n, engine.InOrder(sets[:n])
}

// commit makes the changes of some sets in one transaction, or shows them by one.
func (e *Engine) commit(ctx context.Context, changes engine.ChangeSet, sets int) error {
	bytes := 0
	for _, c := range changes {
		if bytes += size(c); size(c) > maxBytes {
			return fmt.Errorf("%s %.100s has %d bytes, and etcd takes %d at once: %w", c.Table, c.ID, len(c.Value), maxBytes, engine.ErrTooLarge)
		}
	}
	if len(changes) > maxOps || bytes > maxBytes {
		return e.commitInParts(ctx, changes, sets)
	}
	ops := make([]clientv3.Op, 0, len(changes)+1)
	for _, c := range changes {
		ops = append(ops, e.op(c))
	}
	return e.advance(ctx, sets, changes, ops...)
}

// advance makes a transaction that shows the changes of some sets, on the precondition that this
// process leads and wrote last.
func (e *Engine) advance(ctx context.Context, sets int, changes engine.ChangeSet, ops ...clientv3.Op) error {
	e.mu.Lock()
	term, fence, count := e.term, e.fence, e.count+uint64(sets)
	e.mu.Unlock()
	if term == nil {
		return notMade(engine.ErrFenced)
	}
	if err := e.seen.changed(); err != nil {
		return fmt.Errorf("%w: %w", engine.ErrNotMade, err)
	}
	revision := e.key("state", "revision")
	done, err := e.transact(ctx, []clientv3.Cmp{term.leads(), clientv3.Compare(clientv3.ModRevision(revision), "=", fence)},
		append(ops, term.stamp(), clientv3.OpPut(revision, strconv.FormatUint(count, 10))))
	if err == nil && !done.Succeeded {
		err = notMade(engine.ErrFenced)
	}
	switch {
	case isRejected(err):
		return notMade(err)
	case err != nil:
		if !errors.Is(err, engine.ErrNotMade) {
			e.sums.forget()
		}
		return err
	}
	e.sums.commit(count-uint64(sets), count, changes)
	e.mu.Lock()
	e.fence, e.count = done.Header.Revision, count
	e.mu.Unlock()
	return e.checkRevision(count, mark{})
}

// checkRevision notes the revision. That of the state itself is enough to know an older copy by.
func (e *Engine) checkRevision(count uint64, before mark) error {
	if e.home != nil {
		return nil
	}
	return e.seen.checkRevision(count, before)
}

// lastCommit reads the revision, and the revision of etcd that put it there.
func (e *Engine) lastCommit(ctx context.Context) (count uint64, put int64, err error) {
	before := e.seen.newest()
	kept, err := e.get(ctx, e.key("state", "revision"))
	if err != nil {
		return 0, 0, err
	}
	return e.countOf(kept.Kvs, before)
}

// countOf returns what lastCommit does, from keys that were read already. A new state has no
// revision.
func (e *Engine) countOf(found []*mvccpb.KeyValue, before mark) (count uint64, put int64, err error) {
	if len(found) > 0 {
		put = found[0].ModRevision
		if count, err = strconv.ParseUint(string(found[0].Value), 10, 64); err != nil {
			return 0, 0, fmt.Errorf("%s: %w: %w", found[0].Key, engine.ErrDamaged, err)
		}
	}
	return count, put, e.checkRevision(count, before)
}

// takeOver makes sure that no commit of an earlier leader, nor one of this process whose
// outcome is not known, is made from now on, and learns what was committed.
func (e *Engine) takeOver(ctx context.Context, term *term) error {
	revision, pointer := e.key("state", "revision"), e.key("state", "staged")
	for {
		count, mod, err := e.lastCommit(ctx)
		if err != nil {
			return err
		}
		done, err := e.transact(ctx, []clientv3.Cmp{term.leads(), clientv3.Compare(clientv3.ModRevision(revision), "=", mod)},
			[]clientv3.Op{clientv3.OpPut(revision, strconv.FormatUint(count, 10)), clientv3.OpGet(pointer), term.stamp()}, clientv3.OpGet(term.key))
		if err != nil {
			return err
		}
		if !done.Succeeded {
			if got := done.Responses[0].GetResponseRange(); len(got.Kvs) == 0 || got.Kvs[0].CreateRevision != term.created {
				return engine.ErrFenced
			}
			continue // an earlier commit came in between
		}
		var pending *staged
		if kvs := done.Responses[1].GetResponseRange().Kvs; len(kvs) > 0 {
			if pending, err = readStaged(kvs[0].Value); err != nil {
				return fmt.Errorf("%s: %w: %w", pointer, engine.ErrDamaged, err)
			}
		}
		e.pending = pending
		e.mu.Lock()
		e.term, e.fence, e.count = term, done.Header.Revision, count
		e.mu.Unlock()
		return nil
	}
}

// Recover implements engine.Engine.
func (e *Engine) Recover(ctx context.Context) error {
	if err := e.seen.changed(); err != nil {
		return err // what was acknowledged is served on
	}
	term, err := e.leading()
	if err != nil {
		return err
	}
	return e.takeOver(ctx, term)
}

// Revision implements engine.Engine.
func (e *Engine) Revision(ctx context.Context) (uint64, error) {
	count, _, err := e.lastCommit(ctx)
	return count, err
}

// Load implements engine.Engine.
func (e *Engine) Load(ctx context.Context, fn func(table, id string, value []byte) error) error {
	kept, err := e.read(ctx)
	if err != nil {
		return err
	}
	return kept.Load(ctx, fn)
}

// Close implements engine.Engine. A term ends with it, unless it is a branch's.
func (e *Engine) Close() error {
	if home := e.home; home != nil {
		home.mu.Lock()
		defer home.mu.Unlock()
		delete(home.branches, e)
		return nil
	}
	e.mu.Lock()
	term := e.term
	e.term = nil
	e.mu.Unlock()
	if term != nil {
		term.end()
	}
	if err := e.client.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
