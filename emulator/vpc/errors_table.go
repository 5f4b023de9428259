package vpc

import (
	"net/http"
	"slices"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// errorTable says how the Vpc API puts each fact.
var errorTable = rpc.NewErrorTable(slices.Concat(requestErrors, vpcErrors, vSwitchErrors, routeErrors, eipErrors, associationErrors)...)

var requestErrors = []rpc.ErrorRow{
	refuse(published, dryRunPassed, "DryRunOperation", "Request validation has been passed with DryRun flag set."),
	refuse(tokens, state.TokenConflict, "IdempotentParameterMismatch", "The request is retried with updated parameters."),
	refuse(tokens, state.TokenProcessing, "OperationFailed.IdempotentTokenProcessing", "Action is processing."),
	refuse(published, parameterMissing, "MissingParameter", "Miss mandatory parameter."),
	refuse(published, cidrMalformed, "InvalidCidrBlock.Malformed", "Specified CIDR block is not valid."),
	refuse(published, tagKeyInvalid, "InvalidTagKey", "The tag keys are not valid."),
	refuse(published, tagValueInvalid, "InvalidTagValue", "The tag values are not valid."),
	refuse(published, ipVersionIllegal, "PARAMETER_ILLEGAL", "Parameter illegal.Parameter is ipVersion", "CheckCanAllocateVpcPrivateIpAddress"),
	refuse(unpublished, ipVersionIllegal, "IllegalParam.IpVersion", "The specified IpVersion is illegal.", "DescribeRouteEntryList"),
	absent(http.StatusBadRequest, cloud.ResourceGroups.Kind(), "InvalidResourceGroupId", "The specified ResourceGroupId does not exist."),
}

var vpcErrors = []rpc.ErrorRow{
	absent(http.StatusNotFound, cloud.VPCs.Kind(), "InvalidVpcId.NotFound", "Specified VPC does not exist."),
	refuse(published, vpcNameMalformed, "InvalidVpcName.Malformed", "Specified VPC name is not valid."),
	refuse(published, vpcDescriptionMalformed, "InvalidVpcDiscription.Malformed", "Specified VPC description is not valid."),
	refuse(published, vpcBlockInvalid, "InvalidParameter", "Specified CIDR block is not valid"),
	refuse(published, vpcBlockReserved, "OperationDenied.CidrInExcludeCidrs", "The operation is not allowed because the input CIDR is within the illegal CIDRs."),
	refuse(published, vpcQuotaExceeded, "QuotaExceeded.Vpc", "VPC quota exceeded."),
	refuse(published, vpcOwnerInvalid, "IllegalParam.OwnerId", "The specified parameter VpcOwnerId is not valid."),
	refuse(published, tooManyVPCIDs, "InvalidVpcIdNumber.NotSupported", "The number of vpcIds exceeds the limit.", "DescribeVpcs"),
	withStatus(http.StatusNotFound, refuse(published, tooManyVPCIDs, "InvalidVpcIdNumber.NotSupported", "The number of vpcIds exceeds the limit.", "DescribeVSwitches")),
	refuse(published, ipamUnsupported, "UnsupportedFeature.Ipam", "IPAM is not supported in this region."),
	refuse(published, ipamPoolMissing, "IllegalParam.IpamPool", "The specified IPAM pool cannot be empty."),
	refuse(unpublished, ipv6BlockNotReserved, "OperationFailed.IPv6CidrNotReserved", "The specified IPv6 CIDR block %s is not reserved."),
	refuse(published, ipv6ISPUnsupported, "UnsupportedFeature.Ipv6Isp", "The Ipv6Isp feature is not supported."),
	refuse(published, vpcHasVSwitch, "DependencyViolation.VSwitch", "Specified object has dependent resources"),
	refuse(published, vpcHasSecurityGroup, "DependencyViolation.SecurityGroup", "Specified object has dependent resources SecurityGroup."),
	refuse(published, vpcHasRouteTable, "DependencyViolation.RouteTable", "Specified object has dependent custom routeTable."),
	refuse(published, vpcHasRouteEntry, "DependencyViolation.RouteEntry", "Specified object has dependent resources"),
}

var vSwitchErrors = []rpc.ErrorRow{
	absent(http.StatusNotFound, cloud.VSwitches.Kind(), "InvalidVSwitchId.NotFound", "VSwitch not exist."),
	absent(http.StatusBadRequest, cloud.VSwitches.Kind(), "ResourceNotFound.VSwitchId", "The specified resource vswitch is not found.", "CheckCanAllocateVpcPrivateIpAddress"),
	refuse(published, vSwitchNameMalformed, "InvalidVSwitchName.Malformed", "Specified virtual switch name is not valid."),
	refuse(published, vSwitchDescriptionMalformed, "InvalidVSwitchDiscription.Malformed", "Specified  virtual switch description is not valid."),
	refuse(published, vSwitchOwnerInvalid, "IllegalParam.OwnerId", "The specified parameter VSwitchOwnerId is not valid."),
	withStatus(http.StatusNotFound, refuse(published, tooManyVSwitchIDs, "InvalidVSwitchIdNumber.NotSupported", "The number of vSwitchIds exceeds the limit.")),
	withStatus(http.StatusNotFound, refuse(published, zoneNotFound, "InvalidZoneId.NotFound", "Specified zone does not exist.")),
	refuse(published, maskLengthInvalid, "InvalidCirdrBlock.MaskLength", "Specified CIDR block is not valid ."),
	refuse(published, blockOutsideVPC, "InvalidParameter", "Specified CIDR block is not valid in VPC."),
	refuse(published, blockOverlaps, "InvalidCidrBlock.Overlapped", "Specified CIDR block overlapped with other subnets."),
	refuse(unpublished, ipv6SubnetInvalid, "IllegalParam.Ipv6CidrBlock", "The specified Ipv6CidrBlock is not between 0 and 255."),
	refuse(unpublished, ipv6SubnetTaken, "OperationFailed.Ipv6CidrBlockExisted", "The IPv6 CIDR block %s exists already."),
	refuse(unpublished, vpcIPv6Disabled, "OperationFailed.VpcIpv6Disabled", "IPv6 is not enabled for the VPC."),
	refuse(unpublished, vpcIPv6BlockInvalid, "IllegalParam.VpcIpv6CidrBlock", "The specified VpcIpv6CidrBlock %s is not the VPC's."),
	overQuota(cloud.QuotaVSwitches, "QuotaExceeded.VSwitch", "Virtual switch quota exceeded."),
	refuse(published, vSwitchInUse, "DependencyViolation", "Resources deployed in the vSwitch have not been deleted."),
	refuse(published, vSwitchHasRouteTable, "DependencyViolation.RouteTable", "VSwitch cannot be deleted when associated with route table"),
	refuse(published, addressOutsideVSwitch, "Mismatch.VSwitchAndPrivateIpAddress", "The vswitch and privateIpAddress are mismatched."),
}

var routeErrors = []rpc.ErrorRow{
	absent(http.StatusNotFound, cloud.RouteTables.Kind(), "InvalidRouteTableId.NotFound", "Specified route table does not exist."),
	refuse(published, routeTableIDMissing, "MissingParam.RouteTableId", "The param of RouteTableId is missing."),
	refuse(published, routeTableNameMalformed, "InvalidParameter.RouteTableName.Malformed", "The specified route table name is not valid."),
	refuse(published, routeTableDescriptionMalformed, "InvalidParameter.Description.Malformed", "The specified Description is not valid."),
	refuse(published, gatewayTableUnsupported, "UnsupportedRegion", "The feature of ipv4Gateway is not supported in the region."),
	overQuota(cloud.QuotaRouteTables, "QuotaExceeded.RouteTable", "VPC RouteTable quota exceeded."),
	refuse(published, routeTableIsSystem, "IncorrectRouteTableType", "Route table can be deleted by this action only when it's type is custom."),
	refuse(published, routeTableHasEntries, "IncorrectRouteTableStatus.RouteEntryExist", "You cannot delete the specified route table because it still has custom route entry."),
	withStatus(http.StatusNotFound, refuse(published, routeTableAssociated, "IncorrectRouteTableStatus", "The current status of the route table does not support this operation.")),
	refuse(unpublished, listedTableNotFound, "InvalidRouteTable.NotFound", "The specified route table %s does not exist."),
	refuse(unpublished, routeEntryTypeIllegal, "IllegalParam.RouteEntryType", "The specified RouteEntryType is illegal."),
	refuse(published, nextTokenIllegal, "IllegalParam.NextToken", "User nextToken is illegal."),
	refuse(published, routeEntryNameMalformed, "InvalidRouteEntryName.Malformed", "Specified RouteEntry name is not valid."),
	overQuota(cloud.QuotaRouteEntries, "QuotaExceeded", "Route entry quota exceeded in this route table."),
	refuse(published, destinationReserved, "InvalidDestinationCidrBlock", "The specified destinationCidrBlock must not included in black list cidr."),
	refuse(published, destinationTaken, "InvalidCIDRBlock.Duplicate", "Specified CIDR block is already exists."),
	refuse(published, routeConflicts, "RouteConflict.AlreadyExist", "Route conflict exists in routing table."),
	refuse(published, ipv6NotEnabled, "OperationDenied.VpcIpv6NotEnabled", "IPv6 has not been enabled for the VPC."),
	refuse(published, ipv6EntryOnCustomTable, "OperationDenied.Ipv6EntryOnCustomTable", "You cannot create any IPv6 route entry on a custom route table."),
	refuse(published, nextHopTypeInvalid, "InvalidNextHopType", `Specified parameter "NextHopType" is not valid.`),
	refuse(published, nextHopTypeAndList, "InvalidNexthopTypeAndList.BothNotNull", "both nexthopType and nextHopList are not null."),
	refuse(published, nextHopNeither, "InvalidNexthopTypeAndList.BothNull", "both nexthopType and nextHopList are null."),
	refuse(published, nextHopListSize, "InvalidNexthopListSize", "nexthop size is illegal. Must be between 2 and 4."),
	refuse(published, nextHopNotFound, "InvalidNextHop.NotFound", "Specified next hop does not exist."),
	withStatus(http.StatusNotFound, refuse(published, nextHopOutsideVPC, "OperationFailed.InstanceDismatchCurrentVpc", "The specified instance does not exist in current vpc.")),
	refuse(published, nextHopWithoutIPv6, "OperationFailed.NotSupportIPV6", "The specified next hop does not support IPv6."),
	refuse(unpublished, entryNamedTwice, "ParamExclusive.RouteEntryIdAndRouteTableIdOrDestCidrBlock", "RouteEntryId cannot come with RouteTableId or DestinationCidrBlock."),
	refuse(published, entryNotFound, "InvalidRouteEntry.NotFound", "Route entry not exists."),
	absent(http.StatusBadRequest, cloud.RouteEntries.Kind(), "InvalidRouteEntryId.NotFound", "Specified RouteEntryId does not exist."),
	refuse(published, entryIsSystem, "OperationDenied", "Specified operation is denied as route entry type is system."),
	refuse(transit, entryInTransit, "IncorrectRouteEntryStatus", "Some route entry status blocked this operation."),
	refuse(transit, otherEntryInTransit, "TaskConflict", "The operation is too frequent, TaskConflict."),
	refuse(transit, otherEntryInTransit, "TaskConflict", "The operation is too frequent, please wait a moment and try again.", "CreateRouteEntry"),
	refuse(published, nextHopIDAndList, "ParamExclusive.NextHopIdAndList", "NextHopId and NextHopList cannot both be not null."),
	refuse(published, nextHopMissing, "InvalidNextHop", "Specified nexthop and nexthop list cannot both null."),
	refuse(published, deletedNextHopListSize, "InvalidNextHopList.Size", "Nexthop list size should be between 2 and 16"),
}

var eipErrors = []rpc.ErrorRow{
	absent(http.StatusNotFound, cloud.EIPs.Kind(), "InvalidAllocationId.NotFound", "Specified allocation ID is not found."),
	refuse(published, bandwidthMalformed, "InvalidBandwidth.Malformed", "The specified Bandwidth is invalid."),
	refuse(published, bandwidthIllegal, "IllegalParam.Bandwidth", "The param of bandwidth is illegal."),
	refuse(unpublished, ispIllegal, "IllegalParam.Isp", "The param of ISP is illegal."),
	refuse(published, internetChargeTypeInvalid, "InvalidParameter", `Specified value of "InternetChargeType" is not valid`),
	refuse(published, securityProtectionTypesIllegal, "IllegalParam.SecurityProtectionTypes", "The param of securityProtectionTypes is illegal."),
	refuse(published, protectionNotOpen, "OperationDenied.NotOpenDdosOriginProtectService", "The operation is not allowed because of you do not open Ddos Origin Protection Service"),
	refuse(published, zoneAndAddress, "ExclusiveParam.ZoneAndIpAddress", "The specified  param Zone and IpAddress or InstanceId are mutually exclusive."),
	refuse(published, zoneAndPool, "ExclusiveParam.ZoneAndPublicIpAddressPoolId", "The Zone and PublicIpAddressPoolId parameters are mutually exclusive."),
	refuse(published, zoneUnsupported, "UnsupportedFeature.AllocateEipAddressWithZone", "The feature of AllocateEipAddressWithZone is not supported."),
	refuse(published, poolNotFound, "ResourceNotFound.PublicIpAddressPool", "The specified resource of PublicIpAddressPool is not found."),
	refuse(published, releasedEIPNotFound, "ResourceNotFound.Ip", "The specified ip is not found."),
	refuse(unpublished, orderNotPaid, "OrderFailed", "The Account failed to create order."),
	refuse(purchases, accountInArrears, "SYSTEM.SALE_VALIDATE_UNEXPECTED_ERROR", "You have arrears and do not meet the purchase conditions."),
	refuse(purchases, balanceInsufficient, "PAY.INSUFFICIENT_BALANCE", "Your account does not have enough balance."),
	overQuota(cloud.QuotaEIPs, "QuotaExceeded.Eip", "Elastic IP address quota exceeded"),
	refuse(published, cloud.AddressOutside, "OperationFailed.AllocateUnfamiliarIp", "The operation failed because only IP addresses used within the last seven days can be allocated."),
	refuse(published, cloud.AddressTaken, "Ip.Allocated", "The reserve ip has been allocated."),
	refuse(published, cloud.NoFreeAddress, "OperationFailed.InsufficientEIP", "Eip resource is not enough."),
	refuse(published, eipIsPrePaid, "Forbidden.ChargeTypeIsPrepaid", "It's forbidden to release a prepaid EIP"),
	refuse(published, eipStatusIncorrect, "IncorrectEipStatus", "Current elastic IP status does not support this operation"),
	refuse(published, instanceIDTooLong, "InstanceIdLength.Exceed", "InstanceId length is exceed"),
	refuse(published, chargeTypeUnsupported, "InvalidChargeType.ValueNotSupported", "The specified ChargeType is not supported."),
	refuse(published, associatedInstanceTypeUnsupported, "InvalidIAssociatedInstanceType.ValueNotSupported", "The specified value of AssociatedInstanceType is not supported."),
	withStatus(http.StatusNotFound, refuse(published, filterKeyUnsupported, "InvalidFilterKey.NotFound", "The specified Filterkey is not supported.")),
	withStatus(http.StatusNotFound, refuse(published, filterValueInvalid, "InvalidFilterValue", "The specified FilterValue is not supported.")),
	withStatus(http.StatusNotFound, refuse(published, lockReasonNotFound, "InvalidLockReason.NotFound", "The specified LockReason is not found")),
}

// targetAbsent answers for whatever kind of thing an EIP was to be on.
const (
	targetAbsentCode    = "InvalidInstanId.NotFound"
	targetAbsentMessage = "Specified instance does not exist."
)

var associationErrors = []rpc.ErrorRow{
	refuse(published, instanceTypeUnsupported, "InvalidInstanceType.ValueNotSupported", "The specified value of InstanceType is not supported."),
	refuse(unpublished, modeIllegal, "IllegalParam.Mode", "The param of Mode is illegal."),
	refuse(published, modeUnsupported, "Mode.NotSupport", "The user cannot use multi direct eip."),
	refuse(published, ipAddressUnsupported, "UnsupportedFeature.EipBindIpAddress", "The feature of EipBindIpAddress is not supported."),
	refuse(published, otherRegion, "InvalidParameter.Mismatch", "Specified elastic IP address and ECS instance are not in the same region."),
	withStatus(http.StatusNotFound, refuse(published, targetNotFound, targetAbsentCode, targetAbsentMessage)),
	absent(http.StatusNotFound, cloud.Instances.Kind(), targetAbsentCode, targetAbsentMessage),
	absent(http.StatusNotFound, cloud.LoadBalancers.Kind(), targetAbsentCode, targetAbsentMessage),
	absent(http.StatusNotFound, cloud.NetworkInterfaces.Kind(), targetAbsentCode, targetAbsentMessage),
	refuse(published, targetNotInVPC, "OperationDenied", "Specified instance is not in VPC."),
	refuse(published, targetHasPublicAddress, "EIP_CAN_NOT_ASSOCIATE_WITH_PUBLIC_IP", "instance already bind natpublicip,cannot bind eip."),
	refuse(published, targetHasEIP, "InvalidAssociation.Duplicated", "Specified instance already is associated."),
	refuse(published, secondaryAddressUnsupported, "OperationUnsupported.MultiIp", "Multi ip function is not support."),
	refuse(published, privateAddressNotFound, "OperationFailed.PrivateIpAddressNotExist", "The operation failed because the PrivateIpAddress is not found."),
	withStatus(http.StatusNotFound, refuse(published, notOnThat, "InvalidBindInstance.NotFound", "The specified bind instance does not exist.")),
}
