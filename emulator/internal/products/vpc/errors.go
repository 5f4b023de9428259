package vpc

import (
	"net/http"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// refusals are the reasons of this product, declared next to the code that refuses.
var refusals gateway.Refusals

// published is the evidence for codes and messages of the API's metadata,
// unpublished for the messages, or the choice of a code, that it leaves open; the
// others for how a ClientToken that comes again, a change of routes while others
// are in transit, and a purchase by who can't pay are refused.
const (
	published   = "CLB-0300"
	unpublished = "CLB-0203"
	tokens      = "CLB-0302"
	transit     = "CLB-0350"
	purchases   = "CLB-0351"
)

// refuse returns a row for a fact that means the same in every action, or in the given ones.
func refuse(evidence string, fact state.Fact, code, message string, actions ...string) gateway.ErrorRow {
	return gateway.ErrorRow{Fact: fact, Actions: actions, Status: http.StatusBadRequest, Code: code, Message: message, Evidence: evidence}
}

// absent returns a row for an id that names nothing.
func absent(status int, kind state.Kind, code, message string, actions ...string) gateway.ErrorRow {
	return gateway.ErrorRow{Fact: state.NotFound, Kind: kind, Actions: actions, Status: status, Code: code, Message: message, Evidence: published}
}

// overQuota returns a row for a call that goes over a quota.
func overQuota(quota state.QuotaName, code, message string) gateway.ErrorRow {
	return gateway.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(quota), Status: http.StatusBadRequest, Code: code, Message: message, Evidence: published}
}

var errorTable = refusals.Table(requestErrors, vpcErrors, vSwitchErrors, routeErrors, eipErrors, associationErrors, packageErrors)

var requestErrors = []gateway.ErrorRow{
	gateway.DryRunRow(published),
	refuse(published, listing.BadToken, "IllegalParam.NextToken", "User nextToken is illegal."),
	refuse("CLB-0342", listing.BadToken, "InvalidNextToken", "The specified NextToken is invalid.", "ListTagResources"),
	refuse(tokens, state.TokenConflict, "IdempotentParameterMismatch", "The request is retried with updated parameters."),
	refuse(tokens, state.TokenProcessing, "OperationFailed.IdempotentTokenProcessing", "Action is processing."),
	absent(http.StatusBadRequest, kinds.ResourceGroups.Kind(), "InvalidResourceGroupId", "The specified ResourceGroupId does not exist."),
}

var vpcErrors = []gateway.ErrorRow{
	absent(http.StatusNotFound, kinds.VPCs.Kind(), "InvalidVpcId.NotFound", "Specified VPC does not exist."),
}

var vSwitchErrors = []gateway.ErrorRow{
	absent(http.StatusNotFound, kinds.VSwitches.Kind(), "InvalidVSwitchId.NotFound", "VSwitch not exist."),
	absent(http.StatusBadRequest, kinds.VSwitches.Kind(), "ResourceNotFound.VSwitchId", "The specified resource vswitch is not found.", "CheckCanAllocateVpcPrivateIpAddress"),
	overQuota(kinds.QuotaVSwitches, "QuotaExceeded.VSwitch", "Virtual switch quota exceeded."),
}

// gateways is the evidence for codes of gateways.
const (
	gateways    = "CLB-0560"
	natGateways = "CLB-0561"
)

