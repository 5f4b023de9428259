//go:build unix

package command

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// TestStartIsInterrupted proves that a start which waits for others, here for a reader
// of its journal, ends by a signal, and closes what it opened.
func TestStartIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	pipe, data := filepath.Join(dir, "pipe"), filepath.Join(dir, "data")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() {
		ended <- plain.run(ctx, []string{"serve", "--data-dir", data, "--journal-file", pipe, "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}, os.Stdout, os.Stderr)
	}()
	for { // until the state is open, before which no client waits
		if _, err := os.Stat(filepath.Join(data, bolt.FileName)); err == nil {
			break
		}
		select {
		case code := <-ended:
			t.Fatalf("serve ended with %d", code)
		case <-time.After(time.Millisecond): // between two looks
		}
	}
	interrupt()
	select {
	case code := <-ended:
		if code != exitOK {
			t.Errorf("serve ended with %d", code)
		}
	case <-time.After(await.Patience):
		t.Fatal("serve does not end")
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var e engine.Engine
	await.Until(t, "the state is released", func() bool {
		e, err = bolt.Open(data)
		return err == nil
	})
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
