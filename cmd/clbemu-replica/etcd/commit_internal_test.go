package etcd

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/state/engine"
)

// stalling is an etcd that makes every transaction, and stalls where a test says so.
type stalling struct {
	etcdserverpb.UnimplementedKVServer
	stalls func(write bool) bool // of a transaction; of rows if nil
	rows   []*mvccpb.KeyValue    // what is answered for rows
	gone   bool                  // the revision of the first reading of rows is compacted
	asked  chan struct{}         // gets a value for each call that stalls
	goes   chan struct{}         // closed when stalled calls go on
}

func (s *stalling) stall(ctx context.Context) error {
	s.asked <- struct{}{}
	select {
	case <-s.goes:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (*stalling) header() *etcdserverpb.ResponseHeader {
	return &etcdserverpb.ResponseHeader{ClusterId: 1, Revision: 1}
}

func (s *stalling) Range(ctx context.Context, _ *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	if s.stalls == nil {
		if err := s.stall(ctx); err != nil {
			return nil, err
		}
	}
	if s.gone {
		s.gone = false
		return nil, rpctypes.ErrGRPCCompacted
	}
	return &etcdserverpb.RangeResponse{Header: s.header(), Kvs: s.rows}, nil
}

func (s *stalling) Txn(ctx context.Context, r *etcdserverpb.TxnRequest) (*etcdserverpb.TxnResponse, error) {
	if s.stalls != nil && s.stalls(len(r.Compare) > 0) {
		if err := s.stall(ctx); err != nil {
			return nil, err
		}
	}
	done := &etcdserverpb.TxnResponse{Header: s.header(), Succeeded: true}
	for _, op := range r.Success {
		kept := &etcdserverpb.ResponseOp{}
		if op.GetRequestRange() != nil {
			kept.Response = &etcdserverpb.ResponseOp_ResponseRange{ResponseRange: &etcdserverpb.RangeResponse{}}
		} else {
			kept.Response = &etcdserverpb.ResponseOp_ResponsePut{ResponsePut: &etcdserverpb.PutResponse{}}
		}
		done.Responses = append(done.Responses, kept)
	}
	return done, nil
}

// startStalling starts such an etcd, and an engine that leads there.
func startStalling(t *testing.T, stalls func(write bool) bool) (*stalling, *Engine) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &stalling{stalls: stalls, asked: make(chan struct{}, 1), goes: make(chan struct{})}
	server := grpc.NewServer()
	etcdserverpb.RegisterKVServer(server, s)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	e, err := dial(Config{Endpoints: []string{"http://" + listener.Addr().String()}, Prefix: "/x/"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.client.Close() })
	e.term = &term{e: e, key: "/x/leader/1", created: 1}
	e.sums.set(0, make(map[uint64]uint64))
	return s, e
}

var oneRow = []engine.ChangeSet{{{Table: "a", ID: "1", Value: []byte("x")}}}

// A commit waits until it is known at which revision rows are compared, not until they are read. A row
// that another program wrote before is found all the same.
func TestCommitWhileRowsAreRead(t *testing.T) {
	t.Parallel()
	s, e := startStalling(t, nil)
	s.rows = []*mvccpb.KeyValue{{Key: []byte(e.rows() + "a/9"), Value: []byte("theirs")}}
	compared := make(chan error, 1)
	go func() { compared <- e.compareRows(t.Context()) }()
	<-s.asked
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	if err := e.Commit(ctx, oneRow); err != nil {
		t.Errorf("a commit while rows are read: %v", err)
	}
	close(s.goes)
	if err := <-compared; err != nil || e.seen.changed() == nil {
		t.Errorf("the rows are compared: %v, and changed by another program: %v", err, e.seen.changed())
	}
}

// Rows whose revision is compacted while they are read are read once more, and commits wait for that.
func TestCompareOvertaken(t *testing.T) {
	t.Parallel()
	s, e := startStalling(t, func(bool) bool { return false })
	s.rows, s.gone = []*mvccpb.KeyValue{{Key: []byte(e.rows() + "a/9"), Value: []byte("theirs")}}, true
	if err := e.compareRows(t.Context()); err != nil || e.seen.changed() == nil || s.gone {
		t.Errorf("the rows are compared: %v, and changed by another program: %v", err, e.seen.changed())
	}
	if err := e.Commit(t.Context(), oneRow); err == nil {
		t.Error("a commit after another program's change is made")
	}
}

// A commit whose context ends while it waits for its turn returns at once, and nothing is made.
func TestCommitInTime(t *testing.T) {
	t.Parallel()
	s, e := startStalling(t, func(write bool) bool { return !write })
	compared := make(chan error, 1)
	go func() { compared <- e.compareRows(t.Context()) }()
	<-s.asked
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(50*time.Millisecond, cancel).Stop()
	err := e.Commit(ctx, oneRow)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, engine.ErrNotMade) { // by etcd's own limit its deadline would be exceeded
		t.Errorf("a commit whose context ended: %v, want that and that nothing is made", err)
	}
	close(s.goes)
	if err := <-compared; err != nil {
		t.Errorf("the rows are compared: %v", err)
	}
	if err := e.Commit(t.Context(), oneRow); err != nil {
		t.Errorf("a commit after that: %v", err)
	}
	gone, end := context.WithCancel(t.Context())
	end()
	if err := e.Commit(gone, oneRow); !errors.Is(err, context.Canceled) || !errors.Is(err, engine.ErrNotMade) {
		t.Errorf("a commit of a caller that is gone: %v, want that nothing is made", err)
	}
	if e.sums.at(1) == nil {
		t.Error("commits that were not made make the rows unknown")
	}
}
