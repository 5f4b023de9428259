package vpc

import "github.com/clbemu/clbemu/emulator/internal/gateway"

// idle are the parameters that nothing here reads, as they change no answer.
var idle = []gateway.Idle{
	{Parameter: "ActivityId", Actions: []string{"AllocateEipAddress"}, Why: "prices are not shown"},
	{Parameter: "Netmode", Actions: []string{"AllocateEipAddress"}, Values: []string{"public"}, Why: "every EIP is on the internet"},
	{Parameter: "Ipv6Isp", Actions: []string{"CreateVpc", "ModifyVpcAttribute"}, Values: []string{"BGP"}, Why: "every IPv6 block is of that line"},
	{Parameter: "VpcId", Actions: []string{"AssociateEipAddress"}, Why: "it comes with the type IpAddress, which is refused"},
	{Parameter: "Mode", Actions: []string{"AssociateEipAddress"}, Values: []string{"NAT"}, Why: "every association has that mode"},
	{Parameter: "Mode", Actions: []string{"UnassociateEipAddress"}, Why: "an EIP is on a thing in one mode alone"},
	{Parameter: "Force", Actions: []string{"UnassociateEipAddress"}, Why: "nothing of a NAT gateway uses an EIP"},
	{Parameter: "AssociateType", Actions: []string{"CreateRouteTable"}, Values: []string{"VSwitch"}, Why: "every table is for vSwitches"},
	{Parameter: "RouteEntries.N.NextHopType", Actions: []string{"DeleteRouteEntries"}, Why: "the id of the next hop says it"},
	{Parameter: "Spec", Actions: []string{"CreateIpv6Gateway"}, Why: "IPv6 gateways have no specifications any more"},
	{Parameter: "NatType", Actions: []string{"CreateNatGateway"}, Values: []string{"Enhanced"}, Why: "no other type is sold any more: CLB-0561"},
	{Parameter: "InstanceChargeType", Actions: []string{"CreateNatGateway"}, Values: []string{"PostPaid"}, Why: "NAT gateways are paid as they go: CLB-0561"},
	{Parameter: "Duration", Actions: []string{"CreateNatGateway"}, Why: "NAT gateways are paid as they go"},
	{Parameter: "PricingCycle", Actions: []string{"CreateNatGateway"}, Why: "NAT gateways are paid as they go"},
	{Parameter: "AutoPay", Actions: []string{"CreateNatGateway"}, Why: "NAT gateways are paid as they go"},
}
