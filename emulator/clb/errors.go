package clb

import (
	"github.com/clbemu/clbemu/emulator/rpc"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// Facts of this product: why it refuses, in its own terms. Request tags name
// them by their values.
const (
	vSwitchMissing                      state.Fact = "VSwitchMissing"
	vSwitchNotInVPC                     state.Fact = "VSwitchNotInVPC"
	intranetIPv6                        state.Fact = "IntranetIPv6"
	ipv6NotOffered                      state.Fact = "IPv6NotOffered"
	regionSoldOut                       state.Fact = "RegionSoldOut"
	zoneNotSold                         state.Fact = "ZoneNotSold"
	sharedInstanceNotSold               state.Fact = "SharedInstanceNotSold"
	internetChargeTypeNotAllowed        state.Fact = "InternetChargeTypeNotAllowed"
	bandwidthInvalid                    state.Fact = "BandwidthInvalid"
	prepaidInternetByTraffic            state.Fact = "PrepaidInternetByTraffic"
	prepaidIntranetByBandwidth          state.Fact = "PrepaidIntranetByBandwidth"
	prepaidNotDeletable                 state.Fact = "PrepaidNotDeletable"
	prepaidSpecDown                     state.Fact = "PrepaidSpecDown"
	prepaidBandwidthDown                state.Fact = "PrepaidBandwidthDown"
	modificationProtectionStatusInvalid state.Fact = "ModificationProtectionStatusInvalid"
	modificationProtectionReasonInvalid state.Fact = "ModificationProtectionReasonInvalid"
	deleteProtectionOn                  state.Fact = "DeleteProtectionOn"
	notForPayByCLCU                     state.Fact = "NotForPayByCLCU"
	alreadyPayBySpec                    state.Fact = "AlreadyPayBySpec"
	clcuToSpec                          state.Fact = "CLCUToSpec"
	instanceChargeTypeIllegal           state.Fact = "InstanceChargeTypeIllegal"
	internetChargeTypeIllegal           state.Fact = "InternetChargeTypeIllegal"
	intranetByBandwidth                 state.Fact = "IntranetByBandwidth"
	tagsMalformed                       state.Fact = "TagsMalformed"
	listenerPortInvalid                 state.Fact = "ListenerPortInvalid"
	listenerExists                      state.Fact = "ListenerExists"
	listenerPortConflict                state.Fact = "ListenerPortConflict"
	portReserved                        state.Fact = "PortReserved"
	backendMissing                      state.Fact = "BackendMissing"
	serverGroupsMismatch                state.Fact = "ServerGroupsMismatch"
	masterSlaveGroupUnknown             state.Fact = "MasterSlaveGroupUnknown"
	vServerGroupForeign                 state.Fact = "VServerGroupForeign"
	vServerGroupMissing                 state.Fact = "VServerGroupMissing"
	vServerGroupNeeded                  state.Fact = "VServerGroupNeeded"
	forwardPortInvalid                  state.Fact = "ForwardPortInvalid"
	redirectingListener                 state.Fact = "RedirectingListener"
	redirectedTo                        state.Fact = "RedirectedTo"
	tooManyListeners                    state.Fact = "TooManyListeners"
	listenerBandwidthExceeded           state.Fact = "ListenerBandwidthExceeded"
	ipVersionConflict                   state.Fact = "IPVersionConflict"
	idleTimeoutTooLong                  state.Fact = "IdleTimeoutTooLong"
	requestTimeoutTooLong               state.Fact = "RequestTimeoutTooLong"
	serverCertificateMissing            state.Fact = "ServerCertificateMissing"
	listenerCertificateUnknown          state.Fact = "ListenerCertificateUnknown"
	tlsCipherPolicyUnknown              state.Fact = "TLSCipherPolicyUnknown"
	maxResultsIllegal                   state.Fact = "MaxResultsIllegal"
	listenerProtocolIllegal             state.Fact = "ListenerProtocolIllegal"
	listenerTokenIllegal                state.Fact = "ListenerTokenIllegal"
	tooManyLoadBalancerIDs              state.Fact = "TooManyLoadBalancerIDs"
	backendServersMalformed             state.Fact = "BackendServersMalformed"
	backendServersInvalid               state.Fact = "BackendServersInvalid"
	backendServersDuplicated            state.Fact = "BackendServersDuplicated"
	backendServerExists                 state.Fact = "BackendServerExists"
	tooManyBackendServers               state.Fact = "TooManyBackendServers"
	serverIDEmpty                       state.Fact = "ServerIDEmpty"
	backendPortInvalid                  state.Fact = "BackendPortInvalid"
	weightInvalid                       state.Fact = "WeightInvalid"
	backendTypeInvalid                  state.Fact = "BackendTypeInvalid"
	serverUnknown                       state.Fact = "ServerUnknown"
	serverNotRunning                    state.Fact = "ServerNotRunning"
	networkInterfaceUnknown             state.Fact = "NetworkInterfaceUnknown"
	serverIPConflict                    state.Fact = "ServerIPConflict"
	networkConflict                     state.Fact = "NetworkConflict"
	eniOnSharedInstance                 state.Fact = "ENIOnSharedInstance"
	vServerGroupInUse                   state.Fact = "VServerGroupInUse"
	vServerGroupNothingToSet            state.Fact = "VServerGroupNothingToSet"
	aclInUse                            state.Fact = "AclInUse"
	aclEntriesMalformed                 state.Fact = "AclEntriesMalformed"
	aclEntryInvalid                     state.Fact = "AclEntryInvalid"
	aclCommentInvalid                   state.Fact = "AclCommentInvalid"
	aclEntryVersion                     state.Fact = "AclEntryVersion"
	aclEntryExists                      state.Fact = "AclEntryExists"
	aclEntryUnknown                     state.Fact = "AclEntryUnknown"
	aliCloudCertificateUnknown          state.Fact = "AliCloudCertificateUnknown"
	certificateMalformed                state.Fact = "CertificateMalformed"
	privateKeyMalformed                 state.Fact = "PrivateKeyMalformed"
	privateKeyEncrypted                 state.Fact = "PrivateKeyEncrypted"
	privateKeyMismatch                  state.Fact = "PrivateKeyMismatch"
	certificateInUse                    state.Fact = "CertificateInUse"
	certificateInDomainExtension        state.Fact = "CertificateInDomainExtension"
	extensionExists                     state.Fact = "ExtensionExists"
	extensionOnSharedInstance           state.Fact = "ExtensionOnSharedInstance"
	extensionCertificateMissing         state.Fact = "ExtensionCertificateMissing"
	extensionCertificateUnknown         state.Fact = "ExtensionCertificateUnknown"
	tagKeyMissing                       state.Fact = "TagKeyMissing"
	tagKeyInvalid                       state.Fact = "TagKeyInvalid"
	tagValueInvalid                     state.Fact = "TagValueInvalid"
	tagKeyTwice                         state.Fact = "TagKeyTwice"
	tooManyTags                         state.Fact = "TooManyTags"
	tooManyTagged                       state.Fact = "TooManyTagged"
	taggedMissing                       state.Fact = "TaggedMissing"
	taggedUnknown                       state.Fact = "TaggedUnknown"
	tagOrResourceMissing                state.Fact = "TagOrResourceMissing"
	tagTokenInvalid                     state.Fact = "TagTokenInvalid"
	tagResourceTypeInvalid              state.Fact = "TagResourceTypeInvalid"
	loadBalancerLocked                  state.Fact = "LoadBalancerLocked"
	accountInArrears                    state.Fact = "AccountInArrears"
	balanceInsufficient                 state.Fact = "BalanceInsufficient"
	zoneSoldOut                         state.Fact = "ZoneSoldOut"
	specMissing                         state.Fact = "SpecMissing"
	specInvalid                         state.Fact = "SpecInvalid"
	listenerInTransit                   state.Fact = "ListenerInTransit"
	vServerGroupBusy                    state.Fact = "VServerGroupBusy"
	defaultGroupBusy                    state.Fact = "DefaultGroupBusy"
	vServerGroupInRule                  state.Fact = "VServerGroupInRule"
	tooManyACLEntries                   state.Fact = "TooManyACLEntries"
	certificateExpired                  state.Fact = "CertificateExpired"
	ruleListMalformed                   state.Fact = "RuleListMalformed"
	tooManyRules                        state.Fact = "TooManyRules"
	ruleNameMissing                     state.Fact = "RuleNameMissing"
	ruleDomainInvalid                   state.Fact = "RuleDomainInvalid"
	ruleURLInvalid                      state.Fact = "RuleURLInvalid"
	ruleOnLayer4                        state.Fact = "RuleOnLayer4"
	ruleExists                          state.Fact = "RuleExists"
	ruleGroupForeign                    state.Fact = "RuleGroupForeign"
	rulesOfTwoListeners                 state.Fact = "RulesOfTwoListeners"
)

// Actions that put a fact in words of their own.
var (
	describeListenerActions = []string{
		"DescribeLoadBalancerTCPListenerAttribute", "DescribeLoadBalancerUDPListenerAttribute",
		"DescribeLoadBalancerHTTPListenerAttribute", "DescribeLoadBalancerHTTPSListenerAttribute",
	}
	layer4ListenerActions = []string{
		"CreateLoadBalancerTCPListener", "CreateLoadBalancerUDPListener",
		"SetLoadBalancerTCPListenerAttribute", "SetLoadBalancerUDPListenerAttribute",
	}
	// transitListenerActions are those that terraform does not meet with the
	// listener's own code.
	transitListenerActions = []string{
		"StartLoadBalancerListener", "StopLoadBalancerListener", "DeleteLoadBalancerListener",
	}
	tagActionNames = []string{"TagResources", "UntagResources", "ListTagResources"}
)

// errorTable is the one place that knows how a refusal looks on the wire. The
// evidence says where code and message come from: CLB-0200 the API metadata,
// CLB-0201 the documentation's common error table, CLB-0202 ACK's
// troubleshooting page, CLB-0203 nothing public, chosen here.
var errorTable = rpc.NewErrorTable(

	// What does not exist.
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.LoadBalancers.Kind(), Status: 404, Code: "InvalidLoadBalancerId.NotFound",
		Message: "The specified LoadBalancerId does not exist.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.VServerGroups.Kind(), Status: 404, Code: "InvalidParameter",
		Message: "The specified VServerGroupId does not exist.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.Listeners.Kind(), Status: 404, Code: "ListenerNotFound",
		Message: "You have not created a listener for the specified port of the load balancer.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.Listeners.Kind(), Actions: describeListenerActions, Status: 400, Code: "InvalidParameter",
		Message: "The specified resource does not exist.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.Listeners.Kind(), Actions: []string{"DeleteLoadBalancerListener"}, Status: 404, Code: "ResourceNotFound.Listener",
		Message: "The specified listener is not found.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.AccessControlLists.Kind(), Status: 400, Code: "AclNotExist",
		Message: "Acl does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.ServerCertificates.Kind(), Status: 404, Code: "ServerCertificateId.NotFound",
		Message: "The specified ServerCertificateId does not exist.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.CACertificates.Kind(), Status: 404, Code: "CACertificateId.NotFound",
		Message: "The specified CACertificateId does not exist.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.DomainExtensions.Kind(), Status: 400, Code: "InvalidParameter.DomainExtensionId",
		Message: "The specified DomainExtensionId does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.VPCs.Kind(), Status: 400, Code: "InvalidVpcId.NotExist",
		Message: "The specified VPC not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.VSwitches.Kind(), Status: 400, Code: "VSwitchNotExist",
		Message: "The specified VSwitch does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.ResourceGroups.Kind(), Status: 400, Code: "InvalidResourceGroupId.NotFound",
		Message: "The specified ResourceGroupId is not found.", Evidence: "CLB-0200"},

	// Load balancers.
	rpc.ErrorRow{Fact: cloud.NoFreeAddress, Status: 400, Code: "VSwitchAvailableIpNotExist",
		Message: "The specified VSwitch has no available ip.", Evidence: "CLB-0202"},
	rpc.ErrorRow{Fact: cloud.AddressOutside, Status: 400, Code: "InvalidParameter",
		Message: "Illegal parameter. The IP address is not in subnet.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: cloud.AddressTaken, Status: 400, Code: "InvalidParameter",
		Message: "The vpc Ip is exist.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: vSwitchMissing, Status: 400, Code: "MissingParam.VSwitchId",
		Message: "The parameter VSwitchId is required.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: vSwitchNotInVPC, Status: 400, Code: "InvalidVSwitchId.NotFound",
		Message: "The specified vSwitch instance is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: intranetIPv6, Status: 400, Code: "InvalidParameter.Mismatch",
		Message: "AddressType and IpVersion is conflict, IPv6 does not support intranet instance.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: ipv6NotOffered, Status: 400, Code: "RegionOrZonesNotSupportIpv6",
		Message: "The specified region or master/slave zones does not support ipv6.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: regionSoldOut, Status: 400, Code: "OperationFailed.RegionResourceLimit",
		Message: "The operation failed because of resource limit of the specified region.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: zoneNotSold, Status: 400, Code: "PRODUCT.NOT_AVAILABLE_IZ",
		Message: "The Instance zone id doesn t support", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: sharedInstanceNotSold, Status: 400, Code: "ShareSlbHaltSales",
		Message: "The share instance has been discontinued.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: internetChargeTypeNotAllowed, Status: 400, Code: "Instance.InternetChargeTypeNotAllowed",
		Message: "Illegal parameter. The specified InternetChargeType not allowed.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: bandwidthInvalid, Status: 400, Code: "InvalidParameter.Bandwidth",
		Message: "The param Bandwidth is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: prepaidInternetByTraffic, Status: 400, Code: "Operation.NotAllowed",
		Message: "Operation Denied. The charge type of internet prepay instance can only be paybybandwidth.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: prepaidIntranetByBandwidth, Status: 400, Code: "Operation.NotAllowed",
		Message: "Operation Denied. The charge type of intranet prepay instance can only be paybytraffic.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: prepaidNotDeletable, Status: 400, Code: "InvalidChargeType",
		Message: "The prepay loadBalancer does not support this action.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: prepaidSpecDown, Status: 400, Code: "Operation.NotAllowed",
		Message: "Operation Denied. Prepay instance only permitted to increase loadBalancerSpec.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: prepaidBandwidthDown, Status: 400, Code: "Operation.NotAllowed",
		Message: "Operation Denied. Prepay instance only permitted to increase internet bandwidth.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: modificationProtectionStatusInvalid, Status: 400, Code: "InvalidParam.ModificationProtectionStatus",
		Message: "The param ModificationProtectionStatus is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: modificationProtectionReasonInvalid, Status: 400, Code: "InvalidParam.ModificationProtectionReason",
		Message: "The param ModificationProtectionReason is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: deleteProtectionOn, Status: 400, Code: "OperationDenied.DeleteProtectionIsOn",
		Message: "The loadbalancer can not be deleted due to DeleteProtection is enabled.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.TokenConflict, Status: 400, Code: "IdempotentParameterMismatch",
		Message: "The request is retried with updated parameters.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: notForPayByCLCU, Status: 400, Code: "OperationDenied.PayByCLCU",
		Message: "The operation is not allowed because the instanceChargeType of loadbalancer is PayByCLCU.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: alreadyPayBySpec, Status: 400, Code: "OperationDenied.PayBySpec",
		Message: "The operation is not allowed because the instanceChargeType of loadbalancer is PayBySpec.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: clcuToSpec, Status: 400, Code: "Forbidden.LcuToSpec",
		Message: "User does not have permission modify InstanceChargeType to spec.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: instanceChargeTypeIllegal, Status: 400, Code: "IllegalParam.InstanceChargeType",
		Message: "The parameter InstanceChargeType is illegal.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: internetChargeTypeIllegal, Status: 400, Code: "IllegalParam.InternetChargeType",
		Message: "The parameter InternetChargeType is illegal.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: intranetByBandwidth, Status: 400, Code: "ActionNotAllowed",
		Message: "The Intranet LB's InternetChargeType is not allowed change to paybybandwidth.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: tagsMalformed, Status: 400, Code: "InvalidTag",
		Message: "The specified tags is invalid.", Evidence: "CLB-0200"},

	// Listeners.
	rpc.ErrorRow{Fact: listenerPortInvalid, Status: 400, Code: "InvalidListenerPort",
		Message: "Specified parameter ListenerPort is not valid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: listenerPortInvalid, Actions: layer4ListenerActions, Status: 400, Code: "InvalidParam.ListenerPort",
		Message: "The specified ListenerPort is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: listenerExists, Status: 400, Code: "ListenerAlreadyExists",
		Message: "A listener with the specified port already exists", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: listenerPortConflict, Status: 400, Code: "InvalidParameter.ListenerPortConflict",
		Message: "There is conflict listener port exists.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: portReserved, Status: 400, Code: "OperationDenied.SpecialListenerPortNotAllowed",
		Message: "The operation is not allowed because port 4789 is reserved by the system.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: backendMissing, Status: 400, Code: "MissingParameter",
		Message: "The BackendServerPort or VServerGroupId is required at lease one.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: serverGroupsMismatch, Status: 400, Code: "Abs.VServerGroupIdAndMasterSlaveServerGroupId.MissMatch",
		Message: "The parameters VServerGroupId or MasterSlaveServerGroupId miss match.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: serverGroupsMismatch, Actions: []string{"SetLoadBalancerTCPListenerAttribute", "SetLoadBalancerUDPListenerAttribute"}, Status: 400, Code: "Abs.VServerGroupIdAndMasterSlaveServerGroupId.MissMatch",
		Message: "Virtual service group ID or master slave server group ID is missing. Please check the input parameters.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: masterSlaveGroupUnknown, Status: 400, Code: "InvalidParameter",
		Message: "The specified MasterSlaveGroupId does not exist.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: vServerGroupForeign, Status: 400, Code: "InvalidParam.VServerGroupId",
		Message: "The specified VServerGroupId is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: vServerGroupMissing, Status: 400, Code: "MissingParam.VServerGroupId",
		Message: "The parameter VServerGroupId is missing.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: vServerGroupNeeded, Status: 400, Code: "OperationFailed.ServerGroupInUse",
		Message: "The VServerGroup or MasterSlaveServerGroup can not be close for this listener.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: forwardPortInvalid, Status: 400, Code: "InvalidParameter",
		Message: "The specified ListenerPort or ForwardPort is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: redirectingListener, Status: 400, Code: "Operation.NotAllowed",
		Message: "Operation Denied. The HTTP listener does not support this action.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: redirectedTo, Status: 400, Code: "ListenerForwardExist",
		Message: "The specified listener is forwarded by the other listener, the ListenerForward relationship should be deleted firstly.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tooManyListeners, Status: 400, Code: "TooManyListeners",
		Message: "More than 1 listener is found, please be more specified.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: listenerBandwidthExceeded, Status: 400, Code: "InvalidParameter",
		Message: "The specified Bandwidth is invalid. It exceeds the maximum bandwidth available to the instance.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: ipVersionConflict, Status: 400, Code: "IpVersionConflict",
		Message: "The ip version of this LoadBalancer and the Acl is conflict.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: idleTimeoutTooLong, Status: 400, Code: "InvalidParameter.IdleTimeout",
		Message: "The specified IdleTimeout exceeds the limit.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: requestTimeoutTooLong, Status: 400, Code: "InvalidParameter.RequestTimeout",
		Message: "The specified RequestTimeout exceeds the limit.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: serverCertificateMissing, Status: 400, Code: "MissingParam.ServerCertificates",
		Message: "Server certificates are required.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: listenerCertificateUnknown, Status: 400, Code: "CertificateNotExist",
		Message: "The specified CertificateId does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tlsCipherPolicyUnknown, Status: 400, Code: "InvalidTLSPolicyId.NotExist",
		Message: "The specified TLS cipher policy does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: maxResultsIllegal, Status: 400, Code: "IllegalParam.MaxResults",
		Message: "The param of MaxResults is illegal.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: listenerProtocolIllegal, Status: 400, Code: "IllegalParam.ListenerProtocol",
		Message: "The param of ListenerProtocol is illegal.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: listenerTokenIllegal, Status: 400, Code: "IllegalParam.NextToken",
		Message: "The param of NextToken is illegal.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tooManyLoadBalancerIDs, Status: 400, Code: "IllegalParamSize.LoadBalancerId",
		Message: "The param size of LoadBalancerId is illegal.", Evidence: "CLB-0200"},

	// Server groups and backend servers.
	rpc.ErrorRow{Fact: backendServersMalformed, Status: 400, Code: "BackendServersMalformed",
		Message: "the specified parameter BackendServers is unavailable.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: backendServersInvalid, Status: 400, Code: "InvalidParameter",
		Message: "The specified BackendServers is invalid.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: backendServersDuplicated, Status: 400, Code: "InvalidParameter",
		Message: "The specified BackendServers contain duplicated value of ServerID and Port.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: backendServerExists, Status: 400, Code: "InvalidParameter",
		Message: "The resource already exists.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: tooManyBackendServers, Status: 400, Code: "TooManyBackendServers",
		Message: "The total number of input real servers exceeds max supported number: %s", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: serverIDEmpty, Status: 400, Code: "BackendServer.ServerIdEmpty",
		Message: "The specified ServerId can not be empty.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: backendPortInvalid, Status: 400, Code: "InvalidParameter",
		Message: "The specified Port must be between 1 and 65535.", Evidence: "CLB-0202"},
	rpc.ErrorRow{Fact: weightInvalid, Status: 400, Code: "InvalidWeight.Malformed",
		Message: "A specified weight is not valid.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: backendTypeInvalid, Status: 400, Code: "BackendServer.InvalidType",
		Message: "The specified Type is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: serverUnknown, Status: 400, Code: "InvalidServerId.NotExist",
		Message: "The specified ServerId is not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: serverUnknown, Actions: []string{"AddBackendServers"}, Status: 404, Code: "InvalidServerId.NotFound",
		Message: "The specified ServerId does not exist.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: serverNotRunning, Status: 400, Code: "ObtainIpFail",
		Message: "The specified BackendServers is invalid; some of the specified backend servers do not exist or are not running.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: networkInterfaceUnknown, Status: 404, Code: "ResourceNotFound.vServers",
		Message: "The specified enis %s does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: serverIPConflict, Status: 400, Code: "InvalidBackendServers.ServerIpConflict",
		Message: "The backend server ip %s is conflict.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: networkConflict, Status: 400, Code: "NetworkConflict",
		Message: "there are network conflicts in specified parameter.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: eniOnSharedInstance, Status: 400, Code: "OperationFailed.ActionNotSupport",
		Message: "The loadbalancer does not support backend servers of eni type", Evidence: "CLB-0202"},
	rpc.ErrorRow{Fact: vServerGroupInUse, Status: 400, Code: "RspoolVipExist",
		Message: "there are vips associating with this vServer group.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: vServerGroupNothingToSet, Status: 400, Code: "MissingParameter",
		Message: "The VServerGroupName or BackendServers is required at lease one.", Evidence: "CLB-0200"},

	// Access control lists.
	rpc.ErrorRow{Fact: aclInUse, Status: 400, Code: "OperationFailed.AclBindedWithVip",
		Message: "The ACL has binded with vip.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: aclEntriesMalformed, Status: 400, Code: "InvalidEntry",
		Message: "The %s is not a list of entries.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: aclEntryInvalid, Status: 400, Code: "InvalidEntry",
		Message: "%s.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: aclCommentInvalid, Status: 400, Code: "InvalidParam.Comment",
		Message: "The specified comment is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: aclEntryVersion, Status: 400, Code: "IllegalEntry",
		Message: "Entry version is conflict to the acl version.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: aclEntryExists, Status: 400, Code: "InvalidParam.AclEntryExists",
		Message: "The specified aclEntry already exists in the acl.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: aclEntryUnknown, Status: 400, Code: "AclEntryEmpty",
		Message: "The specified entries are not in the acl.", Evidence: "CLB-0203"},

	// Certificates and domain extensions.
	rpc.ErrorRow{Fact: aliCloudCertificateUnknown, Status: 400, Code: "InvalidParameter.AliCloudCertificateId",
		Message: "The specified AliCloudCertificateId is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: certificateMalformed, Status: 400, Code: "CertificateFormatInvalid",
		Message: "The certificate format is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: privateKeyMalformed, Status: 400, Code: "KeyFormatError",
		Message: "The specified ServerCertificate is incorrectly formatted.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: privateKeyEncrypted, Status: 400, Code: "PrivateKeyEncryption",
		Message: "Key has Encrypted .", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: privateKeyMismatch, Status: 400, Code: "CertificateNotMatchPrivateKey",
		Message: "Certificate and key does not match.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: certificateInUse, Status: 400, Code: "CertificateAndPrivateKeyIsRefered",
		Message: "The specified certificate is bound to listeners. You cannot delete it.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: certificateInDomainExtension, Status: 400, Code: "CertificateRelatedDomainExtensionExist",
		Message: "The domainExtension related with this ServerCertificate exists.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: extensionExists, Status: 400, Code: "InvalidParameter.Domain",
		Message: "The specified Domain exists.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: extensionOnSharedInstance, Status: 400, Code: "DomainExtensionNotSupport",
		Message: "The instance with shared loadBalancerSpec does not support domainExtension.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: extensionCertificateMissing, Status: 400, Code: "MissingParam.ServerCertificates",
		Message: "The param ServerCertificates is missing.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: extensionCertificateUnknown, Status: 400, Code: "InvalidParameter.ServerCertificateId",
		Message: "The specified ServerCertificateId does not exist.", Evidence: "CLB-0200"},

	// Tags.
	rpc.ErrorRow{Fact: tagKeyMissing, Status: 400, Code: "MissingParam.TagKey",
		Message: "The param MissingParam.TagKey is missing.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagKeyMissing, Actions: tagActionNames, Status: 400, Code: "MissingParam.TagKey",
		Message: "The parameter TagKey is required.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagKeyMissing, Actions: []string{"DescribeLoadBalancerListeners", "DescribeVServerGroups"}, Status: 400, Code: "MissingParam.TagKey",
		Message: "The param of TagKey is missing.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagKeyInvalid, Status: 400, Code: "InvalidParam.TagKey",
		Message: "The tag key %s is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagKeyInvalid, Actions: tagActionNames, Status: 400, Code: "InvalidParam.TagKey",
		Message: "The specified TagKey is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagValueInvalid, Status: 400, Code: "InvalidParam.TagValue",
		Message: "The tag value %s is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagValueInvalid, Actions: tagActionNames, Status: 400, Code: "InvalidParam.TagValue",
		Message: "The specified TagValue is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagKeyTwice, Status: 400, Code: "Duplicate.TagKey",
		Message: "The param TagKey has duplicate value.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tooManyTags, Status: 400, Code: "SizeLimitExceeded.Tag",
		Message: "The maximum size of %s is exceeded.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tooManyTagged, Status: 400, Code: "SizeLimitExceeded.ResourceId",
		Message: "The maximum size of ResourceId is exceeded.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: taggedMissing, Status: 400, Code: "MissingParam.ResourceId",
		Message: "The parameter ResourceId is required.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: taggedUnknown, Status: 400, Code: "ResourceNotExist",
		Message: "The specified resource %s does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagOrResourceMissing, Status: 400, Code: "MissingParam.TagOrResourceId",
		Message: "The parameter Tag or ResourceId is required at least one.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagTokenInvalid, Status: 400, Code: "InvalidParam.NextToken",
		Message: "The specified NextToken is invalid.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tagResourceTypeInvalid, Status: 400, Code: "InvalidParam.ResourceType",
		Message: "The specified ResourceType is invalid.", Evidence: "CLB-0200"},

	// The account and the shop.
	rpc.ErrorRow{Fact: accountInArrears, Status: 400, Code: "ORDER.ARREARAGE",
		Message: "The account is arrearage.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: balanceInsufficient, Status: 400, Code: "PAY.INSUFFICIENT_BALANCE",
		Message: "Your account does not have enough balance.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: zoneSoldOut, Status: 400, Code: "OperationFailed.ZoneResourceLimit",
		Message: "The operation failed because of resource limit of the specified zone.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: loadBalancerLocked, Status: 400, Code: "ActionNotAllowed",
		Message: "Locked for any Business Reason.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: loadBalancerLocked, Actions: []string{"RemoveVServerGroupBackendServers"}, Status: 400, Code: "LbStatusNotSupport",
		Message: "The status of specified loadbalancer does not support..", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: specMissing, Status: 400, Code: "MissingParam.LoadBalancerSpec",
		Message: "The param LoadBalancerSpec is required.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: specInvalid, Status: 400, Code: "InvalidParameter",
		Message: "The specified LoadBalancerSpec is invalid.", Evidence: "CLB-0200"},

	// Changes that come too soon.
	rpc.ErrorRow{Fact: state.TokenProcessing, Status: 400, Code: "OperationFailed.TokenIsProcessing",
		Message: "The operation is failed, because the Client Token is processing.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: listenerInTransit, Status: 400, Code: "OperationFailed.ListenerStatusNotSupport",
		Message: "The status of the listener does not support this operation. Please try again later.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: listenerInTransit, Actions: transitListenerActions, Status: 400, Code: "ServiceIsConfiguring",
		Message: "A previous configuration is pending; please try again later.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: vServerGroupBusy, Status: 400, Code: "VServerGroupProcessing",
		Message: "A previous configuration of the VServer group is pending; please try again later.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: defaultGroupBusy, Status: 409, Code: "BackendServer.configuring",
		Message: "A previous configuration of the load balancer is pending; please try again later.", Evidence: "CLB-0201"},

	// Quotas.
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaLoadBalancers), Status: 400, Code: "ORDER.QUANTITY_INVALID",
		Message: "The maximum number of SLB instances is exceeded.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaBackendServers), Status: 400, Code: "InstanceBackendServerNumberOverLimit",
		Message: "The backend server number has reached to the quota limit of this load balancers", Evidence: "CLB-0202"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaServerAttached), Status: 400, Code: "OverQuota",
		Message: "The Total is over the quota.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaListeners), Status: 400, Code: "ListenerNumberOverLimit",
		Message: "The maximum number of listeners is exceeded.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaRules), Status: 400, Code: "TooManyRules",
		Message: "the number of rules under specified vip is beyond maximum limit.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaDomainExtensions), Status: 400, Code: "DomainExtensionNumberOverLimit",
		Message: "The number of domainExtension has reached to the quota limit of this listener.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaCertificates), Status: 400, Code: "OverQuota",
		Message: "The Total is over the quota.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaCACertificates), Status: 400, Code: "OverQuota",
		Message: "The Total is over the quota.", Evidence: "CLB-0203"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaACLs), Status: 400, Code: "AclNumberOverLimit",
		Message: "The Acl number has reached to the max quota limit.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaACLEntries), Status: 400, Code: "AclEntryExceedLimit",
		Message: "The maximum number of ACL entries is exceeded.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaACLAttached), Status: 400, Code: "AclListenerOverLimit",
		Message: "The number of listeners of the acl %s exceeds the quota.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaListenerACLs), Status: 400, Code: "QuotaLimitExceeds.AclAttachedToListener",
		Message: "The number of acls attached to the listener %s exceeds the quota.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: state.QuotaExceeded, Kind: state.Kind(cloud.QuotaTags), Status: 400, Code: "QuotaLimitExceeds",
		Message: "The number of tags of %s exceeds the quota.", Evidence: "CLB-0200"},

	// Forwarding rules.
	rpc.ErrorRow{Fact: state.NotFound, Kind: cloud.Rules.Kind(), Status: 404, Code: "InvalidRuleId.NotFound",
		Message: "Rule does not exist.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: ruleListMalformed, Status: 400, Code: "RuleListMalformed",
		Message: "the specified parameter RuleList is unavailable.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: tooManyRules, Status: 400, Code: "TooManyRules",
		Message: "the number of rules under specified vip is beyond maximum limit.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: ruleNameMissing, Status: 400, Code: "MissingParameter.RuleName",
		Message: "The parameter RuleName is required.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: ruleDomainInvalid, Status: 400, Code: "DomainMalformed",
		Message: "the specified domain in RuleList parameter is unavailable.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: ruleURLInvalid, Status: 400, Code: "UrlMalformed",
		Message: "the specified url in RuleList parameter is unavailable.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: ruleOnLayer4, Status: 400, Code: "RuleNotSupport",
		Message: "Rule is not support in the tcp type listener.", Evidence: "CLB-0201"},
	rpc.ErrorRow{Fact: ruleExists, Status: 400, Code: "DomainExist",
		Message: "rule with same domain and url already exists in specified vip", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: ruleGroupForeign, Status: 400, Code: "InvalidParameter",
		Message: "The specified VServerGroupId does not belong to the LoadBalancerId of the rule.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: rulesOfTwoListeners, Status: 400, Code: "Operation.NotAllowed",
		Message: "The specified rules must be in the same listener.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: vServerGroupInRule, Status: 400, Code: "RspoolRuleExist",
		Message: "there are rules associating with this vServer group.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: tooManyACLEntries, Status: 400, Code: "AclEntryExceedLimit",
		Message: "The maximum number of ACL entries is exceeded.", Evidence: "CLB-0200"},
	rpc.ErrorRow{Fact: certificateExpired, Status: 400, Code: "InvalidParameter",
		Message: "The specified ServerCertificate and PrivateKey fail to validate.", Evidence: "CLB-0200"},
)
