package contracttests

var (
	newPackage = step{"Vpc", "CreateCommonBandwidthPackage", params{"Bandwidth": "100", "Name": "shared", "Description": "of EIPs",
		"InternetChargeType": "PayByTraffic"}, saveAs("cbwp", "BandwidthPackageId")}
	aPackage     = params{"BandwidthPackageId": "{cbwp}"}
	gonePackage  = params{"BandwidthPackageId": "cbwp-gone"}
	inPackage    = params{"BandwidthPackageId": "{cbwp}", "IpInstanceId": "{eip}"}
	putInPackage = step{"Vpc", "AddCommonBandwidthPackageIp", inPackage, nil}
	ofPackage    = params{"BandwidthPackageId": "{cbwp}", "EipId": "{eip}"}
	keepPackage  = step{"Vpc", "DeletionProtection", params{"InstanceId": "{cbwp}", "Type": "CBWP", "ProtectionEnable": "true"}, nil}
	tagPackage   = step{"Vpc", "TagResources", params{"ResourceType": "COMMONBANDWIDTHPACKAGE", "ResourceId.1": "{cbwp}", "Tag.1.Key": "app", "Tag.1.Value": "web"}, nil}
)

var vpcPackageCases = []apiCase{
	succeeds("CreateCommonBandwidthPackage", "new", newPackage.params),
	refused("CreateCommonBandwidthPackage", "bad-bandwidth", "InvalidParameter.Bandwidth", params{"Bandwidth": "0"}),
	succeeds("DescribeCommonBandwidthPackages", "with-eip", aPackage, newPackage, putInPackage, keepPackage, tagPackage),
	refused("DescribeCommonBandwidthPackages", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("DescribeEipAddresses", "in-a-package", params{"AllocationId": "{eip}"}, newPackage, putInPackage,
		step{"Vpc", "DeletionProtection", params{"InstanceId": "{eip}", "Type": "EIP", "ProtectionEnable": "true"}, nil}),
	succeeds("ModifyCommonBandwidthPackageAttribute", "name", more(aPackage, "Name", "renamed"), newPackage),
	refused("ModifyCommonBandwidthPackageAttribute", "unknown", "InvalidBandwidthPackageId.NotFound", gonePackage),
	succeeds("ModifyCommonBandwidthPackageSpec", "more", more(aPackage, "Bandwidth", "200"), newPackage),
	refused("ModifyCommonBandwidthPackageSpec", "unknown", "InvalidBandwidthPackageId.NotFound", more(gonePackage, "Bandwidth", "200")),
	succeeds("DeleteCommonBandwidthPackage", "empty", aPackage, newPackage),
	succeeds("DeleteCommonBandwidthPackage", "forced", more(aPackage, "Force", "true"), newPackage, putInPackage),
	refused("DeleteCommonBandwidthPackage", "has-eip", "OperationFailed.BandwidthPackageNotEmpty", aPackage, newPackage, putInPackage),
	refused("DeleteCommonBandwidthPackage", "protected", "InvalidOperation.DeletionProtection", aPackage, newPackage, keepPackage),
	succeeds("AddCommonBandwidthPackageIp", "eip", inPackage, newPackage),
	refused("AddCommonBandwidthPackageIp", "again", "IpInstanceId.AlreadyInBandwidthPackage", inPackage, newPackage, putInPackage),
	succeeds("RemoveCommonBandwidthPackageIp", "eip", inPackage, newPackage, putInPackage),
	refused("RemoveCommonBandwidthPackageIp", "not-in", "OperationUnsupported.IpNotInCbwp", inPackage, newPackage),
	succeeds("ModifyCommonBandwidthPackageIpBandwidth", "half", more(ofPackage, "Bandwidth", "50"), newPackage, putInPackage),
	refused("ModifyCommonBandwidthPackageIpBandwidth", "too-much", "InvalidParameter.Bandwidth", more(ofPackage, "Bandwidth", "101"), newPackage, putInPackage),
	succeeds("CancelCommonBandwidthPackageIpBandwidth", "half", ofPackage, newPackage, putInPackage,
		step{"Vpc", "ModifyCommonBandwidthPackageIpBandwidth", more(ofPackage, "Bandwidth", "50"), nil}),
	refused("CancelCommonBandwidthPackageIpBandwidth", "not-in", "OperationUnsupported.IpNotInCbwp", ofPackage, newPackage),
	succeeds("DeletionProtection", "package", keepPackage.params, newPackage),
	refused("DeletionProtection", "unknown-type", "InvalidParameter.Type", more(keepPackage.params, "Type", "PLANET"), newPackage),
	succeeds("MoveResourceGroup", "eip", params{"ResourceId": "{eip}", "ResourceType": "eip", "NewResourceGroupId": "rg-clbemu0second"}),
	refused("MoveResourceGroup", "unknown-group", "InvalidResourceGroupId", params{"ResourceId": "{eip}", "ResourceType": "eip", "NewResourceGroupId": "rg-gone"}),
}
