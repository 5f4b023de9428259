package emulatortest

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/target/private"
)

// forkLife is the time after which a cloud is deleted whose test was killed.
const forkLife = "1h"

// forks numbers the clouds of this process.
var forks atomic.Uint64

// shared is the emulator of this process that Fork forks.
var shared = sync.OnceValues(func() (string, error) {
	e, err := emulator.New(context.Background(), emulator.Config{Engine: emulator.Memory, StrictAuth: true, Seed: 1, Listen: "127.0.0.1:0",
		ControlListen: "127.0.0.1:0", Version: controlapi.Version{Version: "test"}, Apart: private.Player{}})
	if err == nil {
		err = e.Start()
	}
	if err != nil {
		return "", err
	}
	return "http://" + e.ControlAddr(), nil
})

// Fork forks a cloud for a test: of the emulator at CLBEMU_SERVER, whose token is in
// CLBEMU_CONTROL_TOKEN, or else of one in this process that all tests share. The cloud
// begins as the emulator's default one. When the test ends, Fork checks the cloud's
// state and deletes it. Its ids follow from the test's name.
func Fork(t testing.TB) *Cloud {
	t.Helper()
	control := &controlclient.Client{URL: os.Getenv("CLBEMU_SERVER"), Token: os.Getenv("CLBEMU_CONTROL_TOKEN")}
	if control.URL == "" {
		var err error
		if control.URL, err = shared(); err != nil {
			t.Fatalf("start the emulator: %v", err)
		}
	}
	return fork(t, control)
}

// Fork forks a cloud of the server for a test.
func (s *Server) Fork(t testing.TB) *Cloud {
	t.Helper()
	return fork(t, s.control)
}

func fork(t testing.TB, control *controlclient.Client) *Cloud {
	t.Helper()
	seed := fnv.New64a()
	seed.Write([]byte(t.Name()))
	name := fmt.Sprintf("t-%d-%d", os.Getpid(), forks.Add(1))
	made, err := control.CreateCloud(context.Background(), name, controlapi.NewCloud{Expires: forkLife, Seed: cmp.Or(seed.Sum64(), 1), Port: true})
	if err != nil {
		t.Fatalf("fork a cloud: %v", err)
	}
	inner := *control
	inner.URL = strings.TrimSuffix(control.URL, "/") + "/clouds/" + name
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		problems, err := inner.CheckState(ctx)
		if err != nil {
			t.Errorf("check the state: %v", err)
		}
		for _, problem := range problems {
			t.Errorf("the state is inconsistent: %s", problem)
		}
		if err := control.DeleteCloud(ctx, name); err != nil {
			t.Errorf("delete the cloud: %v", err)
		}
	})
	return &Cloud{made.API, &inner}
}
