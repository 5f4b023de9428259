package clbemucontainer_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// engine is as much of a Docker Engine as Testcontainers calls. In place of a container it
// runs clbemu, with the container's environment.
type engine struct {
	dir     string // of the program, and of the containers' files
	mu      sync.Mutex
	running map[string]*process
	unknown []string // calls that it does not know
}

// process is a container.
type process struct {
	Image        string
	Env, Cmd     []string
	ExposedPorts map[string]struct{}
	Labels       map[string]string

	root  string
	ports map[string]string // of this machine, by the container's
	cmd   *exec.Cmd
}

var versioned = regexp.MustCompile(`^/v[0-9.]+`)

func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	path := versioned.ReplaceAllString(r.URL.Path, "")
	if path == "/containers/create" {
		e.create(w, r)
		return
	}
	var answer any = struct{}{}
	parts := strings.Split(path, "/")
	if p := e.running[parts[min(2, len(parts)-1)]]; p != nil {
		var err error
		if answer, err = p.do(r.Method+" "+strings.Join(parts[3:], "/"), r); err != nil {
			http.Error(w, fmt.Sprintf(`{"message": %q}`, err), http.StatusInternalServerError)
			return
		}
	} else if path == "/networks" || path == "/containers/json" {
		answer = []any{map[string]string{"Name": "bridge"}}
	} else if path != "/_ping" && path != "/info" && !strings.HasPrefix(path, "/images/") {
		e.unknown = append(e.unknown, r.Method+" "+r.URL.String())
	}
	w.Header().Set("Api-Version", "1.51")
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

func (e *engine) create(w http.ResponseWriter, r *http.Request) {
	id := fmt.Sprintf("%064d", len(e.running)+1)
	p := &process{root: filepath.Join(e.dir, id), ports: make(map[string]string)}
	if err := errors.Join(json.NewDecoder(r.Body).Decode(p), os.Mkdir(p.root, 0o755)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.cmd = exec.Command(filepath.Join(e.dir, "clbemu"), "serve")
	e.running[id] = p
	w.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(w).Encode(map[string]string{"Id": id})
}

// do does what a call asks of the container, and returns its answer.
func (p *process) do(call string, r *http.Request) (any, error) {
	switch call {
	case "PUT archive":
		unpack := exec.Command("tar", "-xz", "-C", filepath.Join(p.root, r.URL.Query().Get("path")))
		unpack.Stdin = r.Body
		return struct{}{}, unpack.Run()
	case "POST start":
		return struct{}{}, p.start()
	case "DELETE ":
		p.end()
	}
	bound := make(map[string][]map[string]string)
	for port := range p.ExposedPorts {
		bound[port] = []map[string]string{{"HostIp": "127.0.0.1", "HostPort": p.ports[port]}}
	}
	return map[string]any{
		"Id": filepath.Base(p.root), "Name": "/clbemu", "State": map[string]any{"Status": "running", "Running": true},
		"Config": p, "HostConfig": map[string]string{"NetworkMode": "bridge"}, "NetworkSettings": map[string]any{"Ports": bound, "Networks": struct{}{}},
	}, nil
}

// start starts clbemu at free ports, with its files where they were copied to.
func (p *process) start() error {
	for _, v := range p.Env {
		name, value, _ := strings.Cut(v, "=")
		if strings.HasPrefix(value, "/") {
			value = filepath.Join(p.root, value)
		}
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	for i, at := range []struct{ port, name string }{{"9600/tcp", "CLBEMU_LISTEN"}, {"9601/tcp", "CLBEMU_CONTROL_LISTEN"}} {
		address, err := freeAddress(2000 + 3500*i)
		if err != nil {
			return err
		}
		_, p.ports[at.port], _ = net.SplitHostPort(address)
		p.cmd.Env = append(p.cmd.Env, at.name+"="+address)
	}
	return p.cmd.Start()
}

// freeAddress returns an address at which nothing listens, with one of 3,500 ports from a first
// one: below those that a system gives away by itself, so that it is still free a moment later.
func freeAddress(first int) (string, error) {
	for {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", first+rand.IntN(3500)))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return "", err
		}
		return l.Addr().String(), l.Close()
	}
}

func (p *process) end() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // it was killed
	}
}
