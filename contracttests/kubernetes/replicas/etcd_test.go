package replicas_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/cmd/clbemu-replica/etcd"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
	"github.com/clbemu/clbemu/state/engine"
)

// member is an etcd that can be killed and started again on its data.
type member struct {
	t        testing.TB
	dir      string
	url      string
	peer     string
	args     []string
	programs tools.Dir
	running  *process.Process
}

// startEtcd starts an etcd of some members, with more arguments for each, and waits until
// it answers.
func startEtcd(t testing.TB, members int, more ...string) []*member {
	t.Helper()
	return startEtcdAt(t, "127.0.0.1", members, more...)
}

func startEtcdAt(t testing.TB, address string, members int, more ...string) []*member {
	t.Helper()
	programs, err := tools.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := process.FreePorts(2 * members)
	if err != nil {
		t.Fatal(err)
	}
	var all []*member
	var cluster []string
	for n := range members {
		m := &member{t: t, dir: t.TempDir(), programs: programs, url: fmt.Sprintf("http://%s:%d", address, ports[2*n])}
		m.peer = fmt.Sprintf("http://127.0.0.1:%d", ports[2*n+1])
		cluster = append(cluster, fmt.Sprintf("etcd%d=%s", n, m.peer))
		all = append(all, m)
	}
	for n, m := range all {
		m.args = append([]string{
			fmt.Sprintf("--name=etcd%d", n), "--data-dir=etcd", "--log-level=error",
			"--listen-client-urls=" + m.url, "--advertise-client-urls=" + m.url,
			"--listen-peer-urls=" + m.peer, "--initial-advertise-peer-urls=" + m.peer, "--initial-cluster=" + strings.Join(cluster, ","),
		}, more...)
		m.start()
	}
	t.Cleanup(func() {
		for _, m := range all {
			m.running.Kill()
		}
	})
	for _, m := range all {
		m.await()
	}
	return all
}

func (m *member) start() {
	m.t.Helper()
	var err error
	if m.running, err = process.Start(process.Command{Dir: m.dir, Name: "etcd", Path: m.programs.Path("server"), Args: m.args}); err != nil {
		m.t.Fatal(err)
	}
}

func (m *member) await() {
	m.t.Helper()
	eventually(m.t, "etcd is healthy", func() error {
		select {
		case <-m.running.Done():
			m.t.Fatalf("etcd ended:\n%s", m.running.Tail(5))
		default:
		}
		answer, err := http.Get(m.url + "/health")
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%s\n%s", answer.Status, m.running.Tail(5))
		}
		return nil
	})
}

// signal reaches the process alone.
func (m *member) signal(s syscall.Signal) {
	m.t.Helper()
	if err := m.running.Signal(s); err != nil {
		m.t.Error(err)
	}
}

func endpoints(members []*member) (urls []string) {
	for _, m := range members {
		urls = append(urls, m.url)
	}
	return urls
}

// eventually waits until check has no error; a minute is much more than it takes.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func open(t testing.TB, members []*member, prefix string) *etcd.Engine {
	t.Helper()
	e, err := etcd.Open(t.Context(), etcd.Config{Endpoints: endpoints(members), Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func lead(t testing.TB, e *etcd.Engine) engine.Term {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	term, err := e.Campaign(ctx, t.Name())
	if err != nil {
		t.Fatal(err)
	}
	return term
}

// readAll returns the text of an answer.
func readAll(r io.Reader) string {
	text, err := io.ReadAll(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
