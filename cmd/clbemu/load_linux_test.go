package main_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// listener gives a server a load balancer with a listener, which forwards to an address of
// this machine, and returns where it answers. The protocol is that in the action's name.
func listener(t *testing.T, s *binary.Server, protocol string, backend net.Addr, params map[string]string) (url string) {
	t.Helper()
	mustRun(t, "world", "set", "instance.i-bp1clbemu0000000001.reachAt="+backend.String(), "--server", s.Control)
	lb := createLoadBalancer(t, s.Client())
	call(t, s, "AddBackendServers", map[string]string{"LoadBalancerId": lb, "BackendServers": `[{"ServerId":"i-bp1clbemu0000000001"}]`})
	sent := map[string]string{"LoadBalancerId": lb, "ListenerPort": "80", "BackendServerPort": "80", "Bandwidth": "-1"}
	if protocol != "TCP" {
		sent["StickySession"], sent["HealthCheck"] = "off", "off"
	}
	for name, value := range params {
		sent[name] = value
	}
	call(t, s, "CreateLoadBalancer"+protocol+"Listener", sent)
	call(t, s, "StartLoadBalancerListener", map[string]string{"LoadBalancerId": lb, "ListenerPort": "80"})
	return urlOf(t, s, lb)
}

// hello starts a server that answers hello, and returns its address.
func hello(t *testing.T) net.Addr {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	t.Cleanup(s.Close)
	return s.Listener.Addr()
}

// asks asks a URL once, with a connection of its own.
func asks(url string) error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "hello" {
		return fmt.Errorf("%s with %q, %w", response.Status, text, err)
	}
	return nil
}

// TestKilledUnderLoad kills an emulator while clients call its listeners, and finds them
// at the same ports once it runs again.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backend := hello(t)
	s := binary.Serve(t, "--data-dir", dir)
	urls := []string{listener(t, s, "TCP", backend, nil), listener(t, s, "HTTP", backend, nil)}
	urls[0] = strings.Replace(urls[0], "tcp:", "http:", 1)
	for round := range 3 {
		load, stop := context.WithCancel(t.Context())
		var clients sync.WaitGroup
		var served atomic.Int64
		under := make(chan struct{}) // closed when the load is on
		for n := range 8 {
			clients.Go(func() {
				for load.Err() == nil {
					if asks(urls[n%2]) == nil && served.Add(1) == 100 {
						close(under)
					}
				}
			})
		}
		<-under
		if code := s.End(syscall.SIGKILL); code != -1 {
			t.Fatalf("killed = %d", code)
		}
		stop()
		clients.Wait()
		s = binary.Serve(t, "--data-dir", dir)
		for _, url := range urls {
			await.Until(t, fmt.Sprintf("a listener answers at %s in round %d", url, round), func() bool {
				return strings.Contains(mustRun(t, "traffic", "--json", "--server", s.Control), strings.TrimPrefix(url, "http://"))
			})
			if err := asks(url); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
		}
	}
}

// descriptorsOf counts the descriptors of a process.
func descriptorsOf(t *testing.T, pid int) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// fall waits until a process has at most the given number of descriptors.
func fall(t *testing.T, pid, most int) {
	t.Helper()
	await.Until(t, fmt.Sprintf("the emulator has at most %d descriptors", most), func() bool { return descriptorsOf(t, pid) <= most })
}

// spare are the descriptors that an emulator may have more than before: for idle
// connections to servers.
const spare = 600

// TestTenThousandConnections opens 10,000 connections to one listener at once, each with a
// request answered, and all open until the last one is.
func TestTenThousandConnections(t *testing.T) {
	t.Parallel()
	connections := 10_000
	if testing.Short() {
		connections = 1_000
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Max < uint64(connections)+1000 {
		t.Skipf("NOT TESTED: this needs %d descriptors, and %d may be open: %v", connections+1000, limit.Max, err)
	}
	s := binary.Serve(t, "--engine", "memory")
	url := listener(t, s, "HTTP", hello(t), map[string]string{"IdleTimeout": "60"})
	mustRun(t, "clock", "freeze", "--server", s.Control) // a busy machine may need longer than the timeout
	pid := s.Cmd.Process.Pid
	before := descriptorsOf(t, pid)
	var opening sync.WaitGroup
	open := make(chan net.Conn, connections)
	for range 50 {
		opening.Go(func() {
			for range connections / 50 {
				c, err := greeted(strings.TrimPrefix(url, "http://"))
				if err != nil {
					t.Error(err)
					return
				}
				open <- c
			}
		})
	}
	opening.Wait()
	if got := descriptorsOf(t, pid); got < before+connections {
		t.Errorf("the emulator has %d descriptors, want one for each of %d connections", got, connections)
	}
	call(t, s, "DescribeRegions", nil)
	close(open)
	for c := range open {
		c.Close()
	}
	fall(t, pid, before+spare)
	if err := asks(url); err != nil {
		t.Error(err)
	}
}

// TestPacketsLeaveDescriptors proves that clients of load balancers, however many, leave
// both APIs and the state the descriptors that they need.
func TestPacketsLeaveDescriptors(t *testing.T) {
	t.Parallel()
	s := fewDescriptors(t)
	url := listener(t, s, "HTTP", hello(t), nil)
	for range 150 {
		if c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://")); err == nil { // it may be reset before it is open
			defer c.Close()
		}
	}
	call(t, s, "DescribeRegions", nil)
	wantWell(t, s)
}

