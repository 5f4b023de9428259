package vpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// plantPackages adds two packages, with what a test changes of the first.
func plantPackages(change func(*kinds.CommonBandwidthPackage)) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		for _, id := range []string{"cbwp-1", "cbwp-2"} {
			p := &kinds.CommonBandwidthPackage{Owner: owner, ID: id, Bandwidth: 100, ISP: "BGP", InternetChargeType: "PayByTraffic",
				Ratio: 100, ResourceGroupID: "rg-clbemu0default", CreateTime: tx.Now()}
			if id == "cbwp-1" {
				change(p)
			}
			kinds.CommonBandwidthPackages.Put(tx, p)
		}
		return nil
	})
}

var (
	plainPackages = plantPackages(func(*kinds.CommonBandwidthPackage) {})
	// sharedEIP has an EIP in the first package.
	sharedEIP = both(plainPackages, editEIP(func(e *kinds.EIP) { e.BandwidthPackageID = "cbwp-1" }))
	// sharedLoadBalancer has a Network Load Balancer in the first package.
	sharedLoadBalancer = both(plainPackages, inOwner(func(tx *state.Tx) error {
		ip, err := kinds.AllocateAddress(tx, vSwitchID, "192.168.0.0/24", "", kinds.NLBLoadBalancers.Kind(), "nlb-1")
		if err != nil {
			return err
		}
		public, err := kinds.AllocateAddress(tx, kinds.PublicPool(region), "198.18.0.0/16", "", kinds.NLBLoadBalancers.Kind(), "nlb-1")
		if err != nil {
			return err
		}
		kinds.NLBLoadBalancers.Put(tx, &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb-1", Status: kinds.NLBActive, AddressType: kinds.NLBInternet,
			VPCID: vpcID, BandwidthPackageID: "cbwp-1", ZoneMappings: []kinds.NLBZoneMapping{{ZoneID: "cn-hangzhou-h", VSwitchID: vSwitchID,
				PrivateIPv4Address: ip, PublicIPv4Address: public, AllocationID: "eip-own", OwnEIP: true}}})
		return nil
	}))
)

func editEIP(change func(*kinds.EIP)) func(*state.Tx) error {
	return inOwner(func(tx *state.Tx) error {
		return kinds.EIPs.Edit(tx, "eip-free", func(e *kinds.EIP) error {
			change(e)
			return nil
		})
	})
}

var (
	newPackage = params{"Bandwidth": "100"}
	aPackage   = params{"BandwidthPackageId": "cbwp-1"}
	noPackage  = params{"BandwidthPackageId": "cbwp-none"}
	add        = params{"BandwidthPackageId": "cbwp-1", "IpInstanceId": "eip-free"}
	limit      = params{"BandwidthPackageId": "cbwp-1", "EipId": "eip-free", "Bandwidth": "50"}
	protect    = params{"InstanceId": "cbwp-1", "Type": "CBWP", "ProtectionEnable": "true"}
	move       = params{"ResourceId": "cbwp-1", "ResourceType": "bandwidthpackage", "NewResourceGroupId": "rg-clbemu0default"}
)

var packageErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoBandwidth", Action: "CreateCommonBandwidthPackage", Status: 400, Code: "MissingBandwidth"},
	{Name: "Bandwidth", Action: "CreateCommonBandwidthPackage", Params: params{"Bandwidth": "1001"}, Status: 400, Code: "InvalidParameter.Bandwidth"},
	{Name: "Name", Action: "CreateCommonBandwidthPackage", Params: with(newPackage, params{"Name": "http://x"}), Status: 400, Code: "InvalidParameter.Name.Malformed"},
	{Name: "Description", Action: "CreateCommonBandwidthPackage", Params: with(newPackage, params{"Description": strings.Repeat("x", 257)}), Status: 400, Code: "InvalidParameter.Description.Malformed"},
	{Name: "ISP", Action: "CreateCommonBandwidthPackage", Params: with(newPackage, params{"ISP": "Moon"}), Status: 400, Code: "IllegalParam.Isp"},
	{Name: "ChargeType", Action: "CreateCommonBandwidthPackage", Params: with(newPackage, params{"InternetChargeType": "Free"}), Status: 400, Code: "InvalidParameter.InvalidChargeType"},
	{Name: "Ratio", Action: "CreateCommonBandwidthPackage", Params: with(newPackage, params{"Ratio": "101"}), Status: 400, Code: "IllegalParam.Ratio"},
	{Name: "ResourceGroup", Action: "CreateCommonBandwidthPackage", Params: with(newPackage, params{"ResourceGroupId": "rg-none"}), Status: 400, Code: "InvalidResourceGroupId"},
	{Name: "TagKey", Action: "CreateCommonBandwidthPackage", Params: with(newPackage, params{"Tag.1.Key": "acs:x"}), Status: 400, Code: "InvalidTagKey"},
	{Name: "Arrears", Action: "CreateCommonBandwidthPackage", Params: newPackage, Status: 400, Code: "SYSTEM.SALE_VALIDATE_UNEXPECTED_ERROR",
		Plant: func(tx *state.Tx) error { return kinds.SetArrears(tx, accountID, true) }},
	{Name: "Quota", Action: "CreateCommonBandwidthPackage", Params: newPackage, Status: 400, Code: "BandwidthPackage.QuotaExceeded",
		Plant: times(20, func(i int) func(*state.Tx) error {
			return func(tx *state.Tx) error {
				kinds.CommonBandwidthPackages.Put(tx, &kinds.CommonBandwidthPackage{Owner: owner, ID: fmt.Sprintf("cbwp-%d", i)})
				return nil
			}
		})},
	{Name: "TagKey", Action: "DescribeCommonBandwidthPackages", Params: params{"Tag.1.Key": "acs:x"}, Status: 400, Code: "InvalidTagKey"},
	{Name: "DryRun", Action: "DescribeCommonBandwidthPackages", Params: params{"DryRun": "true"}, Status: 400, Code: "DryRunOperation"},
	{Name: "Unknown", Action: "ModifyCommonBandwidthPackageAttribute", Params: noPackage, Status: 404, Code: "InvalidBandwidthPackageId.NotFound"},
	{Name: "Name", Action: "ModifyCommonBandwidthPackageAttribute", Params: with(aPackage, params{"Name": "http://x"}), Status: 400, Code: "InvalidParameter.Name.Malformed", Plant: plainPackages},
	{Name: "Unknown", Action: "ModifyCommonBandwidthPackageSpec", Params: with(noPackage, newPackage), Status: 404, Code: "InvalidBandwidthPackageId.NotFound"},
	{Name: "BelowAnEIP", Action: "ModifyCommonBandwidthPackageSpec", Params: with(aPackage, params{"Bandwidth": "49"}), Status: 400, Code: "InvalidParameter.Bandwidth",
		Plant: both(sharedEIP, editEIP(func(e *kinds.EIP) { e.PackageBandwidth = 50 }))},
	{Name: "Unknown", Action: "DeleteCommonBandwidthPackage", Params: noPackage, Status: 404, Code: "InvalidBandwidthPackageId.NotFound"},
	{Name: "HasEIP", Action: "DeleteCommonBandwidthPackage", Params: aPackage, Status: 400, Code: "OperationFailed.BandwidthPackageNotEmpty", Plant: sharedEIP},
	{Name: "HasLoadBalancer", Action: "DeleteCommonBandwidthPackage", Params: with(aPackage, params{"Force": "true"}), Status: 400, Code: "OperationFailed.BandwidthPackageNotEmpty", Plant: sharedLoadBalancer},
	{Name: "Protected", Action: "DeleteCommonBandwidthPackage", Params: aPackage, Status: 400, Code: "InvalidOperation.DeletionProtection",
		Plant: plantPackages(func(p *kinds.CommonBandwidthPackage) { p.DeletionProtection = true })},
	{Name: "PayBy95", Action: "DeleteCommonBandwidthPackage", Params: aPackage, Status: 400, Code: "OperationUnsupported.Release95Instance",
		Plant: plantPackages(func(p *kinds.CommonBandwidthPackage) { p.InternetChargeType = "PayBy95" })},

	{Name: "Unknown", Action: "AddCommonBandwidthPackageIp", Params: add, Status: 404, Code: "InvalidBandwidthPackageId.NotFound"},
	{Name: "UnknownEIP", Action: "AddCommonBandwidthPackageIp", Params: with(add, params{"IpInstanceId": "eip-none"}), Status: 404, Code: "InvalidIpInstanceId.NotFound", Plant: plainPackages},
	{Name: "Type", Action: "AddCommonBandwidthPackageIp", Params: with(add, params{"IpType": "Moon"}), Status: 400, Code: "OperationUnsupported.IpType", Plant: plainPackages},
	{Name: "Again", Action: "AddCommonBandwidthPackageIp", Params: add, Status: 400, Code: "IpInstanceId.AlreadyInBandwidthPackage", Plant: sharedEIP},
	{Name: "InAnother", Action: "AddCommonBandwidthPackageIp", Params: with(add, params{"BandwidthPackageId": "cbwp-2"}), Status: 400, Code: "IpInstanceId.AlreadyInBandwidthPackage", Plant: sharedEIP},
	{Name: "OfALoadBalancer", Action: "AddCommonBandwidthPackageIp", Params: with(add, params{"BandwidthPackageId": "cbwp-2"}), Status: 400, Code: "IpInstanceId.AlreadyInBandwidthPackage",
		Plant: both(sharedLoadBalancer, editEIP(func(e *kinds.EIP) { e.Status, e.InstanceID, e.InstanceType = kinds.EIPInUse, "nlb-1", "NlbInstance" }))},
	{Name: "PrePaid", Action: "AddCommonBandwidthPackageIp", Params: with(add, params{"IpInstanceId": "eip-prepaid"}), Status: 400, Code: "IpInstanceId.ChargeType.NotSupport", Plant: plainPackages},
	{Name: "Unassociating", Action: "AddCommonBandwidthPackageIp", Params: add, Status: 400, Code: "IncorrectStatus.Eip", Plant: both(plainPackages, transitEIP(kinds.EIPUnassociating))},
	{Name: "OtherISP", Action: "AddCommonBandwidthPackageIp", Params: add, Status: 400, Code: "OperationUnsupported.IpType",
		Plant: plantPackages(func(p *kinds.CommonBandwidthPackage) { p.ISP = "BGP_PRO" })},
	{Name: "Quota", Action: "AddCommonBandwidthPackageIp", Params: add, Status: 400, Code: "IpInstanceId.QuotaExceeded",
		Plant: both(sharedLoadBalancer, func(tx *state.Tx) error {
			state.Quotas.Put(tx, &state.Quota{AccountID: accountID, Name: kinds.QuotaPackageEIPs, Limit: 1})
			return nil
		})},
	{Name: "Unknown", Action: "RemoveCommonBandwidthPackageIp", Params: add, Status: 404, Code: "InvalidBandwidthPackageId.NotFound"},
	{Name: "NotIn", Action: "RemoveCommonBandwidthPackageIp", Params: add, Status: 400, Code: "OperationUnsupported.IpNotInCbwp", Plant: plainPackages},
	{Name: "InAnother", Action: "RemoveCommonBandwidthPackageIp", Params: with(add, params{"BandwidthPackageId": "cbwp-2"}), Status: 400, Code: "OperationUnsupported.IpNotInCbwp", Plant: sharedEIP},
	{Name: "TooMuch", Action: "ModifyCommonBandwidthPackageIpBandwidth", Params: with(limit, params{"Bandwidth": "101"}), Status: 400, Code: "InvalidParameter.Bandwidth", Plant: sharedEIP},
	{Name: "NoNumber", Action: "ModifyCommonBandwidthPackageIpBandwidth", Params: with(limit, params{"Bandwidth": "much"}), Status: 400, Code: "InvalidParameter.Bandwidth", Plant: sharedEIP},
	{Name: "NotIn", Action: "ModifyCommonBandwidthPackageIpBandwidth", Params: limit, Status: 400, Code: "OperationUnsupported.IpNotInCbwp", Plant: plainPackages},
	{Name: "NotIn", Action: "CancelCommonBandwidthPackageIpBandwidth", Params: with(limit, params{"Bandwidth": ""}), Status: 400, Code: "OperationUnsupported.IpNotInCbwp", Plant: plainPackages},

	{Name: "Type", Action: "DeletionProtection", Params: with(protect, params{"Type": "PLANET"}), Status: 400, Code: "InvalidParameter.Type"},
	{Name: "Unknown", Action: "DeletionProtection", Params: protect, Status: 404, Code: "InvalidBandwidthPackageId.NotFound"},
	{Name: "UnknownEIP", Action: "DeletionProtection", Params: with(protect, params{"InstanceId": "eip-none", "Type": "EIP"}), Status: 404, Code: "InvalidAllocationId.NotFound"},
	{Name: "Protected", Action: "ReleaseEipAddress", Params: params{"AllocationId": "eip-free"}, Status: 400, Code: "InvalidOperation.DeletionProtection",
		Plant: editEIP(func(e *kinds.EIP) { e.DeletionProtection = true })},
	{Name: "Type", Action: "MoveResourceGroup", Params: with(move, params{"ResourceType": "moon"}), Status: 400, Code: "InvalidResourceType.NotSupport"},
	{Name: "Unknown", Action: "MoveResourceGroup", Params: move, Status: 404, Code: "InvalidBandwidthPackageId.NotFound"},
	{Name: "Group", Action: "MoveResourceGroup", Params: with(move, params{"NewResourceGroupId": "rg-none"}), Status: 400, Code: "InvalidResourceGroupId", Plant: plainPackages},
}

