package forward

import "sync/atomic"

// Stats counts what a server has done since New.
type Stats struct {
	Total Counters
	// Members holds the members of the plan and those with open connections, by Member.Key.
	Members  map[string]Counters
	Held     int64  // connections that wait because no member is available
	Refused  uint64 // connections and packets that the access list or a limit refused
	Sessions int64  // open UDP sessions
}

// Counters count the connections, requests and bytes of a listener or member.
// Bytes of spliced connections are counted every few seconds and at their end.
type Counters struct {
	Active      int64  // open connections and sessions; of an HTTP member, running requests
	Connections uint64 // connections and sessions so far
	Requests    uint64 // HTTP requests so far
	BytesIn     uint64 // from clients
	BytesOut    uint64 // to clients
	Errors      uint64 // failures of members
}

type counters struct {
	active                           atomic.Int64
	connections, requests            atomic.Uint64
	bytesIn, bytesOut, memberFailure atomic.Uint64
}

func (c *counters) snapshot() Counters {
	return Counters{
		Active:      c.active.Load(),
		Connections: c.connections.Load(),
		Requests:    c.requests.Load(),
		BytesIn:     c.bytesIn.Load(),
		BytesOut:    c.bytesOut.Load(),
		Errors:      c.memberFailure.Load(),
	}
}

// open counts a connection; the caller calls closed at its end.
func (c *counters) open() {
	c.active.Add(1)
	c.connections.Add(1)
}

func (c *counters) closed() { c.active.Add(-1) }
