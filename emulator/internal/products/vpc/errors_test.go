package vpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/vpc"
	"github.com/clbemu/clbemu/state"
)

type params = gatewaytest.Params

var with = gatewaytest.Params.With

var (
	newVSwitch = params{"VpcId": vpcID, "ZoneId": "cn-hangzhou-j", "CidrBlock": "192.168.9.0/24"}
	newEntry   = params{"RouteTableId": routeTableID, "DestinationCidrBlock": "172.20.0.0/24", "NextHopType": "Instance", "NextHopId": instanceID}
	oldEntry   = params{"RouteTableId": routeTableID, "DestinationCidrBlock": "172.20.0.0/24", "NextHopId": instanceID}
	list       = params{"RouteTableId": routeTableID}
	associate  = params{"AllocationId": "eip-free", "InstanceId": instanceID}
	manyIDs    = strings.Repeat("x,", 60) + "x"
	probe      = params{"VSwitchId": vSwitchID, "PrivateIpAddress": "192.168.0.50"}
)

var vpcErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoRegion", Action: "CreateVpc", Params: params{"RegionId": ""}, Status: 400, Code: "MissingRegionId"},
	{Name: "Name", Action: "CreateVpc", Params: params{"VpcName": "http://x"}, Status: 400, Code: "InvalidVpcName.Malformed"},
	{Name: "LongName", Action: "CreateVpc", Params: params{"VpcName": strings.Repeat("x", 129)}, Status: 400, Code: "InvalidVpcName.Malformed"},
	{Name: "Description", Action: "CreateVpc", Params: params{"Description": "https://x"}, Status: 400, Code: "InvalidVpcDiscription.Malformed"},
	{Name: "Block", Action: "CreateVpc", Params: params{"CidrBlock": "10.0.0.1/8"}, Status: 400, Code: "InvalidParameter"},
	{Name: "BlockTooSmall", Action: "CreateVpc", Params: params{"CidrBlock": "10.0.0.0/29"}, Status: 400, Code: "InvalidParameter"},
	{Name: "BlockIPv6", Action: "CreateVpc", Params: params{"CidrBlock": "2001:db8::/24"}, Status: 400, Code: "InvalidParameter"},
	{Name: "BlockOfTheCloud", Action: "CreateVpc", Params: params{"CidrBlock": "100.100.0.0/16"}, Status: 400, Code: "OperationDenied.CidrInExcludeCidrs"},
	{Name: "IPv6Block", Action: "CreateVpc", Params: params{"Ipv6CidrBlock": "2001:db8::/56"}, Status: 400, Code: "OperationFailed.IPv6CidrNotReserved"},
	{Name: "ResourceGroup", Action: "CreateVpc", Params: params{"ResourceGroupId": "rg-none"}, Status: 400, Code: "InvalidResourceGroupId"},
	{Name: "TagKey", Action: "CreateVpc", Params: params{"Tag.1.Key": "acs:x"}, Status: 400, Code: "InvalidTagKey"},
	{Name: "TagValue", Action: "CreateVpc", Params: params{"Tag.1.Key": "x", "Tag.1.Value": "http://"}, Status: 400, Code: "InvalidTagValue"},
	{Name: "DryRun", Action: "CreateVpc", Params: params{"DryRun": "true"}, Status: 400, Code: "DryRunOperation"},
	{Name: "Quota", Action: "CreateVpc", Status: 400, Code: "QuotaExceeded.Vpc", Plant: times(8, func(i int) func(*state.Tx) error {
		return func(tx *state.Tx) error {
			kinds.VPCs.Put(tx, &kinds.VPC{Owner: owner, ID: fmt.Sprintf("vpc-%d", i), CIDRBlock: "172.16.0.0/12"})
			return nil
		}
	})},
	{Name: "Unknown", Action: "DeleteVpc", Params: params{"VpcId": "vpc-none"}, Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "HasVSwitch", Action: "DeleteVpc", Params: params{"VpcId": otherVPCID}, Status: 400, Code: "DependencyViolation.VSwitch"},
	{Name: "HasSecurityGroup", Action: "DeleteVpc", Params: params{"VpcId": "vpc-empty"}, Status: 400, Code: "DependencyViolation.SecurityGroup",
		Plant: both(emptyVPC, func(tx *state.Tx) error {
			kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: owner, ID: "sg-1", VPCID: "vpc-empty"})
			return nil
		})},
	{Name: "HasServerGroup", Action: "DeleteVpc", Params: params{"VpcId": "vpc-empty"}, Status: 400, Code: "DependencyViolation.ServerGroup",
		Plant: both(emptyVPC, func(tx *state.Tx) error {
			kinds.NLBServerGroups.Put(tx, &kinds.NLBServerGroup{Owner: owner, ID: "sgp", VPCID: "vpc-empty", Status: kinds.NLBGroupAvailable})
			return nil
		})},
	{Name: "HasRouteTable", Action: "DeleteVpc", Params: params{"VpcId": "vpc-empty"}, Status: 400, Code: "DependencyViolation.RouteTable",
		Plant: both(emptyVPC, func(tx *state.Tx) error {
			kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: owner, ID: "vtb-1", VPCID: "vpc-empty", Type: kinds.RouteTableCustom})
			return nil
		})},
	{Name: "HasRouteEntry", Action: "DeleteVpc", Params: params{"VpcId": "vpc-empty"}, Status: 400, Code: "DependencyViolation.RouteEntry",
		Plant: both(emptyVPC, customEntry("vtb-empty", "10.0.0.0/8", instanceID))},
	{Name: "TooManyIDs", Action: "DescribeVpcs", Params: params{"VpcId": manyIDs}, Status: 400, Code: "InvalidVpcIdNumber.NotSupported"},
	{Name: "Owner", Action: "DescribeVpcs", Params: params{"VpcOwnerId": "me"}, Status: 400, Code: "IllegalParam.OwnerId"},
	{Name: "PageSize", Action: "DescribeVpcs", Params: params{"PageSize": "51"}, Status: 400, Code: "InvalidPageSize"},
	{Name: "PageNumber", Action: "DescribeVpcs", Params: params{"PageNumber": "0"}, Status: 400, Code: "InvalidPageNumber"},
	{Name: "ResourceGroup", Action: "DescribeVpcs", Params: params{"ResourceGroupId": "rg-none"}, Status: 400, Code: "InvalidResourceGroupId"},
	{Name: "Unknown", Action: "DescribeVpcAttribute", Params: params{"VpcId": "vpc-none"}, Status: 404, Code: "InvalidVpcId.NotFound"},
}