// An EIP in a package shows the package and its bandwidth, may be limited to a part
// of it, and has its own again when it is out, also when the package is deleted.
func TestBandwidthPackageLife(t *testing.T) {
	c := newClient(t)
	made := c.Do("CreateCommonBandwidthPackage", params{"Bandwidth": "100", "Name": "shared", "InternetChargeType": "PayByTraffic",
		"Tag.1.Key": "team", "Tag.1.Value": "net", "ClientToken": "t"})
	id := made.Text("BandwidthPackageId")
	if again := c.Do("CreateCommonBandwidthPackage", params{"Bandwidth": "100", "Name": "shared", "InternetChargeType": "PayByTraffic",
		"Tag.1.Key": "team", "Tag.1.Value": "net", "ClientToken": "t"}); again.Text("BandwidthPackageId") != id {
		t.Errorf("the call again made %s, want %s", again.Text("BandwidthPackageId"), id)
	}
	name := params{"BandwidthPackageId": id}
	eip := func(want map[string]string) {
		t.Helper()
		full := make(map[string]string)
		for path, value := range want {
			full["EipAddresses.EipAddress.0."+path] = value
		}
		gatewaytest.Expect(t, c.Do("DescribeEipAddresses", params{"AllocationId": "eip-free"}), full)
	}
	c.Do("AddCommonBandwidthPackageIp", with(name, params{"IpInstanceId": "eip-free"}))
	eip(map[string]string{"BandwidthPackageId": id, "BandwidthPackageType": "CommonBandwidthPackage", "Bandwidth": "100",
		"BandwidthPackageBandwidth": "100", "EipBandwidth": "5"})
	gatewaytest.Expect(t, c.Do("DescribeCommonBandwidthPackages", name), map[string]string{"TotalCount": "1",
		"CommonBandwidthPackages.CommonBandwidthPackage.0.PublicIpAddresses.PublicIpAddresse.0.AllocationId":                     "eip-free",
		"CommonBandwidthPackages.CommonBandwidthPackage.0.PublicIpAddresses.PublicIpAddresse.0.BandwidthPackageIpRelationStatus": "BINDED",
		"CommonBandwidthPackages.CommonBandwidthPackage.0.Status":                                                                "Available",
		"CommonBandwidthPackages.CommonBandwidthPackage.0.Tags.Tag.0.Key":                                                        "team",
	})
	c.Do("ModifyCommonBandwidthPackageIpBandwidth", with(name, params{"EipId": "eip-free", "Bandwidth": "20"}))
	eip(map[string]string{"Bandwidth": "20", "BandwidthPackageBandwidth": "100"})
	c.Do("CancelCommonBandwidthPackageIpBandwidth", with(name, params{"EipId": "eip-free"}))
	c.Do("ModifyCommonBandwidthPackageSpec", with(name, params{"Bandwidth": "200"}))
	eip(map[string]string{"Bandwidth": "200", "BandwidthPackageBandwidth": "200"})
	c.Do("RemoveCommonBandwidthPackageIp", with(name, params{"IpInstanceId": "eip-free"}))
	eip(map[string]string{"Bandwidth": "5", "BandwidthPackageId": "", "BandwidthPackageBandwidth": ""})

	c.Do("AddCommonBandwidthPackageIp", with(name, params{"IpInstanceId": "eip-free"}))
	c.Do("DeletionProtection", params{"InstanceId": id, "Type": "CBWP", "ProtectionEnable": "true"})
	gatewaytest.Expect(t, c.Do("DescribeCommonBandwidthPackages", name), map[string]string{"CommonBandwidthPackages.CommonBandwidthPackage.0.DeletionProtection": "true"})
	c.Do("DeletionProtection", params{"InstanceId": id, "Type": "CBWP", "ProtectionEnable": "false"})
	c.Do("DeleteCommonBandwidthPackage", with(name, params{"Force": "true"}))
	eip(map[string]string{"Bandwidth": "5", "BandwidthPackageId": ""})
	gatewaytest.Expect(t, c.Do("DescribeCommonBandwidthPackages", name), map[string]string{"TotalCount": "0"})
}

