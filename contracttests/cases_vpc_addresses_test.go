package contracttests

var (
	newReservation = step{"Vpc", "CreateVSwitchCidrReservation", params{"VSwitchId": "{vsw}", "VSwitchCidrReservationCidr": "172.16.0.64/26",
		"VSwitchCidrReservationName": "pods", "VSwitchCidrReservationDescription": "of the pods", "Tag.1.Key": "app", "Tag.1.Value": "web"},
		saveAs("vcr", "VSwitchCidrReservationId")}
	aReservation    = params{"VSwitchCidrReservationId": "{vcr}"}
	goneReservation = params{"VSwitchCidrReservationId": "vcr-gone"}

	newSegment  = step{"Vpc", "AllocateEipSegmentAddress", params{"EipMask": "28", "Bandwidth": "10"}, saveAs("eipsg", "EipSegmentInstanceId")}
	aSegment    = params{"SegmentInstanceId": "{eipsg}"}
	goneSegment = params{"SegmentInstanceId": "eipsg-gone"}

	newHAVIP = step{"Vpc", "CreateHaVip", params{"VSwitchId": vsw1, "IpAddress": "192.168.0.210", "Name": "db", "Description": "of the database",
		"Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("havip", "HaVipId")}
	aHAVIP   = params{"HaVipId": "{havip}"}
	nodesVIP = params{"HaVipId": "{havip}", "InstanceId": node1}
	onNode   = step{"Vpc", "AssociateHaVip", nodesVIP, nil}
)

var vpcAddressCases = []apiCase{
	succeeds("CreateVSwitchCidrReservation", "block", newReservation.params),
	succeeds("CreateVSwitchCidrReservation", "mask-ipv6", params{"VSwitchId": "{vsw}", "VSwitchCidrReservationMask": "80", "IpVersion": "IPv6"}),
	refused("CreateVSwitchCidrReservation", "overlaps", "OperationFailed.CidrConflict", newReservation.params, newReservation),
	succeeds("DeleteVSwitchCidrReservation", "one", aReservation, newReservation),
	refused("DeleteVSwitchCidrReservation", "unknown", "ResourceNotFound.VSwitchCidrReservation", goneReservation),
	succeeds("ModifyVSwitchCidrReservationAttribute", "name", more(aReservation, "VSwitchCidrReservationName", "renamed"), newReservation),
	refused("ModifyVSwitchCidrReservationAttribute", "unknown", "ResourceNotFound.VSwitchCidrReservation", goneReservation),
	succeeds("ListVSwitchCidrReservations", "of-a-vswitch", params{"VSwitchId": "{vsw}"}, newReservation),
	succeeds("ListVSwitchCidrReservations", "first-page", params{"MaxResults": "1"}, newReservation,
		step{"Vpc", "CreateVSwitchCidrReservation", params{"VSwitchId": "{vsw}", "VSwitchCidrReservationMask": "28"}, nil}),
	refused("ListVSwitchCidrReservations", "bad-token", "IllegalParam.NextToken", params{"NextToken": "x"}),

	succeeds("AllocateEipSegmentAddress", "sixteen", newSegment.params),
	refused("AllocateEipSegmentAddress", "bad-mask", "IllegalParam.EipMask", params{"EipMask": "29"}),
	succeeds("ReleaseEipSegmentAddress", "free", aSegment, newSegment),
	refused("ReleaseEipSegmentAddress", "unknown", "InvalidSegmentInstanceId.NotFound", goneSegment),
	succeeds("DescribeEipSegment", "one", aSegment, newSegment),
	refused("DescribeEipSegment", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("DescribeEipAddresses", "of-a-segment", more(aSegment, "PageSize", "1"), newSegment),

	succeeds("CreateHaVip", "new", newHAVIP.params),
	refused("CreateHaVip", "taken", "InvalidIpAddress.AlreadyUsed", newHAVIP.params, newHAVIP),
	succeeds("DeleteHaVip", "one", aHAVIP, newHAVIP),
	refused("DeleteHaVip", "in-use", "DependencyViolation.Instance", aHAVIP, newHAVIP, onNode),
	succeeds("ModifyHaVipAttribute", "name", more(aHAVIP, "Name", "renamed"), newHAVIP),
	refused("ModifyHaVipAttribute", "unknown", "InvalidHaVipId.NotFound", params{"HaVipId": "havip-gone", "Name": "renamed"}),
	succeeds("AssociateHaVip", "instance", nodesVIP, newHAVIP),
	refused("AssociateHaVip", "again", "InvalidInstanceId.AlreadyAssociated", nodesVIP, newHAVIP, onNode),
	succeeds("UnassociateHaVip", "instance", nodesVIP, newHAVIP, onNode),
	refused("UnassociateHaVip", "not-associated", "InvalidInstanceId.NotAssociated", nodesVIP, newHAVIP),
	succeeds("DescribeHaVips", "in-use", params{"Filter.1.Key": "HaVipId", "Filter.1.Value.1": "{havip}"}, newHAVIP, onNode,
		step{"Vpc", "AssociateEipAddress", params{"AllocationId": "{eip}", "InstanceId": "{havip}", "InstanceType": "HaVip"}, nil}),
	refused("DescribeHaVips", "bad-filter", "InvalidFilterKey.ValueNotSupported", params{"Filter.1.Key": "Colour", "Filter.1.Value.1": "red"}),
}