var vSwitchErrorCases = []gatewaytest.ErrorCase{
	{Name: "NoZone", Action: "CreateVSwitch", Params: with(newVSwitch, params{"ZoneId": ""}), Status: 400, Code: "MissingZoneId"},
	{Name: "Name", Action: "CreateVSwitch", Params: with(newVSwitch, params{"VSwitchName": "http://x"}), Status: 400, Code: "InvalidVSwitchName.Malformed"},
	{Name: "Description", Action: "CreateVSwitch", Params: with(newVSwitch, params{"Description": "http://x"}), Status: 400, Code: "InvalidVSwitchDiscription.Malformed"},
	{Name: "Block", Action: "CreateVSwitch", Params: with(newVSwitch, params{"CidrBlock": "192.168.9.1/24"}), Status: 400, Code: "InvalidCidrBlock.Malformed"},
	{Name: "Mask", Action: "CreateVSwitch", Params: with(newVSwitch, params{"CidrBlock": "192.168.9.0/30"}), Status: 400, Code: "InvalidCirdrBlock.MaskLength"},
	{Name: "VPC", Action: "CreateVSwitch", Params: with(newVSwitch, params{"VpcId": "vpc-none"}), Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "Zone", Action: "CreateVSwitch", Params: with(newVSwitch, params{"ZoneId": "cn-shanghai-b"}), Status: 404, Code: "InvalidZoneId.NotFound"},
	{Name: "OutsideVPC", Action: "CreateVSwitch", Params: with(newVSwitch, params{"CidrBlock": "10.0.0.0/24"}), Status: 400, Code: "InvalidParameter"},
	{Name: "Overlaps", Action: "CreateVSwitch", Params: with(newVSwitch, params{"CidrBlock": "192.168.0.128/25"}), Status: 400, Code: "InvalidCidrBlock.Overlapped"},
	{Name: "HasRoute", Action: "CreateVSwitch", Params: newVSwitch, Status: 400, Code: "RouteConflict.AlreadyExist", Plant: customEntry(routeTableID, "192.168.9.0/24", instanceID)},
	{Name: "IPv6Number", Action: "CreateVSwitch", Params: with(newVSwitch, params{"Ipv6CidrBlock": "256"}), Status: 400, Code: "IllegalParam.Ipv6CidrBlock"},
	{Name: "IPv6Disabled", Action: "CreateVSwitch", Params: with(newVSwitch, params{"Ipv6CidrBlock": "1"}), Status: 400, Code: "OperationFailed.VpcIpv6Disabled"},
	{Name: "OtherIPv6Block", Action: "CreateVSwitch", Status: 400, Code: "IllegalParam.VpcIpv6CidrBlock",
		Params: params{"VpcId": otherVPCID, "ZoneId": "cn-hangzhou-j", "CidrBlock": "10.1.0.0/24", "Ipv6CidrBlock": "1", "VpcIpv6CidrBlock": "2001:db8::/56"}},
	{Name: "IPv6Taken", Action: "CreateVSwitch", Status: 400, Code: "OperationFailed.Ipv6CidrBlockExisted",
		Params: params{"VpcId": otherVPCID, "ZoneId": "cn-hangzhou-j", "CidrBlock": "10.1.0.0/24", "Ipv6CidrBlock": "1"},
		Plant: inOwner(func(tx *state.Tx) error {
			return kinds.VSwitches.Edit(tx, "vsw-bp1clbemu000000000003", func(s *kinds.VSwitch) error {
				s.IPv6CIDRBlock = "2001:db8:8000:1::/64"
				return nil
			})
		})},
	{Name: "Quota", Action: "CreateVSwitch", Params: newVSwitch, Status: 400, Code: "QuotaExceeded.VSwitch", Plant: times(148, func(i int) func(*state.Tx) error {
		return func(tx *state.Tx) error {
			kinds.VSwitches.Put(tx, &kinds.VSwitch{Owner: owner, ID: fmt.Sprintf("vsw-%d", i), VPCID: vpcID, RouteTableID: routeTableID, CIDRBlock: fmt.Sprintf("192.168.%d.0/24", 100+i)})
			return nil
		}
	})},
	{Name: "RoutesChange", Action: "CreateVSwitch", Params: newVSwitch, Status: 400, Code: "TaskConflict", Plant: transitEntry("172.21.0.0/24", kinds.RouteEntryPending)},
	{Name: "RoutesChange", Action: "DeleteVSwitch", Params: params{"VSwitchId": "vsw-1"}, Status: 400, Code: "TaskConflict",
		Plant: both(transitEntry("172.21.0.0/24", kinds.RouteEntryPending), func(tx *state.Tx) error {
			kinds.VSwitches.Put(tx, &kinds.VSwitch{Owner: owner, ID: "vsw-1", VPCID: vpcID, RouteTableID: routeTableID, CIDRBlock: "192.168.9.0/24"})
			return nil
		})},
	{Name: "Unknown", Action: "DeleteVSwitch", Params: params{"VSwitchId": "vsw-none"}, Status: 404, Code: "InvalidVSwitchId.NotFound"},
	{Name: "InUse", Action: "DeleteVSwitch", Params: params{"VSwitchId": vSwitchID}, Status: 400, Code: "DependencyViolation"},
	{Name: "HasRouteTable", Action: "DeleteVSwitch", Params: params{"VSwitchId": "vsw-1"}, Status: 400, Code: "DependencyViolation.RouteTable",
		Plant: both(customTable, func(tx *state.Tx) error {
			kinds.VSwitches.Put(tx, &kinds.VSwitch{Owner: owner, ID: "vsw-1", VPCID: otherVPCID, RouteTableID: "vtb-custom", CIDRBlock: "10.9.0.0/24"})
			return nil
		})},
	{Name: "TooManyIDs", Action: "DescribeVSwitches", Params: params{"VSwitchId": manyIDs}, Status: 404, Code: "InvalidVSwitchIdNumber.NotSupported"},
	{Name: "TooManyVPCs", Action: "DescribeVSwitches", Params: params{"VpcId": manyIDs}, Status: 404, Code: "InvalidVpcIdNumber.NotSupported"},
	{Name: "Owner", Action: "DescribeVSwitches", Params: params{"VSwitchOwnerId": "me"}, Status: 400, Code: "IllegalParam.OwnerId"},
	{Name: "Unknown", Action: "CheckCanAllocateVpcPrivateIpAddress", Params: with(probe, params{"VSwitchId": "vsw-none"}), Status: 400, Code: "ResourceNotFound.VSwitchId"},
	{Name: "Outside", Action: "CheckCanAllocateVpcPrivateIpAddress", Params: with(probe, params{"PrivateIpAddress": "192.168.1.50"}), Status: 400, Code: "Mismatch.VSwitchAndPrivateIpAddress"},
	{Name: "NoIPv6", Action: "CheckCanAllocateVpcPrivateIpAddress", Params: with(probe, params{"PrivateIpAddress": "2001:db8::1", "IpVersion": "ipv6"}), Status: 400, Code: "Mismatch.VSwitchAndPrivateIpAddress"},
	{Name: "Malformed", Action: "CheckCanAllocateVpcPrivateIpAddress", Params: with(probe, params{"PrivateIpAddress": "192.168.0"}), Status: 400, Code: "InvalidPrivateIpAddress"},
	{Name: "IPVersion", Action: "CheckCanAllocateVpcPrivateIpAddress", Params: with(probe, params{"IpVersion": "IPv5"}), Status: 400, Code: "PARAMETER_ILLEGAL"},
}