// What a Network Load Balancer's package has are the addresses of its zones.
func TestBandwidthPackageOfLoadBalancer(t *testing.T) {
	c := newClient(t, sharedLoadBalancer)
	gatewaytest.Expect(t, c.Do("DescribeCommonBandwidthPackages", aPackage), map[string]string{
		"CommonBandwidthPackages.CommonBandwidthPackage.0.PublicIpAddresses.PublicIpAddresse.0.AllocationId": "eip-own",
	})
}

// Each filter of DescribeCommonBandwidthPackages selects, and each kind of resource
// moves to a group.
func TestDescribeBandwidthPackages(t *testing.T) {
	c := newClient(t, both(plainPackages, func(tx *state.Tx) error {
		kinds.ResourceGroups.Put(tx, &kinds.ResourceGroup{AccountID: accountID, ID: "rg-team"})
		return nil
	}))
	c.Do("ModifyCommonBandwidthPackageAttribute", with(aPackage, params{"Name": "named", "Description": "of a test"}))
	c.Do("TagResources", params{"ResourceType": "COMMONBANDWIDTHPACKAGE", "ResourceId.1": "cbwp-2", "Tag.1.Key": "team"})
	c.Do("MoveResourceGroup", with(move, params{"NewResourceGroupId": "rg-team"}))
	for _, f := range []struct {
		params params
		want   int
	}{
		{params{}, 2}, {params{"BandwidthPackageId": "cbwp-2"}, 1}, {params{"Name": "named"}, 1}, {params{"Name": "x"}, 0},
		{params{"Tag.1.Key": "team"}, 1}, {params{"ResourceGroupId": "rg-team"}, 1}, {params{"SecurityProtectionEnabled": "true"}, 0},
	} {
		if got := c.Do("DescribeCommonBandwidthPackages", f.params).Text("TotalCount"); got != fmt.Sprint(f.want) {
			t.Errorf("%v found %s, want %d", f.params, got, f.want)
		}
	}
	c.Do("MoveResourceGroup", params{"ResourceType": "vpc", "ResourceId": vpcID, "NewResourceGroupId": "rg-team"})
	c.Do("MoveResourceGroup", params{"ResourceType": "EIP", "ResourceId": "eip-free", "NewResourceGroupId": "rg-team"})
	gatewaytest.Expect(t, c.Do("DescribeVpcAttribute", params{"VpcId": vpcID}), map[string]string{"ResourceGroupId": "rg-team"})
	gatewaytest.Expect(t, c.Do("DescribeRouteTableList", params{"VpcId": vpcID, "ResourceGroupId": "rg-team"}), map[string]string{"TotalCount": "1"})
	gatewaytest.Expect(t, c.Do("DescribeEipAddresses", params{"ResourceGroupId": "rg-team"}), map[string]string{"TotalCount": "1"})
	c.Do("ModifyCommonBandwidthPackageAttribute", with(aPackage, params{"Name": ""}))
	if got := c.Do("DescribeCommonBandwidthPackages", aPackage).Text("CommonBandwidthPackages.CommonBandwidthPackage.0.Description"); got != "of a test" {
		t.Errorf("Description = %q, want what it was", got)
	}
}
