package forward

import (
	"net"
	"sync"
)

// A flow is something open that can be cut: a connection or UDP session.
type flow interface{ abort() }

// A flowSet is the flows of a server or member. Once closed it takes no more.
type flowSet struct {
	mu     sync.Mutex
	closed bool
	flows  map[flow]struct{}
}

// add reports whether the set took the flow.
func (s *flowSet) add(f flow) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.flows == nil {
		s.flows = make(map[flow]struct{})
	}
	s.flows[f] = struct{}{}
	return true
}

func (s *flowSet) remove(f flow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.flows, f)
}

func (s *flowSet) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.flows)
}

// cut aborts the flows in the set.
func (s *flowSet) cut() {
	s.mu.Lock()
	open := make([]flow, 0, len(s.flows))
	for f := range s.flows {
		open = append(open, f)
	}
	s.mu.Unlock()
	for _, f := range open {
		f.abort()
	}
}

// close aborts the flows and takes no more.
func (s *flowSet) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cut()
}

// reset closes a connection with a TCP reset where it can.
func reset(c net.Conn) {
	if l, ok := c.(interface{ SetLinger(int) error }); ok {
		l.SetLinger(0)
	}
	c.Close()
}
