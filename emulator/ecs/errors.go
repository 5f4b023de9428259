package ecs

import (
	"net/http"
	"slices"

	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// Facts about any request.
const (
	dryRunPassed      state.Fact = "DryRunPassed"
	nextTokenInvalid  state.Fact = "NextTokenInvalid"
	regionIDMissing   state.Fact = "RegionIDMissing"
	parameterMissing  state.Fact = "ParameterMissing"
	tooManyTags       state.Fact = "TooManyTags"
	tagMismatch       state.Fact = "TagMismatch"
	tagKeyTwice       state.Fact = "TagKeyTwice"
	tagKeyMalformed   state.Fact = "TagKeyMalformed"
	tagValueMalformed state.Fact = "TagValueMalformed"
)

// Facts about instances and their interfaces.
const (
	networkTypeNotFound           state.Fact = "NetworkTypeNotFound"
	instanceChargeTypeNotFound    state.Fact = "InstanceChargeTypeNotFound"
	internetChargeTypeUnsupported state.Fact = "InternetChargeTypeUnsupported"
	statusNotFound                state.Fact = "StatusNotFound"
	lockReasonNotFound            state.Fact = "LockReasonNotFound"
	filterKeyNotFound             state.Fact = "FilterKeyNotFound"
	filterValueInvalid            state.Fact = "FilterValueInvalid"
	hpcClusterNotFound            state.Fact = "HPCClusterNotFound"
	instanceProtected             state.Fact = "InstanceProtected"
	instanceSubscribed            state.Fact = "InstanceSubscribed"
	instanceNotStopped            state.Fact = "InstanceNotStopped"
	interfaceNameInvalid          state.Fact = "InterfaceNameInvalid"
	queueSizeUnsupported          state.Fact = "QueueSizeUnsupported"
	primaryQueueNumber            state.Fact = "PrimaryQueueNumber"
	queueNumberUnsupported        state.Fact = "QueueNumberUnsupported"
	tooManyGroups                 state.Fact = "TooManyGroups"
	groupOutsideVPC               state.Fact = "GroupOutsideVPC"
	groupTypesMixed               state.Fact = "GroupTypesMixed"
	interfaceChanging             state.Fact = "InterfaceChanging"
)

// Facts about security groups.
const (
	groupNameMalformed        state.Fact = "GroupNameMalformed"
	groupDescriptionMalformed state.Fact = "GroupDescriptionMalformed"
	groupTypeInvalid          state.Fact = "GroupTypeInvalid"
	groupTypeUnknown          state.Fact = "GroupTypeUnknown"
	groupWithoutVPC           state.Fact = "GroupWithoutVPC"
	groupQuotaExceeded        state.Fact = "GroupQuotaExceeded"
	groupInUse                state.Fact = "GroupInUse"
)

// Facts about the rules of security groups.
const (
	permissionsAndOthers     state.Fact = "PermissionsAndOthers"
	permissionTwice          state.Fact = "PermissionTwice"
	policyMalformed          state.Fact = "PolicyMalformed"
	priorityMalformed        state.Fact = "PriorityMalformed"
	priorityUnsupported      state.Fact = "PriorityUnsupported"
	protocolUnsupported      state.Fact = "ProtocolUnsupported"
	nicTypeUnknown           state.Fact = "NicTypeUnknown"
	nicTypeFixed             state.Fact = "NicTypeFixed"
	ruleDescriptionMalformed state.Fact = "RuleDescriptionMalformed"
	portRangeMissing         state.Fact = "PortRangeMissing"
	portRangeMismatch        state.Fact = "PortRangeMismatch"
	portRangeInvalid         state.Fact = "PortRangeInvalid"
	sourcePortRangeMalformed state.Fact = "SourcePortRangeMalformed"
	sourceMissing            state.Fact = "SourceMissing"
	twoSources               state.Fact = "TwoSources"
	twoDestinations          state.Fact = "TwoDestinations"
	prefixListNotFound       state.Fact = "PrefixListNotFound"
	sourceCIDRInvalid        state.Fact = "SourceCIDRInvalid"
	ipv6SourceCIDRInvalid    state.Fact = "IPv6SourceCIDRInvalid"
	destCIDRInvalid          state.Fact = "DestCIDRInvalid"
	ipv6DestCIDRInvalid      state.Fact = "IPv6DestCIDRInvalid"
	familiesMixed            state.Fact = "FamiliesMixed"
	ipv4ProtocolWithIPv6     state.Fact = "IPv4ProtocolWithIPv6"
	ipv6ProtocolWithIPv4     state.Fact = "IPv6ProtocolWithIPv4"
	ruleQuotaExceeded        state.Fact = "RuleQuotaExceeded"
	sourceGroupIsItself      state.Fact = "SourceGroupIsItself"
	enterpriseGroup          state.Fact = "EnterpriseGroup"
	enterpriseSourceGroup    state.Fact = "EnterpriseSourceGroup"
	sourceGroupNotFound      state.Fact = "SourceGroupNotFound"
	sourceGroupOutsideVPC    state.Fact = "SourceGroupOutsideVPC"
	sourceKindFixed          state.Fact = "SourceKindFixed"
	ruleIDTwice              state.Fact = "RuleIDTwice"
	ruleNotFound             state.Fact = "RuleNotFound"
	noSuchRule               state.Fact = "NoSuchRule"
	nothingToModify          state.Fact = "NothingToModify"
)

// published is the evidence for codes and messages of the API's metadata,
// unpublished for the messages, or the choice of a code, that it leaves open, and
// tokens for how a ClientToken that comes again is refused.
const (
	published   = "CLB-0300"
	unpublished = "CLB-0301"
	tokens      = "CLB-0302"
)

// refuse is a row for a fact that means the same in every action, or in the
// given ones.
func refuse(status int, evidence string, fact state.Fact, code, message string, actions ...string) rpc.ErrorRow {
	return rpc.ErrorRow{Fact: fact, Actions: actions, Status: status, Code: code, Message: message, Evidence: evidence}
}

// absent is a row for an id that names nothing.
func absent(evidence string, kind state.Kind, code, message string, actions ...string) rpc.ErrorRow {
	row := refuse(http.StatusNotFound, evidence, state.NotFound, code, message, actions...)
	row.Kind = kind
	return row
}

// errorTable says how the Ecs API puts each fact.
var errorTable = rpc.NewErrorTable(slices.Concat(requestErrors, instanceErrors, groupErrors, ruleErrors)...)

var requestErrors = []rpc.ErrorRow{
	refuse(400, published, dryRunPassed, "DryRunOperation", "Request validation has been passed with DryRun flag set."),
	refuse(400, tokens, state.TokenConflict, "IdempotentParameterMismatch", "The request is retried with updated parameters."),
	refuse(403, tokens, state.TokenProcessing, "IdempotentProcessing", "The previous idempotent request(s) is still processing."),
	refuse(400, published, nextTokenInvalid, "InValidParameter.NextToken", "The parameter NextToken is invalid."),
	refuse(400, published, regionIDMissing, "MissingParameter.RegionId", `The parameter "RegionId" should not be null.`),
	refuse(400, unpublished, parameterMissing, "MissingParameter", "The input parameter %s that is mandatory for processing this request is not supplied."),
	refuse(400, published, tooManyTags, "InvalidTagCount", "The specified tags are beyond the permitted range."),
	refuse(400, published, tagMismatch, "InvalidTag.Mismatch", "The specified Tag.n.Key and Tag.n.Value are not match."),
	refuse(400, published, tagKeyTwice, "Duplicate.TagKey", "The Tag.N.Key contain duplicate key."),
	refuse(400, published, tagKeyMalformed, "InvalidTagKey.Malformed", "Specified tag key is not valid."),
	refuse(400, published, tagValueMalformed, "InvalidTagValue.Malformed", "Specified tag value is not valid."),
}

var instanceErrors = []rpc.ErrorRow{
	absent(published, cloud.Instances.Kind(), "InvalidInstanceId.NotFound", "The specified InstanceId does not exist."),
	refuse(404, published, networkTypeNotFound, "InvalidNetworkType.NotFound", "The specified InstanceNetworkType is not found."),
	refuse(404, published, instanceChargeTypeNotFound, "InvalidInstanceChargeType.NotFound", "The InstanceChargeType does not exist in our records."),
	refuse(404, published, internetChargeTypeUnsupported, "InvalidInternetChargeType.ValueNotSupported", "The specified InternetChargeType is not valid."),
	refuse(404, published, statusNotFound, "InvalidStatus.NotFound", "The specified Status is not found."),
	refuse(404, published, lockReasonNotFound, "InvalidLockReason.NotFound", "The specified LockReason is not found."),
	refuse(404, published, filterKeyNotFound, "InvalidFilterKey.NotFound", "Invalid filter.%s."),
	refuse(404, published, filterValueInvalid, "InvalidFilterValue", "Invalid filter.%s."),
	refuse(400, published, hpcClusterNotFound, "InvalidHpcClusterId.NotFound", "The specified HpcClusterId is not found."),
	refuse(403, unpublished, instanceProtected, "InvalidOperation.DeletionProtection", "The instance %s is protected against deletion: unset DeletionProtection first."),
	refuse(403, published, instanceSubscribed, "ChargeTypeViolation", "The operation is not permitted due to charge type of the instance."),
	refuse(403, published, instanceNotStopped, "IncorrectInstanceStatus", "The current status of the resource does not support this operation."),
	absent(unpublished, cloud.NetworkInterfaces.Kind(), "InvalidEniId.NotFound", "The specified NetworkInterfaceId %s does not exist."),
	refuse(400, unpublished, interfaceChanging, "InvalidOperation.Conflict", "Another change of the network interface %s is in progress."),
	refuse(403, unpublished, interfaceNameInvalid, "InvalidParams.NetworkInterfaceName", "The specified NetworkInterfaceName is not valid."),
	refuse(400, published, queueSizeUnsupported, "InvalidEniQueueSize.RegionOrUserNotSupported", "The specified parameter RxQueueSize or TxQueueSize is not supported in this region, or this account is not in the whitelist of using eni QueueSize."),
	refuse(403, published, primaryQueueNumber, "InvalidOperation.ModifyPrimaryEniQueueNumber", "Primary NetworkInterface is not allowed to modify queue number."),
	refuse(400, unpublished, queueNumberUnsupported, "InvalidOperation.NotSupportModifyQueueNumber", "The queue number of %s cannot be modified."),
	refuse(400, unpublished, tooManyGroups, "JoinedGroupLimitExceed", "The network interface %s cannot join more security groups."),
	refuse(403, unpublished, groupOutsideVPC, "InvalidOperation.VpcMismatch", "The security group %s is in another VPC than the network interface."),
	refuse(403, published, groupTypesMixed, "InvalidOperation.MultiGroupType", "The specified instance can't join different types of security group."),
}

var groupErrors = []rpc.ErrorRow{
	absent(published, cloud.SecurityGroups.Kind(), "InvalidSecurityGroupId.NotFound", "The specified SecurityGroupId does not exist."),
	absent(published, cloud.SecurityGroups.Kind(), "InvalidSecurityGroup.NotFound", "The specified security group is not found.", "DeleteSecurityGroup"),
	absent(published, cloud.VPCs.Kind(), "InvalidVpcId.NotFound", "Specified VPC does not exist."),
	absent(published, cloud.ResourceGroups.Kind(), "InvalidResourceGroup.NotFound", "The ResourceGroup provided does not exist in our records."),
	refuse(400, published, groupNameMalformed, "InvalidSecurityGroupName.Malformed", "Specified security group name is not valid."),
	refuse(400, published, groupDescriptionMalformed, "InvalidSecurityGroupDiscription.Malformed", "Specified security group description is not valid."),
	refuse(400, published, groupTypeInvalid, "InvalidParams.GroupType", "The specified security group type is not valid."),
	refuse(400, published, groupTypeUnknown, "InvalidParameter.SecurityGroupType", "The specified SecurityGroupType is not valid."),
	refuse(403, published, groupWithoutVPC, "InvalidVpcId.NotFound", "The VpcId must not empty when only support vpc vm."),
	refuse(403, published, groupQuotaExceeded, "QuotaExceed.SecurityGroup", "The maximum number of security groups is reached."),
	refuse(403, published, groupInUse, "DependencyViolation", "There is still instance(s) in the specified security group."),
}

var ruleErrors = []rpc.ErrorRow{
	refuse(400, published, permissionsAndOthers, "InvalidParam.Permissions", "The specified parameter Permissions cannot coexist with other parameters."),
	refuse(400, published, permissionTwice, "InvalidParam.DuplicatePermissions", "There are duplicate permissions in the specified parameter Permissions."),
	refuse(400, published, policyMalformed, "InvalidPolicy.Malformed", "The specified parameter Policy is not valid."),
	refuse(400, published, priorityMalformed, "InvalidPriority.Malformed", "The parameter Priority is invalid."),
	refuse(400, published, priorityUnsupported, "InvalidPriority.ValueNotSupported", "The specified parameter %s is invalid."),
	refuse(400, published, protocolUnsupported, "InvalidIpProtocol.ValueNotSupported", "The parameter %s must be specified with case insensitive TCP, UDP, ICMP, GRE or All."),
	refuse(400, published, nicTypeUnknown, "InvalidNicType.ValueNotSupported", "The specified NicType does not exist."),
	refuse(400, published, nicTypeFixed, "InvalidOperation.ModifyNicType", "NicType is not allowed to modify."),
	refuse(400, published, ruleDescriptionMalformed, "InvalidSecurityGroupDiscription.Malformed", "The specified security group rule description is not valid."),
	refuse(400, published, portRangeMissing, "InvalidPortRange.Malformed", "The specified parameter PortRange must set."),
	refuse(400, published, portRangeMismatch, "OperationDenied", "The specified IpProtocol does not exist or IpProtocol and PortRange do not match."),
	refuse(400, published, portRangeInvalid, "InvalidParam.PortRange", "The specified parameter %s is not valid. It should be two integers less than 65535 in ?/? format."),
	refuse(400, published, sourcePortRangeMalformed, "InvalidSourcePortRange.Malformed", "The specified parameter SourcePortRange is not valid."),
	refuse(400, published, sourceMissing, "MissingParameter.Source", "One of the parameters SourceCidrIp, Ipv6SourceCidrIp, SourceGroupId or SourcePrefixListId in %s must be specified."),
	refuse(400, published, twoSources, "InvalidParam.SourceIp", "The Parameters SourceCidrIp and Ipv6SourceCidrIp in %s cannot be set at the same time."),
	refuse(400, published, twoDestinations, "InvalidParam.DestIp", "The Parameters DestCidrIp and Ipv6DestCidrIp in %s cannot be set at the same time."),
	refuse(404, published, prefixListNotFound, "InvalidPrefixListId.NotFound", "The specified prefix list was not found."),
	refuse(400, published, sourceCIDRInvalid, "InvalidParam.SourceCidrIp", "The specified parameter %s is not valid."),
	refuse(400, published, ipv6SourceCIDRInvalid, "InvalidParam.Ipv6SourceCidrIp", "The specified parameter %s is not valid."),
	refuse(400, published, destCIDRInvalid, "InvalidParam.DestCidrIp", "The specified parameter %s is not valid."),
	refuse(400, published, ipv6DestCIDRInvalid, "InvalidParam.Ipv6DestCidrIp", "The specified parameter %s is not valid."),
	refuse(400, published, familiesMixed, "InvalidParameter.Conflict", "IPv6 and IPv4 addresses cannot exist at the same time."),
	refuse(400, published, ipv4ProtocolWithIPv6, "InvalidParam.Ipv4ProtocolConflictWithIpv6Address", "IPv6 address cannot be specified for IPv4-specific protocol."),
	refuse(400, published, ipv6ProtocolWithIPv4, "InvalidParam.Ipv6ProtocolConflictWithIpv4Address", "IPv4 address cannot be specified for IPv6-specific protocol."),
	refuse(403, published, ruleQuotaExceeded, "AuthorizationLimitExceed", "The limit of authorization records in the security group reaches."),
	refuse(403, published, sourceGroupIsItself, "InvalidParamter.Conflict", "The specified SecurityGroupId should be different from the SourceGroupId."),
	refuse(400, published, enterpriseGroup, "InvalidGroupParameter.OperationDenied", "The attributes Policy, SourceGroupId, DestGroupId of enterprise level security groups are not allowed to be set or modified."),
	refuse(400, published, enterpriseSourceGroup, "InvalidGroupAuthParameter.OperationDenied", "The security group can not authorize to enterprise level security group."),
	refuse(404, published, sourceGroupNotFound, "InvalidSourceGroupId.NotFound", "The SourceGroupId provided does not exist in our records."),
	refuse(400, published, sourceGroupOutsideVPC, "InvalidSourceGroupId.Mismatch", "Specified security group and source group are not in the same VPC."),
	refuse(400, published, sourceKindFixed, "InvalidOperation.ModifySgRuleEntityType", "The source or destination type of the rules cannot be modified."),
	refuse(400, published, ruleIDTwice, "InvalidParam.SecurityGroupRuleIdRepeated", "The specified parameter SecurityGroupRuleId is repeated."),
	refuse(404, published, ruleNotFound, "InvalidSecurityGroupRuleId.NotFound", "The specified SecurityGroupRuleId is not exists."),
	refuse(404, published, noSuchRule, "SecurityGroupRule.NotFound", "The target security group rule not exist."),
	refuse(400, published, nothingToModify, "InvalidParam.InvalidModifyRuleRequest", "The request parameters are illegal."),
}
