package ecs

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// permission is a rule as requests write it.
type permission struct {
	Policy                  string `rpc:"Policy"`
	Priority                string `rpc:"Priority"`
	IPProtocol              string `rpc:"IpProtocol"`
	SourceCIDRIP            string `rpc:"SourceCidrIp"`
	IPv6SourceCIDRIP        string `rpc:"Ipv6SourceCidrIp"`
	SourceGroupID           string `rpc:"SourceGroupId"`
	SourcePrefixListID      string `rpc:"SourcePrefixListId"`
	PortRange               string `rpc:"PortRange"`
	DestCIDRIP              string `rpc:"DestCidrIp"`
	IPv6DestCIDRIP          string `rpc:"Ipv6DestCidrIp"`
	SourcePortRange         string `rpc:"SourcePortRange"`
	SourceGroupOwnerAccount string `rpc:"SourceGroupOwnerAccount"`
	SourceGroupOwnerID      int64  `rpc:"SourceGroupOwnerId"`
	NicType                 string `rpc:"NicType"`
	Description             string `rpc:"Description"`
}

// The words of rules.
const (
	directionIngress = "ingress"
	policyAccept     = "Accept"
	policyDrop       = "Drop"
	nicIntranet      = "intranet"
	allPorts         = "-1/-1"
)

// protocols spells each protocol as rules keep it.
var protocols = map[string]string{
	"tcp": "TCP", "udp": "UDP", "icmp": "ICMP", "icmpv6": "ICMPv6", "gre": "GRE", "all": "ALL",
}

// The longest description of a rule, and its lowest priority.
const (
	maxRuleDescription = 512
	maxPriority        = 100
)

// rule checks the permission and returns it as it is kept. Every interface in a
// VPC is intranet, whatever the request says; evidence CLB-0335.
func (p permission) rule() (cloud.SecurityGroupPermission, error) {
	out := cloud.SecurityGroupPermission{
		Direction:    directionIngress,
		IPProtocol:   protocols[strings.ToLower(p.IPProtocol)],
		PortRange:    p.PortRange,
		SourceCIDR:   p.SourceCIDRIP,
		DestCIDR:     p.DestCIDRIP,
		IPv6Source:   p.IPv6SourceCIDRIP,
		IPv6Dest:     p.IPv6DestCIDRIP,
		SourceGroup:  p.SourceGroupID,
		SourcePort:   p.SourcePortRange,
		PrefixListID: p.SourcePrefixListID,
		NicType:      nicIntranet,
		Description:  p.Description,
	}
	var err error
	if out.Policy, err = p.policy(); err != nil {
		return out, err
	}
	if out.Priority, err = p.priority(); err != nil {
		return out, err
	}
	for _, check := range []func() error{p.checkWords, p.checkPorts, p.checkPeers, p.checkBlocks, p.checkFamilies} {
		if err := check(); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (p permission) policy() (string, error) {
	switch strings.ToLower(p.Policy) {
	case "", "accept":
		return policyAccept, nil
	case "drop":
		return policyDrop, nil
	}
	return "", state.Refuse(policyMalformed)
}

func (p permission) priority() (string, error) {
	text := cmp.Or(p.Priority, "1")
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return "", state.Refuse(priorityMalformed)
	case n < 1 || n > maxPriority:
		return "", state.Refuse(priorityUnsupported, "Priority")
	}
	return text, nil
}

func (p permission) checkWords() error {
	switch {
	case p.IPProtocol == "":
		return state.Refuse(parameterMissing, "IpProtocol")
	case protocols[strings.ToLower(p.IPProtocol)] == "":
		return state.Refuse(protocolUnsupported, "IpProtocol")
	case p.NicType != "" && p.NicType != nicIntranet && p.NicType != "internet":
		return state.Refuse(nicTypeUnknown, "NicType")
	case utf8.RuneCountInString(p.Description) > maxRuleDescription || hasAddress(p.Description):
		return state.Refuse(ruleDescriptionMalformed)
	}
	return nil
}

// checkPorts: a protocol with ports has a range of them, the others have all.
func (p permission) checkPorts() error {
	protocol := protocols[strings.ToLower(p.IPProtocol)]
	hasPorts := protocol == "TCP" || protocol == "UDP"
	switch {
	case p.PortRange == "":
		return state.Refuse(portRangeMissing)
	case hasPorts == (p.PortRange == allPorts):
		return state.Refuse(portRangeMismatch)
	case hasPorts && !isPortRange(p.PortRange):
		return state.Refuse(portRangeInvalid, "PortRange")
	case p.SourcePortRange != "" && p.SourcePortRange != allPorts && !isPortRange(p.SourcePortRange):
		return state.Refuse(sourcePortRangeMalformed)
	}
	return nil
}

func isPortRange(text string) bool {
	first, last, ok := strings.Cut(text, "/")
	from, err := strconv.ParseUint(first, 10, 16)
	to, err2 := strconv.ParseUint(last, 10, 16)
	return ok && err == nil && err2 == nil && from >= 1 && from <= to
}

// checkPeers: a rule has one kind of source and at most one kind of destination.
func (p permission) checkPeers() error {
	switch {
	case p.SourceCIDRIP == "" && p.IPv6SourceCIDRIP == "" && p.SourceGroupID == "" && p.SourcePrefixListID == "":
		return state.Refuse(sourceMissing, "Permissions")
	case p.SourceCIDRIP != "" && p.IPv6SourceCIDRIP != "":
		return state.Refuse(twoSources, "Permissions")
	case p.DestCIDRIP != "" && p.IPv6DestCIDRIP != "":
		return state.Refuse(twoDestinations, "Permissions")
	case p.SourcePrefixListID != "":
		return state.Refuse(prefixListNotFound, p.SourcePrefixListID)
	}
	return nil
}

func (p permission) checkBlocks() error {
	for _, block := range []struct {
		text  string
		isIP6 bool
		fact  state.Fact
		name  string
	}{
		{p.SourceCIDRIP, false, sourceCIDRInvalid, "SourceCidrIp"},
		{p.IPv6SourceCIDRIP, true, ipv6SourceCIDRInvalid, "Ipv6SourceCidrIp"},
		{p.DestCIDRIP, false, destCIDRInvalid, "DestCidrIp"},
		{p.IPv6DestCIDRIP, true, ipv6DestCIDRInvalid, "Ipv6DestCidrIp"},
	} {
		if block.text != "" && !isBlock(block.text, block.isIP6) {
			return state.Refuse(block.fact, block.name)
		}
	}
	return nil
}

// isBlock takes a CIDR block or one address.
func isBlock(text string, isIP6 bool) bool {
	addr, err := netip.ParseAddr(text)
	if strings.Contains(text, "/") {
		var prefix netip.Prefix
		prefix, err = netip.ParsePrefix(text)
		addr = prefix.Addr()
	}
	return err == nil && addr.Is6() == isIP6
}

// checkFamilies: IPv4 and IPv6 do not mix, neither between the two ends nor with
// the protocol of the other.
func (p permission) checkFamilies() error {
	has4 := p.SourceCIDRIP != "" || p.DestCIDRIP != ""
	has6 := p.IPv6SourceCIDRIP != "" || p.IPv6DestCIDRIP != ""
	protocol := protocols[strings.ToLower(p.IPProtocol)]
	switch {
	case has4 && has6:
		return state.Refuse(familiesMixed)
	case has6 && protocol == "ICMP":
		return state.Refuse(ipv4ProtocolWithIPv6)
	case has4 && protocol == "ICMPv6":
		return state.Refuse(ipv6ProtocolWithIPv4)
	}
	return nil
}
