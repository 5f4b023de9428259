package command

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
)

// reachable returns an address for clients on this machine: the loopback address if the listener is
// on all addresses.
func reachable(address string) string {
	host, port, _ := net.SplitHostPort(address) // a listener's address has both
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\*\.)?[0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)*$`) })

// hosts reads names with commas between them.
func hosts(list string) (found []string, err error) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !hostName().MatchString(name) {
			return nil, fmt.Errorf("%q is not a name such as clbemu.test or *.test", name)
		}
		found = append(found, name)
	}
	return found, nil
}

// blocks reads CIDR blocks of IPv4 with commas between them.
func blocks(list string) ([]netip.Prefix, error) {
	found, err := prefixes(list)
	for _, block := range found {
		if !block.Addr().Is4() {
			return nil, fmt.Errorf("%q is not a CIDR block of IPv4 addresses, such as 10.244.0.0/16", block)
		}
	}
	return found, err
}

// prefixes reads CIDR blocks of either version with commas between them.
func prefixes(list string) (found []netip.Prefix, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text == "" {
			continue
		}
		block, err := netip.ParsePrefix(strings.TrimSpace(text))
		if err != nil || block.Masked() != block {
			return nil, fmt.Errorf("%q is not a CIDR block, such as 10.244.0.0/16", text)
		}
		found = append(found, block)
	}
	return found, nil
}
