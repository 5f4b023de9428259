package forward

import (
	"net"
	"net/netip"
	"time"
)

// A Point is where an Event is on its way.
type Point int

// The points.
const (
	Connect Point = iota // a client has connected, or sent the first packet of a session
	Forward              // a member is chosen
)

// An Observer sees what passes a server, and can let it go wrong. Its methods may be
// called concurrently, for each connection and request, so they have to be fast.
type Observer interface {
	// Armed reports whether Fault may return something at a point.
	Armed(Point) bool
	// Fault returns what goes wrong with an event from a point on, nil for nothing.
	Fault(Point, *Event) *Fault
	// Logs reports whether to call Ended.
	Logs() bool
	// Ended gets a connection of TCP or TCPSSL, a UDP session, or a request of HTTP or
	// HTTPS at its end.
	Ended(*Event)
}

// noObserver observes nothing.
type noObserver struct{}

func (noObserver) Armed(Point) bool           { return false }
func (noObserver) Fault(Point, *Event) *Fault { return nil }
func (noObserver) Logs() bool                 { return false }
func (noObserver) Ended(*Event)               {}

// An Event is a connection, UDP session or request of a client.
type Event struct {
	Kind          EventKind
	Client, Local netip.AddrPort
	Member        string // Member.Key; empty before the choice
	// Method, Host, Path and Status have values for requests.
	Method, Host, Path string
	Status             int
	Reason             string // of an answer that the listener gave itself
	In, Out            uint64 // bytes from and to the client; of requests, of the answer's body alone
	Began              time.Time
	Faults             []string // what went wrong, by Fault.Rule
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds of events.
const (
	Connection EventKind = "connection"
	Session    EventKind = "session"
	Request    EventKind = "request"
)

func newEvent(kind EventKind, client, local netip.AddrPort) *Event {
	return &Event{Kind: kind, Client: client, Local: local, Began: time.Now()}
}

// connected returns the event of a client's connection, or nil if no observer wants it yet.
func (s *Server) connected(c net.Conn) *Event {
	if !s.config.Observer.Armed(Connect) && !s.config.Observer.Logs() {
		return nil
	}
	return newEvent(Connection, addrPort(c.RemoteAddr()), addrPort(c.LocalAddr()))
}

// fault returns what goes wrong with an event.
func (s *Server) fault(p Point, e *Event) *Fault {
	f := s.config.Observer.Fault(p, e)
	if f != nil {
		e.Faults = append(e.Faults, f.Rule)
	}
	return f
}

// ended reports the end of an event, which may be nil.
func (s *Server) ended(e *Event) {
	if e != nil && s.config.Observer.Logs() {
		s.config.Observer.Ended(e)
	}
}
