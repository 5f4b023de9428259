package dataplane

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"

	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// network is the addresses of this machine's network interfaces.
type network interface {
	// assigned lists the addresses of all interfaces.
	assigned() ([]assigned, error)
	// reserve keeps other emulators away from an address until the lock closes or the
	// process ends, however it ends. It fails with errReserved while another has it.
	reserve(netip.Addr) (lock io.Closer, err error)
	// add puts an address with clbemu's mark on the plane's interface.
	add(netip.Addr) (assigned, error)
	// remove takes an address away. A missing one is no error.
	remove(assigned) error
	// device is the name of the plane's interface.
	device() string
}

// assigned is an address that a network interface has.
type assigned struct {
	netip.Prefix
	index  int // of the interface
	device string
	marked bool // clbemu put it there
}

// errReserved is the error for an address that another emulator has.
var errReserved = errors.New("another clbemu on this machine answers at it")

// maxSockets limits the sockets of a listener. A port range may have more ports.
const maxSockets = 256

// addresses is the binder for load balancers' own addresses, which it puts on a network
// interface.
//
// An address bears a mark there, and who put it there holds a lock on it for as long as
// it runs. So a marked address without a lock was left by an emulator that was killed,
// and an address without the mark has another owner and stays as it is.
type addresses struct {
	network network
	held    map[netip.Addr]*heldAddress
	uses    map[string][]netip.Addr // by listener
	present []assigned              // as listed in this round of changes; nil before
}

var _ binder = (*addresses)(nil)

// heldAddress is an address that the plane has.
type heldAddress struct {
	lock  io.Closer
	users int
	gone  bool // it was taken off the interface
}

// newAddresses returns the binder for the addresses of a network, and clears what emulators
// left that were killed.
func newAddresses(network network) (*addresses, error) {
	a := &addresses{network: network, held: make(map[netip.Addr]*heldAddress), uses: make(map[string][]netip.Addr)}
	present, err := network.assigned()
	if err != nil {
		return nil, err
	}
	return a, removeLeftovers(network, present)
}

// removeLeftovers removes the marked addresses that no emulator has.
func removeLeftovers(network network, present []assigned) (err error) {
	for _, one := range present {
		if one.marked {
			err = errors.Join(err, remove(network, one))
		}
	}
	return err
}

// remove removes a marked address, unless another emulator has it.
func remove(network network, left assigned) error {
	lock, err := network.reserve(left.Addr())
	if errors.Is(err, errReserved) {
		return nil
	}
	if err == nil {
		err = errors.Join(network.remove(left), lock.Close())
	}
	if err != nil {
		return fmt.Errorf("remove %s from %s, left by a killed emulator: %w", left.Addr(), left.device, err)
	}
	return nil
}

// bindAddrs implements binder: each port at each address.
func (a *addresses) bindAddrs(lb *topology.LoadBalancer, f *topology.Frontend) (places []netip.AddrPort, omitted string, err error) {
	wanted := addressesOf(lb)
	if len(wanted) == 0 {
		return nil, "", errors.New("the load balancer has no address")
	}
	previous := a.uses[f.ID]
	a.uses[f.ID] = nil
	last := min(max(f.FirstPort, f.LastPort), f.FirstPort+max(1, maxSockets/len(wanted))-1)
	if last < f.LastPort {
		omitted = fmt.Sprintf("the ports %d-%d are left out: a listener has at most %d sockets", last+1, f.LastPort, maxSockets)
	}
	for _, address := range wanted {
		if failed := a.acquire(address); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		a.uses[f.ID] = append(a.uses[f.ID], address)
		for port := f.FirstPort; port <= last; port++ {
			places = append(places, netip.AddrPortFrom(address, uint16(port)))
		}
	}
	return places, omitted, errors.Join(err, a.unref(previous))
}

// addressesOf returns all addresses of a load balancer, with those under its name.
func addressesOf(lb *topology.LoadBalancer) (list []netip.Addr) {
	add := func(ip netip.Addr) {
		if !slices.Contains(list, ip.Unmap()) {
			list = append(list, ip.Unmap())
		}
	}
	for _, address := range lb.Addresses {
		for _, ip := range ipsOf(&address) {
			add(ip)
		}
	}
	for _, ip := range lb.Reachable {
		add(ip)
	}
	return list
}

// ipsOf returns an address in each version of IP that it has.
func ipsOf(address *topology.Address) (list []netip.Addr) {
	for _, text := range []string{address.IP, address.IPv6} {
		if ip, err := netip.ParseAddr(text); err == nil {
			list = append(list, ip.Unmap())
		}
	}
	return list
}

