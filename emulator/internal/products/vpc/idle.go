package vpc

import "github.com/clbemu/clbemu/emulator/internal/gateway"

// idle are the parameters that nothing here reads, as they change no answer.
var idle = []gateway.Idle{
	{Parameter: "ActivityId", Actions: []string{"AllocateEipAddress"}, Why: "prices are not shown"},
	{Parameter: "VpcId", Actions: []string{"AssociateEipAddress"}, Why: "it comes with the type IpAddress, which is refused"},
	{Parameter: "Mode", Actions: []string{"UnassociateEipAddress"}, Why: "an EIP is on a thing in one mode alone"},
	{Parameter: "Force", Actions: []string{"UnassociateEipAddress"}, Why: "nothing of a NAT gateway uses an EIP"},
	{Parameter: "IpVersion", Actions: []string{"AssociateVpcCidrBlock"}, Values: []string{"IPV4"}, Why: "every secondary block is IPv4"},
	{Parameter: "RouteEntries.N.NextHopType", Actions: []string{"DeleteRouteEntries"}, Why: "the id of the next hop says it"},
	{Parameter: "InternetMode", Actions: []string{"DeleteIpv4Gateway"}, Why: "the VPC's way to the internet without a gateway is not shown"},
	{Parameter: "Spec", Actions: []string{"CreateIpv6Gateway"}, Why: "IPv6 gateways have no specifications any more"},
	{Parameter: "Duration", Actions: []string{"CreateNatGateway"}, Why: "NAT gateways are paid as they go"},
	{Parameter: "PricingCycle", Actions: []string{"CreateNatGateway"}, Why: "NAT gateways are paid as they go"},
	{Parameter: "AutoPay", Actions: []string{"CreateNatGateway"}, Why: "NAT gateways are paid as they go"},
	{Parameter: "Force", Actions: []string{"UnassociateHaVip"}, Why: "nothing keeps an association from ending"},
}
