package dataplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"

	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/state/engine/durable"
)

// The ports that listeners get: below those that Kubernetes gives to Services of type
// NodePort, and below the usual range of clients' ports.
const (
	firstPort = 10_000
	lastPort  = 29_999
)

// ports gives listeners ports by their ids, each the same as long as it exists.
type ports struct {
	cloud   string // whose they are: the ids of another may be the same
	file    string
	taken   map[uint16]string // whose each is
	kept    map[string]uint16 // those that are not of the id, by listener
	changed bool
}

// loadPorts reads the ports kept in a file, which need not exist.
func loadPorts(cloud, file string) (*ports, error) {
	p := &ports{cloud: cloud, file: file, taken: make(map[uint16]string), kept: make(map[string]uint16)}
	if file == "" {
		return p, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &p.kept)
	}
	if err != nil {
		return nil, fmt.Errorf("the ports of listeners, %s: %w: delete the file to give out new ones", file, err)
	}
	for id, port := range p.kept {
		p.taken[port] = id
	}
	return p, nil
}

// of returns the port of a listener: the one derived from its id and its cloud, or the next
// one that no other listener has, nor any socket of this process.
func (p *ports) of(id string) uint16 {
	if port, ok := p.kept[id]; ok {
		return port
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id + p.cloud)) // never fails
	const count = lastPort - firstPort + 1
	own := hash.Sum32() % count
	for i := range uint32(count) {
		port := uint16(firstPort + (own+i)%count)
		if holder, taken := p.taken[port]; taken && holder != id || !taken && answers(port) {
			continue
		}
		p.taken[port] = id
		if i > 0 {
			p.kept[id], p.changed = port, true
		}
		return port
	}
	return 0 // there are more listeners than ports: the system chooses one
}

// answers reports whether this process answers at a port.
func answers(port uint16) bool {
	at := netip.AddrPortFrom(loopback, port)
	return listen.Answers("tcp", at) || listen.Answers("udp", at)
}

// release gives the port of a listener back.
func (p *ports) release(id string) {
	maps.DeleteFunc(p.taken, func(_ uint16, holder string) bool { return holder == id })
	if _, ok := p.kept[id]; ok {
		delete(p.kept, id)
		p.changed = true
	}
}

// prune gives the ports of listeners back that are gone since they were kept.
func (p *ports) prune(exists func(id string) bool) {
	for id := range p.kept {
		if !exists(id) {
			p.release(id)
		}
	}
}

// flush writes the ports that do not follow from ids to the file, if they changed. Without such
// ports it deletes the file.
func (p *ports) flush() error {
	if !p.changed || p.file == "" {
		return nil
	}
	p.changed = false
	var err error
	if len(p.kept) == 0 {
		err = durable.Discard(p.file)
	} else {
		err = durable.Write(p.file, func(w io.Writer) error { return json.NewEncoder(w).Encode(p.kept) })
	}
	if err != nil {
		return fmt.Errorf("the ports of listeners can't be kept, and may be others after a restart: %w", err)
	}
	return nil
}
