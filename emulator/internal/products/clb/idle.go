package clb

import "github.com/clbemu/clbemu/emulator/internal/gateway"

// listenerWrites lists actions that get one another's parameters: Terraform sends the parameters of
// all protocols, and of the creation with each change.
var listenerWrites = []string{
	"CreateLoadBalancerTCPListener", "CreateLoadBalancerUDPListener", "CreateLoadBalancerHTTPListener", "CreateLoadBalancerHTTPSListener",
	"SetLoadBalancerTCPListenerAttribute", "SetLoadBalancerUDPListenerAttribute", "SetLoadBalancerHTTPListenerAttribute", "SetLoadBalancerHTTPSListenerAttribute",
}

// idle are the parameters that nothing here reads, as they change no answer.
var idle = []gateway.Idle{
	{Parameter: "LoadBalancerName", Actions: []string{"ModifyLoadBalancerInstanceChargeType", "ModifyLoadBalancerInstanceSpec", "ModifyLoadBalancerInternetSpec",
		"ModifyLoadBalancerPayType", "SetLoadBalancerModificationProtection"}, Why: "Terraform sends it beside the id, and the API has no such parameter"},
	{Parameter: "AclName", Actions: []string{"AddAccessControlListEntry", "RemoveAccessControlListEntry"},
		Why: "Terraform sends it beside the id, and the API has no such parameter"},
	{Of: listenerWrites, Actions: listenerWrites, Why: "the API has it for another protocol, or for creations alone, and ignores it"},
}
