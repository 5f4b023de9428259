package forward

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// handshakeTimeout limits a client's TLS handshake.
const handshakeTimeout = 10 * time.Second

// A stream is a connection of a client with a member.
type stream struct {
	server *Server
	table  *table
	raw    net.Conn // the client's socket
	client net.Conn // what the client says: raw, or TLS over it
	member net.Conn
	target *target
	event  *Event // nil if no observer wants it
	watch  *watch
	idle   atomic.Bool // nothing moved for the whole timeout
	in     atomic.Uint64
	out    atomic.Uint64

	mu      sync.Mutex
	aborted bool
	ended   atomic.Bool // one side has ended
}

// serveStream serves one connection of TCP or TCPSSL to its end.
func (s *Server) serveStream(t *table, raw net.Conn, e *Event) {
	st := &stream{server: s, table: t, raw: raw, client: raw, event: e}
	if !s.flows.add(st) {
		raw.Close()
		return
	}
	defer s.flows.remove(st)
	s.total.open()
	defer s.total.closed()
	defer raw.Close()
	defer st.end()
	if !st.handshake() {
		return
	}
	st.target = s.pickMember(t, client{from: addrPort(raw.RemoteAddr()), to: addrPort(raw.LocalAddr())})
	if st.target == nil || t.loops(st.target, addrPort(raw.RemoteAddr()).Addr()) {
		st.hold()
		return
	}
	st.forward()
}

// end reports what went through.
func (st *stream) end() {
	if st.event != nil {
		st.event.In, st.event.Out = st.in.Load(), st.out.Load()
		st.server.ended(st.event)
	}
}

// abort resets both sides, from any goroutine.
func (st *stream) abort() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.aborted = true
	reset(st.raw)
	if st.member != nil {
		reset(st.member)
	}
}

// handshake terminates TLS if the plan asks for it, and reports whether the stream may go on.
func (st *stream) handshake() bool {
	if st.table.Protocol != TCPSSL {
		return true
	}
	c := tls.Server(st.raw, st.server.tlsBase)
	ctx, cancel := context.WithTimeout(st.server.ctx, handshakeTimeout)
	defer cancel()
	if c.HandshakeContext(ctx) != nil {
		return false
	}
	st.client = c
	return true
}

// hold keeps a connection for which no member is available, or only the client itself:
// the client waits for an answer that does not come (CLB-0603, CLB-0631). It reads and drops what the client
// sends, so as to learn of its end.
func (st *stream) hold() {
	s := st.server
	if s.held.Add(1) > int64(s.config.MaxHeld) {
		s.held.Add(-1)
		s.refused.Add(1)
		return
	}
	defer s.held.Add(-1)
	stop := s.config.Clock.AfterFunc(st.table.EstablishedTimeout, st.abort)
	defer stop()
	var dropped [512]byte
	for {
		if _, err := st.client.Read(dropped[:]); err != nil {
			return
		}
	}
}

// forward connects to the member and copies both ways until both have ended.
func (st *stream) forward() {
	record := st.target.record
	if !st.connect() {
		reset(st.raw)
		return
	}
	defer st.member.Close()
	record.flows.add(st)
	defer record.flows.remove(st)
	record.open()
	defer record.closed()
	if err := st.writeProxyHeader(); err != nil {
		st.abort()
		return
	}
	st.watch = newWatch(st.server.config.Clock, st.table.EstablishedTimeout, st.giveUp)
	defer st.watch.stop()
	in, out := st.table.limit.connection()
	back := make(chan struct{})
	go func() {
		defer close(back)
		st.newPump(st.client, st.member, out, &record.bytesOut, &st.server.total.bytesOut, &st.out).run()
	}()
	st.newPump(st.member, st.client, in, &record.bytesIn, &st.server.total.bytesIn, &st.in).run()
	<-back
	if c, ok := st.client.(*tls.Conn); ok {
		c.Close()
	}
}

// connect dials the member, and reports whether it succeeded.
func (st *stream) connect() bool {
	f := st.fault()
	if f != nil && f.refused {
		st.server.countFailure(st.target.record)
		return false
	}
	port := addrPort(st.raw.LocalAddr()).Port()
	member, err := st.server.dial(st.server.ctx, "tcp", st.raw.RemoteAddr(), st.target.at(port), st.target.record)
	if err != nil {
		return false
	}
	if f != nil {
		member = st.server.newFaultyConn(member, f, true)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.aborted {
		member.Close()
		return false
	}
	st.member = member
	return true
}

// fault returns what goes wrong with the member.
func (st *stream) fault() *Fault {
	s := st.server
	if st.event == nil && s.config.Observer.Armed(Forward) {
		st.event = newEvent(Connection, addrPort(st.raw.RemoteAddr()), addrPort(st.raw.LocalAddr()))
	}
	if st.event == nil {
		return nil
	}
	st.event.Member = st.target.Key
	return s.fault(Forward, st.event)
}

// giveUp ends a stream in which nothing moves.
func (st *stream) giveUp() {
	st.idle.Store(true)
	st.abort()
}
