package dataplane

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// announce tells the machines of a network who has an address now: until they know, they
// send to the machine that had it before, such as a replica that led.
func announce(link *netlink.LinkAttrs, address netip.Addr) error {
	if link.Flags&net.FlagBroadcast == 0 || len(link.HardwareAddr) != 6 {
		return nil // such as lo, where no other machine is
	}
	if address.Is4() {
		return announceARP(link, address)
	}
	return announceNeighbour(link, address)
}

// announceARP broadcasts a gratuitous ARP reply (RFC 826, RFC 5227).
func announceARP(link *netlink.LinkAttrs, address netip.Addr) error {
	const ethernet, reply = 1, 2
	message := binary.BigEndian.AppendUint16(nil, ethernet)
	message = binary.BigEndian.AppendUint16(message, unix.ETH_P_IP)
	message = append(message, 6, 4) // bytes of each address
	message = binary.BigEndian.AppendUint16(message, reply)
	for range 2 { // the sender is who has the address, and so is the target
		message = append(message, link.HardwareAddr...)
		message = append(message, address.AsSlice()...)
	}
	var protocol [2]byte
	binary.BigEndian.PutUint16(protocol[:], unix.ETH_P_ARP)
	everybody := &unix.SockaddrLinklayer{Protocol: binary.NativeEndian.Uint16(protocol[:]), Ifindex: link.Index, Halen: 6, Addr: [8]byte{255, 255, 255, 255, 255, 255}}
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Sendto(socket, message, 0, everybody), unix.Close(socket))
}

// announceNeighbour sends an unsolicited neighbour advertisement (RFC 4861, 7.2.6).
func announceNeighbour(link *netlink.LinkAttrs, address netip.Addr) error {
	const advertisement, override, targetLinkLayer = 136, 0x20, 2
	message := []byte{advertisement, 0, 0, 0, override, 0, 0, 0} // the kernel fills in the checksum
	message = append(message, address.AsSlice()...)
	message = append(message, targetLinkLayer, 1) // in units of 8 bytes
	message = append(message, link.HardwareAddr...)
	socket, err := unix.Socket(unix.AF_INET6, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMPV6)
	if err != nil {
		return err
	}
	const hops = 255 // others are ignored: they may come from another network
	return errors.Join(
		unix.SetsockoptInt(socket, unix.IPPROTO_IPV6, unix.IPV6_MULTICAST_HOPS, hops),
		unix.Bind(socket, &unix.SockaddrInet6{Addr: address.As16()}),
		unix.Sendto(socket, message, 0, &unix.SockaddrInet6{Addr: netip.IPv6LinkLocalAllNodes().As16(), ZoneId: uint32(link.Index)}),
		unix.Close(socket),
	)
}
