package dataplane_test

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
)

// insideVariable is set in the environment of a test that runs in a network namespace of
// its own.
const insideVariable = "DATAPLANE_TEST_INSIDE"

// isolated runs the rest of the test in a process with a network namespace of its own, in
// which it returns true. Elsewhere it returns false once that process has ended.
func isolated(t *testing.T) bool {
	t.Helper()
	if os.Getenv(insideVariable) != "" {
		run(t, "ip", "link", "set", "lo", "up")
		// Without this, addresses of IPv6 wait for two seconds whether somebody has them.
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/default/accept_dad", []byte("0"), 0)
		return true
	}
	for _, tool := range []string{"ip", "nsenter"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT TESTED: network namespaces are set up with %s, which is not installed", tool)
		}
	}
	inside(t, namespaced())
	return false
}

// inside runs the test in a process of its own.
func inside(t *testing.T, attributes *syscall.SysProcAttr) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=2m")
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
	attributes := withoutRights()
	attributes.Cloneflags |= syscall.CLONE_NEWNET
	return attributes
}

// withoutRights starts a process as root of a user namespace of its own, which may do
// nothing to the network that is here.
func withoutRights() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// room is a network namespace beside the test's, joined to it by a cable.
type room struct {
	*testing.T
	pid string // of a process in it; empty is the test's own namespace
}

// newRoom makes a room. Its number names the cable, room1, and the addresses: 10.77.N.1
// and fd77:N::1 are the test's, 10.77.N.2 and fd77:N::2 the room's.
func newRoom(t *testing.T, number string) *room {
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
	r := &room{t, strconv.Itoa(holder.Process.Pid)}
	cable := "room" + number
	run(t, "ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", r.pid)
	run(t, "ip", "addr", "add", "10.77."+number+".1/24", "dev", cable)
	run(t, "ip", "addr", "add", "fd77:"+number+"::1/64", "dev", cable, "nodad")
	run(t, "ip", "link", "set", cable, "up")
	r.run("ip", "link", "set", "lo", "up")
	r.run("ip", "addr", "add", "10.77."+number+".2/24", "dev", "eth0")
	r.run("ip", "addr", "add", "fd77:"+number+"::2/64", "dev", "eth0", "nodad")
	r.run("ip", "link", "set", "eth0", "up")
	r.run("ip", "route", "add", "default", "via", "10.77."+number+".1")
	r.run("ip", "-6", "route", "add", "default", "via", "fd77:"+number+"::1")
	return r
}

// run runs a program in the room, and returns what it prints.
func (r *room) run(name string, args ...string) string {
	r.Helper()
	return run(r.T, "nsenter", append([]string{"-t", r.pid, "-n", name}, args...)...)
}

// do calls a function whose sockets are the room's.
func (r *room) do(f func() error) error {
	if r.pid == "" {
		return f()
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine, and leaves the room to nobody
		namespace, err := os.Open("/proc/" + r.pid + "/ns/net")
		if err == nil {
			err = errors.Join(unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET), namespace.Close())
		}
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

func (r *room) dial(_ context.Context, network, address string) (c net.Conn, err error) {
	err = r.do(func() (err error) {
		c, err = net.DialTimeout(network, address, 5*time.Second)
		return err
	})
	return c, err
}

// get asks a URL as a client in the room does, with a connection of its own.
func (r *room) get(url string) string {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: r.dial}, Timeout: 5 * time.Second}
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

// packet sends a packet as a client in the room does, and returns the answer.
func (r *room) packet(address string) string {
	c, err := r.dial(r.Context(), "udp", address)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	answer := make([]byte, 100)
	c.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := c.Write([]byte("hello")); err != nil {
		return err.Error()
	}
	n, err := c.Read(answer)
	if err != nil {
		return err.Error()
	}
	return string(answer[:n])
}

// serve answers in the room, at an address for TCP and UDP, with the address of who asks and
// the header SLB-IP.
func (r *room) serve(address string) {
	r.Helper()
	var listener net.Listener
	var packets net.PacketConn
	err := r.do(func() (err error) {
		if listener, err = net.Listen("tcp", address); err == nil {
			packets, err = net.ListenPacket("udp", address)
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
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
	r.Cleanup(func() {
		if err := errors.Join(server.Close(), packets.Close()); err != nil {
			r.Error(err)
		}
	})
}
