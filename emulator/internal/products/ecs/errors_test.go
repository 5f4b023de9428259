package ecs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/ecs"
	"github.com/clbemu/clbemu/state"
)

type params = gatewaytest.Params

var with = gatewaytest.Params.With

var (
	newGroup  = params{"VpcId": vpcID, "SecurityGroupName": "new"}
	group     = params{"SecurityGroupId": groupID}
	newRule   = params{"SecurityGroupId": groupID, "IpProtocol": "tcp", "PortRange": "80/80", "SourceCidrIp": "10.0.0.0/8"}
	eni       = params{"NetworkInterfaceId": eniID}
	modify    = params{"SecurityGroupId": groupID, "SecurityGroupRuleId": "sgr-1"}
	dualRules = params{"SecurityGroupId": groupID,
		"Permissions.1.IpProtocol": "tcp", "Permissions.1.PortRange": "80/80", "Permissions.1.SourceCidrIp": "10.0.0.0/8",
		"Permissions.2.IpProtocol": "TCP", "Permissions.2.PortRange": "80/80", "Permissions.2.SourceCidrIp": "10.0.0.0/8", "Permissions.2.Policy": "accept"}
)

var instanceErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoRegion", Action: "DescribeInstances", Params: params{"RegionId": ""}, Status: 400, Code: "MissingRegionId"},
	{Name: "IDs", Action: "DescribeInstances", Params: params{"InstanceIds": "i-1"}, Status: 400, Code: "InvalidInstanceIds"},
	{Name: "TooManyIDs", Action: "DescribeInstances", Params: params{"InstanceIds": "[" + strings.Repeat(`"i",`, 100) + `"i"]`}, Status: 400, Code: "InvalidInstanceIds"},
	{Name: "MaxResults", Action: "DescribeInstances", Params: params{"MaxResults": "101"}, Status: 400, Code: "InvalidMaxResults"},
	{Name: "PageSize", Action: "DescribeInstances", Params: params{"PageSize": "101"}, Status: 400, Code: "InvalidPageSize"},
	{Name: "NextToken", Action: "DescribeInstances", Params: params{"NextToken": "eHh4"}, Status: 400, Code: "InValidParameter.NextToken"},
	{Name: "NetworkType", Action: "DescribeInstances", Params: params{"InstanceNetworkType": "moon"}, Status: 404, Code: "InvalidNetworkType.NotFound"},
	{Name: "ChargeType", Action: "DescribeInstances", Params: params{"InstanceChargeType": "Free"}, Status: 404, Code: "InvalidInstanceChargeType.NotFound"},
	{Name: "InternetChargeType", Action: "DescribeInstances", Params: params{"InternetChargeType": "Free"}, Status: 404, Code: "InvalidInternetChargeType.ValueNotSupported"},
	{Name: "Status", Action: "DescribeInstances", Params: params{"Status": "Happy"}, Status: 404, Code: "InvalidStatus.NotFound"},
	{Name: "LockReason", Action: "DescribeInstances", Params: params{"LockReason": "moon"}, Status: 404, Code: "InvalidLockReason.NotFound"},
	{Name: "FilterKey", Action: "DescribeInstances", Params: params{"Filter.4.Key": "Colour"}, Status: 404, Code: "InvalidFilterKey.NotFound"},
	{Name: "FilterValue", Action: "DescribeInstances", Params: params{"Filter.1.Key": "CreationStartTime", "Filter.1.Value": "noon"}, Status: 404, Code: "InvalidFilterValue"},
	{Name: "HPCCluster", Action: "DescribeInstances", Params: params{"HpcClusterId": "hpc-1"}, Status: 400, Code: "InvalidHpcClusterId.NotFound"},
	{Name: "TagWithoutKey", Action: "DescribeInstances", Params: params{"Tag.1.Value": "x"}, Status: 400, Code: "InvalidTag.Mismatch"},
	{Name: "TooManyTags", Action: "DescribeInstances", Params: tags(21), Status: 400, Code: "InvalidTagCount"},
	{Name: "DryRun", Action: "DescribeInstances", Params: params{"DryRun": "true"}, Status: 400, Code: "DryRunOperation"},
	{Name: "Unknown", Action: "DeleteInstance", Params: params{"InstanceId": "i-none"}, Status: 404, Code: "InvalidInstanceId.NotFound"},
	{Name: "Running", Action: "DeleteInstance", Params: params{"InstanceId": instanceID}, Status: 403, Code: "IncorrectInstanceStatus"},
	{Name: "Protected", Action: "DeleteInstance", Params: params{"InstanceId": instanceID, "Force": "true"}, Status: 403, Code: "InvalidOperation.DeletionProtection",
		Plant: editInstance(func(i *kinds.Instance) { i.DeletionProtection = true })},
	{Name: "Subscribed", Action: "DeleteInstance", Params: params{"InstanceId": instanceID, "Force": "true"}, Status: 403, Code: "ChargeTypeViolation",
		Plant: editInstance(func(i *kinds.Instance) { i.InstanceChargeType = "PrePaid" })},
	{Name: "DryRun", Action: "DeleteInstance", Params: params{"InstanceId": instanceID, "Force": "true", "DryRun": "true"}, Status: 400, Code: "DryRunOperation"},
	{Name: "MaxResults", Action: "DescribeNetworkInterfaces", Params: params{"MaxResults": "9"}, Status: 400, Code: "InvalidMaxResults"},
	{Name: "Status", Action: "DescribeNetworkInterfaces", Params: params{"Status": "Happy"}, Status: 400, Code: "InvalidStatus"},
	{Name: "NextToken", Action: "DescribeNetworkInterfaces", Params: params{"NextToken": "!"}, Status: 400, Code: "InValidParameter.NextToken"},
	{Name: "Unknown", Action: "ModifyNetworkInterfaceAttribute", Params: params{"NetworkInterfaceId": "eni-none"}, Status: 404, Code: "InvalidEniId.NotFound"},
	{Name: "Name", Action: "ModifyNetworkInterfaceAttribute", Params: with(eni, params{"NetworkInterfaceName": "x"}), Status: 403, Code: "InvalidParams.NetworkInterfaceName"},
	{Name: "Changing", Action: "ModifyNetworkInterfaceAttribute", Params: eni, Status: 400, Code: "InvalidOperation.Conflict", Plant: inOwner(func(tx *state.Tx) error {
		return kinds.NetworkInterfaces.Edit(tx, eniID, func(n *kinds.NetworkInterface) error {
			n.Activity = state.Busy
			return nil
		})
	})},
	{Name: "QueueSize", Action: "ModifyNetworkInterfaceAttribute", Params: with(eni, params{"RxQueueSize": "8"}), Status: 400, Code: "InvalidEniQueueSize.RegionOrUserNotSupported"},
	{Name: "PrimaryQueue", Action: "ModifyNetworkInterfaceAttribute", Params: with(eni, params{"QueueNumber": "2"}), Status: 403, Code: "InvalidOperation.ModifyPrimaryEniQueueNumber"},
	{Name: "Queue", Action: "ModifyNetworkInterfaceAttribute", Params: params{"NetworkInterfaceId": "eni-pods", "QueueNumber": "2"}, Status: 400, Code: "InvalidOperation.NotSupportModifyQueueNumber"},
	{Name: "Group", Action: "ModifyNetworkInterfaceAttribute", Params: with(eni, params{"SecurityGroupId.1": "sg-none"}), Status: 404, Code: "InvalidSecurityGroupId.NotFound"},
	{Name: "GroupOutside", Action: "ModifyNetworkInterfaceAttribute", Params: with(eni, params{"SecurityGroupId.1": "sg-other"}), Status: 403, Code: "InvalidOperation.VpcMismatch"},
	{Name: "MixedGroups", Action: "ModifyNetworkInterfaceAttribute", Params: with(eni, params{"SecurityGroupId.1": groupID, "SecurityGroupId.2": "sg-enterprise"}), Status: 403, Code: "InvalidOperation.MultiGroupType"},
	{Name: "TooManyGroups", Action: "ModifyNetworkInterfaceAttribute", Status: 400, Code: "JoinedGroupLimitExceed",
		Params: with(eni, params{"SecurityGroupId.1": "a", "SecurityGroupId.2": "b", "SecurityGroupId.3": "c", "SecurityGroupId.4": "d", "SecurityGroupId.5": "e", "SecurityGroupId.6": "f"})},
}

