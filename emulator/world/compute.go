package world

import (
	"cmp"
	"net"
	"net/netip"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
)

func (p *planter) securityGroup(s *securityGroupSpec) {
	vpc, ok := refer(p, kinds.VPCs, s.VPC)
	if !ok || !isFree(p, kinds.SecurityGroups, s.ID, resourceForm, "sg-") {
		return
	}
	g := &kinds.SecurityGroup{
		Owner: vpc.Owner, ID: s.ID.text, VPCID: vpc.ID, Name: s.Name.text, Description: s.Description.text,
		Type:            p.word(s.Type, "normal", "enterprise"),
		InnerAccess:     "Accept",
		ResourceGroupID: p.givenResourceGroup(vpc.Owner, s.ResourceGroup),
		CreateTime:      p.tx.Now(),
	}
	kinds.SecurityGroups.Put(p.tx, g)
	p.tag(g.Owner, kinds.TagSecurityGroup, g.ID, s.Tags)
}

func (p *planter) instance(s *instanceSpec) {
	sw, ok := refer(p, kinds.VSwitches, s.VSwitch)
	if !ok || !isFree(p, kinds.Instances, s.ID, resourceForm, "i-") {
		return
	}
	i := &kinds.Instance{
		ID: s.ID.text, Name: s.Name.text, HostName: s.HostName.text, Description: s.Description.text,
		Status:             p.word(s.Status, kinds.InstanceRunning, kinds.InstanceStopped),
		InstanceType:       s.InstanceType.text,
		InstanceChargeType: p.word(s.InstanceChargeType, "PostPaid", "PrePaid"),
		SpotStrategy:       p.word(s.SpotStrategy, "NoSpot", "SpotWithPriceLimit", "SpotAsPriceGo"),
		ImageID:            s.Image.text,
		SerialNumber:       s.SerialNumber.text,
		RAMRoleName:        s.RAMRole.text,
		ResourceGroupID:    p.givenResourceGroup(sw.Owner, s.ResourceGroup),
	}
	if s.PublicIPAddress.text != "" {
		i.PublicIPAddresses = []string{p.ip(s.PublicIPAddress, ipv4)}
	}
	resources.AddInstance(p.tx, sw, i)
	p.tag(i.Owner, kinds.TagInstance, i.ID, s.Tags)
	p.reachAt(i.Owner, i.ID, s.ReachAt)
	p.attach(sw, i, &networkInterfaceSpec{
		ID: s.NetworkInterface, PrivateIPAddresses: given(s.PrivateIPAddress), IPv6Addresses: given(s.IPv6Address),
		MacAddress: s.MacAddress, SecurityGroups: s.SecurityGroups,
	}, kinds.NetworkInterfacePrimary)
}

func given(s scalar) []scalar {
	if s.text == "" {
		return nil
	}
	return []scalar{s}
}

func (p *planter) networkInterface(s *networkInterfaceSpec) {
	sw, ok := refer(p, kinds.VSwitches, s.VSwitch)
	if !ok {
		return
	}
	i, attached := refer(p, kinds.Instances, s.Instance)
	if attached && i.ZoneID != sw.ZoneID {
		p.fail(s.Instance, "instance %s is in zone %s, vSwitch %s in %s", i.ID, i.ZoneID, sw.ID, sw.ZoneID)
	}
	if attached && i.VPCID != sw.VPCID {
		p.fail(s.Instance, "instance %s is in VPC %s, vSwitch %s in %s", i.ID, i.VPCID, sw.ID, sw.VPCID)
	}
	p.attach(sw, i, s, kinds.NetworkInterfaceSecondary)
}

