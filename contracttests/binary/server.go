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
	// Stderr is to be read when the process has ended. It is empty where the command's
	// own Stderr was set before.
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

// Command returns a command that runs clbemu serve on free ports. It is not started yet.
func Command(args ...string) *exec.Cmd {
	return exec.Command(Path, append([]string{"serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}, args...)...)
}

// Await starts a command that ends up serving, and waits until it says where.
func Await(t testing.TB, cmd *exec.Cmd) *Server {
	t.Helper()
	s := newServer(t)
	s.Restart(cmd)
	return s
}

// Restart awaits another command, once the process has ended.
func (s *Server) Restart(cmd *exec.Cmd) {
	s.t.Helper()
	if said := s.launch(cmd); s.API == "" {
		s.t.Fatalf("%v said %q and %q, and ended with %d", cmd.Args, said, s.Stderr.String(), cmd.ProcessState.ExitCode())
	}
}

// Launch is like Await, for a command that may end instead, and then has no API. It also returns
// what the command said.
func Launch(t testing.TB, cmd *exec.Cmd) (s *Server, said string) {
	t.Helper()
	s = newServer(t)
	return s, s.launch(cmd)
}

// newServer returns a server whose process, whichever it is then, ends with the test.
func newServer(t testing.TB) *Server {
	s := &Server{t: t, http: &http.Client{
		Transport: &http.Transport{MaxIdleConnsPerHost: connections},
		Timeout:   timeout,
	}}
	t.Cleanup(func() {
		if s.Cmd != nil && s.Cmd.Process != nil {
			s.Cmd.Process.Kill()
		}
		s.http.CloseIdleConnections()
	})
	return s
}

func (s *Server) launch(cmd *exec.Cmd) (said string) {
	s.t.Helper()
	if cmd.Stderr == nil {
		cmd.Stderr = &s.Stderr
	}
	endWithParent(cmd)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.API, s.Control, s.Cmd = "", "", cmd
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		said += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "To point clients here") {
			s.API, s.Control = urlAfter("API", said), urlAfter("control", said)
			return said
		}
	}
	cmd.Wait()
	return said
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

// Disconnect closes the connections kept for the next calls.
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
