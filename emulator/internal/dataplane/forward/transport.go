package forward

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// newTransport returns the way of HTTP requests to members.
func (s *Server) newTransport() *http.Transport {
	return &http.Transport{
		DialContext:            s.dialMember,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    512,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: readableHeader,
		ReadBufferSize:         8 << 10,
		WriteBufferSize:        8 << 10,
	}
}

// dialMember connects to the member at the address, for requests of any client:
// the context of the one that asked does not end it.
func (s *Server) dialMember(_ context.Context, network, address string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	r := s.table.Load().hosts[address]
	if r == nil { // the plan has changed meanwhile
		r = &record{}
	}
	ctx, cancel := context.WithTimeout(s.ctx, connectTimeout)
	defer cancel()
	c, err := s.dial(ctx, network, nil, to, r)
	if err != nil {
		return nil, err
	}
	m := &memberConn{Conn: c, server: s, record: r}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.flows.add(m) {
		c.Close()
		return nil, ErrServerClosed
	}
	s.running.Add(1)
	r.connections.Add(1)
	return m, nil
}

// A memberConn counts the bytes of a member that speaks HTTP.
type memberConn struct {
	net.Conn
	server *Server
	record *record
	once   sync.Once
}

// Read reads what the member sends.
func (c *memberConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.record.bytesOut.Add(uint64(n))
	return n, err
}

// Write sends to the member.
func (c *memberConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.record.bytesIn.Add(uint64(n))
	return n, err
}

// Close closes the connection.
func (c *memberConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() {
		c.server.flows.remove(c)
		c.server.running.Done()
	})
	return err
}

// abort closes the connection; the transport learns of it and closes it too.
func (c *memberConn) abort() { c.Conn.Close() }
