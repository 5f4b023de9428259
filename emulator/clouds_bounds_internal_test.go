package emulator

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// TestCloudsShareBounds proves that what clients take before anybody knows who they are is
// bounded for all clouds together: connections at the ports of forks. A port that nobody
// calls takes no room.
func TestCloudsShareBounds(t *testing.T) {
	e, err := New(t.Context(), Config{Seed: 1, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	e.clouds.ports = make(chan struct{}, 1)
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	var made []controlapi.Cloud
	for n := range 3 {
		c, err := e.clouds.Create(t.Context(), fmt.Sprint("c-", n), controlapi.NewCloud{Port: true})
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
	for len(e.clouds.ports) == 0 { // until it is accepted
		runtime.Gosched()
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 200 * time.Millisecond}
	ask := func() error {
		answer, err := client.Get(made[1].API + "/latest/meta-data/instance-id")
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}
	if err := ask(); err == nil {
		t.Error("a second connection was served, want it to wait")
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	client.Timeout = time.Minute
	if err := ask(); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}

// TestDurableCloudsLeaveDescriptors proves that durable clouds, which keep files open, are
// refused before they take the descriptors that clients need.
func TestDurableCloudsLeaveDescriptors(t *testing.T) {
	e, err := New(t.Context(), Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	e.clouds.durableRoom = 2
	for n := range 3 {
		_, err := e.clouds.Create(t.Context(), fmt.Sprint("c-", n), controlapi.NewCloud{Durable: true})
		if full := n == 2; (err != nil) != full || full && !strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("durable cloud %d: %v, want the third refused, with what helps", n+1, err)
		}
	}
	if _, err := e.clouds.Create(t.Context(), "memory", controlapi.NewCloud{}); err != nil {
		t.Errorf("a cloud in memory: %v", err)
	}
}
