package durability_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/state"
)

// callsPerRun is the number of calls, one after the other, while one of the server's is
// to fail.
const callsPerRun = 20

// TestEveryDiskWriteFails fails each system call that writes the database, from the first
// to the last of a run, or with -short some of them, and proves that what was acknowledged is there after the server is
// killed, that what was answered with an error is there if it was shown after the error,
// and that reads are answered all the time.
func TestEveryDiskWriteFails(t *testing.T) {
	mustTrace(t)
	t.Parallel()
	template := planted(t)
	seed := chances(t, "").Uint64()
	for _, f := range []failure{
		{"fdatasync", "EIO", false}, {"fdatasync", "EIO", true},
		{"pwrite64", "EIO", false}, {"pwrite64", "ENOSPC", false}, {"pwrite64", "ENOSPC", true},
		{"ftruncate", "EIO", false}, {"ftruncate", "ENOSPC", false},
	} {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			n, failed, steps := 1, 0, rand.New(rand.NewPCG(seed, 1))
			for runAgainst(t, template, f, n, rand.New(rand.NewPCG(seed, 0))) {
				n, failed = n+1, failed+1
				if testing.Short() {
					n += steps.IntN(30)
				}
			}
			if failed == 0 {
				t.Error("no call failed")
			}
			t.Logf("%d of the first %d calls failed, each once", failed, n-1)
		})
	}
}

// planted returns a folder in which a server has planted its world.
func planted(t *testing.T) string {
	dir := t.TempDir()
	if code := binary.Serve(t, "--data-dir", dir, "--world", worldFile(t)).End(syscall.SIGTERM); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	return dir
}

