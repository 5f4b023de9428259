// Package clb is the Classic Load Balancer API, Slb 2014-05-15: its actions,
// what they check and do, and its error table. Handlers work on a transaction
// and know no HTTP, no clock and no fault; each resource has a file of its own
// that opens with its actions.
package clb

import (
	"slices"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state/cloud"
)

// Product is the API as the gateway serves it.
func Product(rpc.Deps) *rpc.Product {
	return &rpc.Product{
		Name:    "Slb",
		Version: "2014-05-15",
		HostID:  "slb.aliyuncs.com",
		Actions: slices.Concat(
			regionActions,
			loadBalancerActions,
			loadBalancerChangeActions,
			listenerActions,
			listenerReadActions,
			ruleActions,
			vServerGroupActions,
			backendServerActions,
			aclActions,
			certificateActions,
			domainExtensionActions,
			tagActions,
			notEmulatedActions,
		),
		Errors: errorTable(),
		Denial: rpc.ErrorRow{Status: 403, Code: "Forbidden",
			Message: "User not authorized to operate on the specified resource.", Evidence: "CLB-0201"},
		Resources: []rpc.Resource{
			{Parameter: "LoadBalancerId", Type: "loadbalancer", Kind: cloud.LoadBalancers.Kind()},
			{Parameter: "VServerGroupId", Type: "vservergroup", Kind: cloud.VServerGroups.Kind()},
			{Parameter: "AclId", Type: "acl", Kind: cloud.AccessControlLists.Kind()},
			{Parameter: "ServerCertificateId", Type: "certificate", Kind: cloud.ServerCertificates.Kind()},
			{Parameter: "CACertificateId", Type: "certificate", Kind: cloud.CACertificates.Kind()},
		},
	}
}

// notEmulatedActions are what the cloud has and this emulator refuses.
var notEmulatedActions = []rpc.Action{
	rpc.NotEmulated("AddListenerWhiteListItem"),
	rpc.NotEmulated("AddTags"),
	rpc.NotEmulated("CreateMasterSlaveServerGroup"),
	rpc.NotEmulated("CreateTLSCipherPolicy"),
	rpc.NotEmulated("DeleteAccessLogsDownloadAttribute"),
	rpc.NotEmulated("DeleteMasterSlaveServerGroup"),
	rpc.NotEmulated("DeleteTLSCipherPolicy"),
	rpc.NotEmulated("DescribeAccessLogsDownloadAttribute"),
	rpc.NotEmulated("DescribeHighDefinationMonitor"), // the cloud's spelling
	rpc.NotEmulated("DescribeListenerAccessControlAttribute"),
	rpc.NotEmulated("DescribeMasterSlaveServerGroupAttribute"),
	rpc.NotEmulated("DescribeMasterSlaveServerGroups"),
	rpc.NotEmulated("DescribeTags"),
	rpc.NotEmulated("EnableHighDefinationMonitor"),
	rpc.NotEmulated("ListTLSCipherPolicies"),
	rpc.NotEmulated("ModifyHighDefinationMonitor"),
	rpc.NotEmulated("ModifyLoadBalancerPayType"),
	rpc.NotEmulated("MoveResourceGroup"),
	rpc.NotEmulated("RemoveListenerWhiteListItem"),
	rpc.NotEmulated("RemoveTags"),
	rpc.NotEmulated("SetAccessLogsDownloadAttribute"),
	rpc.NotEmulated("SetListenerAccessControlStatus"),
	rpc.NotEmulated("SetTLSCipherPolicyAttribute"),
}

// timeForm is how the API writes times: UTC, to the second.
const timeForm = "2006-01-02T15:04:05Z"