// greeted connects, and gets an answer to a first request.
func greeted(address string) (net.Conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c.SetDeadline(time.Now().Add(await.Patience))
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return c, err
	}
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("the answer is %s", response.Status)
	}
	return c, err
}

// TestNoDescriptorsLeft takes all descriptors that connections to a listener may have, which
// are half of 200, and finds the API well meanwhile, and the listener when they
// are closed.
func TestNoDescriptorsLeft(t *testing.T) {
	t.Parallel()
	cmd := binary.Command("--engine", "memory")
	cmd.Args = append([]string{"sh", "-c", `ulimit -n 200 && exec "$@"`, "sh"}, cmd.Args...)
	var err error
	if cmd.Path, err = exec.LookPath("sh"); err != nil {
		t.Fatal(err)
	}
	s := binary.Await(t, cmd)
	url := listener(t, s, "TCP", hello(t), nil)
	url = strings.Replace(url, "tcp:", "http:", 1)
	s.Disconnect()
	pid := s.Cmd.Process.Pid
	before := descriptorsOf(t, pid)
	var open []net.Conn
	dial := func() {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err == nil { // it resets those that are too many, maybe before they are open
			open = append(open, c)
		}
	}
	for range 300 {
		dial()
	}
	await.Until(t, "the emulator has 98 of 200 descriptors", func() bool {
		dial() // of those at once, a busy machine may have refused more than it had to
		return descriptorsOf(t, pid) >= 98
	})
	call(t, s, "DescribeRegions", nil)
	for _, c := range open {
		c.Close()
	}
	fall(t, pid, before+10)
	// Connections not accepted yet come first, and may be too many at once.
	await.Until(t, "the listener answers", func() bool { return asks(url) == nil })
	call(t, s, "DescribeRegions", nil)
}

// judge finds a program that judges, or skips.
func judge(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT TESTED: %s is not installed", name)
	}
	return path
}

// TestWrk lets wrk judge listeners: no request may fail.
func TestWrk(t *testing.T) {
	t.Parallel()
	wrk := judge(t, "wrk")
	s := binary.Serve(t, "--engine", "memory")
	backend := hello(t)
	for _, protocol := range []string{"TCP", "HTTP"} {
		url := strings.Replace(listener(t, s, protocol, backend, nil), "tcp:", "http:", 1)
		out, err := exec.Command(wrk, "-t2", "-c64", "-d2s", url).CombinedOutput()
		requests := regexp.MustCompile(`(\d+) requests in`).FindSubmatch(out)
		if err != nil || requests == nil {
			t.Fatalf("wrk: %v\n%s", err, out)
		}
		n, _ := strconv.Atoi(string(requests[1]))
		if text := string(out); n < 1000 || strings.Contains(text, "Socket errors") || strings.Contains(text, "Non-2xx") {
			t.Errorf("%s: wrk says\n%s", protocol, text)
		}
	}
}

