//go:build !unix

package forward

import "net"

// waitReadable returns at once: the round that follows waits in its read.
func waitReadable(net.Conn) error { return nil }

// peek knows nothing here.
func peek(net.Conn) (gone, known bool) { return false, false }
