package clb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/state"
)

var params, both = gatewaytest.Pairs, gatewaytest.All

func with(base gatewaytest.Params, pairs ...string) gatewaytest.Params {
	return base.With(params(pairs...))
}

// servers returns the JSON text of n backend servers, on the ports from 1 on.
func servers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"ServerId":%q,"Port":%d}`, instance1, i+1)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func server(id string, more string) string {
	return fmt.Sprintf(`[{"ServerId":%q,"Port":8000%s}]`, id, more)
}

// paired returns the JSON list of one server of a master/slave group.
func paired(id string, port int, serverType string) string {
	return fmt.Sprintf(`[{"ServerId":%q,"Port":%d,"Weight":"60","ServerType":%q}]`, id, port, serverType)
}

// accessLog returns the parameters of a call about the access log of a load balancer.
func accessLog(id string) gatewaytest.Params {
	return params("LogsDownloadAttributes", fmt.Sprintf(`[{"logProject":"my-project","LogStore":"my-store","LoadBalancerId":%q}]`, id))
}

// legacyTags returns the parameters of a call about tags, given as key, value, key, value.
func legacyTags(pairs ...string) gatewaytest.Params {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf(`{"TagKey":%q,"TagValue":%q}`, pairs[i], pairs[i+1]))
	}
	return params("LoadBalancerId", lbInternet, "Tags", "["+strings.Join(list, ",")+"]")
}

// Calls that succeed, for the cases to spoil.
var (
	createInternet = params("AddressType", "internet")
	createIntranet = params("AddressType", "intranet", "VSwitchId", vSwitch1)
	createTCP      = params("LoadBalancerId", lbInternet, "ListenerPort", "1000", "Bandwidth", "-1", "BackendServerPort", "80")
	createHTTP     = params("LoadBalancerId", lbInternet, "ListenerPort", "1000", "BackendServerPort", "80", "StickySession", "off", "HealthCheck", "off")
	createHTTPS    = with(createHTTP, "Bandwidth", "-1", "ServerCertificateId", "cert-free")
	setTCP         = params("LoadBalancerId", lbInternet, "ListenerPort", "80")
	setHTTP        = params("LoadBalancerId", lbInternet, "ListenerPort", "81")
	setHTTPS       = params("LoadBalancerId", lbInternet, "ListenerPort", "443")
	addServers     = params("VServerGroupId", "rsp-free", "BackendServers", server(instance1, ""))
	createGroup    = params("LoadBalancerId", lbInternet, "VServerGroupName", "g")
	createRules    = params("LoadBalancerId", lbInternet, "ListenerPort", "81", "RuleList", ruleList("r", "c.example.com", "/c", "rsp-free"))
	extension      = params("LoadBalancerId", lbInternet, "ListenerPort", "443", "Domain", "b.example.com", "ServerCertificateId", "cert-free")
	createPair     = params("LoadBalancerId", lbInternet, "MasterSlaveBackendServers", join(paired(instance1, 80, "Master"), paired(instance2, 80, "Slave")))
	createPolicy   = params("Name", "own", "Ciphers.1", "AES256-SHA", "TLSVersions.1", "TLSv1.0")
	tagging        = params("ResourceType", "instance", "ResourceId.1", lbInternet, "Tag.1.Key", "k", "Tag.1.Value", "v")
)

// Each refusal has the code and the words that the table says, and each row of
// the table is reached.
func TestRefusals(t *testing.T) {
	own, other := newPair(t), newPair(t)
	expired := newPairUntil(t, gatewaytest.Start)
	cases := []gatewaytest.ErrorCase{
		// What does not exist.
		{Name: "Unknown", Action: "DescribeLoadBalancerAttribute", Params: params("LoadBalancerId", "lb-none"), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "Unknown", Action: "DeleteLoadBalancer", Params: params("LoadBalancerId", "lb-none"), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "OtherRegion", Action: "DescribeLoadBalancerAttribute", Params: params("LoadBalancerId", lbInternet, "RegionId", "cn-shanghai"), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "Unknown", Action: "DescribeVServerGroupAttribute", Params: params("VServerGroupId", "rsp-none"), Status: 404, Code: "InvalidParameter"},
		{Name: "Unknown", Action: "StartLoadBalancerListener", Params: params("LoadBalancerId", lbInternet, "ListenerPort", "9"), Status: 404, Code: "ListenerNotFound"},
		{Name: "Unknown", Action: "DescribeLoadBalancerTCPListenerAttribute", Params: params("LoadBalancerId", lbInternet, "ListenerPort", "9"), Status: 400, Code: "InvalidParameter"},
		{Name: "Unknown", Action: "DeleteAccessControlList", Params: params("AclId", "acl-none"), Status: 400, Code: "AclNotExist"},
		{Name: "Unknown", Action: "SetServerCertificateName", Params: params("ServerCertificateId", "none", "ServerCertificateName", "n"), Status: 404, Code: "ServerCertificateId.NotFound"},

		// Load balancers.
		{Name: "NoRegion", Action: "CreateLoadBalancer", Params: with(createInternet, "RegionId", ""), Status: 400, Code: "MissingRegionId"},
		{Name: "UnknownRegion", Action: "CreateLoadBalancer", Params: with(createInternet, "RegionId", "mars-1"), Status: 404, Code: "InvalidRegionId.NotFound"},
		{Name: "AddressType", Action: "CreateLoadBalancer", Params: with(createInternet, "AddressType", "extranet"), Status: 400, Code: "InvalidAddressType"},
		{Name: "Bandwidth", Action: "CreateLoadBalancer", Params: with(createInternet, "Bandwidth", "much"), Status: 400, Code: "InvalidParameter.Bandwidth"},
		{Name: "Name", Action: "CreateLoadBalancer", Params: with(createInternet, "LoadBalancerName", "7 of 9"), Status: 400, Code: "InvalidLoadBalancerName"},
		{Name: "LongName", Action: "CreateLoadBalancer", Params: with(createInternet, "LoadBalancerName", strings.Repeat("a", 81)), Status: 400, Code: "InvalidLoadBalancerName"},
		{Name: "AddressOutside", Action: "CreateLoadBalancer", Params: with(createIntranet, "Address", "192.168.7.7"), Status: 400, Code: "InvalidParameter"},
		{Name: "AddressReserved", Action: "CreateLoadBalancer", Params: with(createIntranet, "Address", "192.168.0.253"), Status: 400, Code: "InvalidParameter"},
		{Name: "AddressTaken", Action: "CreateLoadBalancer", Params: with(createIntranet, "Address", "192.168.0.11"), Status: 400, Code: "InvalidParameter"},
		{Name: "UnknownResourceGroup", Action: "CreateLoadBalancer", Params: with(createInternet, "ResourceGroupId", "rg-none"), Status: 400, Code: "InvalidResourceGroupId.NotFound"},
		{Name: "IPv6NotOffered", Action: "CreateLoadBalancer", Params: with(createInternet, "AddressIPVersion", "ipv6"), Plant: editRegion(func(r *kinds.Region) { r.PublicIPv6CIDRBlock = "" }), Status: 400, Code: "RegionOrZonesNotSupportIpv6"},
		{Name: "RegionSoldOut", Action: "CreateLoadBalancer", Params: createInternet, Plant: editRegion(func(r *kinds.Region) { r.PublicCIDRBlock = "203.0.113.0/30" }), Status: 400, Code: "OperationFailed.RegionResourceLimit"},
		{Name: "DefaultByBandwidth", Action: "CreateLoadBalancer", Params: params("InternetChargeType", "paybybandwidth", "Bandwidth", "5"), Status: 400, Code: "Instance.InternetChargeTypeNotAllowed"},
		{Name: "Prepaid", Action: "CreateLoadBalancer", Params: with(createIntranet, "PayType", "PrePay"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "CLCUByBandwidth", Action: "CreateLoadBalancer", Params: params("InstanceChargeType", "PayByCLCU", "InternetChargeType", "paybybandwidth", "Bandwidth", "5"), Status: 400, Code: "Instance.InternetChargeTypeNotAllowed"},
		{Name: "ByBandwidthWithout", Action: "CreateLoadBalancer", Params: with(createInternet, "InternetChargeType", "paybybandwidth"), Status: 400, Code: "InvalidParameter.Bandwidth"},
		{Name: "PrepaidByTraffic", Action: "CreateLoadBalancer", Params: with(createInternet, "PayType", "PrePay"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "PrepaidIntranetByBandwidth", Action: "CreateLoadBalancer", Params: with(createIntranet, "PayType", "PrePay", "InternetChargeType", "paybybandwidth", "Bandwidth", "5"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "TokenConflict", Action: "CreateLoadBalancer", Params: with(createInternet, "ClientToken", "t1"), Plant: plantToken, Status: 400, Code: "IdempotentParameterMismatch"},
		{Name: "Prepaid", Action: "SetLoadBalancerDeleteProtection", Params: params("LoadBalancerId", lbPrepaid, "DeleteProtection", "on"), Status: 400, Code: "OperationUnsupported.DeleteProtectionForPrePayInstance"},
		{Name: "Name", Action: "SetLoadBalancerName", Params: params("LoadBalancerId", lbInternet, "LoadBalancerName", "*"), Status: 400, Code: "InvalidLoadBalancerName"},
		{Name: "Locked", Action: "SetLoadBalancerStatus", Params: params("LoadBalancerId", lbInternet, "LoadBalancerStatus", "locked"), Status: 400, Code: "InvalidLoadBalancerStatus"},
		{Name: "Unpaid", Action: "ModifyLoadBalancerInstanceSpec", Params: params("LoadBalancerId", lbShared, "LoadBalancerSpec", "slb.s1.small"), Plant: editAccount(func(a *kinds.Account) { a.Balance = 0 }), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "PrepaidDown", Action: "ModifyLoadBalancerInstanceSpec", Params: params("LoadBalancerId", lbPrepaid, "LoadBalancerSpec", "slb.s1.small"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "IntranetByBandwidth", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbIntranet, "InternetChargeType", "paybybandwidth", "Bandwidth", "5"),
			Plant: editLB(lbIntranet, func(lb *kinds.LoadBalancer) { lb.InstanceChargeType = kinds.PayBySpec }), Status: 400, Code: "ActionNotAllowed"},
		{Name: "PrepaidDown", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbPrepaid, "Bandwidth", "5"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "ByBandwidthWithout", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbShared, "InternetChargeType", "paybybandwidth"), Status: 400, Code: "InvalidParameter.Bandwidth"},
		{Name: "PageSize", Action: "DescribeLoadBalancers", Params: params("PageSize", "101"), Status: 400, Code: "InvalidPageSize"},
		{Name: "TooManyIDs", Action: "DescribeLoadBalancers", Params: params("LoadBalancerId", strings.Repeat("lb-x,", 11)), Status: 400, Code: "InvalidLoadBalancerId"},

		// Listeners.
		{Name: "NoPort", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "ListenerPort", ""), Status: 400, Code: "MissingListenerPort"},
		{Name: "NoBandwidth", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "Bandwidth", ""), Status: 400, Code: "MissingBandwidth"},
		{Name: "ZeroBandwidth", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "Bandwidth", "0"), Status: 400, Code: "InvalidBandwidth"},
		{Name: "Port", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "ListenerPort", "70000"), Status: 400, Code: "InvalidListenerPort"},
		{Name: "Scheduler", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "Scheduler", "tch"), Status: 400, Code: "InvalidScheduler"},
		{Name: "NoHealthCheck", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "HealthCheck", ""), Status: 400, Code: "MissingHealthCheck"},
		{Name: "HealthCheckHttpCode", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "HealthCheckHttpCode", "http_2xx,http_9xx"), Status: 400, Code: "InvalidHealthCheckHttpCode"},
		{Name: "HealthCheckInterval", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "healthCheckInterval", "51"), Status: 400, Code: "InvalidHealthCheckInterval"},
		{Name: "ReservedPort", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "ListenerPort", "4789"), Status: 400, Code: "OperationDenied.SpecialListenerPortNotAllowed"},
		{Name: "ReservedPort250", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "ListenerPort", "250"), Status: 400, Code: "OperationDenied.SpecialListenerPortNotAllowed"},
		{Name: "Exists", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "ListenerPort", "80"), Status: 400, Code: "ListenerAlreadyExists"},
		{Name: "NoBackend", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "BackendServerPort", ""), Status: 400, Code: "MissingParameter"},
		{Name: "MasterSlave", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "MasterSlaveServerGroupId", "rsp-ms"), Status: 400, Code: "InvalidParameter"},
		{Name: "MasterSlave", Action: "SetLoadBalancerUDPListenerAttribute", Params: with(setTCP, "MasterSlaveServerGroup", "on", "MasterSlaveServerGroupId", "rsp-ms"), Status: 400, Code: "InvalidParameter"},
		{Name: "ForeignGroup", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "VServerGroupId", "rsp-other"), Status: 400, Code: "InvalidParam.VServerGroupId"},
		{Name: "BandwidthSum", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "Bandwidth", "101"), Status: 400, Code: "InvalidParameter"},
		{Name: "NoACL", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclType", "white"), Status: 400, Code: "MissingAclId"},
		{Name: "NoACLType", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclId", "acl-free"), Status: 400, Code: "MissingAclType"},
		{Name: "NoForwardPort", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "ListenerForward", "on"), Status: 400, Code: "MissingForwardPort"},
		{Name: "ForwardPort", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "ListenerForward", "on", "ForwardPort", "80"), Status: 400, Code: "InvalidParameter"},
		{Name: "NoStickyType", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "StickySession", "on"), Status: 400, Code: "MissingStickySessionType"},
		{Name: "NoCookieTimeout", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "StickySession", "on", "StickySessionType", "insert"), Status: 400, Code: "MissingCookieTimeout"},
		{Name: "NoCookie", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "StickySession", "on", "StickySessionType", "server"), Status: 400, Code: "MissingCookie"},
		{Name: "NoCertificate", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "ServerCertificateId", ""), Status: 400, Code: "MissingParam.ServerCertificates"},
		{Name: "UnknownCertificate", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "ServerCertificateId", "none"), Status: 404, Code: "ServerCertificateId.NotFound"},
		{Name: "Unknown", Action: "SetLoadBalancerHTTPSListenerAttribute", Params: with(setHTTPS, "ListenerPort", "9"), Status: 404, Code: "ListenerNotFound"},
		{Name: "NoGroup", Action: "SetLoadBalancerTCPListenerAttribute", Params: with(setTCP, "VServerGroup", "on"), Status: 400, Code: "MissingParam.VServerGroupId"},
		{Name: "ForeignGroup", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "VServerGroup", "on", "VServerGroupId", "rsp-other"), Status: 400, Code: "InvalidParam.VServerGroupId"},
		{Name: "Redirecting", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "ListenerPort", "8080", "Description", "x"), Status: 400, Code: "Operation.NotAllowed"},

		// Server groups and backend servers.
		{Name: "Malformed", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", `[{"ServerId"`), Status: 400, Code: "BackendServersMalformed"},
		{Name: "NotAList", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", `{"ServerId":"i-1"}`), Status: 400, Code: "BackendServersMalformed"},
		{Name: "Empty", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", "[]"), Status: 400, Code: "InvalidParameter"},
		{Name: "Twice", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", strings.Replace(server(instance1, "")+server(instance1, ""), "][", ",", 1)), Status: 400, Code: "InvalidParameter"},
		{Name: "TooMany", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", servers(41)), Status: 400, Code: "TooManyBackendServers"},
		{Name: "NoServerID", Action: "CreateVServerGroup", Params: with(createGroup, "BackendServers", server("", "")), Status: 400, Code: "BackendServer.ServerIdEmpty"},
		{Name: "NoPort", Action: "CreateVServerGroup", Params: with(createGroup, "BackendServers", `[{"ServerId":"`+instance1+`"}]`), Status: 400, Code: "InvalidParameter"},
		{Name: "Port", Action: "CreateVServerGroup", Params: with(createGroup, "BackendServers", `[{"ServerId":"`+instance1+`","Port":"65536"}]`), Status: 400, Code: "InvalidParameter"},
		{Name: "Weight", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", server(instance1, `,"Weight":101`)), Status: 400, Code: "InvalidWeight.Malformed"},
		{Name: "UnknownServer", Action: "AddBackendServers", Params: params("LoadBalancerId", lbInternet, "BackendServers", server("i-none", "")), Status: 404, Code: "InvalidServerId.NotFound"},
		{Name: "Stopped", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: stopInstance1, Status: 400, Code: "ObtainIpFail"},
		{Name: "AddressOfOtherENI", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", server(eni1, `,"Type":"eni","ServerIp":"192.168.0.12"`)), Status: 400, Code: "ObtainIpFail"},
		{Name: "OtherVPC", Action: "AddVServerGroupBackendServers", Params: params("VServerGroupId", "rsp-other", "BackendServers", server(instanceB, "")), Status: 400, Code: "NetworkConflict"},
		{Name: "ENIOnShared", Action: "AddBackendServers", Params: params("LoadBalancerId", lbShared, "BackendServers", server(eni1, `,"Type":"eni"`)), Status: 400, Code: "OperationFailed.ActionNotSupport"},
		{Name: "ENIOnShared", Action: "CreateVServerGroup", Params: params("LoadBalancerId", lbShared, "BackendServers", server(eni1, `,"Type":"eni"`)), Status: 400, Code: "OperationFailed.ActionNotSupport"},
		{Name: "Exists", Action: "AddBackendServers", Params: params("LoadBalancerId", lbInternet, "BackendServers", server(instance1, "")),
			Plant: both(editAccount(func(a *kinds.Account) { a.RefusesAttachedBackends = true }), editLB(lbInternet, func(lb *kinds.LoadBalancer) {
				lb.BackendServers = []kinds.BackendServer{{ServerID: instance1, Type: "ecs"}}
			})),
			Status: 400, Code: "InvalidParameter"},
		{Name: "None", Action: "SetBackendServers", Params: params("LoadBalancerId", lbInternet), Status: 400, Code: "MissingBackendServers"},
		{Name: "NothingToSet", Action: "SetVServerGroupAttribute", Params: params("VServerGroupId", "rsp-used"), Status: 400, Code: "MissingParameter"},
		{Name: "NoOld", Action: "ModifyVServerGroupBackendServers", Params: params("VServerGroupId", "rsp-used", "NewBackendServers", server(instance2, "")), Status: 400, Code: "MissingOldBackendServers"},
		{Name: "NoNew", Action: "ModifyVServerGroupBackendServers", Params: params("VServerGroupId", "rsp-used", "OldBackendServers", server(instance2, "")), Status: 400, Code: "MissingNewBackendServers"},
		{Name: "UnknownListener", Action: "DescribeHealthStatus", Params: params("LoadBalancerId", lbInternet, "ListenerPort", "9"), Status: 404, Code: "ListenerNotFound"},

		// Access control lists.
		{Name: "Malformed", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", "{"), Status: 400, Code: "InvalidEntry"},
		{Name: "NotACIDRBlock", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", `[{"entry":"10.0.0.0/33"}]`), Status: 400, Code: "InvalidEntry"},
		{Name: "None", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free"), Status: 400, Code: "MissingAclEntrys"},
		{Name: "Exists", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", `[{"entry":"10.0.0.0/8"}]`), Status: 400, Code: "InvalidParam.AclEntryExists"},
		{Name: "TooMany", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", entries(51)), Status: 400, Code: "AclEntryExceedLimit"},

		// Certificates and domain extensions.
		{Name: "NoCertificate", Action: "UploadServerCertificate", Params: params("PrivateKey", own.key), Status: 400, Code: "MissingServerCertificate"},
		{Name: "NoKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate), Status: 400, Code: "MissingPrivateKey"},
		{Name: "MalformedKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", "text"), Status: 400, Code: "KeyFormatError"},
		{Name: "EncryptedKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", strings.ReplaceAll(own.key, " PRIVATE", " ENCRYPTED PRIVATE")), Status: 400, Code: "PrivateKeyEncryption"},
		{Name: "OtherKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", other.key), Status: 400, Code: "CertificateNotMatchPrivateKey"},
		{Name: "Malformed", Action: "UploadCACertificate", Params: params("CACertificate", "text"), Status: 400, Code: "CertificateFormatInvalid"},
		{Name: "Domain", Action: "CreateDomainExtension", Params: with(extension, "Domain", "no domain"), Status: 400, Code: "InvalidDomain"},
		{Name: "Shared", Action: "CreateDomainExtension", Params: extension, Plant: editLB(lbInternet, func(lb *kinds.LoadBalancer) { lb.Spec = "" }), Status: 400, Code: "DomainExtensionNotSupport"},
		{Name: "NoCertificate", Action: "CreateDomainExtension", Params: with(extension, "ServerCertificateId", ""), Status: 400, Code: "MissingParam.ServerCertificates"},
		{Name: "NoCertificate", Action: "SetDomainExtensionAttribute", Params: params("DomainExtensionId", "de-used"), Status: 400, Code: "MissingParam.ServerCertificates"},

		// Tags.
		{Name: "KeyTwice", Action: "UntagResources", Params: params("ResourceType", "instance", "ResourceId.1", lbInternet, "TagKey.1", "k", "TagKey.2", "k"), Status: 400, Code: "Duplicate.TagKey"},
		{Name: "KeyTwice", Action: "TagResources", Params: with(tagging, "Tag.2.Key", "k"), Status: 400, Code: "Duplicate.TagKey"},

		// The account and the shop.
		{Name: "Locked", Action: "SetLoadBalancerName", Params: params("LoadBalancerId", lbInternet, "LoadBalancerName", "x"), Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "CreateLoadBalancerTCPListener", Params: createTCP, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "StopLoadBalancerListener", Params: setHTTP, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "RemoveVServerGroupBackendServers", Params: addServers, Plant: lock, Status: 400, Code: "LbStatusNotSupport"},
		{Name: "WhitelistedOtherSpec", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "big"), Plant: editAccount(func(a *kinds.Account) { a.LCUToSpec = true }), Status: 400, Code: "InvalidParameter"},

		// Changes that come too soon.
		{Name: "TokenRunning", Action: "CreateLoadBalancer", Params: with(createInternet, "ClientToken", "t1"), Plant: plantRunningToken, Status: 400, Code: "OperationFailed.TokenIsProcessing"},
		{Name: "Configuring", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "Gzip", "off"), Plant: listenerStatus(kinds.ListenerConfiguring), Status: 400, Code: "OperationFailed.ListenerStatusNotSupport"},
		{Name: "Stopping", Action: "StartLoadBalancerListener", Params: setHTTP, Plant: listenerStatus(kinds.ListenerStopping), Status: 400, Code: "ServiceIsConfiguring"},
		{Name: "Starting", Action: "DeleteLoadBalancerListener", Params: setHTTP, Plant: listenerStatus(kinds.ListenerStarting), Status: 400, Code: "ServiceIsConfiguring"},
		{Name: "Busy", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: busyGroup, Status: 400, Code: "VServerGroupProcessing"},
		{Name: "Busy", Action: "DeleteVServerGroup", Params: params("VServerGroupId", "rsp-free"), Plant: busyGroup, Status: 400, Code: "VServerGroupProcessing"},
		{Name: "Busy", Action: "AddBackendServers", Params: params("LoadBalancerId", lbInternet, "BackendServers", server(instance1, "")), Plant: editLB(lbInternet, func(lb *kinds.LoadBalancer) { lb.Activity = state.Busy }), Status: 409, Code: "BackendServer.configuring"},

		// Quotas.
		{Name: "Quota", Action: "CreateLoadBalancer", Params: createInternet, Plant: quota(kinds.QuotaLoadBalancers, 4), Status: 400, Code: "ORDER.QUANTITY_INVALID"},
		{Name: "AttachedQuota", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: quota(kinds.QuotaServerAttached, 1), Status: 400, Code: "OverQuota"},
		{Name: "Quota", Action: "CreateLoadBalancerTCPListener", Params: createTCP, Plant: quota(kinds.QuotaListeners, 5), Status: 400, Code: "ListenerNumberOverLimit"},
		{Name: "Quota", Action: "CreateRules", Params: createRules, Plant: quota(kinds.QuotaRules, 1), Status: 400, Code: "TooManyRules"},
		{Name: "Quota", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", own.key), Plant: quota(kinds.QuotaCertificates, 3), Status: 400, Code: "OverQuota"},
		{Name: "Quota", Action: "UploadCACertificate", Params: params("CACertificate", own.certificate), Plant: quota(kinds.QuotaCACertificates, 2), Status: 400, Code: "OverQuota"},
		{Name: "Quota", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", entries(2)), Plant: quota(kinds.QuotaACLEntries, 2), Status: 400, Code: "AclEntryExceedLimit"},
		{Name: "ListenerEntries", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-used", "AclEntrys", `[{"entry":"11.0.0.0/8"}]`), Plant: secondACL(999), Status: 400, Code: "AclEntryExceedLimit"},
		{Name: "ListenerSameEntry", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-used", "AclEntrys", `[{"entry":"10.0.0.0/24"}]`), Plant: secondACL(1), Status: 400, Code: "InvalidParam.AclEntryExists"},

		// Forwarding rules.
		{Name: "Malformed", Action: "CreateRules", Params: with(createRules, "RuleList", "[{"), Status: 400, Code: "RuleListMalformed"},
		{Name: "Empty", Action: "CreateRules", Params: with(createRules, "RuleList", "[]"), Status: 400, Code: "RuleListMalformed"},
		{Name: "TooMany", Action: "DeleteRules", Params: params("RuleIds", `["1","2","3","4","5","6","7","8","9","10","11"]`), Status: 400, Code: "TooManyRules"},
		{Name: "NeitherDomainNorURL", Action: "CreateRules", Params: with(createRules, "RuleList", ruleList("r", "", "", "rsp-free")), Status: 400, Code: "RuleListMalformed"},
		{Name: "Domain", Action: "CreateRules", Params: with(createRules, "RuleList", ruleList("r", "no domain", "", "rsp-free")), Status: 400, Code: "DomainMalformed"},
		{Name: "URL", Action: "CreateRules", Params: with(createRules, "RuleList", ruleList("r", "", "no-slash", "rsp-free")), Status: 400, Code: "UrlMalformed"},
		{Name: "Layer4", Action: "CreateRules", Params: with(createRules, "ListenerPort", "1000"), Plant: plantTCP1000, Status: 400, Code: "RuleNotSupport"},
		{Name: "Exists", Action: "CreateRules", Params: with(createRules, "RuleList", ruleList("r", "b.example.com", "/b", "rsp-free")), Status: 400, Code: "DomainExist"},
		{Name: "NameTaken", Action: "CreateRules", Params: with(createRules, "RuleList", ruleList("b", "c.example.com", "", "rsp-free")), Status: 400, Code: "RuleNameExist"},
		{Name: "NameTwice", Action: "CreateRules", Params: with(createRules, "RuleList", join(ruleList("n", "c.example.com", "", "rsp-free"), ruleList("n", "d.example.com", "", "rsp-free"))), Status: 400, Code: "RuleNameExist"},
		{Name: "NameTaken", Action: "SetRule", Params: params("RuleId", "rule-used", "RuleName", "c"), Plant: plantRule("c"), Status: 400, Code: "RuleNameExist"},
		{Name: "OwnWithoutScheduler", Action: "SetRule", Params: params("RuleId", "rule-used", "ListenerSync", "off"), Status: 400, Code: "MissingScheduler"},
		{Name: "OwnWithoutStickySession", Action: "SetRule", Params: params("RuleId", "rule-used", "ListenerSync", "off", "Scheduler", "rr"), Status: 400, Code: "MissingStickySession"},
		{Name: "OwnWithoutHealthCheck", Action: "SetRule", Params: params("RuleId", "rule-used", "ListenerSync", "off", "Scheduler", "rr", "StickySession", "off"), Status: 400, Code: "MissingHealthCheck"},
		{Name: "Threshold", Action: "SetRule", Params: params("RuleId", "rule-used", "HealthyThreshold", "1"), Status: 400, Code: "InvalidHealthyThreshold"},
		{Name: "ConnectPort", Action: "SetRule", Params: params("RuleId", "rule-used", "HealthCheckConnectPort", "-519"), Status: 400, Code: "InvalidHealthCheckConnectPort"},
		{Name: "Port0", Action: "StartLoadBalancerListener", Params: params("LoadBalancerId", lbInternet, "ListenerPort", "0"), Status: 400, Code: "InvalidListenerPort"},
		{Name: "Released", Action: "RemoveBackendServers", Params: params("LoadBalancerId", lbInternet, "BackendServers", `["i-released"]`), Status: 400, Code: "ObtainIpFail"},
		{Name: "Released", Action: "RemoveVServerGroupBackendServers", Params: params("VServerGroupId", "rsp-free", "BackendServers", server("i-released", "")), Status: 400, Code: "ObtainIpFail"},
		{Name: "ForeignGroup", Action: "CreateRules", Params: with(createRules, "RuleList", ruleList("r", "c.example.com", "", "rsp-other")), Status: 400, Code: "InvalidParameter"},
		{Name: "ForeignGroup", Action: "SetRule", Params: params("RuleId", "rule-used", "VServerGroupId", "rsp-other"), Status: 400, Code: "InvalidParameter"},
		{Name: "TwoListeners", Action: "DeleteRules", Params: params("RuleIds", `["rule-used","rule-https"]`), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Expired", Action: "UploadServerCertificate", Params: params("ServerCertificate", expired.certificate, "PrivateKey", expired.key), Plant: editAccount(func(a *kinds.Account) { a.RefusesExpiredCertificates = true }), Status: 400, Code: "InvalidParameter"},

		// Master/slave groups.
		{Name: "Unknown", Action: "DeleteMasterSlaveServerGroup", Params: params("MasterSlaveServerGroupId", "rsp-none"), Status: 400, Code: "InvalidParameter"},
		{Name: "Malformed", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", "[{"), Status: 400, Code: "BackendServersMalformed"},
		{Name: "One", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", paired(instance1, 80, "Master")), Status: 400, Code: "BACKEND_SERVERS_NUM_MUST_BE_TWO"},
		{Name: "None", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", ""), Status: 400, Code: "BACKEND_SERVERS_NUM_MUST_BE_TWO"},
		{Name: "Port", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired(instance1, 70000, "Master"), paired(instance2, 80, "Slave"))), Status: 400, Code: "RealServerPortNotSupport"},
		{Name: "Quota", Action: "CreateMasterSlaveServerGroup", Params: createPair, Plant: quota(kinds.QuotaBackendServers, 2), Status: 400, Code: "InstanceBackendServerNumberOverLimit"},
		{Name: "Locked", Action: "CreateMasterSlaveServerGroup", Params: createPair, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "ForeignPair", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "MasterSlaveServerGroupId", "rsp-pair-other"), Plant: plantPair, Status: 400, Code: "InvalidParameter"},

		// TLS policies.
		{Name: "Cipher", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "Ciphers.1", "ROT13"), Status: 400, Code: "TLSPolicyNoSupportCipher"},
		{Name: "CipherOfOtherVersion", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "Ciphers.1", "TLS_AES_128_GCM_SHA256"), Status: 400, Code: "TLSPolicyNoSupportCipher"},
		{Name: "Busy", Action: "SetTLSCipherPolicyAttribute", Params: with(createPolicy, "TLSCipherPolicyId", "tls-own", "Name", "other"), Plant: plantPolicy(state.Busy), Status: 400, Code: "TLSPolicyConfiguring"},
		{Name: "Busy", Action: "DeleteTLSCipherPolicy", Params: params("TLSCipherPolicyId", "tls-own"), Plant: plantPolicy(state.Busy), Status: 400, Code: "TLSPolicyConfiguring"},
		{Name: "BusyPolicy", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "TLSCipherPolicy", "tls-own"), Plant: plantPolicy(state.Busy), Status: 400, Code: "TLSPolicyConfiguring"},
		{Name: "PolicyQuota", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "TLSCipherPolicy", "tls-used"), Plant: both(plantPolicy(state.Idle), quota(kinds.QuotaTLSCipherPolicyListeners, 1)), Status: 400, Code: "TLSCipherPolicyVipRelationOverLimit"},

		// White lists.
		{Name: "AclEnabled", Action: "AddListenerWhiteListItem", Params: with(setTCP, "ListenerProtocol", "tcp", "SourceItems", "10.0.0.1"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "AclEnabled", Action: "SetListenerAccessControlStatus", Params: with(setTCP, "ListenerProtocol", "tcp", "AccessControlStatus", "open_white_list"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Item", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.1,office"), Status: 400, Code: "InvalidAddress"},
		{Name: "Block", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.0/33"), Status: 400, Code: "InvalidAddress"},
		{Name: "IPv6Item", Action: "RemoveListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "::1"), Status: 400, Code: "InvalidParameter.SourceItems"},
		{Name: "Unknown", Action: "RemoveListenerWhiteListItem", Params: with(setHTTP, "ListenerPort", "9", "SourceItems", "10.0.0.1"), Status: 404, Code: "ListenerNotFound"},
		{Name: "Status", Action: "SetListenerAccessControlStatus", Params: with(setHTTP, "AccessControlStatus", "on"), Status: 400, Code: "InvalidAccessControlStatus"},
		{Name: "IPv6", Action: "SetListenerAccessControlStatus", Params: with(setHTTP, "AccessControlStatus", "open_white_list"), Plant: editLB(lbInternet, func(lb *kinds.LoadBalancer) { lb.AddressIPVersion = "ipv6" }), Status: 400, Code: "OperationFailed.ActionNotSupport"},
		{Name: "Quota", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.1,10.0.0.2"), Plant: quota(kinds.QuotaWhiteList, 1), Status: 400, Code: "SourceItemsQuotaOverLimit"},
		{Name: "Locked", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.1"), Plant: lock, Status: 400, Code: "ActionNotAllowed"},

		// Access logs and fine-grained metrics.
		{Name: "Unknown", Action: "SetAccessLogsDownloadAttribute", Params: accessLog("lb-none"), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "Exists", Action: "SetAccessLogsDownloadAttribute", Params: accessLog(lbInternet), Plant: editLB(lbInternet, func(lb *kinds.LoadBalancer) { lb.AccessLog = &kinds.AccessLog{LogProject: "p", LogStore: "s"} }), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "NoStore", Action: "SetAccessLogsDownloadAttribute", Params: params("LogsDownloadAttributes", `[{"LogProject":"p","LoadBalancerId":"`+lbInternet+`"}]`), Status: 400, Code: "InvalidLogsDownloadAttributes"},
		{Name: "Two", Action: "SetAccessLogsDownloadAttribute", Params: params("LogsDownloadAttributes", `[{},{}]`), Status: 400, Code: "InvalidLogsDownloadAttributes"},
		{Name: "NoLoadBalancer", Action: "SetAccessLogsDownloadAttribute", Params: params("LogsDownloadAttributes", `[{}]`), Status: 400, Code: "MissingLoadBalancerId"},
		{Name: "OtherLoadBalancer", Action: "SetAccessLogsDownloadAttribute", Params: with(accessLog(lbInternet), "LoadBalancerId", lbIntranet), Status: 400, Code: "InvalidLoadBalancerId"},
		{Name: "Missing", Action: "DeleteAccessLogsDownloadAttribute", Params: accessLog(lbInternet), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Locked", Action: "SetAccessLogsDownloadAttribute", Params: accessLog(lbInternet), Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "LogType", Action: "DescribeAccessLogsDownloadAttribute", Params: params("LogType", "layer4"), Status: 400, Code: "InvalidLogType"},
		{Name: "NotEnabled", Action: "ModifyHighDefinationMonitor", Params: params("LogProject", "project", "LogStore", "store"), Status: 400, Code: "OperationNotAllowed.HighDefinitionMonitorNotEnabled"},

		// Resource groups and charges.
		{Name: "UnknownGroup", Action: "MoveResourceGroup", Params: params("ResourceType", "loadbalancer", "ResourceId", lbInternet, "NewResourceGroupId", "rg-none"), Status: 400, Code: "InvalidResourceGroupId.NotFound"},
		{Name: "Unknown", Action: "MoveResourceGroup", Params: params("ResourceType", "loadbalancer", "ResourceId", "lb-none", "NewResourceGroupId", defaultRG), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "UnknownACL", Action: "MoveResourceGroup", Params: params("ResourceType", "acl", "ResourceId", "acl-none", "NewResourceGroupId", defaultRG), Status: 400, Code: "AclNotExist"},
		{Name: "UnknownCertificate", Action: "MoveResourceGroup", Params: params("ResourceType", "certificate", "ResourceId", "none", "NewResourceGroupId", defaultRG), Status: 404, Code: "ServerCertificateId.NotFound"},
		{Name: "Locked", Action: "MoveResourceGroup", Params: params("ResourceType", "loadbalancer", "ResourceId", lbInternet, "NewResourceGroupId", defaultRG), Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "PrepaidCharge", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbPrepaid, "InternetChargeType", "paybytraffic"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Prepaid", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbPrepaid), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "OnDemand", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet, "PayType", "PayOnDemand"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "NotSold", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "ByTraffic", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbShared), Plant: inYear(kinds.Year2024), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Order", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Plant: both(inYear(kinds.Year2024), editLB(lbInternet, func(lb *kinds.LoadBalancer) {
			lb.Ineffective = &kinds.InternetSpecChange{InternetChargeType: kinds.PayByTraffic}
		})), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Arrears", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Plant: both(inYear(kinds.Year2024), inArrears), Status: 400, Code: "ORDER.ARREARAGE"},
		{Name: "Locked", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Plant: lock, Status: 400, Code: "ActionNotAllowed"},

		// Legacy tags.
		{Name: "Unknown", Action: "AddTags", Params: with(legacyTags("k", "v"), "LoadBalancerId", "lb-none"), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "Malformed", Action: "AddTags", Params: params("LoadBalancerId", lbInternet, "Tags", "k=v"), Status: 400, Code: "InvalidTag"},
		{Name: "KeyTwice", Action: "AddTags", Params: legacyTags("k", "v", "k", "w"), Status: 400, Code: "Duplicate.TagKey"},
		{Name: "Value", Action: "RemoveTags", Params: legacyTags("k", "http://v"), Status: 400, Code: "InvalidParameter.TagValue"},
		{Name: "TooMany", Action: "DescribeTags", Params: params("Tags", "["+strings.Repeat(`{"TagKey":"k"},`, 10)+`{"TagKey":"k"}]`), Status: 400, Code: "QuotaExceeded.Tag"},
	}
	gatewaytest.MatchErrors(t, clb.Product(gateway.Deps{}), plant, cases)
}

func entries(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"entry":"1.2.%d.0/24"}`, i)
	}
	return "[" + strings.Join(list, ",") + "]"
}

