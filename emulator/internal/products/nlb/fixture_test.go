package nlb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
)

// The ids of the default world, and of what the tests plant, that they use.
const (
	account   = "1234567890123456"
	vpc1      = "vpc-bp1clbemu000000000001"
	vpc2      = "vpc-bp1clbemu000000000002"
	vSwitch1  = "vsw-bp1clbemu000000000001" // in zone h
	vSwitch2  = "vsw-bp1clbemu000000000002" // in zone i
	vSwitch3  = "vsw-bp1clbemu000000000003" // of vpc2, in zone h
	zoneH     = "cn-hangzhou-h"
	zoneI     = "cn-hangzhou-i"
	zoneJ     = "cn-hangzhou-j"
	vSwitchJ  = "vsw-j"
	instance1 = "i-bp1clbemu0000000001"
	instanceB = "i-bp1clbemu0000000004" // in vpc2
	eni1      = "eni-bp1clbemu000000001"
	group1    = "sg-bp1clbemu0000000001"

	lb1      = "nlb-one" // Internet, in zones h and i
	lbPlain  = "nlb-plain"
	sgpTCP   = "sgp-tcp"
	sgpUDP   = "sgp-udp"
	sgpTLS   = "sgp-tls"
	sgpAny   = "sgp-any"
	sgpIP    = "sgp-ip"
	sgpFar   = "sgp-far" // of vpc2
	sgpSpare = "sgp-spare"
	lsnTCP   = "lsn-tcp@80"
	lsnTLS   = "lsn-tls@443"
	policy1  = "tls-one"
	cert1    = "cert-one"
	ca1      = "ca-one"
	eip1     = "eip-free"
	package1 = "cbwp-one"
	package2 = "cbwp-two"
)

var owner = state.Owner{AccountID: account, RegionID: "cn-hangzhou"}

// plant puts the default world and what the cases use into an empty store.
func plant(root *state.Tx) error {
	if err := world.Default().Plant(root); err != nil {
		return err
	}
	tx := root.In(owner)
	first, err := cloud.VSwitches.Get(tx.View, vSwitch1)
	if err != nil {
		return err
	}
	cloud.VSwitches.Put(tx, &cloud.VSwitch{Owner: owner, ID: vSwitchJ, VPCID: vpc1, ZoneID: zoneJ, CIDRBlock: "192.168.20.0/24", RouteTableID: first.RouteTableID})
	for _, id := range []string{cert1, "cert-two"} {
		cloud.ServerCertificates.Put(tx, &cloud.ServerCertificate{Owner: owner, ID: id})
	}
	cloud.CACertificates.Put(tx, &cloud.CACertificate{Owner: owner, ID: ca1})
	cloud.SecurityGroups.Put(tx, &cloud.SecurityGroup{Owner: owner, ID: "sg-far", VPCID: vpc2})
	ip, err := cloud.AllocateAddress(tx, cloud.PublicPool(owner.RegionID), "198.18.0.0/16", "", cloud.EIPs.Kind(), eip1)
	if err != nil {
		return err
	}
	cloud.EIPs.Put(tx, &cloud.EIP{Owner: owner, ID: eip1, IPAddress: ip, Status: cloud.EIPAvailable})
	for _, id := range []string{package1, package2} {
		cloud.CommonBandwidthPackages.Put(tx, &cloud.CommonBandwidthPackage{Owner: owner, ID: id, Bandwidth: 100, ISP: "BGP"})
	}
	for id, kind := range map[string]string{lb1: cloud.NLBInternet, lbPlain: cloud.NLBIntranet} {
		if err := plantLoadBalancer(tx, id, kind); err != nil {
			return err
		}
	}
	for _, g := range []*cloud.NLBServerGroup{
		{ID: sgpTCP, Protocol: cloud.NLBTCP, Servers: []cloud.NLBServer{{Type: cloud.NLBServerECS, ID: instance1, IP: "192.168.0.11", Port: 80, Weight: 100}}},
		{ID: sgpUDP, Protocol: cloud.NLBUDP}, {ID: sgpTLS, Protocol: cloud.NLBTCPSSL}, {ID: sgpAny, Protocol: cloud.NLBTCP, AnyPortEnabled: true},
		{ID: sgpIP, Protocol: cloud.NLBTCP, Type: cloud.NLBGroupOfIPs}, {ID: sgpFar, Protocol: cloud.NLBTCP, VPCID: vpc2},
		{ID: sgpSpare, Protocol: cloud.NLBTCP, PreserveClientIPEnabled: true},
	} {
		g.Owner, g.Name, g.Status, g.AddressIPVersion, g.Scheduler = owner, g.ID, cloud.NLBGroupAvailable, "Ipv4", "Wrr"
		if g.Type == "" {
			g.Type = cloud.NLBGroupOfInstances
		}
		if g.VPCID == "" {
			g.VPCID = vpc1
		}
		g.HealthCheck = cloud.NLBHealthCheck{Enabled: true, Type: "TCP", ConnectPort: 80, ConnectTimeout: 5, Interval: 5}
		cloud.NLBServerGroups.Put(tx, g)
	}
	cloud.NLBSecurityPolicies.Put(tx, &cloud.NLBSecurityPolicy{Owner: owner, ID: policy1, Name: "one", TLSVersions: []string{"TLSv1.2"}, Ciphers: []string{"x"}})
	cloud.NLBListeners.Put(tx, &cloud.NLBListener{Owner: owner, ID: lsnTCP, LoadBalancerID: lb1, Protocol: cloud.NLBTCP, Port: 80,
		Status: cloud.NLBListenerRunning, ServerGroupID: sgpTCP, IdleTimeout: 900})
	cloud.NLBListeners.Put(tx, &cloud.NLBListener{Owner: owner, ID: lsnTLS, LoadBalancerID: lb1, Protocol: cloud.NLBTCPSSL, Port: 443,
		Status: cloud.NLBListenerRunning, ServerGroupID: sgpTLS, IdleTimeout: 900, SecurityPolicyID: policy1, CertificateIDs: []string{cert1}})
	return nil
}