// acquire counts a user of an address, and puts the address on the interface if it is not
// there.
func (a *addresses) acquire(address netip.Addr) error {
	h := a.held[address]
	if h == nil {
		lock, err := a.network.reserve(address)
		if err != nil {
			return fmt.Errorf("the address %s: %w", address, err)
		}
		if err := a.put(address); err != nil {
			return errors.Join(err, lock.Close())
		}
		h = &heldAddress{lock: lock}
		a.held[address] = h
	}
	if h.gone {
		if err := a.put(address); err != nil {
			return err
		}
		h.gone = false
	}
	h.users++
	return nil
}

// put puts a reserved address on the interface.
func (a *addresses) put(address netip.Addr) error {
	if err := a.free(address); err != nil {
		return err
	}
	added, err := a.network.add(address)
	if err != nil {
		return fmt.Errorf("the address %s can't be put on %s: %w", address, a.network.device(), err)
	}
	a.present = append(a.present, added)
	return nil
}

// free reports who else has an address, or may have it.
func (a *addresses) free(address netip.Addr) error {
	if !address.IsGlobalUnicast() {
		return fmt.Errorf("%s is no address of a single host", address)
	}
	if err := a.removeLeftovers(address); err != nil { // what one left killed since the start
		return err
	}
	for _, other := range a.present {
		switch {
		case other.Addr() == address:
			return fmt.Errorf("the address %s is on %s already, and clbemu did not put it there: remove it, or choose other blocks in the world file", address, other.device)
		case other.device != a.network.device() && !other.IsSingleIP() && other.Contains(address):
			return fmt.Errorf("the address %s is in the network %s of %s, where it may be another machine's: choose --data-plane-interface %s, or other blocks in the world file",
				address, other.Masked(), other.device, other.device)
		}
	}
	return nil
}

// removeLeftovers takes an address off all interfaces where it has clbemu's mark.
func (a *addresses) removeLeftovers(address netip.Addr) (err error) {
	if a.present == nil {
		if a.present, err = a.network.assigned(); err != nil {
			return err
		}
	}
	a.present = slices.DeleteFunc(a.present, func(one assigned) bool {
		if one.Addr() != address || !one.marked {
			return false
		}
		failed := a.network.remove(one)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("remove %s from %s: %w", address, one.device, failed))
		}
		return failed == nil
	})
	return err
}

// keepsPorts implements binder.
func (a *addresses) keepsPorts() bool { return true }

// release implements binder. The next start removes what this one can't.
func (a *addresses) release(frontendID string) {
	_ = a.unref(a.uses[frontendID])
	delete(a.uses, frontendID)
}

// unref counts a user of each address less, and removes those without one.
func (a *addresses) unref(list []netip.Addr) (err error) {
	for _, address := range list {
		h := a.held[address]
		if h.users--; h.users == 0 {
			err = errors.Join(err, a.drop(address))
		}
	}
	return err
}

// drop takes an address off the interface.
func (a *addresses) drop(address netip.Addr) error {
	lock := a.held[address].lock
	delete(a.held, address)
	return errors.Join(a.removeLeftovers(address), lock.Close())
}

// prune implements binder.
func (a *addresses) prune(exists func(string) bool) {
	for id := range a.uses {
		if !exists(id) {
			a.release(id)
		}
	}
}

// flush implements binder.
func (a *addresses) flush() error {
	a.present = nil
	return nil
}

// lost implements binder.
func (a *addresses) lost() (listeners []string) {
	if len(a.held) == 0 {
		return nil
	}
	present, err := a.network.assigned()
	if err != nil {
		return nil // the next look may tell
	}
	there := make(map[netip.Addr]bool)
	for _, one := range present {
		there[one.Addr()] = there[one.Addr()] || one.marked
	}
	for address, h := range a.held {
		h.gone = !there[address]
	}
	for _, id := range slices.Sorted(maps.Keys(a.uses)) {
		if slices.ContainsFunc(a.uses[id], func(address netip.Addr) bool { return a.held[address].gone }) {
			listeners = append(listeners, id)
		}
	}
	return listeners
}

// close implements binder.
func (a *addresses) close() (err error) {
	a.present = nil
	for _, address := range slices.SortedFunc(maps.Keys(a.held), netip.Addr.Compare) {
		err = errors.Join(err, a.drop(address))
	}
	clear(a.uses)
	return err
}
