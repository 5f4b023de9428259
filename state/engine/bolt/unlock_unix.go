//go:build unix

package bolt

import (
	"os"
	"syscall"
)

// unlock gives up the lock on a file, which closing it does not while it is
// mapped.
func unlock(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_UN) }
