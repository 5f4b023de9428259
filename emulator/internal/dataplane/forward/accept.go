package forward

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// ServeTCP accepts connections on l and serves each in its own goroutine,
// for all protocols but UDP. It closes l and returns when the server closes or l
// fails; connections then go on. A net.ListenConfig with KeepAlive -1 saves four
// system calls a connection; idle timeouts end what keep-alive would find.
func (s *Server) ServeTCP(l net.Listener) error {
	done, err := s.open(l)
	if err != nil {
		return err
	}
	defer done()
	var pause backoff
	for {
		c, err := l.Accept()
		if err == nil {
			if err = s.tooMany(c); err != nil {
				reset(c)
			}
		}
		switch {
		case s.ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return ErrServerClosed
		case err == nil:
			pause = 0
			s.accept(c)
		case errors.Is(err, net.ErrClosed):
			return err
		default:
			s.config.Log(err)
			pause.wait(s.ctx)
		}
	}
}

var errTooMany = errors.New("too many connections: the descriptors that are left are for the API and the state: raise the limit of open files (ulimit -n)")

// tooMany returns an error if a new connection has one of the descriptors that it must
// leave to the rest of the process. The kernel gives out the lowest free one.
func (s *Server) tooMany(c net.Conn) (err error) {
	socket, ok := c.(syscall.Conn)
	if s.config.MaxDescriptor == 0 || !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	if failed := raw.Control(func(descriptor uintptr) {
		if descriptor >= uintptr(s.config.MaxDescriptor) {
			err = errTooMany
		}
	}); failed != nil {
		return failed
	}
	return err
}

// A backoff is the pause after a socket failed, for instance because the process
// has no descriptor left.
type backoff time.Duration

func (b *backoff) wait(ctx context.Context) {
	*b = min(max(2**b, backoff(5*time.Millisecond)), backoff(time.Second))
	pause(ctx, time.Duration(*b))
}

// accept serves a connection that the plan admits, and closes any other.
func (s *Server) accept(c net.Conn) {
	t := s.table.Load()
	if !t.admits(addrPort(c.RemoteAddr()).Addr(), addrPort(c.LocalAddr()).Port()) {
		s.refused.Add(1)
		c.Close()
		return
	}
	e := s.connected(c)
	if e != nil {
		if f := s.fault(Connect, e); f != nil {
			if f.refused {
				s.ended(e) // before its client knows
				reset(c)
				return
			}
			c = s.newFaultyConn(c, f, false)
		}
	}
	if t.isWeb() {
		s.acceptWeb(c, t)
		return
	}
	s.running.Go(func() { s.serveStream(t, c, e) })
}