func manyTags(n int) gatewaytest.Params {
	p := params()
	for i := range n {
		p[fmt.Sprintf("Tag.%d.Key", i+1)] = fmt.Sprintf("key-%d", i)
	}
	return p
}

// The worlds of single cases.

func editLB(id string, change func(*kinds.LoadBalancer)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.LoadBalancers.Edit(tx, id, func(lb *kinds.LoadBalancer) error {
			change(lb)
			return nil
		})
	}
}

func editRegion(change func(*kinds.Region)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.Regions.Edit(tx, "cn-hangzhou", func(r *kinds.Region) error {
			change(r)
			return nil
		})
	}
}

// inYear lets the region sell what the cloud sold in a year.
func inYear(year string) func(*state.Tx) error {
	return editRegion(func(r *kinds.Region) { r.SetYear(year) })
}

// ruleList returns the JSON text of one rule.
func ruleList(name, domain, url, group string) string {
	return fmt.Sprintf(`[{"RuleName":%q,"Domain":%q,"Url":%q,"VServerGroupId":%q}]`, name, domain, url, group)
}

func plantTCP1000(tx *state.Tx) error {
	kinds.Listeners.Put(tx, &kinds.Listener{Owner: owner, LoadBalancerID: lbInternet, Port: 1000, Protocol: kinds.TCP,
		Status: kinds.ListenerRunning, BackendServerPort: 80, AclStatus: kinds.Off})
	return nil
}

