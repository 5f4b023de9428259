package forward

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// maxPacket is more than a UDP packet can have.
const maxPacket = 64 << 10

var packetBuffers = sync.Pool{New: func() any { return new([maxPacket]byte) }}

// A packetServer is a socket that clients send packets to, with their sessions.
type packetServer struct {
	*Server
	socket *net.UDPConn
	local  netip.AddrPort

	mu       sync.Mutex
	sessions map[netip.AddrPort]*session
}

// A session sends the packets of one client to one member, and back.
type session struct {
	server *packetServer
	client netip.AddrPort
	member net.Conn
	target *target
	limit  *limit
	event  *Event // nil if no observer wants it
	faults []*faultySide
	watch  *watch
	in     atomic.Uint64
	out    atomic.Uint64
}

// ServeUDP forwards the packets that c receives. It closes c and returns when the
// server closes or c fails; its sessions end with it.
func (s *Server) ServeUDP(c *net.UDPConn) error {
	done, err := s.open(c)
	if err != nil {
		return err
	}
	defer done()
	p := &packetServer{Server: s, socket: c, local: addrPort(c.LocalAddr()), sessions: make(map[netip.AddrPort]*session)}
	defer p.end()
	b := make([]byte, maxPacket)
	var pause backoff
	for {
		n, from, err := c.ReadFromUDPAddrPort(b)
		switch {
		case s.ctx.Err() != nil:
			return ErrServerClosed
		case err == nil:
			pause = 0
			p.receive(b[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			s.config.Log(err)
			pause.wait(s.ctx)
		}
	}
}

// receive passes a client's packet on, in a new session where it has none.
func (p *packetServer) receive(packet []byte, from netip.AddrPort) {
	p.mu.Lock()
	ses := p.sessions[from]
	p.mu.Unlock()
	first := ses == nil
	if first {
		if ses = p.newSession(packet, from); ses == nil {
			return
		}
	}
	ses.send(packet, first)
}

// newSession opens a session for the packet's client, and returns nil where the
// client is not admitted, no member is available, or the table is full.
func (p *packetServer) newSession(packet []byte, from netip.AddrPort) *session {
	t := p.table.Load()
	if p.Server.sessions.Load() >= int64(p.config.MaxSessions) || !t.admits(from.Addr(), p.local.Port()) {
		p.refused.Add(1)
		return nil
	}
	ses := &session{server: p, client: from, limit: t.limit}
	if ses.fault(Connect) {
		return nil
	}
	c := client{from: from, to: p.local}
	if t.Scheduler == QUICHash {
		c.quicID = quicID(packet)
	}
	if ses.target = p.pickMember(t, c); ses.target == nil || t.loops(ses.target, from.Addr()) || ses.fault(Forward) {
		return nil
	}
	member, err := p.dial(p.ctx, "udp", net.UDPAddrFromAddrPort(from), ses.target.at(p.local.Port()), ses.target.record)
	if err != nil {
		return nil
	}
	ses.member = member
	if !p.flows.add(ses) {
		member.Close()
		return nil
	}
	ses.open()
	ses.watch = newWatch(p.config.Clock, t.SessionTimeout, ses.abort)
	p.running.Go(ses.serveReplies)
	return ses
}

// fault notes what goes wrong with the session, and reports whether to refuse it.
func (ses *session) fault(at Point) (refused bool) {
	observer := ses.server.config.Observer
	if ses.event == nil && (observer.Armed(at) || observer.Logs()) {
		ses.event = newEvent(Session, ses.client, ses.server.local)
	}
	if ses.event == nil {
		return false
	}
	if ses.target != nil {
		ses.event.Member = ses.target.Key
	}
	f := ses.server.fault(at, ses.event)
	if f == nil {
		return false
	}
	ses.faults = append(ses.faults, &faultySide{Fault: f, left: f.after})
	if l := f.limit(); l != nil {
		ses.limit = l
	}
	if f.refused {
		ses.server.ended(ses.event)
	}
	return f.refused
}

// takes reports whether a packet of the answer passes the faults.
func (ses *session) takes(n int) bool {
	for _, side := range ses.faults {
		if passing, _ := side.take(n); passing < n {
			return false
		}
		side.passed(n)
	}
	return true
}

func (ses *session) open() {
	p := ses.server
	p.mu.Lock()
	p.sessions[ses.client] = ses
	p.mu.Unlock()
	p.Server.sessions.Add(1)
	p.total.open()
	ses.target.record.open()
	ses.target.record.flows.add(ses)
}

func (ses *session) close() {
	p := ses.server
	p.mu.Lock()
	delete(p.sessions, ses.client)
	p.mu.Unlock()
	ses.member.Close()
	p.flows.remove(ses)
	p.Server.sessions.Add(-1)
	p.total.closed()
	ses.target.record.closed()
	ses.target.record.flows.remove(ses)
	if ses.event != nil {
		ses.event.In, ses.event.Out = ses.in.Load(), ses.out.Load()
		p.ended(ses.event)
	}
}

// abort ends the session: its reader meets the closed socket.
func (ses *session) abort() { ses.member.Close() }

// end aborts the sessions of the socket.
func (p *packetServer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ses := range p.sessions {
		ses.abort()
	}
}

// send passes a packet of the client on. It drops what exceeds the bandwidth.
func (ses *session) send(packet []byte, first bool) {
	ses.watch.touch()
	if ses.limit != nil && !ses.limit.in.allow(time.Now(), len(packet)) {
		return
	}
	size := len(packet)
	if first {
		packet = ses.withProxyHeader(packet)
	}
	_, err := ses.member.Write(packet)
	if ses.refused(err) {
		// The error belongs to an earlier packet.
		_, err = ses.member.Write(packet)
		ses.refused(err)
	}
	if err == nil {
		ses.in.Add(uint64(size))
		ses.server.total.bytesIn.Add(uint64(size))
		ses.target.record.bytesIn.Add(uint64(size))
	}
}

func (ses *session) withProxyHeader(packet []byte) []byte {
	pp := &ses.server.table.Load().ProxyProtocol
	h, err := pp.header(net.UDPAddrFromAddrPort(ses.client), ses.server.socket.LocalAddr())
	if err != nil {
		ses.server.config.Log(err)
		return packet
	}
	return append(h, packet...)
}

// refused counts and reports a packet that ICMP says was refused: nothing listens at the
// port of the member.
func (ses *session) refused(err error) bool {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	ses.server.countFailure(ses.target.record)
	return true
}

// serveReplies passes the member's packets back until the session was idle for
// its time or is aborted. A member that refuses keeps its session, as in the
// cloud, which learns of it by health checks.
func (ses *session) serveReplies() {
	defer ses.close()
	defer ses.watch.stop()
	for {
		err := waitReadable(ses.member)
		if err == nil {
			err = ses.reply()
		}
		if err != nil && !ses.refused(err) {
			return
		}
	}
}

// reply passes one packet of the member back.
func (ses *session) reply() error {
	b := packetBuffers.Get().(*[maxPacket]byte)
	defer packetBuffers.Put(b)
	n, err := ses.member.Read(b[:])
	if err != nil {
		return err
	}
	ses.watch.touch()
	if !ses.takes(n) || ses.limit != nil && !ses.limit.out.allow(time.Now(), n) {
		return nil
	}
	if _, err = ses.server.socket.WriteToUDPAddrPort(b[:n], ses.client); errors.Is(err, net.ErrClosed) {
		return err
	}
	ses.out.Add(uint64(n))
	ses.server.total.bytesOut.Add(uint64(n))
	ses.target.record.bytesOut.Add(uint64(n))
	return nil
}
