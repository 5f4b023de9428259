// Package netns gives tests networks of their own: a network namespace, and machines next to
// it that are namespaces too. It is for the tests of all modules, and knows no emulator.
package netns

import (
	"os"
	"os/exec"
)

// insideVariable is set in the environment of a test that runs in a network namespace of
// its own. Settings of clbemu are unset in tests, so that it is not named like one.
const insideVariable = "TEST_INSIDE_NAMESPACE"

// Inside reports whether this process is one that Isolated started.
func Inside() bool { return os.Getenv(insideVariable) != "" }

// Up brings up the loopback interface of a new network namespace.
func Up() error {
	// Without this, addresses of IPv6 wait for two seconds to see whether they are in use.
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/default/accept_dad", []byte("0"), 0)
	return exec.Command("ip", "link", "set", "lo", "up").Run()
}
