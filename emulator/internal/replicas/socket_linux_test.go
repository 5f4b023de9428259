package replicas

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
)

// A connection that the leader has closed takes nothing of a call, so that it counts as unsent; one
// that is open takes it.
func TestLeaderConn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	made, err := newLeaderConn(net.Dial("tcp", listener.Addr().String()))
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	conn := made.(*leaderConn)
	leader, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer leader.Close()
	sent := conn.begins()
	if _, err := conn.Write([]byte("a call")); err != nil || conn.unsent(sent) {
		t.Errorf("a call to a leader that lives: %v, and it counts as unsent", err)
	}
	if _, err := io.ReadFull(leader, make([]byte, len("a call"))); err != nil { // what is unread would reset it
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("the rest")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a call that was given up goes on: %v", err)
	}
	conn.over = false
	next := conn.begins()
	if err := leader.Close(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the end of the connection has come", func() bool { return closedByPeer(conn.raw) })
	if n, err := conn.Write([]byte("the next")); n != 0 || !errors.Is(err, syscall.EPIPE) || !conn.unsent(next) || conn.unsent(sent) {
		t.Errorf("a call to a leader that ended: %d bytes, %v, and it counts as sent, or the one before as unsent", n, err)
	}
}
