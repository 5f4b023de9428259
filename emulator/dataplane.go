package emulator

import (
	"cmp"
	"fmt"
	"path/filepath"

	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// DataPlane chooses where load balancers answer packets.
type DataPlane string

// The data planes.
const (
	// NoPackets has none: load balancers have addresses that nobody answers.
	NoPackets DataPlane = "off"
	// Ports answers for each listener at a port of 127.0.0.1.
	Ports DataPlane = "ports"
	// Addresses answers at the addresses and ports of load balancers, on Linux with the
	// right NET_ADMIN.
	Addresses DataPlane = "addresses"
)

// DataPlanes are all of them.
var DataPlanes = []DataPlane{NoPackets, Ports, Addresses}

// leftByPackets is how many descriptors clients of load balancers leave to the APIs and the
// state, where there are many.
const leftByPackets = 512

// portsFile is the file of the data plane in the data folder.
const portsFile = "ports"

// What the zero values of the configuration stand for.
const (
	usualListeners = 1000
	usualInterface = "lo"
)

// newPlane returns the data plane, nil for none.
func (cfg *Config) newPlane(store *state.Store, injector *faults.Injector, log *journal.Journal) (*dataplane.Plane, error) {
	plane := dataplane.Config{Store: store, MaxListeners: cmp.Or(cfg.MaxListeners, usualListeners), Direct: cfg.DirectBackends, Transparent: cfg.Transparent,
		Faults: injector, Record: log.Record, AccessLog: cfg.AccessLog, Log: cfg.Log}
	switch cfg.DataPlane {
	case NoPackets, "":
		return nil, nil
	case Ports:
		if dir := cfg.stateDir(); dir != "" {
			plane.PortsFile = filepath.Join(dir, portsFile)
		}
	case Addresses:
		plane.Interface = cmp.Or(cfg.DataPlaneInterface, usualInterface)
	default:
		return nil, fmt.Errorf("unknown data plane %q: choose one of %v", cfg.DataPlane, DataPlanes)
	}
	files := descriptors()
	plane.MaxDescriptor = files - min(files/4, leftByPackets)
	return dataplane.New(plane)
}