var routeErrorCases = []gatewaytest.ErrorCase{
	{Name: "Name", Action: "CreateRouteTable", Params: params{"VpcId": vpcID, "RouteTableName": "http://x"}, Status: 400, Code: "InvalidParameter.RouteTableName.Malformed"},
	{Name: "Description", Action: "CreateRouteTable", Params: params{"VpcId": vpcID, "Description": "http://x"}, Status: 400, Code: "InvalidParameter.Description.Malformed"},
	{Name: "VPC", Action: "CreateRouteTable", Params: params{"VpcId": "vpc-none"}, Status: 404, Code: "InvalidVpcId.NotFound"},
	{Name: "Quota", Action: "CreateRouteTable", Params: params{"VpcId": vpcID}, Status: 400, Code: "QuotaExceeded.RouteTable", Plant: times(9, func(i int) func(*state.Tx) error {
		return func(tx *state.Tx) error {
			kinds.RouteTables.Put(tx, &kinds.RouteTable{Owner: owner, ID: fmt.Sprintf("vtb-%d", i), VPCID: vpcID, Type: kinds.RouteTableCustom})
			return nil
		}
	})},
	{Name: "NoID", Action: "DeleteRouteTable", Status: 400, Code: "MissingParam.RouteTableId"},
	{Name: "Unknown", Action: "DeleteRouteTable", Params: params{"RouteTableId": "vtb-none"}, Status: 404, Code: "InvalidRouteTableId.NotFound"},
	{Name: "System", Action: "DeleteRouteTable", Params: params{"RouteTableId": routeTableID}, Status: 400, Code: "IncorrectRouteTableType"},
	{Name: "HasEntries", Action: "DeleteRouteTable", Params: params{"RouteTableId": "vtb-custom"}, Status: 400, Code: "IncorrectRouteTableStatus.RouteEntryExist",
		Plant: both(customTable, customEntry("vtb-custom", "172.20.0.0/24", otherID))},
	{Name: "Associated", Action: "DeleteRouteTable", Params: params{"RouteTableId": "vtb-custom"}, Status: 404, Code: "IncorrectRouteTableStatus",
		Plant: both(customTable, func(tx *state.Tx) error {
			return kinds.VSwitches.Edit(tx, "vsw-bp1clbemu000000000003", func(s *kinds.VSwitch) error {
				s.RouteTableID = "vtb-custom"
				return nil
			})
		})},
	{Name: "PageSize", Action: "DescribeRouteTableList", Params: params{"PageSize": "51"}, Status: 400, Code: "InvalidPageSize"},

	{Name: "NoTable", Action: "CreateRouteEntry", Params: with(newEntry, params{"RouteTableId": ""}), Status: 400, Code: "MissingParameter"},
	{Name: "Table", Action: "CreateRouteEntry", Params: with(newEntry, params{"RouteTableId": "vtb-none"}), Status: 404, Code: "InvalidRouteTableId.NotFound"},
	{Name: "Block", Action: "CreateRouteEntry", Params: with(newEntry, params{"DestinationCidrBlock": "172.20.0.1/24"}), Status: 400, Code: "InvalidCidrBlock.Malformed"},
	{Name: "Reserved", Action: "CreateRouteEntry", Params: with(newEntry, params{"DestinationCidrBlock": "100.64.1.0/24"}), Status: 400, Code: "InvalidDestinationCidrBlock"},
	{Name: "Duplicate", Action: "CreateRouteEntry", Params: newEntry, Status: 400, Code: "InvalidCIDRBlock.Duplicate", Plant: customEntry(routeTableID, "172.20.0.0/24", instanceID)},
	{Name: "OfVSwitch", Action: "CreateRouteEntry", Params: with(newEntry, params{"DestinationCidrBlock": "192.168.0.0/24"}), Status: 400, Code: "RouteConflict.AlreadyExist"},
	{Name: "Quota", Action: "CreateRouteEntry", Params: newEntry, Status: 400, Code: "QuotaExceeded", Plant: times(200, func(i int) func(*state.Tx) error {
		return customEntry(routeTableID, fmt.Sprintf("172.21.%d.0/24", i), instanceID)
	})},
	{Name: "IPv6Disabled", Action: "CreateRouteEntry", Params: with(newEntry, params{"DestinationCidrBlock": "2001:db8:9::/64"}), Status: 400, Code: "OperationDenied.VpcIpv6NotEnabled"},
	{Name: "IPv6OnCustomTable", Action: "CreateRouteEntry", Params: with(newEntry, params{"RouteTableId": "vtb-custom", "DestinationCidrBlock": "2001:db8:9::/64"}),
		Status: 400, Code: "OperationDenied.Ipv6EntryOnCustomTable", Plant: customTable},
	{Name: "NextHopWithoutIPv6", Action: "CreateRouteEntry", Status: 400, Code: "OperationFailed.NotSupportIPV6",
		Params: with(newEntry, params{"RouteTableId": "vtb-bp1clbemu000000000002", "DestinationCidrBlock": "2001:db8:9::/64", "NextHopId": otherID})},
	{Name: "NextHopType", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopType": "Moon"}), Status: 400, Code: "InvalidNextHopType"},
	{Name: "NextHop", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopId": "i-none"}), Status: 400, Code: "InvalidNextHop.NotFound"},
	{Name: "TagType", Action: "TagResources", Params: params{"ResourceType": "vpc", "ResourceId.1": vpcID, "Tag.1.Key": "k"}, Status: 404, Code: "InvalidResourceType.NotFound"},
	{Name: "Unknown", Action: "UnTagResources", Params: params{"ResourceType": "VSWITCH", "ResourceId.1": vpcID, "TagKey.1": "k"}, Status: 404, Code: "InvalidResourceId.NotFound"},
	{Name: "NoTags", Action: "TagResources", Params: params{"ResourceType": "VPC", "ResourceId.1": vpcID}, Status: 400, Code: "MissingParameter.TagKey"},
	{Name: "NeitherTagNorResource", Action: "ListTagResources", Params: params{"ResourceType": "VPC"}, Status: 400, Code: "MissingParameter.TagOwner"},
	{Name: "NextToken", Action: "ListTagResources", Params: params{"ResourceType": "VPC", "ResourceId.1": vpcID, "NextToken": "***"}, Status: 400, Code: "InvalidNextToken"},
	{Name: "TagQuota", Action: "TagResources", Params: params{"ResourceType": "VPC", "ResourceId.1": vpcID, "Tag.1.Key": "k"},
		Plant: func(tx *state.Tx) error {
			state.Quotas.Put(tx, &state.Quota{AccountID: accountID, Name: kinds.QuotaTags, Limit: 0})
			return nil
		}, Status: 400, Code: "QuotaExceeded.TagNumPerResource"},
	{Name: "UserCidr", Action: "CreateVpc", Params: params{"UserCidr": "100.100.0.0/16,everywhere"}, Status: 400, Code: "InvalidUserCidr"},
	{Name: "TooManyUserCidrs", Action: "CreateVpc", Params: params{"UserCidr": "1.0.0.0/8,2.0.0.0/8,3.0.0.0/8,4.0.0.0/8"}, Status: 400, Code: "InvalidUserCidr"},
	{Name: "NoSuchKindOfNextHop", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopType": "NatGateway", "NextHopId": "ngw-1"}), Status: 400, Code: "InvalidNextHop.NotFound"},
	{Name: "NextHopOutside", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopId": otherID}), Status: 404, Code: "OperationFailed.InstanceDismatchCurrentVpc"},
	{Name: "TypeAndList", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopList.1.NextHopId": "ri-1"}), Status: 400, Code: "InvalidNexthopTypeAndList.BothNotNull"},
	{Name: "Neither", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopType": ""}), Status: 400, Code: "InvalidNexthopTypeAndList.BothNull"},
	{Name: "ListSize", Action: "CreateRouteEntry", Params: with(newEntry, params{"NextHopType": "", "NextHopList.1.NextHopId": "ri-1"}), Status: 400, Code: "InvalidNexthopListSize"},
	{Name: "Name", Action: "CreateRouteEntry", Params: with(newEntry, params{"RouteEntryName": "http://x"}), Status: 400, Code: "InvalidRouteEntryName.Malformed"},
	{Name: "DryRun", Action: "CreateRouteEntry", Params: with(newEntry, params{"DryRun": "true"}), Status: 400, Code: "DryRunOperation"},

	{Name: "NoTable", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"RouteTableId": ""}), Status: 400, Code: "MissingParameter"},
	{Name: "NoBlock", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"DestinationCidrBlock": ""}), Status: 400, Code: "MissingParameter"},
	{Name: "NoNextHop", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"NextHopId": ""}), Status: 400, Code: "InvalidNextHop"},
	{Name: "IDAndList", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"NextHopList.1.NextHopId": "ri-1"}), Status: 400, Code: "ParamExclusive.NextHopIdAndList"},
	{Name: "ListSize", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"NextHopId": "", "NextHopList.1.NextHopId": "ri-1"}), Status: 400, Code: "InvalidNextHopList.Size"},
	{Name: "NamedTwice", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"RouteEntryId": "rte-1"}), Status: 400, Code: "ParamExclusive.RouteEntryIdAndRouteTableIdOrDestCidrBlock"},
	{Name: "Table", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"RouteTableId": "vtb-none"}), Status: 404, Code: "InvalidRouteTableId.NotFound"},
	{Name: "Block", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"DestinationCidrBlock": "x"}), Status: 400, Code: "InvalidCidrBlock.Malformed"},
	{Name: "Unknown", Action: "DeleteRouteEntry", Params: oldEntry, Status: 400, Code: "InvalidRouteEntry.NotFound"},
	{Name: "OtherNextHop", Action: "DeleteRouteEntry", Params: oldEntry, Status: 400, Code: "InvalidRouteEntry.NotFound", Plant: customEntry(routeTableID, "172.20.0.0/24", "i-bp1clbemu0000000002")},
	{Name: "UnknownID", Action: "DeleteRouteEntry", Params: params{"RouteEntryId": "rte-none"}, Status: 400, Code: "InvalidRouteEntryId.NotFound"},
	{Name: "System", Action: "DeleteRouteEntry", Params: with(oldEntry, params{"DestinationCidrBlock": "100.64.0.0/10"}), Status: 400, Code: "OperationDenied"},

	{Name: "Pending", Action: "CreateRouteEntry", Params: newEntry, Status: 400, Code: "IncorrectRouteEntryStatus", Plant: transitEntry("172.20.0.0/24", kinds.RouteEntryPending)},
	{Name: "Deleting", Action: "CreateRouteEntry", Params: newEntry, Status: 400, Code: "IncorrectRouteEntryStatus", Plant: transitEntry("172.20.0.0/24", kinds.RouteEntryDeleting)},
	{Name: "OtherPending", Action: "CreateRouteEntry", Params: newEntry, Status: 400, Code: "TaskConflict", Plant: transitEntry("172.21.0.0/24", kinds.RouteEntryPending)},
	{Name: "Pending", Action: "DeleteRouteEntry", Params: oldEntry, Status: 400, Code: "IncorrectRouteEntryStatus", Plant: transitEntry("172.20.0.0/24", kinds.RouteEntryPending)},
	{Name: "OtherDeleting", Action: "DeleteRouteEntry", Params: oldEntry, Status: 400, Code: "TaskConflict",
		Plant: both(customEntry(routeTableID, "172.20.0.0/24", instanceID), transitEntry("172.21.0.0/24", kinds.RouteEntryDeleting))},

	{Name: "Table", Action: "DescribeRouteEntryList", Params: params{"RouteTableId": "vtb-none"}, Status: 400, Code: "InvalidRouteTable.NotFound"},
	{Name: "IPVersion", Action: "DescribeRouteEntryList", Params: with(list, params{"IpVersion": "IPv5"}), Status: 400, Code: "IllegalParam.IpVersion"},
	{Name: "Type", Action: "DescribeRouteEntryList", Params: with(list, params{"RouteEntryType": "Moon"}), Status: 400, Code: "IllegalParam.RouteEntryType"},
	{Name: "NextToken", Action: "DescribeRouteEntryList", Params: with(list, params{"NextToken": "!"}), Status: 400, Code: "IllegalParam.NextToken"},
	{Name: "ForeignToken", Action: "DescribeRouteEntryList", Params: with(list, params{"NextToken": "eHh4"}), Status: 400, Code: "IllegalParam.NextToken"},
	{Name: "MaxResult", Action: "DescribeRouteEntryList", Params: with(list, params{"MaxResult": "501"}), Status: 400, Code: "InvalidMaxResult"},
	{Name: "NoEntries", Action: "CreateRouteEntries", Status: 400, Code: "MissingRouteEntries"},
	{Name: "NoNextHop", Action: "CreateRouteEntries", Status: 400, Code: "MissingRouteEntries.1.NextHop",
		Params: params{"RouteEntries.1.RouteTableId": routeTableID, "RouteEntries.1.DstCidrBlock": "172.20.0.0/24", "RouteEntries.1.NextHopType": "Instance"}},
	{Name: "NoTable", Action: "DeleteRouteEntries", Params: params{"RouteEntries.1.DstCidrBlock": "172.20.0.0/24"}, Status: 400, Code: "MissingRouteEntries.1.RouteTableId"},
}