func tags(n int) params {
	out := params{}
	for i := range n {
		out[fmt.Sprintf("Tag.%d.Key", i+1)] = fmt.Sprintf("k%d", i)
	}
	return out
}

var groupErrorCases = []gatewaytest.ErrorCase{
	{Name: "VPC", Action: "CreateSecurityGroup", Params: with(newGroup, params{"VpcId": "vpc-none"}), Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "NoVPC", Action: "CreateSecurityGroup", Params: with(newGroup, params{"VpcId": ""}), Status: 403, Code: "InvalidVpcId.NotFound"},
	{Name: "Name", Action: "CreateSecurityGroup", Params: with(newGroup, params{"SecurityGroupName": "http://x"}), Status: 400, Code: "InvalidSecurityGroupName.Malformed"},
	{Name: "Description", Action: "CreateSecurityGroup", Params: with(newGroup, params{"Description": "x"}), Status: 400, Code: "InvalidSecurityGroupDiscription.Malformed"},
	{Name: "DescriptionAddress", Action: "CreateSecurityGroup", Params: with(newGroup, params{"Description": "https://x"}), Status: 400, Code: "InvalidSecurityGroupDiscription.Malformed"},
	{Name: "Type", Action: "CreateSecurityGroup", Params: with(newGroup, params{"SecurityGroupType": "moon"}), Status: 400, Code: "InvalidParams.GroupType"},
	{Name: "ResourceGroup", Action: "CreateSecurityGroup", Params: with(newGroup, params{"ResourceGroupId": "rg-none"}), Status: 404, Code: "InvalidResourceGroup.NotFound"},
	{Name: "TagKey", Action: "CreateSecurityGroup", Params: with(newGroup, params{"Tag.1.Key": "aliyunx"}), Status: 400, Code: "InvalidTagKey.Malformed"},
	{Name: "TagValue", Action: "CreateSecurityGroup", Params: with(newGroup, params{"Tag.1.Key": "x", "Tag.1.Value": "http://x"}), Status: 400, Code: "InvalidTagValue.Malformed"},
	{Name: "TagTwice", Action: "CreateSecurityGroup", Params: with(newGroup, params{"Tag.1.Key": "x", "Tag.2.key": "x"}), Status: 400, Code: "Duplicate.TagKey"},
	{Name: "TokenReused", Action: "CreateSecurityGroup", Params: with(newGroup, params{"ClientToken": "t"}), Status: 400, Code: "IdempotentParameterMismatch", Plant: plantToken(state.Idle)},
	{Name: "TokenProcessing", Action: "CreateSecurityGroup", Params: with(newGroup, params{"ClientToken": "t"}), Status: 403, Code: "IdempotentProcessing", Plant: plantToken(state.Busy)},
	{Name: "Quota", Action: "CreateSecurityGroup", Params: newGroup, Status: 403, Code: "QuotaExceed.SecurityGroup", Plant: func(tx *state.Tx) error {
		for i := range 96 {
			if err := plantGroup(fmt.Sprintf("sg-%d", i), vpcID, "normal")(tx); err != nil {
				return err
			}
		}
		return nil
	}},
	{Name: "NoRegion", Action: "DeleteSecurityGroup", Params: with(group, params{"RegionId": ""}), Status: 400, Code: "MissingParameter.RegionId"},
	{Name: "Unknown", Action: "DeleteSecurityGroup", Params: params{"SecurityGroupId": "sg-none"}, Status: 404, Code: "InvalidSecurityGroup.NotFound"},
	{Name: "HasMembers", Action: "DeleteSecurityGroup", Params: group, Status: 403, Code: "DependencyViolation"},
	{Name: "HasNLB", Action: "DeleteSecurityGroup", Params: params{"SecurityGroupId": "sg-second"}, Status: 403, Code: "DependencyViolation", Plant: inOwner(func(tx *state.Tx) error {
		lb := &kinds.NLBLoadBalancer{Owner: owner, ID: "nlb", VPCID: vpcID, Status: kinds.NLBActive, AddressType: kinds.NLBIntranet, SecurityGroupIDs: []string{"sg-second"}}
		ip, err := kinds.AllocateAddress(tx, vSwitchID, "192.168.0.0/24", "", kinds.NLBLoadBalancers.Kind(), lb.ID)
		lb.ZoneMappings = []kinds.NLBZoneMapping{{ZoneID: "cn-hangzhou-h", VSwitchID: vSwitchID, PrivateIPv4Address: ip}}
		kinds.NLBLoadBalancers.Put(tx, lb)
		return err
	})},
	{Name: "IsNamed", Action: "DeleteSecurityGroup", Params: params{"SecurityGroupId": "sg-second"}, Status: 403, Code: "DependencyViolation", Plant: inOwner(func(tx *state.Tx) error {
		return kinds.SecurityGroups.Edit(tx, groupID, func(g *kinds.SecurityGroup) error {
			g.Permissions = []kinds.SecurityGroupPermission{{RuleID: "sgr-1", SourceGroup: "sg-second"}}
			return nil
		})
	})},
	{Name: "Unknown", Action: "ModifySecurityGroupAttribute", Params: params{"SecurityGroupId": "sg-none"}, Status: 404, Code: "InvalidSecurityGroupId.NotFound"},
	{Name: "Name", Action: "ModifySecurityGroupAttribute", Params: with(group, params{"SecurityGroupName": "x"}), Status: 400, Code: "InvalidSecurityGroupName.Malformed"},
	{Name: "Type", Action: "DescribeSecurityGroups", Params: params{"SecurityGroupType": "moon"}, Status: 400, Code: "InvalidParameter.SecurityGroupType"},
	{Name: "NextToken", Action: "DescribeSecurityGroups", Params: params{"NextToken": "!"}, Status: 400, Code: "InValidParameter.NextToken"},
	{Name: "Unknown", Action: "DescribeSecurityGroupAttribute", Params: params{"SecurityGroupId": "sg-none"}, Status: 404, Code: "InvalidSecurityGroupId.NotFound"},
	{Name: "NicType", Action: "DescribeSecurityGroupAttribute", Params: with(group, params{"NicType": "moon"}), Status: 400, Code: "InvalidNicType.ValueNotSupported"},
}

