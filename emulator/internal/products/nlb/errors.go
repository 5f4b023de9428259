package nlb

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// refusals holds the refusals of this product, declared next to the code that returns
// them. The evidence says where code and message come from: NLB-0001 the API's
// documentation, NLB-0002 what clients look for, CLB-0203 nothing public, chosen here.
// The published ones are in emulator/names/errors.tsv.
var refusals gateway.Refusals

// What more than one file refuses.
var (
	errIllegal = refusals.New("Illegal", 400, "IllegalParam",
		"The param of %s is illegal.", "NLB-0001")
	errVPCMismatch = refusals.New("VPCMismatch", 400, "Mismatch.VpcId",
		"The VpcId is mismatched for %s.", "NLB-0001")
)

// missing declares the refusal of a call without a parameter.
func missing(parameter string) gateway.Refusal {
	return refusals.New(parameter+"Missing", 400, "MissingParam."+parameter, "The parameter of "+parameter+" is missing.", "NLB-0001")
}

var errorTable = refusals.Table(factRows)

// factRows holds this API's words for what the state reports.
var factRows = []gateway.ErrorRow{
	gateway.DryRunRow("NLB-0001"),
	{Fact: listing.BadToken, Status: 400, Code: "IllegalParam", Message: "The param of NextToken is illegal.", Evidence: "NLB-0001"},
	{Fact: state.NotFound, Kind: kinds.NLBLoadBalancers.Kind(), Status: 404, Code: "ResourceNotFound.loadBalancer",
		Message: "The specified resource of loadbalancer is not found.", Evidence: "NLB-0001"},
	{Fact: state.NotFound, Kind: kinds.NLBListeners.Kind(), Status: 404, Code: "ResourceNotFound.listener",
		Message: "The specified resource of listener is not found.", Evidence: "NLB-0002"},
	{Fact: state.NotFound, Kind: kinds.NLBServerGroups.Kind(), Status: 404, Code: "ResourceNotFound.serverGroup",
		Message: "The specified resource of serverGroup is not found.", Evidence: "NLB-0001"},
	{Fact: state.NotFound, Kind: kinds.NLBSecurityPolicies.Kind(), Actions: []string{"CreateListener", "UpdateListenerAttribute"}, Status: 404,
		Code: "ResourceNotFound.securitypolicy", Message: "The specified resource of securitypolicy is not found.", Evidence: "NLB-0001"},
	{Fact: state.NotFound, Kind: kinds.NLBSecurityPolicies.Kind(), Status: 404, Code: "ResourceNotFound.SecurityPolicy",
		Message: "The specified resource of SecurityPolicy is not found.", Evidence: "CLB-0203"},
	{Fact: state.NotFound, Kind: kinds.NLBHdMonitorConfigs.Kind(), Status: 404, Code: "ResourceNotFound.HdMonitorConfigNotExist",
		Message: "The specified resource of HdMonitorConfigNotExist is not found.", Evidence: "NLB-0001"},
	{Fact: state.NotFound, Kind: kinds.NLBJobs.Kind(), Status: 404, Code: "ResourceNotFound.Job",
		Message: "The specified resource of job is not found.", Evidence: "CLB-0203"},
	{Fact: state.NotFound, Kind: kinds.VPCs.Kind(), Status: 404, Code: "ResourceNotFound.Vpc",
		Message: "The specified resource of Vpc is not found.", Evidence: "NLB-0001"},
	{Fact: state.NotFound, Kind: kinds.VSwitches.Kind(), Status: 404, Code: "ResourceNotFound.VSwitch",
		Message: "The specified resource of vSwitch is not found.", Evidence: "NLB-0001"},
	{Fact: state.NotFound, Kind: kinds.EIPs.Kind(), Status: 404, Code: "ResourceNotFound.AllocationId",
		Message: "The specified resource of AllocationId is not found.", Evidence: "CLB-0203"},
	{Fact: state.NotFound, Kind: kinds.SecurityGroups.Kind(), Status: 404, Code: "ResourceNotFound.SecurityGroup",
		Message: "The specified resource of SecurityGroup is not found.", Evidence: "CLB-0203"},
	{Fact: state.NotFound, Kind: kinds.ResourceGroups.Kind(), Status: 404, Code: "ResourceNotFound.ResourceGroup",
		Message: "The param of resourceGroup not existed.", Evidence: "NLB-0001"},

	{Fact: kinds.NoFreeAddress, Status: 400, Code: "ResourceNotEnough.VSwitchIp",
		Message: "The specified resource of VSwitchIp is not enough.", Evidence: "NLB-0001"},
	{Fact: kinds.AddressOutside, Status: 400, Code: "IllegalParam.IP",
		Message: "The param of IP is illegal.", Evidence: "NLB-0001"},
	{Fact: kinds.AddressTaken, Status: 400, Code: "ResourceInUse.IP",
		Message: "The specified resource of IP is in use.", Evidence: "NLB-0001"},
	{Fact: state.TokenConflict, Status: 400, Code: "IdempotenceSignatureMismatch",
		Message:  "The idempotence token of request is same with the prev one, but the signature is different.",
		Evidence: "NLB-0001"},
	{Fact: state.TokenProcessing, Status: 400, Code: "IdempotenceProcessing",
		Message: "The idempotence token of request is processing.", Evidence: "NLB-0002"},

	{Fact: state.QuotaExceeded, Status: 400, Code: "QuotaExceeded.QuotaInsufficient",
		Message: "The quota of %s is exceeded.", Evidence: "NLB-0001"},
}
