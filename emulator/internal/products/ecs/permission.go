package ecs

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// The refusals of this file.
var (
	errParameterMissing = refusals.New("ParameterMissing", 400, "MissingParameter",
		"The input parameter %s that is mandatory for processing this request is not supplied.", "CLB-0203")
	errPolicyMalformed = refusals.New("PolicyMalformed", 400, "InvalidPolicy.Malformed",
		"The specified parameter Policy is not valid.", "CLB-0300")
	errPriorityMalformed = refusals.New("PriorityMalformed", 400, "InvalidPriority.Malformed",
		"The parameter Priority is invalid.", "CLB-0300")
	errPriorityUnsupported = refusals.New("PriorityUnsupported", 400, "InvalidPriority.ValueNotSupported",
		"The specified parameter %s is invalid.", "CLB-0300")
	errProtocolUnsupported = refusals.New("ProtocolUnsupported", 400, "InvalidIpProtocol.ValueNotSupported",
		"The parameter %s must be specified with case insensitive TCP, UDP, ICMP, GRE or All.", "CLB-0300")
	errNicTypeUnknown = refusals.New("NicTypeUnknown", 400, "InvalidNicType.ValueNotSupported",
		"The specified NicType does not exist.", "CLB-0300")
	errRuleDescriptionMalformed = refusals.New("RuleDescriptionMalformed", 400, "InvalidSecurityGroupDiscription.Malformed",
		"The specified security group rule description is not valid.", "CLB-0300")
	errPortRangeMissing = refusals.New("PortRangeMissing", 400, "InvalidPortRange.Malformed",
		"The specified parameter PortRange must set.", "CLB-0300")
	errPortRangeMismatch = refusals.New("PortRangeMismatch", 400, "OperationDenied",
		"The specified IpProtocol does not exist or IpProtocol and PortRange do not match.", "CLB-0300")
	errPortRangeInvalid = refusals.New("PortRangeInvalid", 400, "InvalidParam.PortRange",
		"The specified parameter %s is not valid. It should be two integers less than 65535 in ?/? format.", "CLB-0300")
	errSourcePortRangeMalformed = refusals.New("SourcePortRangeMalformed", 400, "InvalidSourcePortRange.Malformed",
		"The specified parameter SourcePortRange is not valid.", "CLB-0300")
	errSourceMissing = refusals.New("SourceMissing", 400, "MissingParameter.Source",
		"One of the parameters SourceCidrIp, Ipv6SourceCidrIp, SourceGroupId or SourcePrefixListId in %s must be specified.", "CLB-0300")
	errTwoSources = refusals.New("TwoSources", 400, "InvalidParam.SourceIp",
		"The Parameters SourceCidrIp and Ipv6SourceCidrIp in %s cannot be set at the same time.", "CLB-0300")
	errTwoDestinations = refusals.New("TwoDestinations", 400, "InvalidParam.DestIp",
		"The Parameters DestCidrIp and Ipv6DestCidrIp in %s cannot be set at the same time.", "CLB-0300")
	errPrefixListNotFound = refusals.New("PrefixListNotFound", 404, "InvalidPrefixListId.NotFound",
		"The specified prefix list was not found.", "CLB-0300")
	errSourceCIDRInvalid = refusals.New("SourceCIDRInvalid", 400, "InvalidParam.SourceCidrIp",
		"The specified parameter %s is not valid.", "CLB-0300")
	errIPv6SourceCIDRInvalid = refusals.New("IPv6SourceCIDRInvalid", 400, "InvalidParam.Ipv6SourceCidrIp",
		"The specified parameter %s is not valid.", "CLB-0300")
	errDestCIDRInvalid = refusals.New("DestCIDRInvalid", 400, "InvalidParam.DestCidrIp",
		"The specified parameter %s is not valid.", "CLB-0300")
	errIPv6DestCIDRInvalid = refusals.New("IPv6DestCIDRInvalid", 400, "InvalidParam.Ipv6DestCidrIp",
		"The specified parameter %s is not valid.", "CLB-0300")
	errFamiliesMixed = refusals.New("FamiliesMixed", 400, "InvalidParameter.Conflict",
		"IPv6 and IPv4 addresses cannot exist at the same time.", "CLB-0300")
	errIPv4ProtocolWithIPv6 = refusals.New("IPv4ProtocolWithIPv6", 400, "InvalidParam.Ipv4ProtocolConflictWithIpv6Address",
		"IPv6 address cannot be specified for IPv4-specific protocol.", "CLB-0300")
	errIPv6ProtocolWithIPv4 = refusals.New("IPv6ProtocolWithIPv4", 400, "InvalidParam.Ipv6ProtocolConflictWithIpv4Address",
		"IPv4 address cannot be specified for IPv6-specific protocol.", "CLB-0300")
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
	directionEgress  = "egress"
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

// rule checks the permission, which must have a source, and returns it as stored.
func (p permission) rule() (kinds.SecurityGroupPermission, error) {
	switch {
	case p.SourcePrefixListID != "":
		return kinds.SecurityGroupPermission{}, errPrefixListNotFound.Of(p.SourcePrefixListID)
	case p.SourceCIDRIP == "" && p.IPv6SourceCIDRIP == "" && p.SourceGroupID == "":
		return kinds.SecurityGroupPermission{}, errSourceMissing.Of("Permissions")
	}
	return p.kept()
}

// kept checks a permission of either direction. Every interface in a VPC is intranet,
// whatever the request says; evidence CLB-0335.
func (p permission) kept() (kinds.SecurityGroupPermission, error) {
	out := kinds.SecurityGroupPermission{
		Direction:    directionIngress,
		IPProtocol:   protocols[strings.ToLower(p.IPProtocol)],
		PortRange:    p.PortRange,
		SourceCIDR:   p.SourceCIDRIP,
		DestCIDR:     p.DestCIDRIP,
		IPv6Source:   compressed(p.IPv6SourceCIDRIP),
		IPv6Dest:     compressed(p.IPv6DestCIDRIP),
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
	return "", errPolicyMalformed
}

func (p permission) priority() (string, error) {
	text := cmp.Or(p.Priority, "1")
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return "", errPriorityMalformed
	case n < 1 || n > maxPriority:
		return "", errPriorityUnsupported.Of("Priority")
	}
	return text, nil
}

func (p permission) checkWords() error {
	switch {
	case p.IPProtocol == "":
		return errParameterMissing.Of("IpProtocol")
	case protocols[strings.ToLower(p.IPProtocol)] == "":
		return errProtocolUnsupported.Of("IpProtocol")
	case p.NicType != "" && p.NicType != nicIntranet && p.NicType != "internet":
		return errNicTypeUnknown.Of("NicType")
	case utf8.RuneCountInString(p.Description) > maxRuleDescription || tagging.HasAddress(p.Description):
		return errRuleDescriptionMalformed
	}
	return nil
}

// checkPorts: a protocol with ports has a range of them, the others have all.
func (p permission) checkPorts() error {
	protocol := protocols[strings.ToLower(p.IPProtocol)]
	hasPorts := protocol == "TCP" || protocol == "UDP"
	switch {
	case p.PortRange == "":
		return errPortRangeMissing
	case hasPorts == (p.PortRange == allPorts):
		return errPortRangeMismatch
	case hasPorts && !isPortRange(p.PortRange):
		return errPortRangeInvalid.Of("PortRange")
	case p.SourcePortRange != "" && p.SourcePortRange != allPorts && !isPortRange(p.SourcePortRange):
		return errSourcePortRangeMalformed
	}
	return nil
}

func isPortRange(text string) bool {
	first, last, ok := strings.Cut(text, "/")
	from, err := strconv.ParseUint(first, 10, 16)
	to, err2 := strconv.ParseUint(last, 10, 16)
	return ok && err == nil && err2 == nil && from >= 1 && from <= to
}

// checkPeers: a rule has at most one kind of source and of destination.
func (p permission) checkPeers() error {
	switch {
	case p.SourceCIDRIP != "" && p.IPv6SourceCIDRIP != "":
		return errTwoSources.Of("Permissions")
	case p.DestCIDRIP != "" && p.IPv6DestCIDRIP != "":
		return errTwoDestinations.Of("Permissions")
	}
	return nil
}

func (p permission) checkBlocks() error {
	for _, block := range []struct {
		text    string
		isIP6   bool
		refusal gateway.Refusal
		name    string
	}{
		{p.SourceCIDRIP, false, errSourceCIDRInvalid, "SourceCidrIp"},
		{p.IPv6SourceCIDRIP, true, errIPv6SourceCIDRInvalid, "Ipv6SourceCidrIp"},
		{p.DestCIDRIP, false, errDestCIDRInvalid, "DestCidrIp"},
		{p.IPv6DestCIDRIP, true, errIPv6DestCIDRInvalid, "Ipv6DestCidrIp"},
	} {
		if block.text != "" && !isBlock(block.text, block.isIP6) {
			return block.refusal.Of(block.name)
		}
	}
	return nil
}

// compressed returns the shortest form of an IPv6 block, which rules show: CLB-0339.
func compressed(block string) string {
	address, bits, hasBits := strings.Cut(block, "/")
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is6() {
		return block
	}
	if hasBits {
		return ip.String() + "/" + bits
	}
	return ip.String()
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
		return errFamiliesMixed
	case has6 && protocol == "ICMP":
		return errIPv4ProtocolWithIPv6
	case has4 && protocol == "ICMPv6":
		return errIPv6ProtocolWithIPv4
	}
	return nil
}
