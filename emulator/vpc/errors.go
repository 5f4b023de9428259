package vpc

import (
	"net/http"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
)

// Facts about any request.
const (
	dryRunPassed     state.Fact = "DryRunPassed"
	parameterMissing state.Fact = "ParameterMissing"
	cidrMalformed    state.Fact = "CIDRMalformed"
	tagKeyInvalid    state.Fact = "TagKeyInvalid"
	tagValueInvalid  state.Fact = "TagValueInvalid"
	ipVersionIllegal state.Fact = "IPVersionIllegal"
)

// Facts about VPCs.
const (
	vpcNameMalformed        state.Fact = "VPCNameMalformed"
	vpcDescriptionMalformed state.Fact = "VPCDescriptionMalformed"
	vpcBlockInvalid         state.Fact = "VPCBlockInvalid"
	vpcBlockReserved        state.Fact = "VPCBlockReserved"
	vpcQuotaExceeded        state.Fact = "VPCQuotaExceeded"
	vpcOwnerInvalid         state.Fact = "VPCOwnerInvalid"
	tooManyVPCIDs           state.Fact = "TooManyVPCIDs"
	ipamUnsupported         state.Fact = "IPAMUnsupported"
	ipamPoolMissing         state.Fact = "IPAMPoolMissing"
	ipv6BlockNotReserved    state.Fact = "IPv6BlockNotReserved"
	ipv6ISPUnsupported      state.Fact = "IPv6ISPUnsupported"
	vpcHasVSwitch           state.Fact = "VPCHasVSwitch"
	vpcHasSecurityGroup     state.Fact = "VPCHasSecurityGroup"
	vpcHasRouteTable        state.Fact = "VPCHasRouteTable"
	vpcHasRouteEntry        state.Fact = "VPCHasRouteEntry"
)

// Facts about vSwitches.
const (
	vSwitchNameMalformed        state.Fact = "VSwitchNameMalformed"
	vSwitchDescriptionMalformed state.Fact = "VSwitchDescriptionMalformed"
	vSwitchOwnerInvalid         state.Fact = "VSwitchOwnerInvalid"
	tooManyVSwitchIDs           state.Fact = "TooManyVSwitchIDs"
	zoneNotFound                state.Fact = "ZoneNotFound"
	maskLengthInvalid           state.Fact = "MaskLengthInvalid"
	blockOutsideVPC             state.Fact = "BlockOutsideVPC"
	blockOverlaps               state.Fact = "BlockOverlaps"
	ipv6SubnetInvalid           state.Fact = "IPv6SubnetInvalid"
	ipv6SubnetTaken             state.Fact = "IPv6SubnetTaken"
	vpcIPv6Disabled             state.Fact = "VPCIPv6Disabled"
	vpcIPv6BlockInvalid         state.Fact = "VPCIPv6BlockInvalid"
	vSwitchInUse                state.Fact = "VSwitchInUse"
	vSwitchHasRouteTable        state.Fact = "VSwitchHasRouteTable"
	addressOutsideVSwitch       state.Fact = "AddressOutsideVSwitch"
)

// Facts about route tables and their entries.
const (
	routeTableIDMissing            state.Fact = "RouteTableIDMissing"
	routeTableNameMalformed        state.Fact = "RouteTableNameMalformed"
	routeTableDescriptionMalformed state.Fact = "RouteTableDescriptionMalformed"
	gatewayTableUnsupported        state.Fact = "GatewayTableUnsupported"
	routeTableIsSystem             state.Fact = "RouteTableIsSystem"
	routeTableHasEntries           state.Fact = "RouteTableHasEntries"
	routeTableAssociated           state.Fact = "RouteTableAssociated"
	listedTableNotFound            state.Fact = "ListedTableNotFound"
	routeEntryTypeIllegal          state.Fact = "RouteEntryTypeIllegal"
	nextTokenIllegal               state.Fact = "NextTokenIllegal"
	routeEntryNameMalformed        state.Fact = "RouteEntryNameMalformed"
	destinationReserved            state.Fact = "DestinationReserved"
	destinationTaken               state.Fact = "DestinationTaken"
	routeConflicts                 state.Fact = "RouteConflicts"
	ipv6NotEnabled                 state.Fact = "IPv6NotEnabled"
	ipv6EntryOnCustomTable         state.Fact = "IPv6EntryOnCustomTable"
	nextHopTypeInvalid             state.Fact = "NextHopTypeInvalid"
	nextHopTypeAndList             state.Fact = "NextHopTypeAndList"
	nextHopNeither                 state.Fact = "NextHopNeither"
	nextHopListSize                state.Fact = "NextHopListSize"
	nextHopNotFound                state.Fact = "NextHopNotFound"
	nextHopOutsideVPC              state.Fact = "NextHopOutsideVPC"
	nextHopWithoutIPv6             state.Fact = "NextHopWithoutIPv6"
	entryNamedTwice                state.Fact = "EntryNamedTwice"
	entryNotFound                  state.Fact = "EntryNotFound"
	entryIsSystem                  state.Fact = "EntryIsSystem"
	entryInTransit                 state.Fact = "EntryInTransit"
	otherEntryInTransit            state.Fact = "OtherEntryInTransit"
	nextHopIDAndList               state.Fact = "NextHopIDAndList"
	nextHopMissing                 state.Fact = "NextHopMissing"
	deletedNextHopListSize         state.Fact = "DeletedNextHopListSize"
)