var eipErrorCases = []gatewaytest.ErrorCase{
	{Name: "Released", Action: "AllocateEipAddress", Params: params{"InstanceId": "eip-gone"}, Status: 400, Code: "ResourceNotFound.Ip"},
	{Name: "Bandwidth", Action: "AllocateEipAddress", Params: params{"Bandwidth": "0"}, Status: 400, Code: "InvalidBandwidth.Malformed"},
	{Name: "TrafficBandwidth", Action: "AllocateEipAddress", Params: params{"Bandwidth": "201", "InternetChargeType": "PayByTraffic"}, Status: 400, Code: "IllegalParam.Bandwidth"},
	{Name: "ISP", Action: "AllocateEipAddress", Params: params{"ISP": "Moon"}, Status: 400, Code: "IllegalParam.Isp"},
	{Name: "InternetChargeType", Action: "AllocateEipAddress", Params: params{"InternetChargeType": "Free"}, Status: 400, Code: "InvalidParameter"},
	{Name: "Unpaid", Action: "AllocateEipAddress", Params: params{"InstanceChargeType": "PrePaid"}, Status: 400, Code: "OrderFailed"},
	{Name: "Outside", Action: "AllocateEipAddress", Params: params{"IpAddress": "8.8.8.8"}, Status: 400, Code: "OperationFailed.AllocateUnfamiliarIp"},
	{Name: "Taken", Action: "AllocateEipAddress", Params: params{"IpAddress": "198.18.0.9"}, Status: 400, Code: "Ip.Allocated", Plant: takePublic("198.18.0.9")},
	{Name: "NoneLeft", Action: "AllocateEipAddress", Params: params{"RegionId": "cn-small"}, Status: 400, Code: "OperationFailed.InsufficientEIP", Plant: func(tx *state.Tx) error {
		kinds.Regions.Put(tx, &kinds.Region{ID: "cn-small", PublicCIDRBlock: "198.51.100.0/32"})
		return nil
	}},
	{Name: "Quota", Action: "AllocateEipAddress", Status: 400, Code: "QuotaExceeded.Eip", Plant: times(18, func(i int) func(*state.Tx) error {
		return plantEIP(fmt.Sprintf("eip-%d", i), chargePostPaid)
	})},
	{Name: "Arrears", Action: "AllocateEipAddress", Status: 400, Code: "SYSTEM.SALE_VALIDATE_UNEXPECTED_ERROR", Plant: func(tx *state.Tx) error {
		return kinds.SetArrears(tx, accountID, true)
	}},
	{Name: "Balance", Action: "AllocateEipAddress", Status: 400, Code: "PAY.INSUFFICIENT_BALANCE", Plant: func(tx *state.Tx) error {
		return kinds.Accounts.Edit(tx, accountID, func(a *kinds.Account) error {
			a.Balance = kinds.MinimumBalance - 0.01
			return nil
		})
	}},
	{Name: "Unknown", Action: "ReleaseEipAddress", Params: params{"AllocationId": "eip-none"}, Status: 404, Code: "InvalidAllocationId.NotFound"},
	{Name: "InUse", Action: "ReleaseEipAddress", Params: params{"AllocationId": "eip-free"}, Status: 400, Code: "IncorrectEipStatus", Plant: useEIP("EcsInstance", instanceID)},
	{Name: "Unassociating", Action: "ReleaseEipAddress", Params: params{"AllocationId": "eip-free"}, Status: 400, Code: "IncorrectEipStatus", Plant: transitEIP(kinds.EIPUnassociating)},
	{Name: "Unassociating", Action: "AssociateEipAddress", Params: associate, Status: 400, Code: "IncorrectEipStatus", Plant: transitEIP(kinds.EIPUnassociating)},
	{Name: "Associating", Action: "UnassociateEipAddress", Params: associate, Status: 400, Code: "IncorrectEipStatus", Plant: transitEIP(kinds.EIPAssociating)},
	{Name: "PrePaid", Action: "ReleaseEipAddress", Params: params{"AllocationId": "eip-prepaid"}, Status: 400, Code: "Forbidden.ChargeTypeIsPrepaid"},
	{Name: "TooManyIDs", Action: "DescribeEipAddresses", Params: params{"AllocationId": manyIDs}, Status: 400, Code: "InstanceIdLength.Exceed"},
	{Name: "ChargeType", Action: "DescribeEipAddresses", Params: params{"ChargeType": "Free"}, Status: 400, Code: "InvalidChargeType.ValueNotSupported"},
	{Name: "AssociatedType", Action: "DescribeEipAddresses", Params: params{"AssociatedInstanceType": "Moon"}, Status: 400, Code: "InvalidIAssociatedInstanceType.ValueNotSupported"},
	{Name: "FilterKey", Action: "DescribeEipAddresses", Params: params{"Filter.1.Key": "Colour"}, Status: 404, Code: "InvalidFilterKey.NotFound"},
	{Name: "FilterValue", Action: "DescribeEipAddresses", Params: params{"Filter.1.Key": "CreationStartTime", "Filter.1.Value": "noon"}, Status: 404, Code: "InvalidFilterValue"},
	{Name: "LockReason", Action: "DescribeEipAddresses", Params: params{"LockReason": "moon"}, Status: 404, Code: "InvalidLockReason.NotFound"},
	{Name: "PageSize", Action: "DescribeEipAddresses", Params: params{"PageSize": "101"}, Status: 400, Code: "InvalidPageSize"},

	{Name: "Unknown", Action: "AssociateEipAddress", Params: with(associate, params{"AllocationId": "eip-none"}), Status: 404, Code: "InvalidAllocationId.NotFound"},
	{Name: "Type", Action: "AssociateEipAddress", Params: with(associate, params{"InstanceType": "Moon"}), Status: 400, Code: "InvalidInstanceType.ValueNotSupported"},
	{Name: "InUse", Action: "AssociateEipAddress", Params: associate, Status: 400, Code: "IncorrectEipStatus", Plant: useEIP("EcsInstance", otherID)},
	{Name: "OtherRegion", Action: "AssociateEipAddress", Params: with(associate, params{"InstanceRegionId": "cn-shanghai"}), Status: 400, Code: "InvalidParameter.Mismatch"},
	{Name: "Instance", Action: "AssociateEipAddress", Params: with(associate, params{"InstanceId": "i-none"}), Status: 404, Code: "InvalidInstanId.NotFound"},
	{Name: "NATGateway", Action: "AssociateEipAddress", Params: with(associate, params{"InstanceType": "Nat", "InstanceId": "ngw-1"}), Status: 404, Code: "InvalidInstanId.NotFound"},
	{Name: "LoadBalancer", Action: "AssociateEipAddress", Params: with(associate, params{"InstanceType": "SlbInstance", "InstanceId": "lb-none"}), Status: 404, Code: "InvalidInstanId.NotFound"},
	{Name: "Interface", Action: "AssociateEipAddress", Params: with(associate, params{"InstanceType": "NetworkInterface", "InstanceId": "eni-none"}), Status: 404, Code: "InvalidInstanId.NotFound"},
	{Name: "InternetLoadBalancer", Action: "AssociateEipAddress", Params: with(associate, params{"InstanceType": "SlbInstance", "InstanceId": "lb-internet"}), Status: 400, Code: "OperationDenied"},
	{Name: "PublicAddress", Action: "AssociateEipAddress", Params: associate, Status: 400, Code: "EIP_CAN_NOT_ASSOCIATE_WITH_PUBLIC_IP",
		Plant: inOwner(func(tx *state.Tx) error {
			return kinds.Instances.Edit(tx, instanceID, func(i *kinds.Instance) error {
				i.PublicIPAddresses = []string{"198.18.0.10"}
				return nil
			})
		})},
	{Name: "HasEIP", Action: "AssociateEipAddress", Params: with(associate, params{"AllocationId": "eip-prepaid"}), Status: 400, Code: "InvalidAssociation.Duplicated", Plant: useEIP("EcsInstance", instanceID)},
	{Name: "PrivateAddress", Action: "AssociateEipAddress", Params: with(associate, params{"PrivateIpAddress": "192.168.0.200"}), Status: 400, Code: "OperationFailed.PrivateIpAddressNotExist"},
	{Name: "DryRun", Action: "AssociateEipAddress", Params: with(associate, params{"DryRun": "true"}), Status: 400, Code: "DryRunOperation"},
	{Name: "Unknown", Action: "UnassociateEipAddress", Params: params{"AllocationId": "eip-none"}, Status: 404, Code: "InvalidAllocationId.NotFound"},
	{Name: "Available", Action: "UnassociateEipAddress", Params: params{"AllocationId": "eip-free"}, Status: 400, Code: "IncorrectEipStatus"},
	{Name: "OnAnother", Action: "UnassociateEipAddress", Params: params{"AllocationId": "eip-free", "InstanceId": otherID}, Status: 404, Code: "InvalidBindInstance.NotFound", Plant: useEIP("EcsInstance", instanceID)},
}

