//go:build !linux

package replicas

import "syscall"

// giveUpSilent leaves it to the system when to end a connection.
func giveUpSilent(string, string, syscall.RawConn) error { return nil }
