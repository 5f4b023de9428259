package cloud

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"

	"github.com/clbemu/clbemu/emulator/internal/dataplane"
	"github.com/clbemu/clbemu/emulator/internal/dns"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/faults"
)

// Where load balancers answer packets.
const (
	NoPackets = "off"
	AtPorts   = "ports"
	// AtAddresses is of one cloud of a machine at most.
	AtAddresses = "addresses"
)

// Packets says where and how load balancers answer packets.
type Packets struct {
	// At is NoPackets unless it is set.
	At string
	// Interface is the network interface that gets the addresses of load balancers, if they answer
	// there. If empty, it is lo.
	Interface string
	// Transparent lists the blocks of clients whose addresses servers of TCP and UDP
	// listeners see.
	Transparent []netip.Prefix
	// MaxListeners limits the listeners that answer. If it is 0, the limit is 1,000.
	MaxListeners int
	// AccessLog lets the journal have an entry for each connection, UDP session and HTTP
	// request that is forwarded.
	AccessLog bool
	// Direct lists the blocks of addresses at which this machine reaches servers directly.
	Direct []netip.Prefix
}

// portsFile is the file of the data plane in the cloud's folder.
const portsFile = "ports"

// What the zero values of the configuration stand for.
const (
	usualListeners = 1000
	usualInterface = "lo"
)

// newPlane returns the data plane, or nil for none.
func (c *Cloud) newPlane(injector *faults.Injector) (*dataplane.Plane, error) {
	cfg := &c.cfg.Packets
	plane := dataplane.Config{Store: c.store, Cloud: c.cfg.Name, MaxListeners: cmp.Or(cfg.MaxListeners, usualListeners), Direct: cfg.Direct, Transparent: cfg.Transparent,
		Faults: injector, Record: c.journal.Record, AccessLog: cfg.AccessLog, Log: c.cfg.Log}
	switch cfg.At {
	case NoPackets, "":
		return nil, nil
	case AtPorts:
		if c.cfg.Dir != "" {
			plane.PortsFile = filepath.Join(c.cfg.Dir, portsFile)
		}
	case AtAddresses:
		plane.Interface = cmp.Or(cfg.Interface, usualInterface)
	default:
		return nil, fmt.Errorf("unknown data plane %q: choose one of %s, %s, %s", cfg.At, NoPackets, AtPorts, AtAddresses)
	}
	plane.MaxDescriptor = listen.PacketsMark()
	return dataplane.New(plane)
}

// StartPackets lets the listeners of load balancers answer, if there is a data plane; a
// second call does nothing.
func (c *Cloud) StartPackets() {
	if c.plane != nil {
		c.plane.Start()
	}
}

// StartDNS answers for the names of Network Load Balancers, if that is asked for. It calls
// failed when it can't go on.
func (c *Cloud) StartDNS(failed func(error)) (err error) {
	if c.cfg.DNSListen == "" {
		return nil
	}
	var apexes []string
	for _, p := range c.products {
		if p.DNSApex != "" {
			apexes = append(apexes, p.DNSApex)
		}
	}
	server, err := dns.Start(c.cfg.DNSListen, c.store, apexes, failed)
	if err != nil {
		return err
	}
	if !c.dns.CompareAndSwap(nil, server) {
		return errors.Join(errors.New("DNS is started twice"), server.Close(c.life))
	}
	return nil
}

// DNSAddr returns the address of the DNS server, or "" if there is none.
func (c *Cloud) DNSAddr() string {
	if server := c.dns.Load(); server != nil {
		return server.Addr()
	}
	return ""
}
