package forward

import (
	"errors"
	"fmt"
	"net/netip"
)

// A dialError is a member that did not accept a connection.
type dialError struct {
	key string
	to  netip.AddrPort
	err error
}

func (e *dialError) Error() string {
	return fmt.Sprintf("backend server %s at %s did not accept the connection: %v", e.key, e.to, e.err)
}

// Timeout reports whether the member did not answer at all.
func (e *dialError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.err, &t) && t.Timeout()
}

func (e *dialError) Unwrap() error { return e.err }