func plantLoadBalancer(tx *state.Tx, id, kind string) error {
	lb := &cloud.NLBLoadBalancer{Owner: owner, ID: id, Name: id, Status: cloud.NLBActive, AddressType: kind, AddressIPVersion: "Ipv4",
		VPCID: vpc1, CreateTime: tx.Now()}
	for _, z := range []cloud.NLBZoneMapping{{ZoneID: zoneH, VSwitchID: vSwitch1}, {ZoneID: zoneI, VSwitchID: vSwitch2}} {
		s, err := cloud.VSwitches.Get(tx.View, z.VSwitchID)
		if err != nil {
			return err
		}
		z.Status = cloud.NLBZoneActive
		if z.PrivateIPv4Address, err = cloud.AllocateAddress(tx, s.ID, s.CIDRBlock, "", cloud.NLBLoadBalancers.Kind(), id); err != nil {
			return err
		}
		if kind == cloud.NLBInternet {
			z.OwnEIP, z.AllocationID = true, "eip-own-"+z.ZoneID
			if z.PublicIPv4Address, err = cloud.AllocateAddress(tx, cloud.PublicPool(owner.RegionID), "198.18.0.0/16", "", cloud.NLBLoadBalancers.Kind(), id); err != nil {
				return err
			}
		}
		lb.ZoneMappings = append(lb.ZoneMappings, z)
	}
	cloud.NLBLoadBalancers.Put(tx, lb)
	return nil
}

// newClient returns a client of the product on a planted store whose clock the test
// moves.
func newClient(t *testing.T, more ...func(*state.Tx) error) (*gatewaytest.Client, *state.Store, *state.ManualClock) {
	t.Helper()
	clock := state.NewManualClock(gatewaytest.Start)
	store := gatewaytest.StoreAt(t, clock, append([]func(*state.Tx) error{plant}, more...)...)
	return gatewaytest.NewClient(t, store, nlb.Product(gateway.Deps{})), store, clock
}

// set is a condition of the world.
func set(name, value string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return conditions.Set(tx.In(state.Owner{}), state.Owner{}, []conditions.Setting{{Name: name, Value: value}})
	}
}

func editLB(id string, change func(*cloud.NLBLoadBalancer)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return cloud.NLBLoadBalancers.Edit(tx.In(owner), id, func(lb *cloud.NLBLoadBalancer) error {
			change(lb)
			return nil
		})
	}
}

var params, all = gatewaytest.Pairs, gatewaytest.All

func with(base gatewaytest.Params, pairs ...string) gatewaytest.Params {
	return base.With(params(pairs...))
}
