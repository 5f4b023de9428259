package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// rootOfOwn starts a process as root of a user namespace of its own, with further ones.
func rootOfOwn(namespaces uintptr) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | namespaces, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
}

// finished runs a command in namespaces of its own, if this machine lets it.
func finished(t *testing.T, cmd *exec.Cmd) (output string, code int) {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skipf("NOT TESTED: this needs user namespaces that anybody may make: %v", err)
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestAddressesNeedRight proves that the addresses of load balancers keep the server from
// starting where it may not put them on an interface: root of a user namespace has no
// right in the network of others.
func TestAddressesNeedRight(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"needs the right NET_ADMIN", nil},
		{"needs the right NET_ADMIN", []string{"--data-plane-source", "transparent"}},
		{"network interface nowhere0", []string{"--data-plane-interface", "nowhere0"}},
	} {
		cmd := exec.Command(binary.Path, append([]string{"serve", "--engine", "memory", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0", "--data-plane", "addresses"}, tt.args...)...)
		cmd.SysProcAttr = rootOfOwn(0)
		if out, code := finished(t, cmd); code != 3 || !strings.Contains(out, tt.want) || strings.Count(out, "\n") != 1 {
			t.Errorf("serve %v = %d, %q, want 3 and one line with %q", tt.args, code, out, tt.want)
		}
	}
}

// addressesScript lets a load balancer answer at its address, kills the emulator, starts
// another one, and ends that. It is run in a network namespace of its own.
const addressesScript = `set -eu
ip link set lo up
ip addr add 198.18.255.255/32 dev lo
on_lo() { ip -brief addr show dev lo | tr ' ' '\n' | grep -c '^198\.18\.' || true; }
serve() { clbemu serve --data-dir "$1" --data-plane addresses >"$1.log" 2>&1 & emulator=$!; clbemu wait >&2; }
url() { for try in $(seq 200); do clbemu url web 2>/dev/null && return; done; clbemu url web; }
serve "$1/data"
lb=$(clbemu call CreateLoadBalancer AddressType=internet LoadBalancerName=web --field LoadBalancerId)
clbemu call CreateLoadBalancerHTTPListener LoadBalancerId=$lb ListenerPort=80 BackendServerPort=80 Bandwidth=-1 StickySession=off HealthCheck=off >&2
clbemu call StartLoadBalancerListener LoadBalancerId=$lb ListenerPort=80 >&2
echo "url $(url)"
echo "status $(curl -s -o "$1/page" -w '%{http_code}' "$(url)")"
kill -9 $emulator
wait $emulator || true
echo "after kill $(on_lo)"
serve "$1/other"
echo "after the start of another $(on_lo)"
kill $emulator
wait $emulator
serve "$1/data"
echo "again $(curl -s -o "$1/page" -w '%{http_code}' "$(url)")"
kill $emulator
wait $emulator
echo "after the end $(on_lo)"
grep packets "$1/data.log"
`

// TestServeAddresses proves what a user sees of a load balancer that answers at its address,
// which is there as long as its emulator, and in which no server is well.
func TestServeAddresses(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"ip", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT TESTED: %s is not installed", tool)
		}
	}
	cmd := exec.Command("sh", "-c", addressesScript, "sh", t.TempDir())
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary.Path)+":"+os.Getenv("PATH"))
	cmd.SysProcAttr = rootOfOwn(syscall.CLONE_NEWNET | syscall.CLONE_NEWPID)
	out, code := finished(t, cmd)
	for _, want := range []string{"url http://198.18.", "status 503", "after kill 2", "after the start of another 1", "again 503", "after the end 1",
		"answered at the load balancers' addresses, on lo"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if code != 0 || t.Failed() {
		t.Errorf("exit code %d\n%s", code, out)
	}
}
