package clb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/state"
)

var params, both = gatewaytest.Pairs, gatewaytest.All

func with(base gatewaytest.Params, pairs ...string) gatewaytest.Params {
	return base.With(params(pairs...))
}

// servers is the JSON text of n backend servers, on the ports from 1 on.
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

// paired is the JSON list of one server of a master/slave group.
func paired(id string, port int, serverType string) string {
	return fmt.Sprintf(`[{"ServerId":%q,"Port":%d,"Weight":"60","ServerType":%q}]`, id, port, serverType)
}

// accessLog is a call about the access log of a load balancer.
func accessLog(id string) gatewaytest.Params {
	return params("LogsDownloadAttributes", fmt.Sprintf(`[{"logProject":"my-project","LogStore":"my-store","LoadBalancerId":%q}]`, id))
}

// legacyTags is a call about tags, given as key, value, key, value.
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
		{Name: "Unknown", Action: "DeleteLoadBalancerListener", Params: params("LoadBalancerId", lbInternet, "ListenerPort", "9"), Status: 404, Code: "ResourceNotFound.Listener"},
		{Name: "Unknown", Action: "DeleteAccessControlList", Params: params("AclId", "acl-none"), Status: 400, Code: "AclNotExist"},
		{Name: "Unknown", Action: "DeleteServerCertificate", Params: params("ServerCertificateId", "none"), Status: 404, Code: "ServerCertificateId.NotFound"},
		{Name: "Unknown", Action: "DeleteCACertificate", Params: params("CACertificateId", "none"), Status: 404, Code: "CACertificateId.NotFound"},
		{Name: "NoId", Action: "DescribeDomainExtensionAttribute", Params: params(), Status: 400, Code: "MissingParameter.DomainExtensionId"},
		{Name: "Unknown", Action: "DescribeDomainExtensionAttribute", Params: params("DomainExtensionId", "de-none"), Status: 400, Code: "InvalidParameter.DomainExtensionId"},
		{Name: "Unknown", Action: "SetServerCertificateName", Params: params("ServerCertificateId", "none", "ServerCertificateName", "n"), Status: 404, Code: "ServerCertificateId.NotFound"},
		{Name: "Unknown", Action: "DeleteDomainExtension", Params: params("DomainExtensionId", "de-none"), Status: 400, Code: "InvalidParameter.DomainExtensionId"},

		// Load balancers.
		{Name: "NoRegion", Action: "CreateLoadBalancer", Params: with(createInternet, "RegionId", ""), Status: 400, Code: "MissingRegionId"},
		{Name: "UnknownRegion", Action: "CreateLoadBalancer", Params: with(createInternet, "RegionId", "mars-1"), Status: 404, Code: "InvalidRegionId.NotFound"},
		{Name: "AddressType", Action: "CreateLoadBalancer", Params: with(createInternet, "AddressType", "extranet"), Status: 400, Code: "InvalidAddressType"},
		{Name: "Bandwidth", Action: "CreateLoadBalancer", Params: with(createInternet, "Bandwidth", "much"), Status: 400, Code: "InvalidParameter.Bandwidth"},
		{Name: "Name", Action: "CreateLoadBalancer", Params: with(createInternet, "LoadBalancerName", "7 of 9"), Status: 400, Code: "InvalidLoadBalancerName"},
		{Name: "LongName", Action: "CreateLoadBalancer", Params: with(createInternet, "LoadBalancerName", strings.Repeat("a", 81)), Status: 400, Code: "InvalidLoadBalancerName"},
		{Name: "VSwitchFull", Action: "CreateLoadBalancer", Params: createIntranet, Plant: freeInVSwitch1(0), Status: 400, Code: "VSwitchAvailableIpNotExist"},
		{Name: "AddressOutside", Action: "CreateLoadBalancer", Params: with(createIntranet, "Address", "192.168.7.7"), Status: 400, Code: "InvalidParameter"},
		{Name: "AddressReserved", Action: "CreateLoadBalancer", Params: with(createIntranet, "Address", "192.168.0.253"), Status: 400, Code: "InvalidParameter"},
		{Name: "AddressTaken", Action: "CreateLoadBalancer", Params: with(createIntranet, "Address", "192.168.0.11"), Status: 400, Code: "InvalidParameter"},
		{Name: "NoVSwitch", Action: "CreateLoadBalancer", Params: with(createInternet, "AddressType", "intranet"), Status: 400, Code: "MissingParam.VSwitchId"},
		{Name: "UnknownVSwitch", Action: "CreateLoadBalancer", Params: with(createIntranet, "VSwitchId", "vsw-none"), Status: 400, Code: "VSwitchNotExist"},
		{Name: "UnknownVPC", Action: "CreateLoadBalancer", Params: with(createIntranet, "VpcId", "vpc-none"), Status: 400, Code: "InvalidVpcId.NotExist"},
		{Name: "VSwitchOfOtherVPC", Action: "CreateLoadBalancer", Params: with(createIntranet, "VpcId", vpc2), Status: 400, Code: "InvalidVSwitchId.NotFound"},
		{Name: "UnknownResourceGroup", Action: "CreateLoadBalancer", Params: with(createInternet, "ResourceGroupId", "rg-none"), Status: 400, Code: "InvalidResourceGroupId.NotFound"},
		{Name: "IntranetIPv6", Action: "CreateLoadBalancer", Params: with(createIntranet, "AddressIPVersion", "ipv6"), Status: 400, Code: "InvalidParameter.Mismatch"},
		{Name: "IPv6NotOffered", Action: "CreateLoadBalancer", Params: with(createInternet, "AddressIPVersion", "ipv6"), Plant: editRegion(func(r *cloud.Region) { r.PublicIPv6CIDRBlock = "" }), Status: 400, Code: "RegionOrZonesNotSupportIpv6"},
		{Name: "RegionSoldOut", Action: "CreateLoadBalancer", Params: createInternet, Plant: editRegion(func(r *cloud.Region) { r.PublicCIDRBlock = "203.0.113.0/30" }), Status: 400, Code: "OperationFailed.RegionResourceLimit"},
		{Name: "ZonesNoPair", Action: "CreateLoadBalancer", Params: with(createInternet, "MasterZoneId", "cn-hangzhou-h", "SlaveZoneId", "cn-hangzhou-h"), Status: 400, Code: "PRODUCT.NOT_AVAILABLE_IZ"},
		{Name: "NoSpec", Action: "CreateLoadBalancer", Params: params(), Plant: inYear(cloud.Year2024), Status: 400, Code: "ShareSlbHaltSales"},
		{Name: "BySpecWithout", Action: "CreateLoadBalancer", Params: params("InstanceChargeType", "PayBySpec"), Plant: inYear(cloud.Year2024), Status: 400, Code: "MissingParam.LoadBalancerSpec"},
		{Name: "BySpec", Action: "CreateLoadBalancer", Params: params("InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "slb.s1.small"), Status: 400, Code: "IllegalParam.InstanceChargeType"},
		{Name: "DefaultByBandwidth", Action: "CreateLoadBalancer", Params: params("InternetChargeType", "paybybandwidth", "Bandwidth", "5"), Status: 400, Code: "Instance.InternetChargeTypeNotAllowed"},
		{Name: "Prepaid", Action: "CreateLoadBalancer", Params: with(createIntranet, "PayType", "PrePay"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "CLCUByBandwidth", Action: "CreateLoadBalancer", Params: params("InstanceChargeType", "PayByCLCU", "InternetChargeType", "paybybandwidth", "Bandwidth", "5"), Status: 400, Code: "Instance.InternetChargeTypeNotAllowed"},
		{Name: "ByBandwidthWithout", Action: "CreateLoadBalancer", Params: with(createInternet, "InternetChargeType", "paybybandwidth"), Status: 400, Code: "InvalidParameter.Bandwidth"},
		{Name: "PrepaidByTraffic", Action: "CreateLoadBalancer", Params: with(createInternet, "PayType", "PrePay"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "PrepaidIntranetByBandwidth", Action: "CreateLoadBalancer", Params: with(createIntranet, "PayType", "PrePay", "InternetChargeType", "paybybandwidth", "Bandwidth", "5"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Protection", Action: "CreateLoadBalancer", Params: with(createInternet, "ModificationProtectionStatus", "on"), Status: 400, Code: "InvalidParam.ModificationProtectionStatus"},
		{Name: "ReasonAlone", Action: "CreateLoadBalancer", Params: with(createInternet, "ModificationProtectionReason", "why"), Status: 400, Code: "InvalidParam.ModificationProtectionReason"},
		{Name: "TokenConflict", Action: "CreateLoadBalancer", Params: with(createInternet, "ClientToken", "t1"), Plant: plantToken, Status: 400, Code: "IdempotentParameterMismatch"},
		{Name: "Protected", Action: "DeleteLoadBalancer", Params: params("LoadBalancerId", lbInternet), Plant: editLB(lbInternet, func(lb *cloud.LoadBalancer) { lb.DeleteProtection = cloud.On }), Status: 400, Code: "OperationDenied.DeleteProtectionIsOn"},
		{Name: "Prepaid", Action: "DeleteLoadBalancer", Params: params("LoadBalancerId", lbPrepaid), Status: 400, Code: "InvalidChargeType"},
		{Name: "Prepaid", Action: "SetLoadBalancerDeleteProtection", Params: params("LoadBalancerId", lbPrepaid, "DeleteProtection", "on"), Status: 400, Code: "InvalidChargeType"},
		{Name: "Name", Action: "SetLoadBalancerName", Params: params("LoadBalancerId", lbInternet, "LoadBalancerName", "*"), Status: 400, Code: "InvalidLoadBalancerName"},
		{Name: "Locked", Action: "SetLoadBalancerStatus", Params: params("LoadBalancerId", lbInternet, "LoadBalancerStatus", "locked"), Status: 400, Code: "InvalidLoadBalancerStatus"},
		{Name: "CLCU", Action: "ModifyLoadBalancerInstanceSpec", Params: params("LoadBalancerId", lbIntranet, "LoadBalancerSpec", "slb.s1.small"), Status: 400, Code: "OperationDenied.PayByCLCU"},
		{Name: "PrepaidDown", Action: "ModifyLoadBalancerInstanceSpec", Params: params("LoadBalancerId", lbPrepaid, "LoadBalancerSpec", "slb.s1.small"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "CLCU", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbIntranet, "Bandwidth", "5"), Status: 400, Code: "OperationDenied.PayByCLCU"},
		{Name: "IntranetByBandwidth", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbIntranet, "InternetChargeType", "paybybandwidth", "Bandwidth", "5"),
			Plant: editLB(lbIntranet, func(lb *cloud.LoadBalancer) { lb.InstanceChargeType = cloud.PayBySpec }), Status: 400, Code: "ActionNotAllowed"},
		{Name: "PrepaidDown", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbPrepaid, "Bandwidth", "5"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "ByBandwidthWithout", Action: "ModifyLoadBalancerInternetSpec", Params: params("LoadBalancerId", lbShared, "InternetChargeType", "paybybandwidth"), Status: 400, Code: "InvalidParameter.Bandwidth"},
		{Name: "Same", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayByCLCU"), Status: 400, Code: "OperationDenied.PayByCLCU"},
		{Name: "SameSpec", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbInternet, "InstanceChargeType", "PayBySpec"), Status: 400, Code: "OperationDenied.PayBySpec"},
		{Name: "Back", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayBySpec"), Status: 400, Code: "Forbidden.LcuToSpec"},
		{Name: "Unknown", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayByMoon"), Status: 400, Code: "IllegalParam.InstanceChargeType"},
		{Name: "Bandwidth", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayByCLCU", "Bandwidth", "9999"), Status: 400, Code: "InvalidParameterBandwidth"},
		{Name: "ByBandwidth", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbInternet, "InstanceChargeType", "PayByCLCU"), Status: 400, Code: "IllegalParam.InternetChargeType"},
		{Name: "Tags", Action: "DescribeLoadBalancers", Params: params("Tags", "[{"), Status: 400, Code: "InvalidTag"},
		{Name: "PageSize", Action: "DescribeLoadBalancers", Params: params("PageSize", "101"), Status: 400, Code: "InvalidPageSize"},
		{Name: "TooManyIDs", Action: "DescribeLoadBalancers", Params: params("LoadBalancerId", strings.Repeat("lb-x,", 11)), Status: 400, Code: "InvalidLoadBalancerId"},

		// Listeners.
		{Name: "NoPort", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "ListenerPort", ""), Status: 400, Code: "MissingListenerPort"},
		{Name: "NoBandwidth", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "Bandwidth", ""), Status: 400, Code: "MissingBandwidth"},
		{Name: "ZeroBandwidth", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "Bandwidth", "0"), Status: 400, Code: "InvalidBandwidth"},
		{Name: "Port", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "ListenerPort", "0"), Status: 400, Code: "InvalidParam.ListenerPort"},
		{Name: "Port", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "ListenerPort", "70000"), Status: 400, Code: "InvalidListenerPort"},
		{Name: "Scheduler", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "Scheduler", "tch"), Status: 400, Code: "InvalidScheduler"},
		{Name: "NoHealthCheck", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "HealthCheck", ""), Status: 400, Code: "MissingHealthCheck"},
		{Name: "HealthCheckHttpCode", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "HealthCheckHttpCode", "http_2xx,http_9xx"), Status: 400, Code: "InvalidHealthCheckHttpCode"},
		{Name: "HealthCheckInterval", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "healthCheckInterval", "51"), Status: 400, Code: "InvalidHealthCheckInterval"},
		{Name: "Exists", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "ListenerPort", "80"), Status: 400, Code: "ListenerAlreadyExists"},
		{Name: "PortSpace", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "ListenerPort", "80"), Status: 400, Code: "InvalidParameter.ListenerPortConflict"},
		{Name: "Reserved", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "ListenerPort", "4789"), Status: 400, Code: "OperationDenied.SpecialListenerPortNotAllowed"},
		{Name: "NoBackend", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "BackendServerPort", ""), Status: 400, Code: "MissingParameter"},
		{Name: "TwoGroups", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "VServerGroupId", "rsp-free", "MasterSlaveServerGroupId", "rsp-ms"), Status: 400, Code: "Abs.VServerGroupIdAndMasterSlaveServerGroupId.MissMatch"},
		{Name: "TwoGroups", Action: "SetLoadBalancerTCPListenerAttribute", Params: with(setTCP, "MasterSlaveServerGroup", "on"), Status: 400, Code: "Abs.VServerGroupIdAndMasterSlaveServerGroupId.MissMatch"},
		{Name: "MasterSlave", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "MasterSlaveServerGroupId", "rsp-ms"), Status: 400, Code: "InvalidParameter"},
		{Name: "MasterSlave", Action: "SetLoadBalancerUDPListenerAttribute", Params: with(setTCP, "MasterSlaveServerGroup", "on", "MasterSlaveServerGroupId", "rsp-ms"), Status: 400, Code: "InvalidParameter"},
		{Name: "UnknownGroup", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "VServerGroupId", "rsp-none"), Status: 400, Code: "ResourceNotFound.VServerGroup"},
		{Name: "HealthCheckReq", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "healthCheckReq", "a b"), Status: 400, Code: "InvalidParam.HealthCheckReq"},
		{Name: "HealthCheckExp", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "healthCheckExp", "pöng"), Status: 400, Code: "InvalidParam.HealthCheckExp"},
		{Name: "HealthCheckReqLength", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "healthCheckReq", strings.Repeat("p", 65)), Status: 400, Code: "InvalidParamLength.HealthCheckReq"},
		{Name: "HealthCheckExpLength", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "healthCheckExp", strings.Repeat("p", 65)), Status: 400, Code: "InvalidParamLength.HealthCheckExp"},
		{Name: "HealthCheckExpLength", Action: "SetLoadBalancerUDPListenerAttribute", Params: with(setTCP, "healthCheckExp", strings.Repeat("p", 65)), Status: 400, Code: "InvalidParamLength.HealthCheckExp"},
		{Name: "HealthCheckSwitch", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "HealthCheckSwitch", "maybe"), Status: 400, Code: "IllegalParam.HealthCheck"},
		{Name: "HealthCheckSwitch", Action: "CreateLoadBalancerUDPListener", Params: with(createTCP, "HealthCheckSwitch", "maybe"), Status: 400, Code: "IllegalParam.HealthCheck"},
		{Name: "HealthCheckSwitch", Action: "SetLoadBalancerTCPListenerAttribute", Params: with(setTCP, "HealthCheckSwitch", "maybe"), Status: 400, Code: "InvalidParam.HealthCheck"},
		{Name: "ForeignGroup", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "VServerGroupId", "rsp-other"), Status: 400, Code: "InvalidParam.VServerGroupId"},
		{Name: "BandwidthSum", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "Bandwidth", "101"), Status: 400, Code: "InvalidParameter"},
		{Name: "UnknownACL", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclType", "white", "AclId", "acl-none"), Status: 400, Code: "AclNotExist"},
		{Name: "NoACL", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclType", "white"), Status: 400, Code: "MissingAclId"},
		{Name: "NoACLType", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclId", "acl-free"), Status: 400, Code: "MissingAclType"},
		{Name: "ACLEntryTwice", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclType", "white", "AclId", "acl-free,acl-same"), Status: 400, Code: "Duplicated.AclEntry"},
		{Name: "ACLEntries", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclType", "white", "AclId", "acl-free"), Plant: fillACL("acl-free", 1001), Status: 400, Code: "QuotaLimitExceeds.TotalAclEntry"},
		{Name: "ACLVersion", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "AclStatus", "on", "AclType", "white", "AclId", "acl-free,acl-v6"), Status: 400, Code: "IpVersionConflict"},
		{Name: "NoForwardPort", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "ListenerForward", "on"), Status: 400, Code: "MissingForwardPort"},
		{Name: "ForwardPort", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "ListenerForward", "on", "ForwardPort", "80"), Status: 400, Code: "InvalidParameter"},
		{Name: "IdleTimeout", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "IdleTimeout", "61"), Status: 400, Code: "InvalidParameter.IdleTimeout"},
		{Name: "RequestTimeout", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "RequestTimeout", "181"), Status: 400, Code: "InvalidParameter.RequestTimeout"},
		{Name: "NoStickyType", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "StickySession", "on"), Status: 400, Code: "MissingStickySessionType"},
		{Name: "NoCookieTimeout", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "StickySession", "on", "StickySessionType", "insert"), Status: 400, Code: "MissingCookieTimeout"},
		{Name: "NoCookie", Action: "CreateLoadBalancerHTTPListener", Params: with(createHTTP, "StickySession", "on", "StickySessionType", "server"), Status: 400, Code: "MissingCookie"},
		{Name: "NoCertificate", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "ServerCertificateId", ""), Status: 400, Code: "MissingParam.ServerCertificates"},
		{Name: "UnknownCertificate", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "ServerCertificateId", "none"), Status: 404, Code: "ServerCertificateId.NotFound"},
		{Name: "UnknownCACertificate", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "CACertificateId", "none"), Status: 400, Code: "CertificateNotExist"},
		{Name: "UnknownTLSPolicy", Action: "SetLoadBalancerHTTPSListenerAttribute", Params: with(setHTTPS, "TLSCipherPolicy", "tls-none"), Status: 400, Code: "InvalidTLSPolicyId.NotExist"},
		{Name: "Unknown", Action: "SetLoadBalancerHTTPSListenerAttribute", Params: with(setHTTPS, "ListenerPort", "9"), Status: 404, Code: "ListenerNotFound"},
		{Name: "NoGroup", Action: "SetLoadBalancerTCPListenerAttribute", Params: with(setTCP, "VServerGroup", "on"), Status: 400, Code: "MissingParam.VServerGroupId"},
		{Name: "OnlyGroup", Action: "SetLoadBalancerTCPListenerAttribute", Params: with(setTCP, "VServerGroup", "off"), Status: 400, Code: "OperationFailed.ServerGroupInUse"},
		{Name: "ForeignGroup", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "VServerGroup", "on", "VServerGroupId", "rsp-other"), Status: 400, Code: "InvalidParam.VServerGroupId"},
		{Name: "Redirecting", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "ListenerPort", "8080", "Description", "x"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "RedirectedTo", Action: "DeleteLoadBalancerListener", Params: setHTTPS, Status: 400, Code: "ListenerForwardExist"},
		{Name: "Ambiguous", Action: "StopLoadBalancerListener", Params: setTCP, Status: 400, Code: "TooManyListeners"},
		{Name: "MaxResults", Action: "DescribeLoadBalancerListeners", Params: params("MaxResults", "101"), Status: 400, Code: "IllegalParam.MaxResults"},
		{Name: "Protocol", Action: "DescribeLoadBalancerListeners", Params: params("ListenerProtocol", "sctp"), Status: 400, Code: "IllegalParam.ListenerProtocol"},
		{Name: "NextToken", Action: "DescribeLoadBalancerListeners", Params: params("NextToken", "***"), Status: 400, Code: "IllegalParam.NextToken"},
		{Name: "TooManyIDs", Action: "DescribeLoadBalancerListeners", Params: manyIDs("LoadBalancerId", 11), Status: 400, Code: "IllegalParamSize.LoadBalancerId"},
		{Name: "NoTagKey", Action: "DescribeLoadBalancerListeners", Params: params("Tag.1.Value", "v"), Status: 400, Code: "MissingParam.TagKey"},

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
		{Name: "Type", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", server(instance1, `,"Type":"ip"`)), Status: 400, Code: "BackendServer.InvalidType"},
		{Name: "UnknownServer", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", server("i-none", "")), Status: 400, Code: "InvalidServerId.NotExist"},
		{Name: "UnknownServer", Action: "AddBackendServers", Params: params("LoadBalancerId", lbInternet, "BackendServers", server("i-none", "")), Status: 404, Code: "InvalidServerId.NotFound"},
		{Name: "UnknownENI", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", server("eni-none", `,"Type":"eni"`)), Status: 404, Code: "ResourceNotFound.vServers"},
		{Name: "Stopped", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: stopInstance1, Status: 400, Code: "ObtainIpFail"},
		{Name: "AddressOfOtherENI", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", server(eni1, `,"Type":"eni","ServerIp":"192.168.0.12"`)), Status: 400, Code: "ObtainIpFail"},
		{Name: "SameAddress", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", strings.Replace(server(instance1, "")+server(eni1, `,"Type":"eni"`), "][", ",", 1)), Status: 400, Code: "InvalidBackendServers.ServerIpConflict"},
		{Name: "OtherVPC", Action: "AddVServerGroupBackendServers", Params: with(addServers, "BackendServers", server(instanceB, "")), Status: 400, Code: "NetworkConflict"},
		{Name: "OtherVPC", Action: "AddVServerGroupBackendServers", Params: params("VServerGroupId", "rsp-other", "BackendServers", server(instanceB, "")), Status: 400, Code: "NetworkConflict"},
		{Name: "ENIOnShared", Action: "CreateVServerGroup", Params: params("LoadBalancerId", lbShared, "BackendServers", server(eni1, `,"Type":"eni"`)), Status: 400, Code: "OperationFailed.ActionNotSupport"},
		{Name: "Quota", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: fillBackends(200), Status: 400, Code: "InstanceBackendServerNumberOverLimit"},
		{Name: "Quota", Action: "CreateVServerGroup", Params: with(createGroup, "BackendServers", server(instance1, "")), Plant: fillBackends(200), Status: 400, Code: "InstanceBackendServerNumberOverLimit"},
		{Name: "Exists", Action: "AddBackendServers", Params: params("LoadBalancerId", lbInternet, "BackendServers", server(instance1, "")),
			Plant: both(editAccount(func(a *cloud.Account) { a.RefusesAttachedBackends = true }), editLB(lbInternet, func(lb *cloud.LoadBalancer) {
				lb.BackendServers = []cloud.BackendServer{{ServerID: instance1, Type: "ecs"}}
			})),
			Status: 400, Code: "InvalidParameter"},
		{Name: "None", Action: "SetBackendServers", Params: params("LoadBalancerId", lbInternet), Status: 400, Code: "MissingBackendServers"},
		{Name: "InUse", Action: "DeleteVServerGroup", Params: params("VServerGroupId", "rsp-used"), Status: 400, Code: "RspoolVipExist"},
		{Name: "NothingToSet", Action: "SetVServerGroupAttribute", Params: params("VServerGroupId", "rsp-used"), Status: 400, Code: "MissingParameter"},
		{Name: "NoOld", Action: "ModifyVServerGroupBackendServers", Params: params("VServerGroupId", "rsp-used", "NewBackendServers", server(instance2, "")), Status: 400, Code: "MissingOldBackendServers"},
		{Name: "NoNew", Action: "ModifyVServerGroupBackendServers", Params: params("VServerGroupId", "rsp-used", "OldBackendServers", server(instance2, "")), Status: 400, Code: "MissingNewBackendServers"},
		{Name: "NoTagKey", Action: "DescribeVServerGroups", Params: params("LoadBalancerId", lbInternet, "Tag.1.Value", "v"), Status: 400, Code: "MissingParam.TagKey"},
		{Name: "UnknownListener", Action: "DescribeHealthStatus", Params: params("LoadBalancerId", lbInternet, "ListenerPort", "9"), Status: 404, Code: "ListenerNotFound"},

		// Access control lists.
		{Name: "InUse", Action: "DeleteAccessControlList", Params: params("AclId", "acl-used"), Status: 400, Code: "OperationFailed.AclBindedWithVip"},
		{Name: "Malformed", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", "{"), Status: 400, Code: "InvalidEntry"},
		{Name: "NotACIDRBlock", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", `[{"entry":"10.0.0.0/33"}]`), Status: 400, Code: "InvalidEntry"},
		{Name: "None", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free"), Status: 400, Code: "MissingAclEntrys"},
		{Name: "Comment", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", `[{"entry":"1.2.3.4","comment":"`+strings.Repeat("c", 129)+`"}]`), Status: 400, Code: "InvalidParam.Comment"},
		{Name: "Version", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", `[{"entry":"2001:db8::/32"}]`), Status: 400, Code: "IllegalEntry"},
		{Name: "Exists", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", `[{"entry":"10.0.0.0/8"}]`), Status: 400, Code: "InvalidParam.AclEntryExists"},
		{Name: "TooMany", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", entries(51)), Status: 400, Code: "AclEntryExceedLimit"},
		{Name: "Unknown", Action: "RemoveAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", `[{"entry":"11.0.0.0/8"}]`), Status: 400, Code: "AclEntryEmpty"},

		// Certificates and domain extensions.
		{Name: "AliCloud", Action: "UploadServerCertificate", Params: params("AliCloudCertificateId", "cas-1"), Status: 400, Code: "InvalidParameter.AliCloudCertificateId"},
		{Name: "NoCertificate", Action: "UploadServerCertificate", Params: params("PrivateKey", own.key), Status: 400, Code: "MissingServerCertificate"},
		{Name: "NoKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate), Status: 400, Code: "MissingPrivateKey"},
		{Name: "Malformed", Action: "UploadServerCertificate", Params: params("ServerCertificate", "text", "PrivateKey", own.key), Status: 400, Code: "CertificateFormatInvalid"},
		{Name: "MalformedKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", "text"), Status: 400, Code: "KeyFormatError"},
		{Name: "EncryptedKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", strings.ReplaceAll(own.key, " PRIVATE", " ENCRYPTED PRIVATE")), Status: 400, Code: "PrivateKeyEncryption"},
		{Name: "OtherKey", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", other.key), Status: 400, Code: "CertificateNotMatchPrivateKey"},
		{Name: "Malformed", Action: "UploadCACertificate", Params: params("CACertificate", "text"), Status: 400, Code: "CertificateFormatInvalid"},
		{Name: "InUse", Action: "DeleteServerCertificate", Params: params("ServerCertificateId", "cert-used"), Status: 400, Code: "CertificateAndPrivateKeyIsRefered"},
		{Name: "InDomainExtension", Action: "DeleteServerCertificate", Params: params("ServerCertificateId", "cert-extension"), Status: 400, Code: "CertificateRelatedDomainExtensionExist"},
		{Name: "InUse", Action: "DeleteCACertificate", Params: params("CACertificateId", "ca-used"), Status: 400, Code: "CertificateAndPrivateKeyIsRefered"},
		{Name: "Exists", Action: "CreateDomainExtension", Params: with(extension, "Domain", "a.example.com"), Status: 400, Code: "InvalidParameter.Domain"},
		{Name: "Domain", Action: "CreateDomainExtension", Params: with(extension, "Domain", "no domain"), Status: 400, Code: "InvalidDomain"},
		{Name: "Shared", Action: "CreateDomainExtension", Params: extension, Plant: editLB(lbInternet, func(lb *cloud.LoadBalancer) { lb.Spec = "" }), Status: 400, Code: "DomainExtensionNotSupport"},
		{Name: "NoCertificate", Action: "CreateDomainExtension", Params: with(extension, "ServerCertificateId", ""), Status: 400, Code: "MissingParam.ServerCertificates"},
		{Name: "NoCertificate", Action: "SetDomainExtensionAttribute", Params: params("DomainExtensionId", "de-used"), Status: 400, Code: "MissingParam.ServerCertificates"},
		{Name: "UnknownCertificate", Action: "CreateDomainExtension", Params: with(extension, "ServerCertificateId", "none"), Status: 400, Code: "InvalidParameter.ServerCertificateId"},
		{Name: "UnknownCertificate", Action: "SetDomainExtensionAttribute", Params: params("DomainExtensionId", "de-used", "ServerCertificateId", "none"), Status: 400, Code: "InvalidParameter.ServerCertificateId"},

		// Tags.
		{Name: "NoKey", Action: "TagResources", Params: with(tagging, "Tag.1.Key", ""), Status: 400, Code: "MissingParam.TagKey"},
		{Name: "NoTagKey", Action: "CreateLoadBalancer", Params: with(createInternet, "Tag.1.Value", "v"), Status: 400, Code: "MissingParam.TagKey"},
		{Name: "Key", Action: "TagResources", Params: with(tagging, "Tag.1.Key", "acs:k"), Status: 400, Code: "InvalidParam.TagKey"},
		{Name: "TagKey", Action: "CreateLoadBalancer", Params: with(createInternet, "Tag.1.Key", "aliyun-k"), Status: 400, Code: "InvalidParam.TagKey"},
		{Name: "Value", Action: "TagResources", Params: with(tagging, "Tag.1.Value", "http://v"), Status: 400, Code: "InvalidParam.TagValue"},
		{Name: "TagValue", Action: "CreateLoadBalancer", Params: with(createInternet, "Tag.1.Key", "k", "Tag.1.Value", "https://v"), Status: 400, Code: "InvalidParam.TagValue"},
		{Name: "KeyTwice", Action: "UntagResources", Params: params("ResourceType", "instance", "ResourceId.1", lbInternet, "TagKey.1", "k", "TagKey.2", "k"), Status: 400, Code: "Duplicate.TagKey"},
		{Name: "KeyTwice", Action: "TagResources", Params: with(tagging, "Tag.2.Key", "k"), Status: 400, Code: "Duplicate.TagKey"},
		{Name: "TooMany", Action: "TagResources", Params: with(manyTags(21), "ResourceType", "instance", "ResourceId.1", lbInternet), Status: 400, Code: "SizeLimitExceeded.Tag"},
		{Name: "TooManyKeys", Action: "UntagResources", Params: with(manyIDs("TagKey", 21), "ResourceType", "instance", "ResourceId.1", lbInternet), Status: 400, Code: "SizeLimitExceeded.TagKey"},
		{Name: "TooManyResources", Action: "TagResources", Params: with(manyIDs("ResourceId", 51), "ResourceType", "instance", "Tag.1.Key", "k"), Status: 400, Code: "SizeLimitExceeded.ResourceId"},
		{Name: "NoResource", Action: "UntagResources", Params: params("ResourceType", "instance"), Status: 400, Code: "MissingParam.ResourceId"},
		{Name: "UnknownResource", Action: "UntagResources", Params: params("ResourceType", "instance", "ResourceId.1", "lb-none"), Status: 400, Code: "ResourceNotExist"},
		{Name: "Quota", Action: "TagResources", Params: with(manyTags(20), "ResourceType", "instance", "ResourceId.1", lbInternet), Plant: tagInternet, Status: 400, Code: "QuotaLimitExceeds"},
		{Name: "NeitherTagNorResource", Action: "ListTagResources", Params: params("ResourceType", "instance"), Status: 400, Code: "MissingParam.TagOrResourceId"},
		{Name: "NextToken", Action: "ListTagResources", Params: params("ResourceType", "instance", "ResourceId.1", lbInternet, "NextToken", "***"), Status: 400, Code: "InvalidParam.NextToken"},
		{Name: "ResourceType", Action: "ListTagResources", Params: params("ResourceType", "planet", "ResourceId.1", lbInternet), Status: 400, Code: "InvalidParam.ResourceType"},

		// The account and the shop.
		{Name: "Arrears", Action: "CreateLoadBalancer", Params: createInternet, Plant: inArrears, Status: 400, Code: "ORDER.ARREARAGE"},
		{Name: "Balance", Action: "CreateLoadBalancer", Params: createInternet, Plant: editAccount(func(a *cloud.Account) { a.Balance = 99 }), Status: 400, Code: "PAY.INSUFFICIENT_BALANCE"},
		{Name: "ZoneSoldOut", Action: "CreateLoadBalancer", Params: with(createInternet, "MasterZoneId", "cn-hangzhou-h"), Plant: editRegion(func(r *cloud.Region) { r.SoldOut = []cloud.ZoneStock{{ZoneID: "cn-hangzhou-h"}} }), Status: 400, Code: "OperationFailed.ZoneResourceLimit"},
		{Name: "Locked", Action: "SetLoadBalancerName", Params: params("LoadBalancerId", lbInternet, "LoadBalancerName", "x"), Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "CreateLoadBalancerTCPListener", Params: createTCP, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "StopLoadBalancerListener", Params: setHTTP, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Locked", Action: "RemoveVServerGroupBackendServers", Params: addServers, Plant: lock, Status: 400, Code: "LbStatusNotSupport"},
		{Name: "WhitelistedNoSpec", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayBySpec"), Plant: editAccount(func(a *cloud.Account) { a.LCUToSpec = true }), Status: 400, Code: "MissingParam.LoadBalancerSpec"},
		{Name: "WhitelistedOtherSpec", Action: "ModifyLoadBalancerInstanceChargeType", Params: params("LoadBalancerId", lbIntranet, "InstanceChargeType", "PayBySpec", "LoadBalancerSpec", "big"), Plant: editAccount(func(a *cloud.Account) { a.LCUToSpec = true }), Status: 400, Code: "InvalidParameter"},

		// Changes that come too soon.
		{Name: "TokenRunning", Action: "CreateLoadBalancer", Params: with(createInternet, "ClientToken", "t1"), Plant: plantRunningToken, Status: 400, Code: "OperationFailed.TokenIsProcessing"},
		{Name: "Configuring", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "Gzip", "off"), Plant: listenerStatus(cloud.ListenerConfiguring), Status: 400, Code: "OperationFailed.ListenerStatusNotSupport"},
		{Name: "Starting", Action: "CreateRules", Params: createRules, Plant: listenerStatus(cloud.ListenerStarting), Status: 400, Code: "OperationFailed.ListenerStatusNotSupport"},
		{Name: "Stopping", Action: "StartLoadBalancerListener", Params: setHTTP, Plant: listenerStatus(cloud.ListenerStopping), Status: 400, Code: "ServiceIsConfiguring"},
		{Name: "Starting", Action: "DeleteLoadBalancerListener", Params: setHTTP, Plant: listenerStatus(cloud.ListenerStarting), Status: 400, Code: "ServiceIsConfiguring"},
		{Name: "Busy", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: busyGroup, Status: 400, Code: "VServerGroupProcessing"},
		{Name: "Busy", Action: "DeleteVServerGroup", Params: params("VServerGroupId", "rsp-free"), Plant: busyGroup, Status: 400, Code: "VServerGroupProcessing"},
		{Name: "Busy", Action: "AddBackendServers", Params: params("LoadBalancerId", lbInternet, "BackendServers", server(instance1, "")), Plant: editLB(lbInternet, func(lb *cloud.LoadBalancer) { lb.Activity = state.Busy }), Status: 409, Code: "BackendServer.configuring"},

		// Quotas.
		{Name: "Quota", Action: "CreateLoadBalancer", Params: createInternet, Plant: quota(cloud.QuotaLoadBalancers, 4), Status: 400, Code: "ORDER.QUANTITY_INVALID"},
		{Name: "AttachedQuota", Action: "AddVServerGroupBackendServers", Params: addServers, Plant: quota(cloud.QuotaServerAttached, 1), Status: 400, Code: "OverQuota"},
		{Name: "Quota", Action: "CreateLoadBalancerTCPListener", Params: createTCP, Plant: quota(cloud.QuotaListeners, 5), Status: 400, Code: "ListenerNumberOverLimit"},
		{Name: "Quota", Action: "CreateRules", Params: createRules, Plant: quota(cloud.QuotaRules, 1), Status: 400, Code: "TooManyRules"},
		{Name: "Quota", Action: "CreateDomainExtension", Params: extension, Plant: quota(cloud.QuotaDomainExtensions, 1), Status: 400, Code: "DomainExtensionNumberOverLimit"},
		{Name: "Quota", Action: "UploadServerCertificate", Params: params("ServerCertificate", own.certificate, "PrivateKey", own.key), Plant: quota(cloud.QuotaCertificates, 3), Status: 400, Code: "OverQuota"},
		{Name: "Quota", Action: "UploadCACertificate", Params: params("CACertificate", own.certificate), Plant: quota(cloud.QuotaCACertificates, 2), Status: 400, Code: "OverQuota"},
		{Name: "Quota", Action: "CreateAccessControlList", Params: params("AclName", "a"), Plant: quota(cloud.QuotaACLs, 3), Status: 400, Code: "AclNumberOverLimit"},
		{Name: "Quota", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-free", "AclEntrys", entries(2)), Plant: quota(cloud.QuotaACLEntries, 2), Status: 400, Code: "AclEntryExceedLimit"},
		{Name: "ListenerEntries", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-used", "AclEntrys", `[{"entry":"11.0.0.0/8"}]`), Plant: secondACL(999), Status: 400, Code: "AclEntryExceedLimit"},
		{Name: "ListenerSameEntry", Action: "AddAccessControlListEntry", Params: params("AclId", "acl-used", "AclEntrys", `[{"entry":"10.0.0.0/24"}]`), Plant: secondACL(1), Status: 400, Code: "InvalidParam.AclEntryExists"},
		{Name: "ACLQuota", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "AclStatus", "on", "AclType", "white", "AclId", "acl-used"), Plant: quota(cloud.QuotaACLAttached, 1), Status: 400, Code: "AclListenerOverLimit"},
		{Name: "ACLsQuota", Action: "SetLoadBalancerHTTPListenerAttribute", Params: with(setHTTP, "AclStatus", "on", "AclType", "white", "AclId", "acl-used,acl-free"), Plant: quota(cloud.QuotaListenerACLs, 1), Status: 400, Code: "QuotaLimitExceeds.AclAttachedToListener"},

		// Forwarding rules.
		{Name: "Unknown", Action: "DescribeRuleAttribute", Params: params("RuleId", "rule-none"), Status: 404, Code: "InvalidRuleId.NotFound"},
		{Name: "Malformed", Action: "CreateRules", Params: with(createRules, "RuleList", "[{"), Status: 400, Code: "RuleListMalformed"},
		{Name: "Empty", Action: "CreateRules", Params: with(createRules, "RuleList", "[]"), Status: 400, Code: "RuleListMalformed"},
		{Name: "TooMany", Action: "DeleteRules", Params: params("RuleIds", `["1","2","3","4","5","6","7","8","9","10","11"]`), Status: 400, Code: "TooManyRules"},
		{Name: "NoName", Action: "CreateRules", Params: with(createRules, "RuleList", ruleList("", "c.example.com", "", "rsp-free")), Status: 400, Code: "MissingParameter.RuleName"},
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
		{Name: "InRule", Action: "DeleteVServerGroup", Params: params("VServerGroupId", "rsp-rule"), Status: 400, Code: "RspoolRuleExist"},
		{Name: "Expired", Action: "UploadServerCertificate", Params: params("ServerCertificate", expired.certificate, "PrivateKey", expired.key), Plant: editAccount(func(a *cloud.Account) { a.RefusesExpiredCertificates = true }), Status: 400, Code: "InvalidParameter"},

		// Master/slave groups.
		{Name: "Unknown", Action: "DeleteMasterSlaveServerGroup", Params: params("MasterSlaveServerGroupId", "rsp-none"), Status: 400, Code: "InvalidParameter"},
		{Name: "InUse", Action: "DeleteMasterSlaveServerGroup", Params: params("MasterSlaveServerGroupId", "rsp-pair"), Plant: plantPair, Status: 400, Code: "RspoolVipExist"},
		{Name: "Malformed", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", "[{"), Status: 400, Code: "BackendServersMalformed"},
		{Name: "One", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", paired(instance1, 80, "Master")), Status: 400, Code: "BACKEND_SERVERS_NUM_MUST_BE_TWO"},
		{Name: "None", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", ""), Status: 400, Code: "BACKEND_SERVERS_NUM_MUST_BE_TWO"},
		{Name: "TwoMasters", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired(instance1, 80, "Master"), paired(instance2, 80, "Master"))), Status: 400, Code: "BACKEND_SERVERS_CAN_ONLY_CONTAIN_ONE_MASTER_AND_ONE_SLAVE"},
		{Name: "ServerType", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired(instance1, 80, "Master"), paired(instance2, 80, "Friend"))), Status: 400, Code: "INVALID_SERVER_TYPE"},
		{Name: "NoServer", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired("", 80, "Master"), paired(instance2, 80, "Slave"))), Status: 400, Code: "BACKEND_SERVER_ID_CAN_NOT_EMPTY"},
		{Name: "NoPort", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired(instance1, 0, "Master"), paired(instance2, 80, "Slave"))), Status: 400, Code: "BACKEND_SERVER_PORT_CAN_NOT_EMPTY"},
		{Name: "Port", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired(instance1, 70000, "Master"), paired(instance2, 80, "Slave"))), Status: 400, Code: "RealServerPortNotSupport"},
		{Name: "SameServer", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired(instance1, 80, "Master"), paired(instance1, 80, "Slave"))), Status: 400, Code: "BACKEND_SERVERS_HAVE_SAME_PORT_AND_SERVERID"},
		{Name: "Network", Action: "CreateMasterSlaveServerGroup", Params: with(createPair, "MasterSlaveBackendServers", join(paired(instance1, 80, "Master"), paired(instanceB, 80, "Slave"))), Status: 400, Code: "NetworkConflict"},
		{Name: "Quota", Action: "CreateMasterSlaveServerGroup", Params: createPair, Plant: quota(cloud.QuotaBackendServers, 2), Status: 400, Code: "InstanceBackendServerNumberOverLimit"},
		{Name: "Locked", Action: "CreateMasterSlaveServerGroup", Params: createPair, Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "ForeignPair", Action: "CreateLoadBalancerTCPListener", Params: with(createTCP, "MasterSlaveServerGroupId", "rsp-pair-other"), Plant: plantPair, Status: 400, Code: "InvalidParameter"},

		// TLS policies.
		{Name: "Unknown", Action: "DeleteTLSCipherPolicy", Params: params("TLSCipherPolicyId", "tls-none"), Status: 400, Code: "InvalidTLSPolicyId.NotExist"},
		{Name: "NoID", Action: "DeleteTLSCipherPolicy", Params: params(), Status: 400, Code: "MissingParam.TLSCipherPolicyId"},
		{Name: "NoName", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "Name", ""), Status: 400, Code: "MissingParam.Name"},
		{Name: "NoCiphers", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "Ciphers.1", ""), Status: 400, Code: "MissingParam.Ciphers"},
		{Name: "NoVersions", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "TLSVersions.1", ""), Status: 400, Code: "MissingParam.TlsVersions"},
		{Name: "CipherTwice", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "Ciphers.2", "AES256-SHA"), Status: 400, Code: "ParamDuplicateError.Ciphers"},
		{Name: "VersionTwice", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "TLSVersions.2", "TLSv1.0"), Status: 400, Code: "ParamDuplicateError.TlsVersions"},
		{Name: "Version", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "TLSVersions.1", "SSLv3"), Status: 400, Code: "TLSPolicyNoSupportVersion"},
		{Name: "Cipher", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "Ciphers.1", "ROT13"), Status: 400, Code: "TLSPolicyNoSupportCipher"},
		{Name: "CipherOfOtherVersion", Action: "CreateTLSCipherPolicy", Params: with(createPolicy, "Ciphers.1", "TLS_AES_128_GCM_SHA256"), Status: 400, Code: "TLSPolicyNoSupportCipher"},
		{Name: "Quota", Action: "CreateTLSCipherPolicy", Params: createPolicy, Plant: quota(cloud.QuotaTLSCipherPolicies, 0), Status: 400, Code: "TLSCipherPolicyOverLimit"},
		{Name: "Unchanged", Action: "SetTLSCipherPolicyAttribute", Params: with(createPolicy, "TLSCipherPolicyId", "tls-own"), Plant: plantPolicy(state.Idle), Status: 400, Code: "TLSPolicyUnchanged"},
		{Name: "Busy", Action: "SetTLSCipherPolicyAttribute", Params: with(createPolicy, "TLSCipherPolicyId", "tls-own", "Name", "other"), Plant: plantPolicy(state.Busy), Status: 400, Code: "TLSPolicyConfiguring"},
		{Name: "Busy", Action: "DeleteTLSCipherPolicy", Params: params("TLSCipherPolicyId", "tls-own"), Plant: plantPolicy(state.Busy), Status: 400, Code: "TLSPolicyConfiguring"},
		{Name: "InUse", Action: "DeleteTLSCipherPolicy", Params: params("TLSCipherPolicyId", "tls-used"), Plant: plantPolicy(state.Idle), Status: 400, Code: "TLSPolicyRelated"},
		{Name: "BusyPolicy", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "TLSCipherPolicy", "tls-own"), Plant: plantPolicy(state.Busy), Status: 400, Code: "TLSPolicyConfiguring"},
		{Name: "PolicyQuota", Action: "CreateLoadBalancerHTTPSListener", Params: with(createHTTPS, "TLSCipherPolicy", "tls-used"), Plant: both(plantPolicy(state.Idle), quota(cloud.QuotaTLSCipherPolicyListeners, 1)), Status: 400, Code: "TLSCipherPolicyVipRelationOverLimit"},
		{Name: "NextToken", Action: "ListTLSCipherPolicies", Params: params("NextToken", "***"), Status: 400, Code: "QueryTokenInvalid"},

		// White lists.
		{Name: "AclEnabled", Action: "AddListenerWhiteListItem", Params: with(setTCP, "ListenerProtocol", "tcp", "SourceItems", "10.0.0.1"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "AclEnabled", Action: "SetListenerAccessControlStatus", Params: with(setTCP, "ListenerProtocol", "tcp", "AccessControlStatus", "open_white_list"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Item", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.1,office"), Status: 400, Code: "InvalidParameter.SourceItems"},
		{Name: "Block", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.0/33"), Status: 400, Code: "InvalidParameter.SourceItems"},
		{Name: "IPv6Item", Action: "RemoveListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "::1"), Status: 400, Code: "InvalidParameter.SourceItems"},
		{Name: "Two", Action: "DescribeListenerAccessControlAttribute", Params: setTCP, Status: 400, Code: "TooManyListeners"},
		{Name: "Unknown", Action: "RemoveListenerWhiteListItem", Params: with(setHTTP, "ListenerPort", "9", "SourceItems", "10.0.0.1"), Status: 404, Code: "ListenerNotFound"},
		{Name: "Status", Action: "SetListenerAccessControlStatus", Params: with(setHTTP, "AccessControlStatus", "on"), Status: 400, Code: "InvalidAccessControlStatus"},
		{Name: "IPv6", Action: "SetListenerAccessControlStatus", Params: with(setHTTP, "AccessControlStatus", "open_white_list"), Plant: editLB(lbInternet, func(lb *cloud.LoadBalancer) { lb.AddressIPVersion = "ipv6" }), Status: 400, Code: "OperationFailed.ActionNotSupport"},
		{Name: "Quota", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.1,10.0.0.2"), Plant: quota(cloud.QuotaWhiteList, 1), Status: 400, Code: "SourceItemsQuotaOverLimit"},
		{Name: "Locked", Action: "AddListenerWhiteListItem", Params: with(setHTTP, "SourceItems", "10.0.0.1"), Plant: lock, Status: 400, Code: "ActionNotAllowed"},

		// Access logs and fine-grained metrics.
		{Name: "Unknown", Action: "SetAccessLogsDownloadAttribute", Params: accessLog("lb-none"), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "Exists", Action: "SetAccessLogsDownloadAttribute", Params: accessLog(lbInternet), Plant: editLB(lbInternet, func(lb *cloud.LoadBalancer) { lb.AccessLog = &cloud.AccessLog{LogProject: "p", LogStore: "s"} }), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "NoStore", Action: "SetAccessLogsDownloadAttribute", Params: params("LogsDownloadAttributes", `[{"LogProject":"p","LoadBalancerId":"`+lbInternet+`"}]`), Status: 400, Code: "InvalidLogsDownloadAttributes"},
		{Name: "Two", Action: "SetAccessLogsDownloadAttribute", Params: params("LogsDownloadAttributes", `[{},{}]`), Status: 400, Code: "InvalidLogsDownloadAttributes"},
		{Name: "NoLoadBalancer", Action: "SetAccessLogsDownloadAttribute", Params: params("LogsDownloadAttributes", `[{}]`), Status: 400, Code: "MissingLoadBalancerId"},
		{Name: "OtherLoadBalancer", Action: "SetAccessLogsDownloadAttribute", Params: with(accessLog(lbInternet), "LoadBalancerId", lbIntranet), Status: 400, Code: "InvalidLoadBalancerId"},
		{Name: "Missing", Action: "DeleteAccessLogsDownloadAttribute", Params: accessLog(lbInternet), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Locked", Action: "SetAccessLogsDownloadAttribute", Params: accessLog(lbInternet), Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "LogType", Action: "DescribeAccessLogsDownloadAttribute", Params: params("LogType", "layer4"), Status: 400, Code: "InvalidLogType"},
		{Name: "Twice", Action: "EnableHighDefinationMonitor", Params: params("LogProject", "project", "LogStore", "store"), Plant: plantMonitor, Status: 400, Code: "OperationNotAllowed.HighDefinitionMonitorEnabled"},
		{Name: "NotEnabled", Action: "ModifyHighDefinationMonitor", Params: params("LogProject", "project", "LogStore", "store"), Status: 400, Code: "OperationNotAllowed.HighDefinitionMonitorNotEnabled"},

		// Resource groups and charges.
		{Name: "UnknownGroup", Action: "MoveResourceGroup", Params: params("ResourceType", "loadbalancer", "ResourceId", lbInternet, "NewResourceGroupId", "rg-none"), Status: 400, Code: "InvalidResourceGroupId.NotFound"},
		{Name: "Unknown", Action: "MoveResourceGroup", Params: params("ResourceType", "loadbalancer", "ResourceId", "lb-none", "NewResourceGroupId", defaultRG), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "UnknownACL", Action: "MoveResourceGroup", Params: params("ResourceType", "acl", "ResourceId", "acl-none", "NewResourceGroupId", defaultRG), Status: 400, Code: "AclNotExist"},
		{Name: "UnknownCertificate", Action: "MoveResourceGroup", Params: params("ResourceType", "certificate", "ResourceId", "none", "NewResourceGroupId", defaultRG), Status: 404, Code: "ServerCertificateId.NotFound"},
		{Name: "Locked", Action: "MoveResourceGroup", Params: params("ResourceType", "loadbalancer", "ResourceId", lbInternet, "NewResourceGroupId", defaultRG), Plant: lock, Status: 400, Code: "ActionNotAllowed"},
		{Name: "Prepaid", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbPrepaid), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "OnDemand", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet, "PayType", "PayOnDemand"), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "NotSold", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "ByTraffic", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbShared), Plant: inYear(cloud.Year2024), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "CLCU", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbIntranet), Status: 400, Code: "OperationDenied.PayByCLCU"},
		{Name: "Order", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Plant: both(inYear(cloud.Year2024), editLB(lbInternet, func(lb *cloud.LoadBalancer) {
			lb.Ineffective = &cloud.InternetSpecChange{InternetChargeType: cloud.PayByTraffic}
		})), Status: 400, Code: "Operation.NotAllowed"},
		{Name: "Arrears", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Plant: both(inYear(cloud.Year2024), inArrears), Status: 400, Code: "ORDER.ARREARAGE"},
		{Name: "Locked", Action: "ModifyLoadBalancerPayType", Params: params("LoadBalancerId", lbInternet), Plant: lock, Status: 400, Code: "ActionNotAllowed"},

		// Legacy tags.
		{Name: "Unknown", Action: "AddTags", Params: with(legacyTags("k", "v"), "LoadBalancerId", "lb-none"), Status: 404, Code: "InvalidLoadBalancerId.NotFound"},
		{Name: "None", Action: "AddTags", Params: params("LoadBalancerId", lbInternet), Status: 400, Code: "MissingParameter.Tags"},
		{Name: "Malformed", Action: "AddTags", Params: params("LoadBalancerId", lbInternet, "Tags", "k=v"), Status: 400, Code: "InvalidTag"},
		{Name: "KeyTwice", Action: "AddTags", Params: legacyTags("k", "v", "k", "w"), Status: 400, Code: "Duplicate.TagKey"},
		{Name: "Key", Action: "AddTags", Params: legacyTags("acs:k", "v"), Status: 400, Code: "InvalidParameter.TagKey"},
		{Name: "Value", Action: "RemoveTags", Params: legacyTags("k", "http://v"), Status: 400, Code: "InvalidParameter.TagValue"},
		{Name: "TooMany", Action: "AddTags", Params: legacyTags("1", "", "2", "", "3", "", "4", "", "5", "", "6", ""), Status: 400, Code: "QuotaExceeded.Tag"},
		{Name: "Quota", Action: "AddTags", Params: legacyTags("k", "v"), Plant: both(tagInternet, quota(cloud.QuotaLegacyTags, 1)), Status: 400, Code: "QuotaExceed.TagsPerResource"},
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

func manyIDs(name string, n int) gatewaytest.Params {
	p := params()
	for i := range n {
		p[fmt.Sprintf("%s.%d", name, i+1)] = fmt.Sprintf("lb-%d", i)
	}
	return p
}

func manyTags(n int) gatewaytest.Params {
	p := params()
	for i := range n {
		p[fmt.Sprintf("Tag.%d.Key", i+1)] = fmt.Sprintf("key-%d", i)
	}
	return p
}

// The worlds of single cases.

func editLB(id string, change func(*cloud.LoadBalancer)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return cloud.LoadBalancers.Edit(tx, id, func(lb *cloud.LoadBalancer) error {
			change(lb)
			return nil
		})
	}
}

