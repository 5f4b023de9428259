package world

import (
	"crypto/tls"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

func (p *planter) eip(s *eipSpec) {
	owner, ok := p.home(s.Account, s.Region)
	if !ok || !isFree(p, kinds.EIPs, s.ID, resourceForm, "eip-") {
		return
	}
	e := &kinds.EIP{
		Owner: owner, ID: s.ID.text, Name: s.Name.text, Description: s.Description.text,
		Status:             kinds.EIPAvailable,
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
			kinds.EIPs.Put(p.tx, &addressed)
		})
	}
	kinds.EIPs.Put(p.tx, e)
	p.tag(owner, kinds.TagEIP, e.ID, s.Tags)
}

func (p *planter) publicAddress(e *kinds.EIP, ip scalar) string {
	if ip.text != "" && p.ip(ip, ipv4) == "" {
		return ""
	}
	region, _ := kinds.Regions.Find(p.tx.View, e.RegionID)
	return p.allocate(kinds.PublicPool(region.ID), region.PublicCIDRBlock, ip, kinds.EIPs.Kind(), e.ID)
}

// associate gives the EIP to an instance or to a network interface.
func (p *planter) associate(e *kinds.EIP, id scalar) {
	var owner state.Owner
	if strings.HasPrefix(id.text, "eni-") {
		n, ok := refer(p, kinds.NetworkInterfaces, id)
		if !ok {
			return
		}
		owner, e.InstanceType = n.Owner, "NetworkInterface"
	} else {
		i, ok := refer(p, kinds.Instances, id)
		if !ok {
			return
		}
		owner, e.InstanceType = i.Owner, "EcsInstance"
	}
	if owner != e.Owner {
		p.fail(id, "%s belongs to account %s in %s, the EIP to %s in %s",
			id.text, owner.AccountID, owner.RegionID, e.AccountID, e.RegionID)
	}
	if other, taken := kinds.EIPsByInstance.First(p.tx.View, id.text); taken {
		p.fail(id, "%s has EIP %s already", id.text, other.ID)
	}
	e.InstanceID, e.Status = id.text, kinds.EIPInUse
}

func (p *planter) serverCertificate(s *serverCertificateSpec) {
	owner, ok := p.home(s.Account, s.Region)
	if !ok || !isFree(p, kinds.ServerCertificates, s.ID, certForm, "") {
		return
	}
	content, err := kinds.ParseCertificate(s.Certificate.text)
	if err != nil {
		if s.Certificate.text != "" {
			p.fail(s.Certificate, "%v", err)
		}
		return
	}
	if key := s.PrivateKey.text; key != "" {
		if _, err := tls.X509KeyPair([]byte(content.PEM), []byte(key)); err != nil {
			p.fail(s.PrivateKey, "not the private key of the certificate: %v", err)
		}
	}
	c := &kinds.ServerCertificate{
		Owner: owner, ID: s.ID.text, Name: s.Name.text, CertificateContent: content, PrivateKey: s.PrivateKey.text,
		ResourceGroupID: p.resourceGroup(owner, s.ResourceGroup),
		CreateTime:      p.tx.Now(),
	}
	kinds.ServerCertificates.Put(p.tx, c)
	p.tag(owner, kinds.TagServerCertificate, c.ID, s.Tags)
}
