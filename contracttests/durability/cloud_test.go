package durability_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/world"
)

// cloud is one folder through the lives of many servers, with what their answers
// have promised.
type cloud struct {
	t       *testing.T
	dir     string
	world   string
	chance  *rand.Rand
	writers []*writer
	// The outcome of calls that affect all writers, and the one that runs now.
	snapshots snapshotNames
	exports   []export
	change    *worldChange
	// keepsWorld leaves out the calls that put another state in place.
	keepsWorld bool
	// endsAmidChanges lets a storm end more often while the whole world is changed.
	endsAmidChanges bool
	// diskFails lets calls be answered with an error of the server's own, which ends
	// the storm.
	diskFails bool

	server *binary.Server
	counts counts
}

func newCloud(t *testing.T, chance *rand.Rand, writers int) *cloud {
	c := &cloud{t: t, dir: t.TempDir(), world: worldFile(t), chance: chance, snapshots: make(snapshotNames)}
	for i := range writers {
		w := &writer{
			name: fmt.Sprintf("w%d", i), chance: rand.New(rand.NewPCG(chance.Uint64(), 0)),
			ownsLoadBalancer: i%4 != 3,
		}
		w.settled(nil)
		c.writers = append(c.writers, w)
	}
	return c
}

// worldFile writes the default world with the cloud of 2024, as the load balancers of the
// tests have specs that change.
func worldFile(t *testing.T) string {
	t.Helper()
	text := bytes.Replace(world.DefaultText, []byte("clouds: today\n"), []byte("clouds: 2024\n"), 1)
	if bytes.Equal(text, world.DefaultText) {
		t.Fatal("the default world says nothing of clouds")
	}
	path := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// counts are the figures of a test.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = make(map[string]int)
	}
	c.of[what]++
}

// open starts a server on the folder and holds what it has against what was
// promised.
func (c *cloud) open() error {
	c.t.Helper()
	c.server = binary.Serve(c.t, "--data-dir", c.dir, "--world", c.world, "--log-level", "error")
	become := []version{nil}
	switch {
	case c.change == nil:
	case c.change.answered:
		become = c.change.become
	default: // it may have been executed
		become = append(become, c.change.become...)
	}
	c.change = nil
	for _, step := range []func() error{
		func() error { return c.settle(become...) }, c.settleSnapshots, c.repeatCreations, c.check,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("after the restart: %w", err)
		}
	}
	return nil
}

// settle surveys the cloud, and finds the one of the versions, the same for all
// writers, that with the answers explains what each has. That is then what they
// have.
func (c *cloud) settle(become ...version) error {
	found, err := look(c.server)
	if err != nil {
		return fmt.Errorf("survey: %w", err)
	}
	var unexplained []error
	for _, v := range become {
		err := c.explain(found, v)
		if err == nil {
			for _, w := range c.writers {
				w.settled(found[w.name])
			}
			return nil
		}
		unexplained = append(unexplained, err)
	}
	return errors.Join(unexplained...)
}

// explain returns an error about writers whose contents no order of the answered calls,
// around the version, explains. With nil it is the calls alone.
func (c *cloud) explain(found map[string]contents, v version) error {
	for name := range found {
		if !slices.ContainsFunc(c.writers, func(w *writer) bool { return w.name == name }) {
			return fmt.Errorf("%s, who is nobody, has %v", name, found[name])
		}
	}
	for _, w := range c.writers {
		may := outcomes([]contents{w.contents}, w.since)
		if v != nil {
			may = outcomesAround(w.contents, w.since, func(before []contents) []contents {
				if len(before) == 0 {
					return nil // the calls before it got answers that can't be
				}
				return v[w]
			})
		}
		if !found[w.name].oneOf(may) {
			return fmt.Errorf("%s has\n%v\nand may have one of\n%v\nafter %v and\n%v", w.name, found[w.name], may, w.contents, w.since)
		}
	}
	return nil
}

func (c *cloud) settleSnapshots() error {
	answer, err := c.ask(http.MethodGet, "/v1/snapshots", nil)
	if err != nil {
		return err
	}
	return c.snapshots.settle(answer)
}

// ask sends a call to the control API that must succeed.
func (c *cloud) ask(method, path string, body []byte) ([]byte, error) {
	status, answer, err := c.server.Ask(method, path, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s %s = %d, %s", method, path, status, answer)
	}
	return answer, err
}

// repeatCreations sends once more, with its client token, what was never answered:
// what was made must be told, and nothing is made twice.
func (c *cloud) repeatCreations() error {
	for _, w := range c.writers {
		lost := w.lost
		w.lost = nil
		if lost == nil || lost.action != "CreateLoadBalancer" {
			continue
		}
		made := w.contents[lb]
		if made != "" && w.contents[lbName] != lost.params["LoadBalancerName"] {
			continue
		}
		reply, err := c.server.Client().Call(lost.version, lost.action, lost.params)
		if err != nil || reply.Status != http.StatusOK {
			return fmt.Errorf("CreateLoadBalancer repeated with its token = %v, %v", reply, err)
		}
		if again := lost.change(contents{}, reply)[lb]; made != "" && again != made {
			return fmt.Errorf("CreateLoadBalancer repeated with its token makes %s, and there is %s", again, made)
		}
		if made == "" {
			w.settled(lost.change(w.contents, reply))
		}
		c.counts.add("creations repeated with their token")
	}
	return nil
}

// check asks the server whether its state is consistent, in memory and on disk.
func (c *cloud) check() error {
	answer, err := c.ask(http.MethodPost, "/v1/state/check", nil)
	if err != nil {
		return err
	}
	var found struct{ Problems []string }
	if err := json.Unmarshal(answer, &found); err != nil || len(found.Problems) > 0 {
		return fmt.Errorf("state check: %s, %v", answer, err)
	}
	return nil
}
