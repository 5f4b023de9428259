package durability_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// vitals holds what a server uses of the machine, and what it keeps.
type vitals struct {
	heap, resident          float64 // bytes
	goroutines, descriptors float64
	rows                    map[string]int   // of the state, by table
	files                   map[string]int64 // of the data folder, bytes by name
}

func (v vitals) String() string {
	return fmt.Sprintf("heap %.1f MiB, resident %.1f MiB, %.0f goroutines, %.0f descriptors, files %v",
		v.heap/(1<<20), v.resident/(1<<20), v.goroutines, v.descriptors, v.files)
}

// collections is the number of garbage collections to wait for, so that the least heap
// seen is the heap in use.
const (
	collections = 4
	maxSamples  = 5000
)

// measure reads the vitals of a server without clients, each as the least of what it
// is until garbage was collected some times.
func (c *cloud) measure() (vitals, error) {
	least, err := c.sample()
	if err != nil {
		return vitals{}, err
	}
	last := least["go_gc_duration_seconds_count"] + collections
	for range maxSamples {
		now, err := c.sample()
		if err != nil {
			return vitals{}, err
		}
		if now["go_gc_duration_seconds_count"] >= last {
			break
		}
		for name, value := range now {
			least[name] = min(least[name], value)
		}
	}
	v := vitals{
		heap: least["go_memstats_heap_alloc_bytes"], resident: least["process_resident_memory_bytes"],
		goroutines: least["go_goroutines"], descriptors: least["process_open_fds"],
	}
	if v.rows, err = c.rows(); err != nil {
		return vitals{}, err
	}
	v.files, err = filesOf(c.dir)
	return v, err
}

// sample reads the metrics that are one number, over a connection of its own.
func (c *cloud) sample() (map[string]float64, error) {
	c.server.Disconnect()
	text, err := c.ask(http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, err
	}
	found := make(map[string]float64)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			found[name] = number
		}
	}
	for _, name := range []string{
		"go_memstats_heap_alloc_bytes", "process_resident_memory_bytes", "go_goroutines", "process_open_fds", "go_gc_duration_seconds_count",
	} {
		if found[name] == 0 {
			return nil, fmt.Errorf("/metrics has no %s", name)
		}
	}
	return found, nil
}

// rows counts what is in the state.
func (c *cloud) rows() (map[string]int, error) {
	text, err := c.ask(http.MethodGet, "/v1/state", nil)
	if err != nil {
		return nil, err
	}
	var export struct{ Tables map[string][]json.RawMessage }
	if err := json.Unmarshal(text, &export); err != nil {
		return nil, err
	}
	counts := make(map[string]int)
	for name, rows := range export.Tables {
		counts[name] = len(rows)
	}
	return counts, nil
}

// filesOf lists what is in a data folder.
func filesOf(dir string) (map[string]int64, error) {
	sizes := make(map[string]int64)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(dir, path)
		if err == nil {
			sizes[name] = info.Size()
		}
		return err
	})
	return sizes, err
}

// grown lists the vitals that have grown after a number of calls.
func (v vitals) grown(before vitals, calls int) (problems []string) {
	const mib = 1 << 20
	// The nonce of each call is remembered for some minutes, up to this number of
	// calls.
	nonces := float64(min(calls, 1<<20))
	for _, check := range []struct {
		name      string
		was, is   float64
		allowance float64
	}{
		{"heap", before.heap, v.heap, 2*mib + 40*nonces},
		{"resident memory", before.resident, v.resident, before.resident/4 + 32*mib + 64*nonces},
		{"goroutines", before.goroutines, v.goroutines, 4}, // those that count them are among them
		{"descriptors", before.descriptors, v.descriptors, 0},
		{"database, which is compacted from some size on", 0, float64(v.files["clbemu.db"]), 2 * mib},
	} {
		if check.is > check.was+check.allowance {
			problems = append(problems, fmt.Sprintf("%s: %.0f, was %.0f and may be %.0f more", check.name, check.is, check.was, check.allowance))
		}
	}
	if !maps.Equal(v.rows, before.rows) {
		problems = append(problems, fmt.Sprintf("rows of the state: %v, were %v", v.rows, before.rows))
	}
	for name := range v.files {
		if _, ok := before.files[name]; !ok {
			problems = append(problems, "there is a new file "+name)
		}
	}
	return problems
}
