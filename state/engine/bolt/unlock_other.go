//go:build !unix

package bolt

import "os"

// unlock does nothing where the lock goes with the file's handle.
func unlock(*os.File) error { return nil }
