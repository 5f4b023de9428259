// Package fidelityrun plays the published statements about the cloud against the real cloud: it
// plans the cases, keeps a ledger of what it makes, deletes that, and reports what held. It
// must not change anything that it did not make.
package fidelityrun

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"sync"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
)

// Cloud is the real cloud, which it also cleans up.
type Cloud struct{ realcloud.Cloud }

// pattern returns an expression that compiles on first use.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// fingerprint tells accounts apart in a ledger without naming them.
func fingerprint(account string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte("clbemu fidelity "+account)))[:16]
}
