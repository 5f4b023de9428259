package dataplane

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"syscall"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// mark is the metric of the addresses that clbemu puts on interfaces: "clbe" in ASCII.
// They have no routes for which it would count.
const mark = 0x636c6265

// label is the label that ip addr shows for the addresses. The kernel has labels for
// IPv4 alone.
const label = "clbemu"

// kernel is the network of this machine, or of the namespace that the process is in.
type kernel struct{ name string }

// openNetwork returns the network with the interface for load balancers' addresses, if
// this process may change it.
func openNetwork(device string) (network, error) {
	if _, err := up(device); err != nil {
		return nil, err
	}
	// This interface does not exist, so the kernel checks only the right.
	nowhere := &netlink.Addr{IPNet: &net.IPNet{IP: net.IPv4zero, Mask: net.CIDRMask(32, 32)}, LinkIndex: math.MaxInt32}
	if err := netlink.AddrDel(nil, nowhere); errors.Is(err, syscall.EPERM) {
		return nil, fmt.Errorf("the data plane needs the right NET_ADMIN to put load balancers' addresses on %s: start clbemu as root, give a container --cap-add NET_ADMIN, or choose --data-plane ports", device)
	}
	return kernel{device}, nil
}

// removeMachineLeftovers removes the addresses that emulators left on this machine that were killed.
func removeMachineLeftovers() error {
	present, err := kernel{}.assigned()
	if err != nil {
		return nil // where none can list addresses, none put any there
	}
	return removeLeftovers(kernel{}, present)
}

// up finds an interface that is up.
func up(device string) (netlink.Link, error) {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return nil, fmt.Errorf("the network interface %s: %w: choose another with --data-plane-interface", device, err)
	}
	if link.Attrs().Flags&net.FlagUp == 0 {
		return nil, fmt.Errorf("the network interface %s is down: ip link set %s up", device, device)
	}
	return link, nil
}

func (k kernel) device() string { return k.name }

// add adds an address that makes no route to others. Its scope and the preference of 0
// keep this machine from taking it as the source of other connections.
func (k kernel) add(address netip.Addr) (a assigned, err error) {
	link, err := up(k.name)
	if err != nil {
		return a, err
	}
	header := unix.IfAddrmsg{Family: unix.AF_INET, Prefixlen: uint8(address.BitLen()), Index: uint32(link.Attrs().Index), Scope: unix.RT_SCOPE_HOST}
	flags := uint32(unix.IFA_F_NOPREFIXROUTE)
	if address.Is6() {
		header.Family, header.Scope = unix.AF_INET6, unix.RT_SCOPE_UNIVERSE
		flags |= unix.IFA_F_NODAD
	}
	request := nl.NewNetlinkRequest(unix.RTM_NEWADDR, unix.NLM_F_CREATE|unix.NLM_F_EXCL|unix.NLM_F_ACK)
	request.AddData(&nl.IfAddrmsg{IfAddrmsg: header})
	request.AddData(nl.NewRtAttr(unix.IFA_LOCAL, address.AsSlice()))
	request.AddData(nl.NewRtAttr(unix.IFA_ADDRESS, address.AsSlice()))
	request.AddData(nl.NewRtAttr(unix.IFA_FLAGS, nl.Uint32Attr(flags)))
	request.AddData(nl.NewRtAttr(unix.IFA_RT_PRIORITY, nl.Uint32Attr(mark)))
	forever := nl.IfaCacheInfo{IfaCacheinfo: unix.IfaCacheinfo{Valid: math.MaxUint32, Prefered: 0}}
	request.AddData(nl.NewRtAttr(unix.IFA_CACHEINFO, forever.Serialize()))
	if name := k.name + ":" + label; address.Is4() && len(name) < unix.IFNAMSIZ {
		request.AddData(nl.NewRtAttr(unix.IFA_LABEL, nl.ZeroTerminated(name)))
	}
	if _, err = request.Execute(unix.NETLINK_ROUTE, 0); err == nil {
		// Without the right NET_RAW, others find out when they miss answers.
		_ = announce(link.Attrs(), address)
	}
	return assigned{netip.PrefixFrom(address, address.BitLen()), link.Attrs().Index, k.name, true}, err
}

func (k kernel) remove(a assigned) error {
	address := &net.IPNet{IP: a.Addr().AsSlice(), Mask: net.CIDRMask(a.Bits(), a.Addr().BitLen())}
	err := netlink.AddrDel(nil, &netlink.Addr{IPNet: address, LinkIndex: a.index})
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.ENODEV) {
		return nil // already gone
	}
	return err
}

// attempts limits the reads of a list that changes during the read.
const attempts = 5

func (k kernel) assigned() ([]assigned, error) {
	links, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	names := make(map[int]string)
	for _, link := range links {
		names[link.Index] = link.Name
	}
	var messages [][]byte
	for range attempts {
		request := nl.NewNetlinkRequest(unix.RTM_GETADDR, unix.NLM_F_DUMP)
		request.AddData(nl.NewIfAddrmsg(unix.AF_UNSPEC))
		if messages, err = request.Execute(unix.NETLINK_ROUTE, unix.RTM_NEWADDR); !errors.Is(err, nl.ErrDumpInterrupted) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list the addresses of network interfaces: %w", err)
	}
	list := make([]assigned, 0, len(messages))
	for _, m := range messages {
		one, err := parseAssigned(m)
		if err != nil {
			return nil, err
		}
		one.device = names[one.index]
		list = append(list, one)
	}
	return list, nil
}

// parseAssigned reads an address of the kernel's list.
func parseAssigned(message []byte) (a assigned, err error) {
	header := nl.DeserializeIfAddrmsg(message)
	attributes, err := nl.ParseRouteAttr(message[header.Len():])
	if err != nil {
		return a, err
	}
	var address, local []byte // of a point-to-point interface, address is the peer's
	for _, attribute := range attributes {
		switch attribute.Attr.Type {
		case unix.IFA_ADDRESS:
			address = attribute.Value
		case unix.IFA_LOCAL:
			local = attribute.Value
		case unix.IFA_RT_PRIORITY:
			a.marked = binary.NativeEndian.Uint32(attribute.Value) == mark
		}
	}
	if local == nil {
		local = address
	}
	ip, ok := netip.AddrFromSlice(local)
	if !ok {
		return a, fmt.Errorf("the kernel lists an address of %d bytes", len(local))
	}
	a.Prefix, a.index = netip.PrefixFrom(ip, int(header.Prefixlen)), int(header.Index)
	return a, nil
}

// reserve listens at a socket with a name of no file, which is the network namespace's as
// the address is, and ends with the process.
func (k kernel) reserve(address netip.Addr) (io.Closer, error) {
	lock, err := net.Listen("unix", "@clbemu/"+address.String())
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errReserved
	}
	return lock, err
}
