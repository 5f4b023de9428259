//go:build !linux

package replicas

import "syscall"

// setSilenceTimeout leaves it to the system when to end a connection.
func setSilenceTimeout(string, string, syscall.RawConn) error { return nil }

// closedByPeer sees only what is closed here: a call that is sent to a leader that has just ended may
// then count as one that was perhaps executed.
func closedByPeer(c syscall.RawConn) bool { return c.Control(func(uintptr) {}) != nil }