var routeErrors = []gateway.ErrorRow{
	absent(http.StatusNotFound, kinds.RouteTables.Kind(), "InvalidRouteTableId.NotFound", "Specified route table does not exist."),
	overQuota(kinds.QuotaRouteTables, "QuotaExceeded.RouteTable", "VPC RouteTable quota exceeded."),
	overQuota(kinds.QuotaRouteEntries, "QuotaExceeded", "Route entry quota exceeded in this route table."),
	{Fact: kinds.NoFreeAddress, Actions: []string{"CreateNatGateway"}, Status: http.StatusBadRequest, Code: "InvalidVSwitchId.IpNotEnough",
		Message: "The vSwitch has no free address.", Evidence: natGateways},
	{Fact: state.NotFound, Kind: kinds.IPv6Gateways.Kind(), Status: http.StatusNotFound, Code: "InvalidIpv6GatewayId.NotFound",
		Message: "The specified Ipv6GatewayId is not found.", Evidence: gateways},
	{Fact: state.NotFound, Kind: kinds.NATGateways.Kind(), Status: http.StatusNotFound, Code: "InvalidNatGatewayId.NotFound",
		Message: "The NatGatewayId not exist.", Evidence: natGateways},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaNATGateways), Status: http.StatusBadRequest, Code: "QuotaExceeded.Natgateway",
		Message: "The number of NAT gateways of the VPC exceeds the quota.", Evidence: natGateways},
	absent(http.StatusBadRequest, kinds.RouteEntries.Kind(), "InvalidRouteEntryId.NotFound", "Specified RouteEntryId does not exist."),
}

var eipErrors = []gateway.ErrorRow{
	absent(http.StatusNotFound, kinds.EIPs.Kind(), "InvalidAllocationId.NotFound", "Specified allocation ID is not found."),
	overQuota(kinds.QuotaEIPs, "QuotaExceeded.Eip", "Elastic IP address quota exceeded"),
	overQuota(kinds.QuotaTags, "QuotaExceeded.TagNumPerResource", "The number of tags of the resource exceeds the quota."),
	refuse(published, kinds.AddressOutside, "OperationFailed.AllocateUnfamiliarIp", "The operation failed because only IP addresses used within the last seven days can be allocated."),
	refuse(published, kinds.AddressTaken, "Ip.Allocated", "The reserve ip has been allocated."),
	refuse(published, kinds.NoFreeAddress, "OperationFailed.InsufficientEIP", "Eip resource is not enough."),
}

// targetAbsent answers for whatever kind of thing an EIP was to be on.
const (
	targetAbsentCode    = "InvalidInstanId.NotFound"
	targetAbsentMessage = "Specified instance does not exist."
)

var associationErrors = []gateway.ErrorRow{
	absent(http.StatusNotFound, kinds.Instances.Kind(), targetAbsentCode, targetAbsentMessage),
	absent(http.StatusNotFound, kinds.LoadBalancers.Kind(), targetAbsentCode, targetAbsentMessage),
	absent(http.StatusNotFound, kinds.NetworkInterfaces.Kind(), targetAbsentCode, targetAbsentMessage),
	absent(http.StatusNotFound, kinds.NATGateways.Kind(), targetAbsentCode, targetAbsentMessage, "AssociateEipAddress"),
}

// packages is the evidence for codes and messages of common bandwidth packages.
const packages = "CLB-0400"

var packageErrors = []gateway.ErrorRow{
	{Fact: state.NotFound, Kind: kinds.CommonBandwidthPackages.Kind(), Status: http.StatusNotFound, Code: "InvalidBandwidthPackageId.NotFound",
		Message: "The specified bandwidthPackageId does not exist in our records.", Evidence: packages},
	{Fact: state.NotFound, Kind: kinds.EIPs.Kind(), Actions: []string{"AddCommonBandwidthPackageIp"},
		Status: http.StatusNotFound, Code: "InvalidIpInstanceId.NotFound", Message: "The specified Eip InstanceId does not exist in our records.", Evidence: packages},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaBandwidthPackages), Status: http.StatusBadRequest, Code: "BandwidthPackage.QuotaExceeded",
		Message: "Create BandwidthPackage has exceeded quota.", Evidence: packages},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaPackageEIPs), Status: http.StatusBadRequest, Code: "IpInstanceId.QuotaExceeded",
		Message: "The specified BandwidthPackageId has too many ip in it. exceed the quota , Cannot add more.", Evidence: packages},
}
