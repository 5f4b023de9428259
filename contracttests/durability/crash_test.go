package durability_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
)

var rounds = flag.Int("rounds", 0, "number of crashes of TestCrash; 0 is 100, or 20 with -short")

// maxWriters is the number of writers; not all of them write in each life.
const maxWriters = 64

// TestCrash proves that whenever the server is killed, or told to end, among the
// calls of many writers, snapshots, imports and resets, then what was answered is
// so after the restart: nothing that was acknowledged is lost, nothing that was
// refused is there, what was never answered happened as a whole or not at all,
// and no invariant is broken.
func TestCrash(t *testing.T) {
	t.Parallel()
	if *rounds == 0 {
		*rounds = 100
		if testing.Short() {
			*rounds = 10
		}
	}
	c := newCloud(t, chances(t, fmt.Sprintf("-rounds %d", *rounds)), maxWriters)
	c.endsAmidChanges = true
	for round := range *rounds {
		if round%100 == 99 {
			t.Logf("%d rounds of %d", round+1, *rounds)
		}
		if c.chance.IntN(4) == 0 {
			c.killWhileStarting()
		}
		if err := c.open(); err != nil {
			t.Fatal(err)
		}
		signal := os.Kill
		if c.chance.IntN(4) == 0 {
			signal = syscall.SIGTERM
		}
		writers := 16 + c.chance.IntN(maxWriters-16+1)
		err := c.rage(writers, 1+c.chance.IntN(40*writers), endBy(signal))
		if err = errors.Join(err, c.ended(signal)); err != nil {
			t.Fatal(err)
		}
		c.counts.add(fmt.Sprintf("ended by %v", signal))
	}
	if err := c.open(); err != nil {
		t.Fatal(err)
	}
	if code := c.server.End(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code at the end = %d, want 0", code)
	}
	c.report()
}

// killWhileStarting kills a server somewhere between its start and its first call.
func (c *cloud) killWhileStarting() {
	cmd := binary.Command("--data-dir", c.dir, "--world", c.world, "--log-level", "error")
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	time.AfterFunc(time.Duration(c.chance.Int64N(int64(longStart))), func() { cmd.Process.Kill() })
	cmd.Wait()
	c.counts.add("killed while starting")
}

// longStart is more than a start takes.
const longStart = 40 * time.Millisecond

// report reports how much of each thing happened, which must be some of everything.
func (c *cloud) report() {
	all := 0
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(c.counts.of)) {
		lines = append(lines, fmt.Sprintf("%7d %s", c.counts.of[what], what))
		if writes[what] != nil {
			all += c.counts.of[what]
		}
	}
	c.t.Logf("%d calls of %d kinds answered:\n%s", all, len(actions), strings.Join(lines, "\n"))
	for _, action := range actions {
		if *rounds >= 50 && c.counts.of[action] == 0 {
			c.t.Errorf("there was no %s", action)
		}
	}
}