// attach puts an interface into a vSwitch and, unless i is nil, on an instance.
func (p *planter) attach(sw *kinds.VSwitch, i *kinds.Instance, s *networkInterfaceSpec, kind string) {
	if !isFree(p, kinds.NetworkInterfaces, s.ID, resourceForm, "eni-") {
		return
	}
	n := &kinds.NetworkInterface{
		ID: s.ID.text, Name: s.Name.text, Description: s.Description.text, Type: kind,
		MacAddress:       p.mac(s.MacAddress),
		SecurityGroupIDs: p.groupsOf(sw.VPCID, s.SecurityGroups),
		ResourceGroupID:  p.givenResourceGroup(sw.Owner, s.ResourceGroup),
	}
	for _, ip := range s.PrivateIPAddresses {
		n.PrivateIPAddresses = append(n.PrivateIPAddresses, p.privateAddress(sw, n, ip))
	}
	for _, ip := range s.IPv6Addresses {
		n.IPv6Addresses = append(n.IPv6Addresses, p.ipv6Address(sw, ip))
	}
	resources.AddNetworkInterface(p.tx, sw, i, n)
	p.tag(n.Owner, kinds.TagNetworkInterface, n.ID, s.Tags)
	p.reachAt(n.Owner, n.ID, s.ReachAt)
	if len(n.PrivateIPAddresses) == 0 {
		p.last = append(p.last, func() {
			addressed := *n
			addressed.PrivateIPAddresses = []string{p.privateAddress(sw, n, scalar{place: s.ID.place})}
			kinds.NetworkInterfaces.Put(p.tx, &addressed)
		})
	}
}

// privateAddress allocates ip, or any address when it is empty.
func (p *planter) privateAddress(sw *kinds.VSwitch, n *kinds.NetworkInterface, ip scalar) string {
	if ip.text != "" && p.ip(ip, ipv4) == "" {
		return ""
	}
	return p.allocate(sw.ID, sw.CIDRBlock, ip, kinds.NetworkInterfaces.Kind(), n.ID)
}

// allocate takes an address out of a pool.
func (p *planter) allocate(pool, block string, ip scalar, holder state.Kind, id string) string {
	got, err := resources.Allocate(p.tx, pool, block, ip.text, holder, id)
	if err != nil {
		p.fail(ip, "%s", err)
	}
	return got
}

func (p *planter) ipv6Address(sw *kinds.VSwitch, s scalar) string {
	ip := p.ip(s, ipv6)
	if ip == "" {
		return ""
	}
	if block, err := netip.ParsePrefix(sw.IPv6CIDRBlock); err != nil || !block.Contains(netip.MustParseAddr(ip)) {
		p.fail(s, "%s is not in the IPv6 block of vSwitch %s (%s)", ip, sw.ID, cmp.Or(sw.IPv6CIDRBlock, "it has none"))
	}
	if n, taken := kinds.NetworkInterfacesByAddress.First(p.tx.View, sw.VPCID, ip); taken {
		p.fail(s, "%s is taken by %s", ip, n.ID)
	}
	return ip
}

// ip checks the spelling of an address; "" is an invalid one.
func (p *planter) ip(s scalar, of family) string {
	addr, err := netip.ParseAddr(s.text)
	if err != nil || addr.BitLen() != int(of) || addr.Zone() != "" || addr.String() != s.text {
		p.fail(s, "%q is not an %s address in its usual spelling", s.text, of)
		return ""
	}
	return s.text
}

// mac checks a hardware address; an absent one is made later.
func (p *planter) mac(s scalar) string {
	if s.text == "" {
		return ""
	}
	mac, err := net.ParseMAC(s.text)
	if err != nil || len(mac) != 6 {
		p.fail(s, "%q is not a MAC address such as 00:16:3e:00:00:01", s.text)
	}
	return mac.String()
}

func (p *planter) groupsOf(vpcID string, groups []scalar) []string {
	var ids []string
	for _, s := range groups {
		g, ok := refer(p, kinds.SecurityGroups, s)
		if ok && g.VPCID != vpcID {
			p.fail(s, "%s is a security group of VPC %s, not of %s", g.ID, g.VPCID, vpcID)
		}
		ids = append(ids, s.text)
	}
	return ids
}

// reachAt keeps where this machine finds a server, if the file says so.
func (p *planter) reachAt(owner state.Owner, id string, at scalar) {
	if at.text == "" {
		return
	}
	address, err := kinds.ParseReachAt(at.text)
	if err != nil {
		p.fail(at, "%s", err)
		return
	}
	kinds.ReachedAts.Put(p.tx, &kinds.ReachedAt{Owner: owner, ServerID: id, At: address})
}
