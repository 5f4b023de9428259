package clouds

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// process has an API that nothing serves.
type process struct{ life context.Context }

func (p process) Listen(name, port string, connections *listen.Places) (*listen.Server, error) {
	return listen.NewServer(p.life, listen.ServerConfig{Name: name, Address: "127.0.0.1:" + port, Connections: connections, Log: zerolog.Nop()})
}

func (process) APIURL() string              { return "http://127.0.0.1:1" }
func (process) Describe(*controlapi.Server) {}
func (process) Ready() error                { return nil }

// newClouds returns clouds with a first one in memory, and durable ones in a folder.
func newClouds(t *testing.T) *Clouds {
	t.Helper()
	cfg := cloud.Config{Seed: 1, Log: zerolog.Nop()}
	store, err := cfg.OpenStore(t.Context(), &memory.Engine{})
	if err != nil {
		t.Fatal(err)
	}
	if err := cfg.PlantIfEmpty(store); err != nil {
		t.Fatal(err)
	}
	s := New(Config{Process: process{t.Context()}, Fork: cfg, Keep: Folders(t.TempDir()), Log: cfg.Log})
	first, err := cloud.New(cfg, store, s)
	if err != nil {
		t.Fatal(err)
	}
	s.Begin(first)
	t.Cleanup(func() {
		ctx := context.Background()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := first.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestCloudsShareBounds proves that what clients take before they are authenticated is
// bounded for all clouds together: connections at the ports of forks. A port that no client
// calls takes no room.
func TestCloudsShareBounds(t *testing.T) {
	s := newClouds(t)
	s.ports = listen.NewPlaces(1)
	var made []controlapi.Cloud
	for n := range 3 {
		c, err := s.Create(t.Context(), fmt.Sprint("c-", n), controlapi.NewCloud{Port: true})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, c)
	}
	address := func(c controlapi.Cloud) string { return c.API[len("http://"):] }
	held, err := net.Dial("tcp", address(made[0]))
	if err != nil {
		t.Fatal(err)
	}
	// It stays idle after a request, which a server bears for two minutes.
	reader := bufio.NewReader(held)
	if _, err := fmt.Fprintf(held, "GET /latest/meta-data/instance-id HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	first, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, first.Body); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := client.Get(made[1].API + "/latest/meta-data/instance-id")
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	if err := held.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(reader); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a second connection was served beside the first, want the first to give way")
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}

// TestDurableCloudsLeaveDescriptors proves that durable clouds, which keep files open, are
// refused before they take the descriptors that clients need.
func TestDurableCloudsLeaveDescriptors(t *testing.T) {
	s := newClouds(t)
	s.durableRoom = 2
	for n := range 3 {
		_, err := s.Create(t.Context(), fmt.Sprint("c-", n), controlapi.NewCloud{Durable: true})
		if full := n == 2; (err != nil) != full || full && !strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("durable cloud %d: %v, want the third refused, with what helps", n+1, err)
		}
	}
	if _, err := s.Create(t.Context(), "memory", controlapi.NewCloud{}); err != nil {
		t.Errorf("a cloud in memory: %v", err)
	}
}