// plantRunningToken leaves the token of a call whose first try is not over.
func plantRunningToken(tx *state.Tx) error {
	state.ClientTokens.Put(tx, &state.ClientToken{
		AccountID: account, Action: "CreateLoadBalancer", Token: "t1", ResourceID: lbInternet, Activity: state.Busy, CreateTime: tx.Now(),
	})
	return nil
}

func plantToken(tx *state.Tx) error {
	state.ClientTokens.Put(tx, &state.ClientToken{
		AccountID: account, Action: "CreateLoadBalancer", Token: "t1", Digest: "of another call", ResourceID: lbInternet, CreateTime: tx.Now(),
	})
	return nil
}

func stopInstance1(tx *state.Tx) error {
	return kinds.Instances.Edit(tx, instance1, func(i *kinds.Instance) error {
		i.Status = kinds.InstanceStopped
		return nil
	})
}

// freeInVSwitch1 leaves vSwitch1 just n free addresses.
func freeInVSwitch1(free int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		vSwitch, err := kinds.VSwitches.Get(tx.View, vSwitch1)
		if err != nil {
			return err
		}
		return kinds.SetFreeAddresses(tx, vSwitch, free)
	}
}

// quota gives the account a limit of its own.
func quota(name state.QuotaName, limit int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.Quotas.Put(tx, &state.Quota{AccountID: account, Name: name, Limit: limit})
		return nil
	}
}

