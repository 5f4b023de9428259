//go:build linux

package forward_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// benchServe makes the test binary a proxy: protocol, its address, the member's.
const benchServe = "FORWARD_BENCH_SERVE"

func TestMain(m *testing.M) {
	if args := strings.Fields(os.Getenv(benchServe)); len(args) == 3 {
		if err := serveBench(args[0], args[1], args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveBench serves until its input ends.
func serveBench(protocol, addr, to string) error {
	s := forward.New(forward.Config{})
	defer s.Close()
	m := forward.Member{Key: "m", Addr: netip.MustParseAddrPort(to), Weight: 100}
	if err := s.Apply(forward.Plan{Protocol: forward.Protocol(protocol), Group: forward.Group{Members: []forward.Member{m}}}); err != nil {
		return err
	}
	l, err := (&net.ListenConfig{KeepAlive: -1}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	go s.ServeTCP(l)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// A proxy is a program that is measured.
type proxy struct {
	name    string
	command func(b *testing.B, protocol, addr, to string) *exec.Cmd
}

var proxies = []proxy{{"nginx", nginx}, {"haproxy", haproxy}, {"forward", ourselves}}

func nginx(b *testing.B, protocol, addr, to string) *exec.Cmd {
	dir := b.TempDir()
	config := fmt.Sprintf("daemon off; worker_processes %d; error_log stderr crit; pid %s/pid;\n", runtime.NumCPU(), dir)
	if module := "/usr/lib/nginx/modules/ngx_stream_module.so"; fileExists(module) {
		config += "load_module " + module + ";\n"
	}
	config += "events { worker_connections 4096; }\n"
	if protocol == "tcp" {
		config += fmt.Sprintf("stream { upstream m { server %s; } server { listen %s; proxy_pass m; } }\n", to, addr)
	} else {
		config += "http { access_log off; keepalive_requests 100; upstream m { server " + to + "; keepalive 128; }\n"
		for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			config += name + "_temp_path " + dir + "/" + name + ";\n"
		}
		config += "server { listen " + addr + "; location / { proxy_pass http://m; proxy_http_version 1.1; proxy_set_header Connection \"\"; } } }\n"
	}
	return exec.Command("nginx", "-p", dir, "-e", "stderr", "-c", writeConfig(b, dir, config))
}

func haproxy(b *testing.B, protocol, addr, to string) *exec.Cmd {
	config := fmt.Sprintf("global\n nbthread %d\n maxconn 4096\ndefaults\n mode %s\n timeout connect 5s\n timeout client 60s\n timeout server 60s\n"+
		" option splice-auto\n http-reuse always\nlisten l\n bind %s\n server m %s\n", runtime.NumCPU(), protocol, addr, to)
	if protocol == "tcp" {
		config = strings.ReplaceAll(config, " http-reuse always\n", "")
	}
	return exec.Command("haproxy", "-db", "-q", "-f", writeConfig(b, b.TempDir(), config))
}

func ourselves(b *testing.B, protocol, addr, to string) *exec.Cmd {
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), benchServe+"="+protocol+" "+addr+" "+to)
	return cmd
}

func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func writeConfig(b *testing.B, dir, text string) string {
	b.Helper()
	name := filepath.Join(dir, "config")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return name
}

// run starts a proxy to the member until the benchmark ends, and returns its
// process and address.
func (p proxy) run(b *testing.B, protocol, to string) (*os.Process, string) {
	b.Helper()
	addr := unused(b).String()
	cmd := p.command(b, protocol, addr, to)
	if _, err := exec.LookPath(cmd.Path); err != nil {
		b.Skipf("NOT MEASURED: %s is not installed (on Debian: apt-get install nginx libnginx-mod-stream haproxy)", p.name)
	}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	input, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		input.Close()
		cmd.Process.Signal(syscall.SIGTERM) // nginx then ends its workers too
		cmd.Wait()
	})
	await.Until(b, p.name+" listens", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return cmd.Process, addr
}

// cpu returns the processor time that the process and its workers have used.
func cpu(b *testing.B, p *os.Process) time.Duration {
	b.Helper()
	pids := []string{strconv.Itoa(p.Pid)}
	workers, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", p.Pid))
	if err != nil {
		b.Skipf("NOT MEASURED: this kernel does not list the children of a process: %v", err)
	}
	var used time.Duration
	for _, pid := range append(pids, strings.Fields(string(workers))...) {
		used += cpuOf(b, pid)
	}
	return used
}

func cpuOf(b *testing.B, pid string) time.Duration {
	b.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	var ticks int
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

const (
	benchRequest = "GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n"
	benchBody    = 1 << 10
	benchBulk    = 16 << 20
	benchClients = 64
)

// benchMember answers requests by bodies of the size.
func benchMember(b *testing.B, size int) string {
	reply := append(fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", size), make([]byte, size)...)
	return accepting(b, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if len(line) == 2 {
				if _, err := c.Write(reply); err != nil {
					return
				}
			}
		}
	}).String()
}

// A load is what clients do: n requests at a time over each connection.
type load struct {
	name, protocol string
	size           int
	perConnection  int
	clients        int
	unit           string
}

var loads = []load{
	{"keepalive", "tcp", benchBody, 100000, benchClients, "cpu-µs/request"},
	{"connection", "tcp", benchBody, 1, benchClients, "cpu-µs/request"},
	{"bulk", "tcp", benchBulk, 100, 4, "cpu-ms/GB"},
	{"http", "http", benchBody, 99, benchClients, "cpu-µs/request"},
}

// play makes n requests.
func (l load) play(b *testing.B, addr string, n int) {
	b.Helper()
	left := make(chan struct{}, n)
	for range n {
		left <- struct{}{}
	}
	close(left)
	var clients sync.WaitGroup
	for range min(l.clients, n) {
		clients.Go(func() {
			for more := true; more; {
				var err error
				if more, err = l.connection(addr, left); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
}

// connection makes the requests of one connection, and reports whether there may
// be more to make.
func (l load) connection(addr string, left <-chan struct{}) (more bool, err error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return false, err
	}
	defer c.Close()
	r := bufio.NewReaderSize(c, 64<<10)
	for range l.perConnection {
		if _, more = <-left; !more {
			return false, nil
		}
		if _, err := io.WriteString(c, benchRequest); err != nil {
			return false, err
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return false, err
		}
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != int64(l.size) {
			return false, fmt.Errorf("a reply has %d bytes, want %d (%v)", n, l.size, err)
		}
	}
	return true, nil
}

// BenchmarkAgainst measures the processor time that proxies need for the same
// load, one after the other on the same machine. x-nginx and x-haproxy are this
// package's figures divided by theirs.
func BenchmarkAgainst(b *testing.B) {
	for _, l := range loads {
		b.Run(l.name, func(b *testing.B) {
			figures := make(map[string]float64)
			for _, p := range proxies {
				b.Run(p.name, func(b *testing.B) { figures[p.name] = l.measure(b, p, figures) })
			}
		})
	}
}

func (l load) measure(b *testing.B, p proxy, others map[string]float64) float64 {
	process, addr := p.run(b, l.protocol, benchMember(b, l.size))
	l.play(b, addr, min(b.N, 1000)) // warms it up
	before := cpu(b, process)
	b.ResetTimer()
	l.play(b, addr, b.N)
	b.StopTimer()
	used := cpu(b, process) - before
	figure := float64(used.Microseconds()) / float64(b.N)
	if l.size == benchBulk {
		figure = used.Seconds() * 1000 / float64(b.N) * (1e9 / benchBulk)
	}
	b.ReportMetric(figure, l.unit)
	for name, other := range others {
		if p.name == "forward" && name != "forward" && other > 0 {
			b.ReportMetric(figure/other, "x-"+name)
		}
	}
	return figure
}