// tokenErrorCases use a token that an earlier call spent, or spends still.
var tokenErrorCases = []gatewaytest.ErrorCase{
	{Name: "TokenReused", Action: "CreateVpc", Params: params{"ClientToken": "t"}, Status: 400, Code: "IdempotentParameterMismatch", Plant: plantToken(state.Idle)},
	{Name: "TokenProcessing", Action: "CreateVpc", Params: params{"ClientToken": "t"}, Status: 400, Code: "OperationFailed.IdempotentTokenProcessing", Plant: plantToken(state.Busy)},
}

func plantToken(activity string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.ClientTokens.Put(tx, &state.ClientToken{AccountID: accountID, Action: "CreateVpc", Token: "t", CreateTime: tx.Now(), Digest: "other", ResourceID: vpcID, Activity: activity})
		return nil
	}
}

// Every refusal has the code and status of the cloud, and every row of the error
// table is one that a call can meet.
func TestErrors(t *testing.T) {
	gatewaytest.MatchErrors(t, vpc.Product(gateway.Deps{}), plantWorld, tokenErrorCases, vpcErrorCases, vSwitchErrorCases, routeErrorCases, eipErrorCases, modifyErrorCases, packageErrorCases, ipv6GatewayErrorCases, natGatewayErrorCases)
}

// No fact of the package leaves as an InternalError.
func TestTagsNameRefusals(t *testing.T) { gatewaytest.MatchTags(t, vpc.Product(gateway.Deps{})) }