// Facts about EIPs.
const (
	bandwidthMalformed                state.Fact = "BandwidthMalformed"
	bandwidthIllegal                  state.Fact = "BandwidthIllegal"
	ispIllegal                        state.Fact = "ISPIllegal"
	internetChargeTypeInvalid         state.Fact = "InternetChargeTypeInvalid"
	securityProtectionTypesIllegal    state.Fact = "SecurityProtectionTypesIllegal"
	protectionNotOpen                 state.Fact = "ProtectionNotOpen"
	zoneAndAddress                    state.Fact = "ZoneAndAddress"
	zoneAndPool                       state.Fact = "ZoneAndPool"
	zoneUnsupported                   state.Fact = "ZoneUnsupported"
	poolNotFound                      state.Fact = "PoolNotFound"
	releasedEIPNotFound               state.Fact = "ReleasedEIPNotFound"
	orderNotPaid                      state.Fact = "OrderNotPaid"
	accountInArrears                  state.Fact = "AccountInArrears"
	balanceInsufficient               state.Fact = "BalanceInsufficient"
	eipIsPrePaid                      state.Fact = "EIPIsPrePaid"
	eipStatusIncorrect                state.Fact = "EIPStatusIncorrect"
	instanceIDTooLong                 state.Fact = "InstanceIDTooLong"
	chargeTypeUnsupported             state.Fact = "ChargeTypeUnsupported"
	associatedInstanceTypeUnsupported state.Fact = "AssociatedInstanceTypeUnsupported"
	filterKeyUnsupported              state.Fact = "FilterKeyUnsupported"
	filterValueInvalid                state.Fact = "FilterValueInvalid"
	lockReasonNotFound                state.Fact = "LockReasonNotFound"
	instanceTypeUnsupported           state.Fact = "InstanceTypeUnsupported"
	modeIllegal                       state.Fact = "ModeIllegal"
	modeUnsupported                   state.Fact = "ModeUnsupported"
	ipAddressUnsupported              state.Fact = "IPAddressUnsupported"
	otherRegion                       state.Fact = "OtherRegion"
	targetNotFound                    state.Fact = "TargetNotFound"
	targetNotInVPC                    state.Fact = "TargetNotInVPC"
	targetHasPublicAddress            state.Fact = "TargetHasPublicAddress"
	targetHasEIP                      state.Fact = "TargetHasEIP"
	secondaryAddressUnsupported       state.Fact = "SecondaryAddressUnsupported"
	privateAddressNotFound            state.Fact = "PrivateAddressNotFound"
	notOnThat                         state.Fact = "NotOnThat"
)

// published is the evidence for codes and messages of the API's metadata,
// unpublished for the messages, or the choice of a code, that it leaves open; the
// others for how a ClientToken that comes again, a change of routes while others
// are in transit, and a purchase by who can't pay are refused.
const (
	published   = "CLB-0300"
	unpublished = "CLB-0301"
	tokens      = "CLB-0302"
	transit     = "CLB-0350"
	purchases   = "CLB-0351"
)

// refuse is a row for a fact that means the same in every action, or in the
// given ones.
func refuse(evidence string, fact state.Fact, code, message string, actions ...string) rpc.ErrorRow {
	return rpc.ErrorRow{Fact: fact, Actions: actions, Status: http.StatusBadRequest, Code: code, Message: message, Evidence: evidence}
}

// absent is a row for an id that names nothing.
func absent(status int, kind state.Kind, code, message string, actions ...string) rpc.ErrorRow {
	return rpc.ErrorRow{Fact: state.NotFound, Kind: kind, Actions: actions, Status: status, Code: code, Message: message, Evidence: published}
}

// overQuota is a row for what goes over a quota.
func overQuota(quota state.QuotaName, code, message string) rpc.ErrorRow {
	return rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(quota), Status: http.StatusBadRequest, Code: code, Message: message, Evidence: published}
}

// withStatus changes the status of a row.
func withStatus(status int, row rpc.ErrorRow) rpc.ErrorRow {
	row.Status = status
	return row
}
