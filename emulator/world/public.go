package world

import (
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/state"
)

func (p *planter) eip(s *eipSpec) {
	owner, ok := p.home(s.Account, s.Region)
	if !ok || !declare(p, state.EIPs, s.ID, resourceForm, "eip-") {
		return
	}
	e := &state.EIP{
		Owner: owner, ID: s.ID.text, Name: s.Name.text, Description: s.Description.text,
		Status:             state.EIPAvailable,
		Bandwidth:          strconv.Itoa(p.number(s.Bandwidth, 5, 1, 1000)),
		ISP:                p.word(s.ISP, "BGP", "BGP_PRO"),
		InternetChargeType: p.word(s.InternetChargeType, "PayByTraffic", "PayByBandwidth"),
		ChargeType:         "PostPaid",
		ResourceGroupID:    p.resourceGroup(owner, s.ResourceGroup),
		CreateTime:         p.tx.Now(),
	}
	p.associate(e, s.Instance)
	if s.IPAddress.text != "" {
		e.IPAddress = p.publicAddress(e, s.IPAddress)
	} else {
		p.last = append(p.last, func() {
			addressed := *e
			addressed.IPAddress = p.publicAddress(e, scalar{place: s.ID.place})
			state.EIPs.Put(p.tx, &addressed)
		})
	}
	state.EIPs.Put(p.tx, e)
	p.tag(owner, state.TagEIP, e.ID, s.Tags)
}

func (p *planter) publicAddress(e *state.EIP, ip scalar) string {
	if ip.text != "" && p.ip(ip, ipv4) == "" {
		return ""
	}
	region, _ := state.Regions.Find(p.tx.View, e.RegionID)
	return p.allocate(state.PublicPool(region.ID), region.PublicCIDRBlock, ip, state.EIPs.Kind(), e.ID)
}

// associate gives the EIP to an instance or to a network interface.
func (p *planter) associate(e *state.EIP, id scalar) {
	var owner state.Owner
	if strings.HasPrefix(id.text, "eni-") {
		n, ok := refer(p, state.NetworkInterfaces, id)
		if !ok {
			return
		}
		owner, e.InstanceType = n.Owner, "NetworkInterface"
	} else {
		i, ok := refer(p, state.Instances, id)
		if !ok {
			return
		}
		owner, e.InstanceType = i.Owner, "EcsInstance"
	}
	if owner != e.Owner {
		p.fail(id, "%s belongs to account %s in %s, the EIP to %s in %s",
			id.text, owner.AccountID, owner.RegionID, e.AccountID, e.RegionID)
	}
	if other, taken := state.EIPsByInstance.First(p.tx.View, id.text); taken {
		p.fail(id, "%s has EIP %s already", id.text, other.ID)
	}
	e.InstanceID, e.Status = id.text, state.EIPInUse
}

func (p *planter) serverCertificate(s *serverCertificateSpec) {
	owner, ok := p.home(s.Account, s.Region)
	if !ok || !declare(p, state.ServerCertificates, s.ID, certForm, "") {
		return
	}
	content, err := state.ParseCertificate(s.Certificate.text)
	if err != nil {
		if s.Certificate.text != "" {
			p.fail(s.Certificate, "%v", err)
		}
		return
	}
	c := &state.ServerCertificate{
		Owner: owner, ID: s.ID.text, Name: s.Name.text, CertificateContent: content,
		ResourceGroupID: p.resourceGroup(owner, s.ResourceGroup),
		CreateTime:      p.tx.Now(),
	}
	state.ServerCertificates.Put(p.tx, c)
	p.tag(owner, state.TagServerCertificate, c.ID, s.Tags)
}
