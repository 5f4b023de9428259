package binary

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/apiclient"
)

// Server is a running clbemu serve.
type Server struct {
	// API and Control are where it listens.
	API, Control string
	// Cmd is the process.
	Cmd *exec.Cmd
	// Stderr is to be read when the process has ended.
	Stderr bytes.Buffer

	t    testing.TB
	http *http.Client
}

// connections limits how many concurrent calls reuse their connections.
const connections = 100

// Serve starts clbemu serve on free ports and waits until it says where.
func Serve(t testing.TB, args ...string) *Server {
	t.Helper()
	return Await(t, Command(args...))
}

// Command is clbemu serve on free ports, not started yet.
func Command(args ...string) *exec.Cmd {
	return exec.Command(Path, append([]string{"serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}, args...)...)
}

// Await starts a command that ends up serving, and waits until it says where.
func Await(t testing.TB, cmd *exec.Cmd) *Server {
	t.Helper()
	s, said := Launch(t, cmd)
	if s.API == "" {
		t.Fatalf("%v said %q and %q, and ended with %d", cmd.Args, said, s.Stderr.String(), cmd.ProcessState.ExitCode())
	}
	return s
}

// Launch is Await of a command that may end instead, and then has no API. It also
// returns what the command said.
func Launch(t testing.TB, cmd *exec.Cmd) (s *Server, said string) {
	t.Helper()
	s = &Server{t: t, Cmd: cmd, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: connections},
		Timeout:   timeout,
	}}
	s.Cmd.Stderr = &s.Stderr
	stdout, err := s.Cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Cmd.Process.Kill()
		s.http.CloseIdleConnections()
	})
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		said += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "To point clients here") {
			s.API, s.Control = urlAfter("API", said), urlAfter("control", said)
			return s, said
		}
	}
	s.Cmd.Wait()
	return s, said
}

func urlAfter(word, text string) string {
	found := regexp.MustCompile(word + `\s+(https?://\S+)`).FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}

// End sends the signal and returns the exit code.
func (s *Server) End(signal os.Signal) int {
	s.t.Helper()
	if err := s.Cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { s.Cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(timeout):
		s.t.Fatalf("clbemu ignores %v", signal)
	}
	return s.Cmd.ProcessState.ExitCode()
}

// Client returns a client of the API with the default world's key.
func (s *Server) Client() *apiclient.Client { return &apiclient.Client{URL: s.API, HTTP: s.http} }

// Disconnect closes the connections that are kept for the next calls.
func (s *Server) Disconnect() { s.http.CloseIdleConnections() }

// Ask sends one call to the control API. An error means that no whole answer came.
func (s *Server) Ask(method, path string, body []byte) (status int, answer []byte, err error) {
	request, err := http.NewRequest(method, s.Control+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response, err := s.http.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}