func editRegion(change func(*cloud.Region)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return cloud.Regions.Edit(tx, "cn-hangzhou", func(r *cloud.Region) error {
			change(r)
			return nil
		})
	}
}

// inYear lets the region sell what the cloud sold in a year.
func inYear(year string) func(*state.Tx) error {
	return editRegion(func(r *cloud.Region) { r.SetYear(year) })
}

// ruleList is the JSON text of one rule.
func ruleList(name, domain, url, group string) string {
	return fmt.Sprintf(`[{"RuleName":%q,"Domain":%q,"Url":%q,"VServerGroupId":%q}]`, name, domain, url, group)
}

func plantTCP1000(tx *state.Tx) error {
	cloud.Listeners.Put(tx, &cloud.Listener{Owner: owner, LoadBalancerID: lbInternet, Port: 1000, Protocol: cloud.TCP,
		Status: cloud.ListenerRunning, BackendServerPort: 80, AclStatus: cloud.Off})
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
	return cloud.Instances.Edit(tx, instance1, func(i *cloud.Instance) error {
		i.Status = cloud.InstanceStopped
		return nil
	})
}

func tagInternet(tx *state.Tx) error {
	state.SetTag(tx.In(owner), cloud.TagLoadBalancer, lbInternet, "one", "more")
	return nil
}

