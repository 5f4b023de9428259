package emulator

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/state"
)

// DataPlane says where load balancers answer packets.
type DataPlane string

// The data planes.
const (
	// NoPackets has none: load balancers have addresses that nobody answers.
	NoPackets DataPlane = "off"
	// Ports answers for each listener at a port of 127.0.0.1.
	Ports DataPlane = "ports"
)

// portsFile is what the data folder has of the data plane.
const portsFile = "ports"

const usualListeners = 1000

// newPlane returns the data plane, nil for none.
func (cfg *Config) newPlane(store *state.Store) (*dataplane.Plane, error) {
	switch cfg.DataPlane {
	case NoPackets, "":
		return nil, nil
	case Ports:
		file := ""
		if dir := cfg.stateDir(); dir != "" {
			file = filepath.Join(dir, portsFile)
		}
		return dataplane.New(dataplane.Config{Store: store, MaxListeners: cmp.Or(cfg.MaxListeners, usualListeners), Direct: cfg.DirectBackends, PortsFile: file, Log: cfg.Log})
	}
	return nil, fmt.Errorf("unknown data plane %q: choose %s or %s", cfg.DataPlane, NoPackets, Ports)
}
