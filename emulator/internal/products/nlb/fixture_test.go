package nlb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
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
	first, err := kinds.VSwitches.Get(tx.View, vSwitch1)
	if err != nil {
		return err
	}
	kinds.VSwitches.Put(tx, &kinds.VSwitch{Owner: owner, ID: vSwitchJ, VPCID: vpc1, ZoneID: zoneJ, CIDRBlock: "192.168.20.0/24", RouteTableID: first.RouteTableID})
	for _, id := range []string{cert1, "cert-two"} {
		kinds.ServerCertificates.Put(tx, &kinds.ServerCertificate{Owner: owner, ID: id})
	}
	kinds.CACertificates.Put(tx, &kinds.CACertificate{Owner: owner, ID: ca1})
	kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: owner, ID: "sg-far", VPCID: vpc2})
	ip, err := kinds.AllocateAddress(tx, kinds.PublicPool(owner.RegionID), "198.18.0.0/16", "", kinds.EIPs.Kind(), eip1)
	if err != nil {
		return err
	}
	kinds.EIPs.Put(tx, &kinds.EIP{Owner: owner, ID: eip1, IPAddress: ip, Status: kinds.EIPAvailable})
	for _, id := range []string{package1, package2} {
		kinds.CommonBandwidthPackages.Put(tx, &kinds.CommonBandwidthPackage{Owner: owner, ID: id, Bandwidth: 100, ISP: "BGP"})
	}
	for id, kind := range map[string]string{lb1: kinds.NLBInternet, lbPlain: kinds.NLBIntranet} {
		if err := plantLoadBalancer(tx, id, kind); err != nil {
			return err
		}
	}
	for _, g := range []*kinds.NLBServerGroup{
		{ID: sgpTCP, Protocol: kinds.NLBTCP, Servers: []kinds.NLBServer{{Type: kinds.NLBServerECS, ID: instance1, IP: "192.168.0.11", Port: 80, Weight: 100}}},
		{ID: sgpUDP, Protocol: kinds.NLBUDP}, {ID: sgpTLS, Protocol: kinds.NLBTCPSSL}, {ID: sgpAny, Protocol: kinds.NLBTCP, AnyPortEnabled: true},
		{ID: sgpIP, Protocol: kinds.NLBTCP, Type: kinds.NLBGroupOfIPs}, {ID: sgpFar, Protocol: kinds.NLBTCP, VPCID: vpc2},
		{ID: sgpSpare, Protocol: kinds.NLBTCP, PreserveClientIPEnabled: true},
	} {
		g.Owner, g.Name, g.Status, g.AddressIPVersion, g.Scheduler = owner, g.ID, kinds.NLBGroupAvailable, "Ipv4", "Wrr"
		if g.Type == "" {
			g.Type = kinds.NLBGroupOfInstances
		}
		if g.VPCID == "" {
			g.VPCID = vpc1
		}
		g.HealthCheck = kinds.NLBHealthCheck{Enabled: true, Type: "TCP", ConnectPort: 80, ConnectTimeout: 5, Interval: 5}
		kinds.NLBServerGroups.Put(tx, g)
	}
	kinds.NLBSecurityPolicies.Put(tx, &kinds.NLBSecurityPolicy{Owner: owner, ID: policy1, Name: "one", TLSVersions: []string{"TLSv1.2"}, Ciphers: []string{"x"}})
	kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: owner, ID: lsnTCP, LoadBalancerID: lb1, Protocol: kinds.NLBTCP, Port: 80,
		Status: kinds.NLBListenerRunning, ServerGroupID: sgpTCP, IdleTimeout: 900})
	kinds.NLBListeners.Put(tx, &kinds.NLBListener{Owner: owner, ID: lsnTLS, LoadBalancerID: lb1, Protocol: kinds.NLBTCPSSL, Port: 443,
		Status: kinds.NLBListenerRunning, ServerGroupID: sgpTLS, IdleTimeout: 900, SecurityPolicyID: policy1, CertificateIDs: []string{cert1}})
	return nil
}

func plantLoadBalancer(tx *state.Tx, id, kind string) error {
	lb := &kinds.NLBLoadBalancer{Owner: owner, ID: id, Name: id, Status: kinds.NLBActive, AddressType: kind, AddressIPVersion: "Ipv4",
		VPCID: vpc1, CreateTime: tx.Now()}
	for _, z := range []kinds.NLBZoneMapping{{ZoneID: zoneH, VSwitchID: vSwitch1}, {ZoneID: zoneI, VSwitchID: vSwitch2}} {
		s, err := kinds.VSwitches.Get(tx.View, z.VSwitchID)
		if err != nil {
			return err
		}
		z.Status = kinds.NLBZoneActive
		if z.PrivateIPv4Address, err = kinds.AllocateAddress(tx, s.ID, s.CIDRBlock, "", kinds.NLBLoadBalancers.Kind(), id); err != nil {
			return err
		}
		if kind == kinds.NLBInternet {
			z.OwnEIP, z.AllocationID = true, "eip-own-"+z.ZoneID
			if z.PublicIPv4Address, err = kinds.AllocateAddress(tx, kinds.PublicPool(owner.RegionID), "198.18.0.0/16", "", kinds.NLBLoadBalancers.Kind(), id); err != nil {
				return err
			}
		}
		lb.ZoneMappings = append(lb.ZoneMappings, z)
	}
	kinds.NLBLoadBalancers.Put(tx, lb)
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

func editLB(id string, change func(*kinds.NLBLoadBalancer)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.NLBLoadBalancers.Edit(tx.In(owner), id, func(lb *kinds.NLBLoadBalancer) error {
			change(lb)
			return nil
		})
	}
}

var params, all = gatewaytest.Pairs, gatewaytest.All

func with(base gatewaytest.Params, pairs ...string) gatewaytest.Params {
	return base.With(params(pairs...))
}