// freeInVSwitch1 leaves vSwitch1 just n free addresses.
func freeInVSwitch1(free int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		vSwitch, err := cloud.VSwitches.Get(tx.View, vSwitch1)
		if err != nil {
			return err
		}
		return cloud.SetFreeAddresses(tx, vSwitch, free)
	}
}

// quota gives the account a limit of its own.
func quota(name state.QuotaName, limit int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.Quotas.Put(tx, &state.Quota{AccountID: account, Name: name, Limit: limit})
		return nil
	}
}

func editAccount(change func(*cloud.Account)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return cloud.Accounts.Edit(tx, account, func(a *cloud.Account) error {
			change(a)
			return nil
		})
	}
}

func inArrears(tx *state.Tx) error { return cloud.SetArrears(tx, account, true) }

func lock(tx *state.Tx) error {
	return editLB(lbInternet, func(lb *cloud.LoadBalancer) { lb.Status = cloud.LoadBalancerLocked })(tx)
}

func listenerStatus(status cloud.ListenerStatus) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		for _, id := range []string{cloud.ListenerID(lbInternet, cloud.HTTP, 81), cloud.ListenerID(lbInternet, cloud.TCP, 80)} {
			if err := cloud.Listeners.Edit(tx, id, func(l *cloud.Listener) error {
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
	return cloud.VServerGroups.Edit(tx, "rsp-free", func(g *cloud.VServerGroup) error {
		g.Activity = state.Busy
		return nil
	})
}

// plantPair makes a master/slave group that a listener uses, and one of another
// load balancer.
func plantPair(root *state.Tx) error {
	tx := root.In(owner)
	for id, lb := range map[string]string{"rsp-pair": lbInternet, "rsp-pair-other": lbIntranet} {
		cloud.MasterSlaveServerGroups.Put(tx, &cloud.MasterSlaveServerGroup{Owner: owner, ID: id, Name: id, LoadBalancerID: lb,
			BackendServers: []cloud.MasterSlaveBackendServer{
				{BackendServer: cloud.BackendServer{ServerID: instance1, Type: cloud.BackendServerECS, Port: 90, Weight: 100}, ServerType: cloud.ServerMaster},
				{BackendServer: cloud.BackendServer{ServerID: instance2, Type: cloud.BackendServerECS, Port: 90, Weight: 100}, ServerType: cloud.ServerSlave},
			}})
	}
	cloud.Listeners.Put(tx, &cloud.Listener{Owner: owner, LoadBalancerID: lbInternet, Port: 1001, Protocol: cloud.TCP,
		Status: cloud.ListenerRunning, MasterSlaveServerGroupID: "rsp-pair", AclStatus: cloud.Off})
	return nil
}

// plantPolicy makes a TLS policy, and one that the HTTPS listener uses.
func plantPolicy(activity string) func(*state.Tx) error {
	return func(root *state.Tx) error {
		tx := root.In(owner)
		for _, id := range []string{"tls-own", "tls-used"} {
			cloud.TLSCipherPolicies.Put(tx, &cloud.TLSCipherPolicy{Owner: owner, ID: id, Name: "own", Activity: activity,
				TLSVersions: []string{"TLSv1.0"}, Ciphers: []string{"AES256-SHA"}})
		}
		return cloud.Listeners.Edit(tx, cloud.ListenerID(lbInternet, cloud.HTTPS, 443), func(l *cloud.Listener) error {
			l.TLSCipherPolicy = "tls-used"
			return nil
		})
	}
}

func plantMonitor(root *state.Tx) error {
	cloud.HighDefinitionMonitors.Put(root.In(owner), &cloud.HighDefinitionMonitor{Owner: owner, LogProject: "project", LogStore: "store"})
	return nil
}

// fillBackends brings lbInternet to n members, over the default group and others.
func fillBackends(n int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		group := &cloud.VServerGroup{Owner: owner, ID: "rsp-full", Name: "full", LoadBalancerID: lbInternet}
		for i := range n - 2 {
			group.BackendServers = append(group.BackendServers,
				cloud.BackendServer{ServerID: instance1, Type: cloud.BackendServerECS, Port: 10000 + i, Weight: 100})
		}
		cloud.VServerGroups.Put(tx, group)
		return editLB(lbInternet, func(lb *cloud.LoadBalancer) {
			lb.BackendServers = []cloud.BackendServer{{ServerID: instance1, Type: cloud.BackendServerECS, Weight: 100}}
		})(tx)
	}
}

// secondACL gives the listener that has acl-used another list, with this many entries.
func secondACL(n int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		if err := fillACL("acl-free", n)(tx); err != nil {
			return err
		}
		return cloud.Listeners.Edit(tx, cloud.ListenerID(lbInternet, cloud.TCP, 80), func(l *cloud.Listener) error {
			l.AclIDs = append(slices.Clone(l.AclIDs), "acl-free")
			return nil
		})
	}
}

// fillACL gives an access control list this many entries.
func fillACL(id string, n int) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return cloud.AccessControlLists.Edit(tx, id, func(acl *cloud.AccessControlList) error {
			acl.Entries = nil
			for i := range n {
				acl.Entries = append(acl.Entries, cloud.AccessControlListEntry{Entry: fmt.Sprintf("10.%d.%d.0/24", i/256, i%256)})
			}
			return nil
		})
	}
}

// plantRule puts a rule on the listener of the rule rule-used.
func plantRule(name string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		used, err := cloud.Rules.Get(tx.In(owner).View, "rule-used")
		if err != nil {
			return err
		}
		added := *used
		added.ID, added.Name, added.URL = "rule-"+name, name, "/"+name
		cloud.Rules.Put(tx, &added)
		return nil
	}
}