// runAgainst makes one run on a copy of the template. It reports false when the
// run had no n-th call.
func runAgainst(t *testing.T, template string, f failure, n int, chance *rand.Rand) bool {
	t.Helper()
	c := newCloud(t, chance, 1)
	if err := os.CopyFS(c.dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	failed, err := c.failNth(f, n)
	if err != nil {
		t.Fatalf("%s, call %d: %v\nthe log says %s", f, n, err, c.server.Stderr.String())
	}
	if want := []int{n}; len(failed) > 0 && !f.forever && !slices.Equal(failed, want) {
		t.Errorf("%s: the calls %v failed, want %v", f, failed, want)
	}
	return len(failed) > 0
}

// failNth makes calls while the n-th system call fails, kills the server, and
// compares the state after the restart with the answers. It returns which
// system calls failed.
func (c *cloud) failNth(f failure, n int) (failed []int, err error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	log := filepath.Join(c.t.TempDir(), "strace")
	tracer, err := f.strike(c, n, log)
	if err != nil {
		return nil, err
	}
	err = c.workOnBrokenDisk()
	c.server.End(os.Kill)
	if err := errors.Join(err, tracer.Wait()); err != nil {
		return nil, err
	}
	if err := c.open(); err != nil {
		return nil, err
	}
	c.server.End(syscall.SIGTERM)
	return f.failed(c.t, log), nil
}

// TestDiskFailsAmongWriters proves the same when many calls share the write that
// fails, and wait for the one after it.
func TestDiskFailsAmongWriters(t *testing.T) {
	mustTrace(t)
	t.Parallel()
	c := newCloud(t, chances(t, ""), 32)
	c.keepsWorld = true
	if err := os.CopyFS(c.dir, os.DirFS(planted(t))); err != nil {
		t.Fatal(err)
	}
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for range rounds {
		if err := c.failAmongWriters(); err != nil {
			t.Fatalf("%v\nthe log says %s", err, c.server.Stderr.String())
		}
	}
	if err := c.open(); err != nil {
		t.Fatal(err)
	}
	c.server.End(syscall.SIGTERM)
	failed := c.counts.of["calls that failed with the disk"]
	t.Logf("%d calls failed with the disk in %d rounds", failed, rounds)
	if failed <= rounds {
		t.Error("no calls shared a write that failed")
	}
}

// failAmongWriters is like failNth, for many writers at once.
func (c *cloud) failAmongWriters() error {
	if err := c.open(); err != nil {
		return err
	}
	f, n := failure{call: "fdatasync", errno: "EIO"}, 1+c.chance.IntN(30)
	tracer, err := f.strike(c, n, os.DevNull)
	if err != nil {
		return err
	}
	c.diskFails = true
	err = c.rage(len(c.writers), math.MaxInt, stopWriters)
	c.diskFails = false
	for _, step := range []func() error{
		func() error { return c.settle(nil) }, c.repeatCreations, c.check,
		func() error { return c.rage(len(c.writers), 400, stopWriters) },
	} {
		if err == nil {
			err = step()
		}
	}
	c.server.End(os.Kill)
	return errors.Join(err, tracer.Wait())
}

// workOnBrokenDisk makes calls until one is answered with an error of the server's
// own, and then some more. They all succeed, or the server says that it can't write
// any more, and they are all refused.
func (c *cloud) workOnBrokenDisk() error {
	failed := false
	for i := 0; i < callsPerRun && !failed; i++ {
		var err error
		switch {
		case i == callsPerRun/2:
			failed, err = c.tryWorldChange(c.importNodes())
		case c.chance.IntN(5) == 0:
			failed, err = c.tryWorldChange(c.nextWorldChange())
		default:
			failed, err = c.tryCall()
		}
		if err != nil {
			return err
		}
	}
	if !failed {
		return nil
	}
	for range 3 {
		takes, says, err := c.takesWrites()
		if err != nil {
			return err
		}
		c.counts.add(fmt.Sprintf("writes are taken: %t", takes))
		if takes {
			failed, err = c.tryCall()
		} else {
			failed, err = c.refused()
		}
		if err == nil && failed == takes {
			err = fmt.Errorf("a call fails: %v, but /readyz says %s", failed, says)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takesWrites reports whether the server takes writes, with what /readyz says: after a write
// that failed, it is not ready until another one succeeds, but it refuses writes only while it
// does not know what is kept.
func (c *cloud) takesWrites() (takes bool, says string, err error) {
	status, answer, err := c.server.Ask(http.MethodGet, "/readyz", nil)
	if status == http.StatusOK {
		return true, "ready", err
	}
	return !strings.Contains(string(answer), state.ErrNotKept.Error()), string(answer), err
}

// tryCall makes one call. After an error of the server's own what it has done is
// looked up.
func (c *cloud) tryCall() (failed bool, err error) {
	w := c.writers[0]
	next, _ := w.next(nil)
	reply, err := c.server.Client().Call(next.version, next.action, next.params)
	if err != nil {
		return false, err
	}
	failed = reply.Status >= http.StatusInternalServerError
	w.note(answered{call: next, reply: reply, lost: failed})
	if failed {
		return true, c.doubt(nil)
	}
	return false, w.explain()
}

// tryWorldChange is like tryCall, for a change of everything.
func (c *cloud) tryWorldChange(change worldChange) (failed bool, err error) {
	status, answer, err := c.server.Ask(change.method, change.path, change.body)
	if err != nil {
		return false, err
	}
	failed = status != http.StatusOK
	change.done(answer, failed)
	if failed {
		return true, c.doubt(&change)
	}
	if len(change.become) > 0 {
		err = c.settle(change.become...)
	}
	return false, err
}

// importNodes returns a change that makes the file grow.
func (c *cloud) importNodes() worldChange {
	return worldChange{name: "import nodes", method: http.MethodPost, path: "/v1/world/import", body: []byte(nodes(20)), done: nothing}
}

// refused makes one call that a server which takes no writes must reject.
func (c *cloud) refused() (failed bool, err error) {
	next, _ := c.writers[0].next(nil)
	reply, err := c.server.Client().Call(next.version, next.action, next.params)
	return reply.Status >= http.StatusInternalServerError, err
}

// doubt looks at what is shown after a change was answered with an error. A server
// that goes on shows what is on the disk, with the change or without it. One that
// takes no more writes does not know that, and shows what it had acknowledged.
func (c *cloud) doubt(change *worldChange) error {
	takes, _, err := c.takesWrites()
	if err != nil {
		return err
	}
	if takes {
		become := []version{nil}
		if change != nil {
			become = append(become, change.become...)
		}
		return c.settle(become...)
	}
	c.change = change
	found, err := look(c.server)
	if w := c.writers[0]; err == nil && !found[w.name].is(w.contents) {
		err = fmt.Errorf("%v is shown, and %v was acknowledged", found[w.name], w.contents)
	}
	return err
}
