package dataplane

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Listeners have ports of their own, and the same ones after a restart, also those whose
// ids want the same port.
func TestPortsStay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ports")
	given, used := make(map[string]uint16), make(map[uint16]string)
	p, err := loadPorts("", file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2000 {
		id := fmt.Sprint("lb-", i)
		port := p.of(id)
		if other, twice := used[port]; twice || port < firstPort || port > lastPort {
			t.Fatalf("%s gets port %d of %q", id, port, other)
		}
		given[id], used[port] = port, id
	}
	if len(p.kept) == 0 {
		t.Fatal("no two ids wanted the same port: the test proves nothing")
	}
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	if p, err = loadPorts("", file); err != nil {
		t.Fatal(err)
	}
	for i := 1999; i >= 0; i-- { // in another order
		id := fmt.Sprint("lb-", i)
		if port := p.of(id); port != given[id] {
			t.Errorf("%s gets port %d after a restart, had %d", id, port, given[id])
		}
	}
	p.prune(func(string) bool { return false })
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file stays after all listeners are gone: %v", err)
	}
}

// A file that is damaged is named.
func TestPortsFileIsDamaged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ports")
	for _, text := range []string{"", "{", `{"a": -1}`, `{"a": 70000}`, "[]"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadPorts("", file); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}
