package netns

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/clbemu/clbemu/contracttests/await"
)

// within limits the time of a test in a namespace.
const within = "8m"

// Isolated runs the rest of the test in a process with a network namespace of its own, in
// which it returns true. Elsewhere it returns false once that process has ended.
func Isolated(t *testing.T) bool {
	t.Helper()
	if Inside() {
		if err := Up(); err != nil {
			t.Fatal(err)
		}
		return true
	}
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT TESTED: network namespaces are set up with %s, which is not installed", tool)
		}
	}
	again(t, namespaced())
	return false
}

// WithoutRights runs the rest of the test in a process that may do nothing to the network,
// in which it returns true. Elsewhere it returns false once that process has ended.
func WithoutRights(t *testing.T) bool {
	t.Helper()
	if Inside() {
		return true
	}
	again(t, inUserNamespace())
	return false
}

// again runs the test in a process of its own.
func again(t *testing.T, attributes *syscall.SysProcAttr) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout="+within)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.SysProcAttr = attributes
	out, err := cmd.CombinedOutput()
	if cmd.Process == nil {
		t.Skipf("NOT TESTED: namespaces need root, or user namespaces that anybody may make: %v", err)
	}
	if err != nil {
		t.Errorf("in a namespace: %v\n%s", err, out)
	}
}

// namespaced starts a process in a network namespace of its own, in which it is root.
func namespaced() *syscall.SysProcAttr {
	if os.Getuid() == 0 {
		return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	}
	attributes := inUserNamespace()
	attributes.Cloneflags |= syscall.CLONE_NEWNET
	return attributes
}

// inUserNamespace starts a process as root of a user namespace of its own, which may do
// nothing to the network that is here.
func inUserNamespace() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
}

// Run runs a program that must succeed, and returns what it prints.
func Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Namespace is a network namespace next to the test's, joined to it by a cable.
type Namespace struct {
	t   testing.TB
	pid string // of a process in it; empty is the test's own namespace
}

// Here returns the test's own namespace.
func Here(t testing.TB) *Namespace { return &Namespace{t: t} }

// New makes a namespace. Its number names the cable, netns1, and the addresses: 10.77.N.1
// and fd77:N::1 are the test's, 10.77.N.2 and fd77:N::2 the namespace's.
func New(t testing.TB, number string) *Namespace {
	t.Helper()
	holder := exec.Command("sleep", "infinity")
	holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	// The signal comes at the end of the thread that started the process.
	runtime.LockOSThread()
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		holder.Process.Kill()
		holder.Wait() // it was killed
		runtime.UnlockOSThread()
	})
	n := &Namespace{t, strconv.Itoa(holder.Process.Pid)}
	cable := "netns" + number
	Run(t, "ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", n.pid)
	Run(t, "ip", "addr", "add", "10.77."+number+".1/24", "dev", cable)
	Run(t, "ip", "addr", "add", "fd77:"+number+"::1/64", "dev", cable, "nodad")
	Run(t, "ip", "link", "set", cable, "up")
	n.Run("ip", "link", "set", "lo", "up")
	n.Run("ip", "addr", "add", "10.77."+number+".2/24", "dev", "eth0")
	n.Run("ip", "addr", "add", "fd77:"+number+"::2/64", "dev", "eth0", "nodad")
	n.Run("ip", "link", "set", "eth0", "up")
	n.Run("ip", "route", "add", "default", "via", "10.77."+number+".1")
	n.Run("ip", "-6", "route", "add", "default", "via", "fd77:"+number+"::1")
	return n
}

// Run runs a program in the namespace, and returns what it prints.
func (n *Namespace) Run(name string, args ...string) string {
	n.t.Helper()
	return Run(n.t, "nsenter", append([]string{"-t", n.pid, "-n", name}, args...)...)
}

// do calls a function whose sockets are the namespace's.
func (n *Namespace) do(f func() error) (err error) {
	if n.pid == "" {
		return f()
	}
	own, err := os.Open("/proc/self/ns/net")
	if err != nil {
		return err
	}
	defer own.Close()
	other, err := os.Open("/proc/" + n.pid + "/ns/net")
	if err != nil {
		return err
	}
	defer other.Close()
	runtime.LockOSThread()
	if err := unix.Setns(int(other.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = f()
	// The thread goes back. If it ended, the processes that it started would end with it.
	if back := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); back != nil {
		panic("a thread stays in a namespace of a test: " + back.Error())
	}
	runtime.UnlockOSThread()
	return err
}

// Dial connects as a client in the namespace does.
func (n *Namespace) Dial(ctx context.Context, network, address string) (c net.Conn, err error) {
	err = n.do(func() (err error) {
		c, err = new(net.Dialer).DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// Get asks a URL as a client in the namespace does, with a connection of its own.
func (n *Namespace) Get(url string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: n.Dial}, Timeout: await.Patience}
	response, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Packet sends a packet as a client in the namespace does, and returns the answer.
func (n *Namespace) Packet(address string) string {
	c, err := n.Dial(n.t.Context(), "udp", address)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	answer := make([]byte, 100)
	c.SetDeadline(time.Now().Add(await.Patience))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err.Error()
	}
	length, err := c.Read(answer)
	if err != nil {
		return err.Error()
	}
	return string(answer[:length])
}

// Listen listens in the namespace.
func (n *Namespace) Listen(network, address string) (l net.Listener, err error) {
	err = n.do(func() (err error) {
		l, err = net.Listen(network, address)
		return err
	})
	return l, err
}

// Serve answers in the namespace, at an address for TCP and UDP, with the address of who asks and
// the header SLB-IP.
func (n *Namespace) Serve(address string) {
	n.t.Helper()
	listener, err := n.Listen("tcp", address)
	if err != nil {
		n.t.Fatal(err)
	}
	var packets net.PacketConn
	err = n.do(func() (err error) {
		packets, err = net.ListenPacket("udp", address)
		return err
	})
	if err != nil {
		n.t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		host, _, _ := net.SplitHostPort(q.RemoteAddr)
		io.WriteString(w, strings.TrimSpace(host+" "+q.Header.Get("SLB-IP")))
	})}
	go server.Serve(listener)
	go func() {
		packet := make([]byte, 100)
		for {
			_, from, err := packets.ReadFrom(packet)
			if err != nil {
				return
			}
			host, _, _ := net.SplitHostPort(from.String())
			packets.WriteTo([]byte(host), from)
		}
	}()
	n.t.Cleanup(func() {
		if err := errors.Join(server.Close(), packets.Close()); err != nil {
			n.t.Error(err)
		}
	})
}