// TestIperf3 lets iperf3 judge a TCP listener: what it sends arrives, both ways.
func TestIperf3(t *testing.T) {
	t.Parallel()
	iperf3 := judge(t, "iperf3")
	s := binary.Serve(t, "--engine", "memory")
	free, err := net.Listen("tcp", "127.77.0.1:0") // an address at which no other test takes the port meanwhile
	if err != nil {
		t.Fatal(err)
	}
	backend := free.Addr()
	free.Close()
	host, port, _ := net.SplitHostPort(backend.String())
	server := exec.Command(iperf3, "-s", "-B", host, "-p", port, "--forceflush")
	said, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	for lines := bufio.NewScanner(said); lines.Scan() && !strings.Contains(lines.Text(), "Server listening"); {
	}
	go func() { _, _ = io.Copy(io.Discard, said) }()                                     // so that it never waits to say more
	url := listener(t, s, "TCP", backend, map[string]string{"HealthCheckSwitch": "off"}) // it takes a check for a test
	host, port, _ = net.SplitHostPort(strings.TrimPrefix(url, "tcp://"))
	for _, way := range []string{"--version4", "--reverse"} {
		var report struct {
			Error string
			End   struct {
				Sent     struct{ Bytes float64 } `json:"sum_sent"`
				Received struct{ Bytes float64 } `json:"sum_received"`
			}
		}
		var out []byte
		var err, broken error
		await.Until(t, "iperf3's server has time for a test", func() bool { // the last one may not have ended there
			out, err = exec.Command(iperf3, "-c", host, "-p", port, "-J", "-n", "200M", "-P", "2", way).Output()
			report.Error = ""
			broken = json.Unmarshal(out, &report)
			return !strings.Contains(report.Error, "busy running a test")
		})
		if broken != nil || err != nil || report.Error != "" || report.End.Sent.Bytes < 200<<20 || report.End.Received.Bytes < 100<<20 { // the server stops counting when the client says that it has sent all
			t.Errorf("%s: iperf3: %v, %v, %s, sent %.0f bytes, received %.0f", way, err, broken, report.Error, report.End.Sent.Bytes, report.End.Received.Bytes)
		}
	}
}

// TestCurlHTTP2 lets curl judge an HTTPS listener: HTTP/2 where both have it, with many
// requests at once, and HTTP/1.1 where one has not.
func TestCurlHTTP2(t *testing.T) {
	t.Parallel()
	curl := judge(t, "curl")
	if out, err := exec.Command(curl, "--version").Output(); err != nil || !strings.Contains(string(out), "HTTP2") {
		t.Skipf("NOT TESTED: this curl has no HTTP/2: %v", err)
	}
	s := binary.Serve(t, "--engine", "memory")
	certificate, key := selfSigned(t)
	reply, err := s.Client().Call(emulatortest.Slb, "UploadServerCertificate", map[string]string{"ServerCertificate": certificate, "PrivateKey": key})
	if err != nil {
		t.Fatal(err)
	}
	backend := hello(t)
	for _, c := range []struct{ http2, flag, want string }{{"on", "--http2", "2"}, {"on", "--http1.1", "1.1"}, {"off", "--http2", "1.1"}} {
		url := listener(t, s, "HTTPS", backend, map[string]string{"ServerCertificateId": reply.Text("ServerCertificateId"), "EnableHttp2": c.http2})
		out, err := exec.Command(curl, "--silent", "--show-error", "--insecure", c.flag, "--parallel", "--output", os.DevNull,
			"--write-out", "%{http_code} %{http_version}\n", url+"/[1-100]").CombinedOutput()
		if got := strings.Count(string(out), "200 "+c.want+"\n"); err != nil || got != 100 {
			t.Errorf("HTTP/2 %s, curl %s: %d of 100 answers are 200 by HTTP/%s: %v\n%.300s", c.http2, c.flag, got, c.want, err, out)
		}
	}
}

// selfSigned makes a certificate with its key, in PEM.
func selfSigned(t *testing.T) (certificate, private string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	content := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	chain, err := x509.CreateCertificate(rand.Reader, content, content, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: chain})), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
}

// TestWebSocket lets another WebSocket implementation talk through listeners.
func TestWebSocket(t *testing.T) {
	t.Parallel()
	echo := httptest.NewServer(websocket.Handler(func(c *websocket.Conn) {
		var text string
		for websocket.Message.Receive(c, &text) == nil && websocket.Message.Send(c, text) == nil {
		}
	}))
	defer echo.Close()
	s := binary.Serve(t, "--engine", "memory")
	for _, protocol := range []string{"TCP", "HTTP"} {
		at := listener(t, s, protocol, echo.Listener.Addr(), nil)
		_, address, _ := strings.Cut(at, "://")
		c, err := websocket.Dial("ws://"+address+"/", "", "http://example.com")
		if err != nil {
			t.Fatalf("%s: %v", protocol, err)
		}
		c.SetDeadline(time.Now().Add(await.Patience))
		for n := range 3 {
			var got string
			want := strings.Repeat("x", 1+n*40_000)
			if err := websocket.Message.Send(c, want); err != nil {
				t.Fatal(err)
			}
			if err := websocket.Message.Receive(c, &got); err != nil || got != want {
				t.Errorf("%s: %d bytes come back of %d, %v", protocol, len(got), len(want), err)
			}
		}
		c.Close()
	}
}
