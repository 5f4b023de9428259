package ecs_test

import (
	"fmt"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// What the default world has.
const (
	vpcID      = "vpc-bp1clbemu000000000001"
	otherVPCID = "vpc-bp1clbemu000000000002"
	vSwitchID  = "vsw-bp1clbemu000000000001"
	instanceID = "i-bp1clbemu0000000001"
	secondID   = "i-bp1clbemu0000000002"
	eniID      = "eni-bp1clbemu000000001"
	groupID    = "sg-bp1clbemu0000000001"
	accountID  = "1234567890123456"
)

var owner = state.Owner{AccountID: accountID, RegionID: "cn-hangzhou"}

func inOwner(changes ...func(*state.Tx) error) func(*state.Tx) error {
	return func(tx *state.Tx) error { return gatewaytest.All(changes...)(tx.In(owner)) }
}

// plantWorld plants the default world with a second interface of the first
// instance, an EIP on it, and its tags.
func plantWorld(tx *state.Tx) error {
	return inOwner(world.Default().Plant, plantInterface, plantEIP, plantGroup("sg-other", otherVPCID, "normal"), plantGroup("sg-enterprise", vpcID, "enterprise"),
		plantGroup("sg-second", vpcID, "normal"))(tx)
}

func plantInterface(tx *state.Tx) error {
	n := &kinds.NetworkInterface{Owner: owner, ID: "eni-pods", Name: "pods", Type: kinds.NetworkInterfaceSecondary, Status: kinds.NetworkInterfaceInUse,
		InstanceID: instanceID, VPCID: vpcID, VSwitchID: vSwitchID, SourceDestCheck: true, SecurityGroupIDs: []string{groupID},
		PrivateIPAddresses: []string{"192.168.0.100", "192.168.0.101"}, IPv6Addresses: []string{"2001:db8::100"}, CreateTime: tx.Now()}
	for _, ip := range n.PrivateIPAddresses {
		if _, err := kinds.AllocateAddress(tx, vSwitchID, "192.168.0.0/24", ip, kinds.NetworkInterfaces.Kind(), n.ID); err != nil {
			return err
		}
	}
	kinds.NetworkInterfaces.Put(tx, n)
	return nil
}

func plantEIP(tx *state.Tx) error {
	ip, err := kinds.AllocateAddress(tx, kinds.PublicPool("cn-hangzhou"), "198.18.0.0/16", "198.18.0.9", kinds.EIPs.Kind(), "eip-1")
	if err != nil {
		return err
	}
	kinds.EIPs.Put(tx, &kinds.EIP{Owner: owner, ID: "eip-1", IPAddress: ip, Status: kinds.EIPInUse, Bandwidth: "5",
		InternetChargeType: "PayByBandwidth", InstanceType: "EcsInstance", InstanceID: instanceID})
	state.SetTag(tx, kinds.TagInstance, instanceID, "ack.aliyun.com", "c1")
	return nil
}

func plantGroup(id, vpc, kind string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: owner, ID: id, Name: id, VPCID: vpc, Type: kind, CreateTime: tx.Now()})
		return nil
	}
}

// plantServers puts the first instance and its second interface, next to the
// second instance, into a VServerGroup and a default server group.
func plantServers(tx *state.Tx) error {
	servers := []kinds.BackendServer{{ServerID: instanceID, Port: 80}, {ServerID: "eni-pods", ServerIP: "192.168.0.101", Port: 80}, {ServerID: secondID, Port: 80}}
	if _, err := kinds.AllocateAddress(tx, vSwitchID, "192.168.0.0/24", "192.168.0.50", kinds.LoadBalancers.Kind(), "lb-1"); err != nil {
		return err
	}
	kinds.LoadBalancers.Put(tx, &kinds.LoadBalancer{Owner: owner, ID: "lb-1", Address: "192.168.0.50", VPCID: vpcID, VSwitchID: vSwitchID, BackendServers: servers})
	kinds.VServerGroups.Put(tx, &kinds.VServerGroup{Owner: owner, ID: "rsp-1", LoadBalancerID: "lb-1", BackendServers: servers})
	return nil
}

// plantRule gives the default group a rule.
func plantRule(tx *state.Tx) error {
	return kinds.SecurityGroups.Edit(tx, groupID, func(g *kinds.SecurityGroup) error {
		g.Permissions = []kinds.SecurityGroupPermission{{RuleID: "sgr-1", Direction: "ingress", IPProtocol: "TCP", PortRange: "22/22",
			SourceCIDR: "10.0.0.0/8", Policy: "Accept", Priority: "1", NicType: "intranet", CreateTime: tx.Now()}}
		return nil
	})
}

// plantRules gives the default group as many rules as it holds.
func plantRules(tx *state.Tx) error {
	return kinds.SecurityGroups.Edit(tx, groupID, func(g *kinds.SecurityGroup) error {
		for i := range 200 {
			g.Permissions = append(g.Permissions, kinds.SecurityGroupPermission{RuleID: fmt.Sprintf("sgr-%03d", i), Direction: "ingress",
				IPProtocol: "TCP", PortRange: fmt.Sprintf("%d/%d", i+1, i+1), SourceCIDR: "0.0.0.0/0", Policy: "Accept", Priority: "1", NicType: "intranet"})
		}
		return nil
	})
}

// plantNodes adds 250 stopped instances, more than a page holds.
func plantNodes(tx *state.Tx) error {
	for i := range 250 {
		id := fmt.Sprintf("i-node%03d", i)
		n := &kinds.NetworkInterface{Owner: owner, ID: "eni-" + id, Type: kinds.NetworkInterfacePrimary, Status: kinds.NetworkInterfaceInUse,
			InstanceID: id, VPCID: otherVPCID, VSwitchID: "vsw-bp1clbemu000000000003"}
		kinds.Instances.Put(tx, &kinds.Instance{Owner: owner, ID: id, Name: id, Status: kinds.InstanceStopped, VPCID: otherVPCID, VSwitchID: n.VSwitchID})
		kinds.NetworkInterfaces.Put(tx, n)
	}
	return nil
}

func editInstance(change func(*kinds.Instance)) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		return kinds.Instances.Edit(tx, instanceID, func(i *kinds.Instance) error {
			change(i)
			return nil
		})
	})
}

// plantToken is the token of a call that made the default group.
func plantToken(activity string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.ClientTokens.Put(tx, &state.ClientToken{AccountID: accountID, Action: "CreateSecurityGroup", Token: "t", CreateTime: tx.Now(),
			Digest: "other", ResourceID: groupID, Activity: activity})
		return nil
	}
}