var ruleErrorCases = []gatewaytest.ErrorCase{
	rule("Unknown", params{"SecurityGroupId": "sg-none"}, 404, "InvalidSecurityGroupId.NotFound"),
	rule("Protocol", params{"IpProtocol": "moon"}, 400, "InvalidIpProtocol.ValueNotSupported"),
	rule("NoProtocol", params{"IpProtocol": ""}, 400, "MissingParameter"),
	rule("Policy", params{"Policy": "maybe"}, 400, "InvalidPolicy.Malformed"),
	rule("PriorityText", params{"Priority": "high"}, 400, "InvalidPriority.Malformed"),
	rule("Priority", params{"Priority": "101"}, 400, "InvalidPriority.ValueNotSupported"),
	rule("NicType", params{"NicType": "moon"}, 400, "InvalidNicType.ValueNotSupported"),
	rule("Description", params{"Description": strings.Repeat("x", 513)}, 400, "InvalidSecurityGroupDiscription.Malformed"),
	rule("NoPorts", params{"PortRange": ""}, 400, "InvalidPortRange.Malformed"),
	rule("Ports", params{"PortRange": "80/79"}, 400, "InvalidParam.PortRange"),
	rule("PortsBeyond", params{"PortRange": "1/65536"}, 400, "InvalidParam.PortRange"),
	rule("AllPortsOfTCP", params{"PortRange": "-1/-1"}, 400, "OperationDenied"),
	rule("PortsOfAll", params{"IpProtocol": "all"}, 400, "OperationDenied"),
	rule("SourcePorts", params{"SourcePortRange": "x"}, 400, "InvalidSourcePortRange.Malformed"),
	rule("NoSource", params{"SourceCidrIp": ""}, 400, "MissingParameter.Source"),
	rule("TwoSources", params{"Ipv6SourceCidrIp": "2001:db8::/32"}, 400, "InvalidParam.SourceIp"),
	rule("TwoDestinations", params{"DestCidrIp": "10.0.0.0/8", "Ipv6DestCidrIp": "2001:db8::/32"}, 400, "InvalidParam.DestIp"),
	rule("PrefixList", params{"SourceCidrIp": "", "SourcePrefixListId": "pl-1"}, 404, "InvalidPrefixListId.NotFound"),
	rule("Source", params{"SourceCidrIp": "10.0.0"}, 400, "InvalidParam.SourceCidrIp"),
	rule("SourceIPv6", params{"SourceCidrIp": "", "Ipv6SourceCidrIp": "10.0.0.0/8"}, 400, "InvalidParam.Ipv6SourceCidrIp"),
	rule("Destination", params{"DestCidrIp": "2001:db8::/32"}, 400, "InvalidParam.DestCidrIp"),
	rule("DestinationIPv6", params{"SourceCidrIp": "", "Ipv6SourceCidrIp": "2001:db8::/32", "Ipv6DestCidrIp": "x"}, 400, "InvalidParam.Ipv6DestCidrIp"),
	rule("Families", params{"Ipv6DestCidrIp": "2001:db8::/32"}, 400, "InvalidParameter.Conflict"),
	rule("ICMPOverIPv6", params{"IpProtocol": "icmp", "PortRange": "-1/-1", "SourceCidrIp": "", "Ipv6SourceCidrIp": "2001:db8::/32"}, 400, "InvalidParam.Ipv4ProtocolConflictWithIpv6Address"),
	rule("ICMPv6OverIPv4", params{"IpProtocol": "icmpv6", "PortRange": "-1/-1"}, 400, "InvalidParam.Ipv6ProtocolConflictWithIpv4Address"),
	rule("Itself", params{"SourceCidrIp": "", "SourceGroupId": groupID}, 403, "InvalidParamter.Conflict"),
	rule("SourceGroup", params{"SourceCidrIp": "", "SourceGroupId": "sg-none"}, 404, "InvalidSourceGroupId.NotFound"),
	rule("SourceGroupOutside", params{"SourceCidrIp": "", "SourceGroupId": "sg-other"}, 400, "InvalidSourceGroupId.Mismatch"),
	rule("EnterpriseSource", params{"SourceCidrIp": "", "SourceGroupId": "sg-enterprise"}, 400, "InvalidGroupAuthParameter.OperationDenied"),
	rule("OfEnterprise", params{"SecurityGroupId": "sg-enterprise", "SourceCidrIp": "", "SourceGroupId": groupID}, 400, "InvalidGroupParameter.OperationDenied"),
	rule("Both", params{"Permissions.1.IpProtocol": "tcp"}, 400, "InvalidParam.Permissions"),
	{Name: "Twice", Action: "AuthorizeSecurityGroup", Params: dualRules, Status: 400, Code: "InvalidParam.DuplicatePermissions"},
	{Name: "None", Action: "AuthorizeSecurityGroup", Params: group, Status: 400, Code: "MissingParameter"},
	{Name: "Quota", Action: "AuthorizeSecurityGroup", Params: with(newRule, params{"PortRange": "9000/9000"}), Status: 403, Code: "AuthorizationLimitExceed", Plant: inOwner(plantRules)},
	{Name: "UnknownRule", Action: "RevokeSecurityGroup", Params: with(group, params{"SecurityGroupRuleId.1": "sgr-none"}), Status: 404, Code: "InvalidSecurityGroupRuleId.NotFound"},
	{Name: "RuleTwice", Action: "RevokeSecurityGroup", Params: with(group, params{"SecurityGroupRuleId.1": "sgr-1", "SecurityGroupRuleId.2": "sgr-1"}), Status: 400, Code: "InvalidParam.SecurityGroupRuleIdRepeated"},
	{Name: "IDsAndRules", Action: "RevokeSecurityGroup", Params: with(newRule, params{"SecurityGroupRuleId.1": "sgr-1"}), Status: 400, Code: "InvalidParam.Permissions"},
	{Name: "Nothing", Action: "ModifySecurityGroupRule", Params: modify, Status: 400, Code: "InvalidParam.InvalidModifyRuleRequest"},
	{Name: "UnknownRule", Action: "ModifySecurityGroupRule", Params: with(modify, params{"Policy": "drop"}), Status: 404, Code: "InvalidSecurityGroupRuleId.NotFound"},
	{Name: "NoSuchRule", Action: "ModifySecurityGroupRule", Params: with(newRule, params{"Description": "x"}), Status: 404, Code: "SecurityGroupRule.NotFound"},
	{Name: "NicType", Action: "ModifySecurityGroupRule", Params: with(modify, params{"NicType": "internet"}), Status: 400, Code: "InvalidOperation.ModifyNicType", Plant: inOwner(plantRule)},
	{Name: "SourceKind", Action: "ModifySecurityGroupRule", Params: with(modify, params{"SourceGroupId": "sg-second"}), Status: 400, Code: "InvalidOperation.ModifySgRuleEntityType", Plant: inOwner(plantRule)},
	{Name: "Policy", Action: "ModifySecurityGroupRule", Params: with(modify, params{"Policy": "maybe"}), Status: 400, Code: "InvalidPolicy.Malformed", Plant: inOwner(plantRule)},
}

// rule returns a case of AuthorizeSecurityGroup that differs from a good one.
func rule(name string, changes params, status int, code string) gatewaytest.ErrorCase {
	return gatewaytest.ErrorCase{Name: name, Action: "AuthorizeSecurityGroup", Params: with(newRule, changes), Status: status, Code: code}
}

// Every refusal has the code and status of the cloud, and every row of the error
// table is one that a call can meet.
func TestErrors(t *testing.T) {
	gatewaytest.MatchErrors(t, ecs.Product(gateway.Deps{}), plantWorld, instanceErrorCases, groupErrorCases, ruleErrorCases, runErrorCases)
}
