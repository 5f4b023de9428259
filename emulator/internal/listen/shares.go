package listen

import "syscall"

// Descriptors have shares, which add up: packets get half, or all but mostLeft where there are
// many; forks get a sixteenth for their ports and a sixteenth for connections there; callers
// of the API, and of the control API, have so many connections; the rest is for the state.
const (
	mostLeft    = 3072
	mostCalls   = 1024
	mostControl = 256
)

// NewCallPlaces returns places for the connections of the API.
func NewCallPlaces() *Places { return NewPlaces(min(mostCalls, Descriptors()/8)) }

// NewForkPlaces returns places for the connections of all forks.
func NewForkPlaces() *Places { return NewPlaces(min(mostCalls, Descriptors()/16)) }

// NewControlPlaces returns places for the connections of the control API.
func NewControlPlaces() *Places { return NewPlaces(min(mostControl, Descriptors()/8)) }

// ForksMark returns the first descriptor that the ports of forks leave to the rest of the process.
func ForksMark() int { return PacketsMark() + min(Descriptors()/16, mostCalls/2) }

// PacketsMark returns the first descriptor that packets leave to the rest of the process: the
// kernel gives out the lowest free one.
func PacketsMark() int { return Descriptors() - min(Descriptors()/2, mostLeft) }

// Beyond reports whether a connection or a listener has a descriptor from the mark on; 0 is
// no mark.
func Beyond(of any, mark int) (beyond bool) {
	socket, ok := of.(syscall.Conn)
	if mark == 0 || !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	_ = raw.Control(func(descriptor uintptr) { beyond = descriptor >= uintptr(mark) })
	return beyond
}
