// Package usage counts what clients send to CLB and NLB, for the share of statements that is
// weighed by use. It must not know what statements say.
package usage

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/journal"
)

// Calls counts the calls of one client by action, and by action and parameter.
type Calls struct {
	mu     sync.Mutex
	counts map[string]int
}

// Add counts calls of CLB and NLB that were answered.
func (c *Calls) Add(entries []*journal.Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = make(map[string]int)
	}
	for _, e := range entries {
		if e.Product != "Slb" && e.Product != "Nlb" || strings.HasPrefix(e.UserAgent, "clbemu") {
			continue
		}
		c.counts[e.Product+"\t"+e.Action+"\tcalls\t-"]++
		sent := make(map[string]bool)
		for _, p := range e.Parameters {
			sent[unindexed(p.Name)] = true
		}
		for name := range sent {
			c.counts[e.Product+"\t"+e.Action+"\tparameter\t"+name]++
		}
	}
}

// unindexed returns a name without the numbers of elements: Tag.1.Key is Tag.Key.
func unindexed(name string) string {
	parts := slices.DeleteFunc(strings.Split(name, "."), func(part string) bool {
		_, err := strconv.Atoi(part)
		return err == nil
	})
	return strings.Join(parts, ".")
}

// Write replaces a client's lines in a file, whose first line is a comment.
func (c *Calls) Write(file, client string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(rest), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, client+"\t")
	})
	for _, key := range slices.Sorted(maps.Keys(c.counts)) {
		lines = append(lines, fmt.Sprintf("%s\t%s\t%d", client, key, c.counts[key]))
	}
	slices.Sort(lines)
	return os.WriteFile(file, []byte(head+"\n"+strings.Join(lines, "\n")+"\n"), 0o644)
}