func editAccount(change func(*kinds.Account)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.Accounts.Edit(tx, account, func(a *kinds.Account) error {
			change(a)
			return nil
		})
	}
}

func inArrears(tx *state.Tx) error { return kinds.SetArrears(tx, account, true) }

func lock(tx *state.Tx) error {
	return editLB(lbInternet, func(lb *kinds.LoadBalancer) { lb.Status = kinds.LoadBalancerLocked })(tx)
}

func listenerStatus(status kinds.ListenerStatus) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		for _, id := range []string{kinds.ListenerID(lbInternet, kinds.HTTP, 81), kinds.ListenerID(lbInternet, kinds.TCP, 80)} {
			if err := kinds.Listeners.Edit(tx, id, func(l *kinds.Listener) error {
				l.Status = status
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}
}

func busyGroup(tx *state.Tx) error {
	return kinds.VServerGroups.Edit(tx, "rsp-free", func(g *kinds.VServerGroup) error {
		g.Activity = state.Busy
		return nil
	})
}

// plantPair makes a master/slave group that a listener uses, and one of another
// load balancer.
func plantPair(root *state.Tx) error {
	tx := root.In(owner)
	for id, lb := range map[string]string{"rsp-pair": lbInternet, "rsp-pair-other": lbIntranet} {
		kinds.MasterSlaveServerGroups.Put(tx, &kinds.MasterSlaveServerGroup{Owner: owner, ID: id, Name: id, LoadBalancerID: lb,
			BackendServers: []kinds.MasterSlaveBackendServer{
				{BackendServer: kinds.BackendServer{ServerID: instance1, Type: kinds.BackendServerECS, Port: 90, Weight: 100}, ServerType: kinds.ServerMaster},
				{BackendServer: kinds.BackendServer{ServerID: instance2, Type: kinds.BackendServerECS, Port: 90, Weight: 100}, ServerType: kinds.ServerSlave},
			}})
	}
	kinds.Listeners.Put(tx, &kinds.Listener{Owner: owner, LoadBalancerID: lbInternet, Port: 1001, Protocol: kinds.TCP,
		Status: kinds.ListenerRunning, MasterSlaveServerGroupID: "rsp-pair", AclStatus: kinds.Off})
	return nil
}

// plantPolicy makes a TLS policy, and one that the HTTPS listener uses.
func plantPolicy(activity string) func(*state.Tx) error {
	return func(root *state.Tx) error {
		tx := root.In(owner)
		for _, id := range []string{"tls-own", "tls-used"} {
			kinds.TLSCipherPolicies.Put(tx, &kinds.TLSCipherPolicy{Owner: owner, ID: id, Name: "own", Activity: activity,
				TLSVersions: []string{"TLSv1.0"}, Ciphers: []string{"AES256-SHA"}})
		}
		return kinds.Listeners.Edit(tx, kinds.ListenerID(lbInternet, kinds.HTTPS, 443), func(l *kinds.Listener) error {
			l.TLSCipherPolicy = "tls-used"
			return nil
		})
	}
}

// fillBackends brings lbInternet to n members, over the default group and others.
func fillBackends(n int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		group := &kinds.VServerGroup{Owner: owner, ID: "rsp-full", Name: "full", LoadBalancerID: lbInternet}
		for i := range n - 2 {
			group.BackendServers = append(group.BackendServers,
				kinds.BackendServer{ServerID: instance1, Type: kinds.BackendServerECS, Port: 10000 + i, Weight: 100})
		}
		kinds.VServerGroups.Put(tx, group)
		return editLB(lbInternet, func(lb *kinds.LoadBalancer) {
			lb.BackendServers = []kinds.BackendServer{{ServerID: instance1, Type: kinds.BackendServerECS, Weight: 100}}
		})(tx)
	}
}

// secondACL gives the listener that has acl-used another list, with this many entries.
func secondACL(n int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		if err := fillACL("acl-free", n)(tx); err != nil {
			return err
		}
		return kinds.Listeners.Edit(tx, kinds.ListenerID(lbInternet, kinds.TCP, 80), func(l *kinds.Listener) error {
			l.AclIDs = append(slices.Clone(l.AclIDs), "acl-free")
			return nil
		})
	}
}

// fillACL gives an access control list this many entries.
func fillACL(id string, n int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.AccessControlLists.Edit(tx, id, func(acl *kinds.AccessControlList) error {
			acl.Entries = nil
			for i := range n {
				acl.Entries = append(acl.Entries, kinds.AccessControlListEntry{Entry: fmt.Sprintf("10.%d.%d.0/24", i/256, i%256)})
			}
			return nil
		})
	}
}

// plantRule puts a rule on the listener of the rule rule-used.
func plantRule(name string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		used, err := kinds.Rules.Get(tx.In(owner).View, "rule-used")
		if err != nil {
			return err
		}
		added := *used
		added.ID, added.Name, added.URL = "rule-"+name, name, "/"+name
		kinds.Rules.Put(tx, &added)
		return nil
	}
}
