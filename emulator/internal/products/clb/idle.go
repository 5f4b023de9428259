package clb

import "github.com/clbemu/clbemu/emulator/internal/gateway"

// idle are the parameters that nothing here reads, as they change nothing that is shown.
var idle = []gateway.Idle{
	{Parameter: "LoadBalancerName", Actions: []string{"ModifyLoadBalancerInstanceChargeType", "ModifyLoadBalancerInstanceSpec", "ModifyLoadBalancerInternetSpec",
		"ModifyLoadBalancerPayType", "SetLoadBalancerModificationProtection"}, Why: "Terraform sends it beside the id, and the API has no such parameter"},
	{Parameter: "AclName", Actions: []string{"AddAccessControlListEntry", "RemoveAccessControlListEntry"},
		Why: "Terraform sends it beside the id, and the API has no such parameter"},
}
