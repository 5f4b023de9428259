package clb

import (
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// refusals holds the refusals of this product, declared next to the code that returns
// them. The evidence says where code and message come from: CLB-0200 the API metadata,
// CLB-0201 the documentation's common error table, CLB-0202 ACK's troubleshooting page,
// CLB-0203 nothing public, chosen here. The published ones are in emulator/names/errors.tsv.
var refusals gateway.Refusals

// Actions that word a fact differently.
var (
	layer4Actions = []string{
		"CreateLoadBalancerTCPListener", "CreateLoadBalancerUDPListener",
		"SetLoadBalancerTCPListenerAttribute", "SetLoadBalancerUDPListenerAttribute",
	}
	describeListenerActions = []string{
		"DescribeLoadBalancerTCPListenerAttribute", "DescribeLoadBalancerUDPListenerAttribute",
		"DescribeLoadBalancerHTTPListenerAttribute", "DescribeLoadBalancerHTTPSListenerAttribute",
	}
)

var errorTable = refusals.Table(factRows)

// factRows holds this API's words for what the state reports.
var factRows = []gateway.ErrorRow{

	// What does not exist.
	{Fact: state.NotFound, Kind: kinds.LoadBalancers.Kind(), Status: 404, Code: "InvalidLoadBalancerId.NotFound",
		Message: "The specified LoadBalancerId does not exist.", Evidence: "CLB-0201"},
	{Fact: state.NotFound, Kind: kinds.VServerGroups.Kind(), Status: 404, Code: "InvalidParameter",
		Message: "The specified VServerGroupId does not exist.", Evidence: "CLB-0201"},
	{Fact: state.NotFound, Kind: kinds.VServerGroups.Kind(), Actions: layer4Actions, Status: 400, Code: "ResourceNotFound.VServerGroup",
		Message: "The specified resource VServerGroup is not found.", Evidence: "CLB-0200"},
	{Fact: state.NotFound, Kind: kinds.MasterSlaveServerGroups.Kind(), Status: 400, Code: "InvalidParameter",
		Message: "The specified MasterSlaveGroupId does not exist.", Evidence: "CLB-0201"},
	{Fact: state.NotFound, Kind: kinds.TLSCipherPolicies.Kind(), Status: 400, Code: "InvalidTLSPolicyId.NotExist",
		Message: "The specified TLS cipher policy does not exist.", Evidence: "CLB-0200"},
	{Fact: state.NotFound, Kind: kinds.Listeners.Kind(), Status: 404, Code: "ListenerNotFound",
		Message: "You have not created a listener for the specified port of the load balancer.", Evidence: "CLB-0201"},
	{Fact: state.NotFound, Kind: kinds.Listeners.Kind(), Actions: describeListenerActions, Status: 400, Code: "InvalidParameter",
		Message: "The specified resource does not exist.", Evidence: "CLB-0201"},
	{Fact: state.NotFound, Kind: kinds.Listeners.Kind(), Actions: []string{"DeleteLoadBalancerListener"}, Status: 404, Code: "ResourceNotFound.Listener",
		Message: "The specified listener is not found.", Evidence: "CLB-0200"},
	{Fact: state.NotFound, Kind: kinds.AccessControlLists.Kind(), Status: 400, Code: "AclNotExist",
		Message: "Acl does not exist.", Evidence: "CLB-0200"},
	{Fact: state.NotFound, Kind: kinds.ServerCertificates.Kind(), Status: 404, Code: "ServerCertificateId.NotFound",
		Message: "The specified ServerCertificateId does not exist.", Evidence: "CLB-0203"},
	{Fact: state.NotFound, Kind: kinds.CACertificates.Kind(), Status: 404, Code: "CACertificateId.NotFound",
		Message: "The specified CACertificateId does not exist.", Evidence: "CLB-0203"},
	{Fact: state.NotFound, Kind: kinds.DomainExtensions.Kind(), Status: 400, Code: "InvalidParameter.DomainExtensionId",
		Message: "The specified DomainExtensionId does not exist.", Evidence: "CLB-0200"},
	{Fact: state.NotFound, Kind: kinds.VPCs.Kind(), Status: 400, Code: "InvalidVpcId.NotExist",
		Message: "The specified VPC not exist.", Evidence: "CLB-0200"},
	{Fact: state.NotFound, Kind: kinds.VSwitches.Kind(), Status: 400, Code: "VSwitchNotExist",
		Message: "The specified VSwitch does not exist.", Evidence: "CLB-0200"},
	{Fact: state.NotFound, Kind: kinds.ResourceGroups.Kind(), Status: 400, Code: "InvalidResourceGroupId.NotFound",
		Message: "The specified ResourceGroupId is not found.", Evidence: "CLB-0200"},

	// Load balancers.
	{Fact: kinds.NoFreeAddress, Status: 400, Code: "VSwitchAvailableIpNotExist",
		Message: "The specified VSwitch has no available ip.", Evidence: "CLB-0202"},
	{Fact: kinds.AddressOutside, Status: 400, Code: "InvalidParameter",
		Message: "Illegal parameter. The IP address is not in subnet.", Evidence: "CLB-0200"},
	{Fact: kinds.AddressTaken, Status: 400, Code: "InvalidParameter",
		Message: "The vpc Ip is exist.", Evidence: "CLB-0203"},
	{Fact: state.TokenConflict, Status: 400, Code: "IdempotentParameterMismatch",
		Message: "The request is retried with updated parameters.", Evidence: "CLB-0201"},

	// Tokens of lists.
	{Fact: listing.BadToken, Actions: []string{"ListTagResources"}, Status: 400, Code: "InvalidParam.NextToken",
		Message: "The specified NextToken is invalid.", Evidence: "CLB-0200"},
	{Fact: listing.BadToken, Actions: []string{"ListTLSCipherPolicies"}, Status: 400, Code: "QueryTokenInvalid",
		Message: "The specified token is invalid.", Evidence: "CLB-0200"},
	{Fact: listing.BadToken, Actions: []string{"DescribeLoadBalancerListeners"}, Status: 400, Code: "IllegalParam.NextToken",
		Message: "The param of NextToken is illegal.", Evidence: "CLB-0200"},

	// Changes that come too soon.
	{Fact: state.TokenProcessing, Status: 400, Code: "OperationFailed.TokenIsProcessing",
		Message: "The operation is failed, because the Client Token is processing.", Evidence: "CLB-0200"},

	// Quotas.
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaLoadBalancers), Status: 400, Code: "ORDER.QUANTITY_INVALID",
		Message: "The maximum number of SLB instances is exceeded.", Evidence: "CLB-0201"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaBackendServers), Actions: []string{"CreateVServerGroup"}, Status: 400, Code: "InstanceBackendServerNumberOverLimit",
		Message: "The backend server number has reached to the quota limit of this load balancer", Evidence: "CLB-0202"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaBackendServers), Status: 400, Code: "InstanceBackendServerNumberOverLimit",
		Message: "The backend server number has reached to the quota limit of this load balancers", Evidence: "CLB-0202"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaServerAttached), Status: 400, Code: "OverQuota",
		Message: "The Total is over the quota.", Evidence: "CLB-0203"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaListeners), Status: 400, Code: "ListenerNumberOverLimit",
		Message: "The maximum number of listeners is exceeded.", Evidence: "CLB-0201"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaRules), Status: 400, Code: "TooManyRules",
		Message: "the number of rules under specified vip is beyond maximum limit.", Evidence: "CLB-0201"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaDomainExtensions), Status: 400, Code: "DomainExtensionNumberOverLimit",
		Message: "The number of domainExtension has reached to the quota limit of this listener.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaCertificates), Status: 400, Code: "OverQuota",
		Message: "The Total is over the quota.", Evidence: "CLB-0203"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaCACertificates), Status: 400, Code: "OverQuota",
		Message: "The Total is over the quota.", Evidence: "CLB-0203"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaACLs), Status: 400, Code: "AclNumberOverLimit",
		Message: "The Acl number has reached to the max quota limit.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaACLEntries), Status: 400, Code: "AclEntryExceedLimit",
		Message: "The maximum number of ACL entries is exceeded.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaACLAttached), Status: 400, Code: "AclListenerOverLimit",
		Message: "The number of listeners of the acl %s exceeds the quota.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaListenerACLs), Status: 400, Code: "QuotaLimitExceeds.AclAttachedToListener",
		Message: "The number of acls attached to the listener %s exceeds the quota.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaTags), Status: 400, Code: "QuotaLimitExceeds",
		Message: "The number of tags of %s exceeds the quota.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaLegacyTags), Status: 400, Code: "QuotaExceed.TagsPerResource",
		Message: "The maximum number of tags for each resource is exceeded.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaTLSCipherPolicies), Status: 400, Code: "TLSCipherPolicyOverLimit",
		Message: "The TLSCipherPolicy is over the limit.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaTLSCipherPolicyListeners), Status: 400, Code: "TLSCipherPolicyVipRelationOverLimit",
		Message: "The number of listeners associated with a policy has exceeded.", Evidence: "CLB-0200"},
	{Fact: state.QuotaExceeded, Kind: state.Kind(kinds.QuotaWhiteList), Status: 400, Code: "SourceItemsQuotaOverLimit",
		Message: "The maximum number of SourceItems is exceeded.", Evidence: "CLB-0201"},

	// Forwarding rules.
	{Fact: state.NotFound, Kind: kinds.Rules.Kind(), Status: 404, Code: "InvalidRuleId.NotFound",
		Message: "Rule does not exist.", Evidence: "CLB-0200"},
}
