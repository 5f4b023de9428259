package contracttests

import (
	"strconv"
	"strings"
)

const unknownLB = "lb-bp1gone"

var slbLoadBalancerCases = []apiCase{
	succeeds("DescribeRegions", "all", params{}),
	refused("DescribeRegions", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("DescribeZones", "all", params{}),
	refused("DescribeZones", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("DescribeAvailableResource", "all", params{}),
	succeeds("DescribeAvailableResource", "intranet", params{"AddressType": "vpc", "AddressIPVersion": "ipv4"}),
	refused("DescribeAvailableResource", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),

	succeeds("CreateLoadBalancer", "internet", params{"AddressType": "internet", "LoadBalancerName": "web", "InstanceChargeType": "PayByCLCU"}),
	succeeds("CreateLoadBalancer", "intranet", params{"AddressType": "intranet", "VpcId": vpc1, "VSwitchId": vsw2, "LoadBalancerName": "inner",
		"InstanceChargeType": "PayByCLCU", "DeleteProtection": "on", "ModificationProtectionStatus": "ConsoleProtection",
		"ModificationProtectionReason": "managed.by.ack", "Tag.1.Key": "ack.aliyun.com", "Tag.1.Value": "c1", "ClientToken": "token"}),
	refused("CreateLoadBalancer", "unknown-vswitch", "VSwitchNotExist", params{"AddressType": "intranet", "VSwitchId": "vsw-gone", "InstanceChargeType": "PayByCLCU"}),
	refused("CreateLoadBalancer", "address-taken", "InvalidParameter", params{"AddressType": "intranet", "VSwitchId": vsw1,
		"Address": "192.168.0.200", "InstanceChargeType": "PayByCLCU"}),

	succeeds("DeleteLoadBalancer", "with-everything", params{"LoadBalancerId": "{lb}"}),
	refused("DeleteLoadBalancer", "protected", "OperationDenied.DeleteProtectionIsOn", params{"LoadBalancerId": "{kept}"}),
	refused("DeleteLoadBalancer", "unknown", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB}),

	succeeds("DescribeLoadBalancers", "all", params{}),
	succeeds("DescribeLoadBalancers", "by-tag", params{"Tags": `[{"TagValue":"a1","TagKey":"kubernetes.do.not.delete"}]`}),
	succeeds("DescribeLoadBalancers", "by-name", params{"LoadBalancerName": "inner"}),
	succeeds("DescribeLoadBalancers", "none", params{"LoadBalancerName": "nobody"}),
	succeeds("DescribeLoadBalancers", "second-page", params{"PageSize": "1", "PageNumber": "2"}),
	succeeds("DescribeLoadBalancers", "with-an-order", params{"LoadBalancerName": "wide"}, step{"Slb", "ModifyLoadBalancerInternetSpec",
		params{"LoadBalancerId": "{wide}", "InternetChargeType": "paybytraffic"}, nil}),
	refused("DescribeLoadBalancers", "malformed-tags", "InvalidTag", params{"Tags": "kubernetes"}),
	succeeds("DescribeLoadBalancerAttribute", "internet", params{"LoadBalancerId": "{lb}"}),
	succeeds("DescribeLoadBalancerAttribute", "intranet", params{"LoadBalancerId": "{inner}"}),
	refused("DescribeLoadBalancerAttribute", "unknown", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB}),

	succeeds("SetLoadBalancerName", "new", params{"LoadBalancerId": "{lb}", "LoadBalancerName": "new"}),
	refused("SetLoadBalancerName", "unknown", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB, "LoadBalancerName": "new"}),
	succeeds("SetLoadBalancerStatus", "inactive", params{"LoadBalancerId": "{lb}", "LoadBalancerStatus": "inactive"}),
	refused("SetLoadBalancerStatus", "unknown", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB, "LoadBalancerStatus": "inactive"}),
	succeeds("SetLoadBalancerDeleteProtection", "off", params{"LoadBalancerId": "{kept}", "DeleteProtection": "off"}),
	refused("SetLoadBalancerDeleteProtection", "unknown", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB, "DeleteProtection": "on"}),
	succeeds("SetLoadBalancerModificationProtection", "off", params{"LoadBalancerId": "{lb}", "ModificationProtectionStatus": "NonProtection"}),
	refused("SetLoadBalancerModificationProtection", "reason-too-long", "InvalidParam.ModificationProtectionReason",
		params{"LoadBalancerId": "{lb}", "ModificationProtectionStatus": "ConsoleProtection", "ModificationProtectionReason": strings.Repeat("x", 81)}),
	succeeds("ModifyLoadBalancerInstanceSpec", "larger", params{"LoadBalancerId": "{wide}", "LoadBalancerSpec": "slb.s2.small"}),
	refused("ModifyLoadBalancerInstanceSpec", "pay-by-clcu", "OperationDenied.PayByCLCU", params{"LoadBalancerId": "{lb}", "LoadBalancerSpec": "slb.s2.small"}),
	succeeds("ModifyLoadBalancerInstanceChargeType", "to-clcu", params{"LoadBalancerId": "{inner}", "InstanceChargeType": "PayByCLCU"}),
	refused("ModifyLoadBalancerInstanceChargeType", "to-spec", "Forbidden.LcuToSpec",
		params{"LoadBalancerId": "{lb}", "InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s2.small"}),
	succeeds("ModifyLoadBalancerInternetSpec", "bandwidth", params{"LoadBalancerId": "{wide}", "InternetChargeType": "paybybandwidth", "Bandwidth": "20"}),
	refused("ModifyLoadBalancerInternetSpec", "pay-by-clcu", "OperationDenied.PayByCLCU",
		params{"LoadBalancerId": "{lb}", "InternetChargeType": "paybybandwidth", "Bandwidth": "20"}),
}

var slbListenerCases = []apiCase{
	succeeds("CreateLoadBalancerTCPListener", "least", params{"LoadBalancerId": "{lb}", "ListenerPort": "81", "Bandwidth": "-1", "VServerGroupId": "{rsp}"}),
	refused("CreateLoadBalancerTCPListener", "port-taken", "ListenerAlreadyExists",
		params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "Bandwidth": "-1", "VServerGroupId": "{rsp}"}),
	succeeds("CreateLoadBalancerUDPListener", "least", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "Bandwidth": "-1", "VServerGroupId": "{rsp}"}),
	refused("CreateLoadBalancerUDPListener", "reserved-port", "OperationDenied.SpecialListenerPortNotAllowed",
		params{"LoadBalancerId": "{lb}", "ListenerPort": "4789", "Bandwidth": "-1", "VServerGroupId": "{rsp}"}),
	succeeds("CreateLoadBalancerHTTPListener", "redirect", params{"LoadBalancerId": "{lb}", "ListenerPort": "82", "StickySession": "off",
		"HealthCheck": "off", "ListenerForward": "on", "ForwardPort": "443"}),
	refused("CreateLoadBalancerHTTPListener", "redirect-to-nothing", "InvalidParameter", params{"LoadBalancerId": "{lb}", "ListenerPort": "82",
		"StickySession": "off", "HealthCheck": "off", "ListenerForward": "on", "ForwardPort": "444"}),
	succeeds("CreateLoadBalancerHTTPSListener", "least", params{"LoadBalancerId": "{lb}", "ListenerPort": "444", "Bandwidth": "-1",
		"VServerGroupId": "{rsp}", "StickySession": "off", "HealthCheck": "off", "ServerCertificateId": "{cert}"}),
	refused("CreateLoadBalancerHTTPSListener", "no-certificate", "MissingParam.ServerCertificates", params{"LoadBalancerId": "{lb}",
		"ListenerPort": "444", "Bandwidth": "-1", "VServerGroupId": "{rsp}", "StickySession": "off", "HealthCheck": "off"}),

	succeeds("SetLoadBalancerTCPListenerAttribute", "scheduler", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "Scheduler": "rr"}),
	refused("SetLoadBalancerTCPListenerAttribute", "no-listener", "ListenerNotFound", params{"LoadBalancerId": "{lb}", "ListenerPort": "81"}),
	succeeds("SetLoadBalancerUDPListenerAttribute", "scheduler", params{"LoadBalancerId": "{lb}", "ListenerPort": "53", "Scheduler": "rr"}),
	refused("SetLoadBalancerUDPListenerAttribute", "no-listener", "ListenerNotFound", params{"LoadBalancerId": "{lb}", "ListenerPort": "54"}),
	succeeds("SetLoadBalancerHTTPListenerAttribute", "sticky-off", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080", "StickySession": "off", "HealthCheck": "off"}),
	refused("SetLoadBalancerHTTPListenerAttribute", "redirecting", "Operation.NotAllowed",
		params{"LoadBalancerId": "{lb}", "ListenerPort": "8081", "StickySession": "off", "HealthCheck": "off"}),
	succeeds("SetLoadBalancerHTTPSListenerAttribute", "certificate", params{"LoadBalancerId": "{lb}", "ListenerPort": "443", "ServerCertificateId": "{spareCert}"}),
	refused("SetLoadBalancerHTTPSListenerAttribute", "unknown-certificate", "CertificateNotExist",
		params{"LoadBalancerId": "{lb}", "ListenerPort": "443", "ServerCertificateId": "gone"}),

	succeeds("StartLoadBalancerListener", "stopped", params{"LoadBalancerId": "{lb}", "ListenerPort": "443", "ListenerProtocol": "https"}),
	refused("StartLoadBalancerListener", "no-listener", "ListenerNotFound", params{"LoadBalancerId": "{lb}", "ListenerPort": "81"}),
	succeeds("StopLoadBalancerListener", "running", params{"LoadBalancerId": "{lb}", "ListenerPort": "80"}),
	refused("StopLoadBalancerListener", "no-listener", "ListenerNotFound", params{"LoadBalancerId": "{lb}", "ListenerPort": "81"}),
	succeeds("DeleteLoadBalancerListener", "running", params{"LoadBalancerId": "{lb}", "ListenerPort": "80"}),
	refused("DeleteLoadBalancerListener", "redirected-to", "ListenerForwardExist", params{"LoadBalancerId": "{lb}", "ListenerPort": "443"}),
	refused("DeleteLoadBalancerListener", "no-listener", "ResourceNotFound.Listener", params{"LoadBalancerId": "{lb}", "ListenerPort": "81"}),

	succeeds("DescribeLoadBalancerListeners", "all", params{"LoadBalancerId.1": "{lb}", "MaxResults": "50"}),
	succeeds("DescribeLoadBalancerListeners", "first-page", params{"LoadBalancerId.1": "{lb}", "MaxResults": "1"}),
	refused("DescribeLoadBalancerListeners", "bad-token", "IllegalParam.NextToken", params{"LoadBalancerId.1": "{lb}", "NextToken": "?"}),
	succeeds("DescribeLoadBalancerTCPListenerAttribute", "all", params{"LoadBalancerId": "{lb}", "ListenerPort": "80"}),
	succeeds("DescribeLoadBalancerTCPListenerAttribute", "default-group", params{"LoadBalancerId": "{lb}", "ListenerPort": "90"}),
	refused("DescribeLoadBalancerTCPListenerAttribute", "no-listener", "InvalidParameter", params{"LoadBalancerId": "{lb}", "ListenerPort": "443"}),
	succeeds("DescribeLoadBalancerUDPListenerAttribute", "all", params{"LoadBalancerId": "{lb}", "ListenerPort": "53"}),
	succeeds("DescribeLoadBalancerUDPListenerAttribute", "default-group", params{"LoadBalancerId": "{lb}", "ListenerPort": "90"}),
	refused("DescribeLoadBalancerUDPListenerAttribute", "no-listener", "InvalidParameter", params{"LoadBalancerId": "{lb}", "ListenerPort": "80"}),
	succeeds("DescribeLoadBalancerHTTPListenerAttribute", "all", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080"}),
	succeeds("DescribeLoadBalancerHTTPListenerAttribute", "redirecting", params{"LoadBalancerId": "{lb}", "ListenerPort": "8081"}),
	refused("DescribeLoadBalancerHTTPListenerAttribute", "no-listener", "InvalidParameter", params{"LoadBalancerId": "{lb}", "ListenerPort": "80"}),
	succeeds("DescribeLoadBalancerHTTPSListenerAttribute", "all", params{"LoadBalancerId": "{lb}", "ListenerPort": "443"}),
	refused("DescribeLoadBalancerHTTPSListenerAttribute", "no-listener", "InvalidParameter", params{"LoadBalancerId": "{lb}", "ListenerPort": "80"}),

	succeeds("CreateDomainExtension", "new", params{"LoadBalancerId": "{lb}", "ListenerPort": "443", "Domain": "api.example.com", "ServerCertificateId": "{cert}"}),
	refused("CreateDomainExtension", "domain-exists", "InvalidParameter.Domain",
		params{"LoadBalancerId": "{lb}", "ListenerPort": "443", "Domain": "www.example.com", "ServerCertificateId": "{cert}"}),
	succeeds("SetDomainExtensionAttribute", "certificate", params{"DomainExtensionId": "{extension}", "ServerCertificateId": "{spareCert}"}),
	refused("SetDomainExtensionAttribute", "unknown", "InvalidParameter.DomainExtensionId",
		params{"DomainExtensionId": "de-gone", "ServerCertificateId": "{cert}"}),
	succeeds("DeleteDomainExtension", "one", params{"DomainExtensionId": "{extension}"}),
	refused("DeleteDomainExtension", "unknown", "InvalidParameter.DomainExtensionId", params{"DomainExtensionId": "de-gone"}),
	succeeds("DescribeDomainExtensionAttribute", "one", params{"DomainExtensionId": "{extension}"}),
	refused("DescribeDomainExtensionAttribute", "unknown", "InvalidParameter.DomainExtensionId", params{"DomainExtensionId": "de-gone"}),
	succeeds("DescribeDomainExtensions", "all", params{"LoadBalancerId": "{lb}", "ListenerPort": "443"}),
	refused("DescribeDomainExtensions", "unknown-load-balancer", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB, "ListenerPort": "443"}),
}

var slbRuleCases = []apiCase{
	succeeds("CreateRules", "two", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080", "RuleList": `[{"RuleName":"static","Url":"/static",` +
		`"VServerGroupId":"{rsp}"},{"RuleName":"any","Domain":"*.example.com","VServerGroupId":"{spareRsp}"}]`}),
	succeeds("CreateRules", "sticky", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082", "RuleList": `[{"RuleName":"static","Url":"/static",` +
		`"VServerGroupId":"{rsp}"}]`}),
	refused("CreateRules", "exists", "DomainExist", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080",
		"RuleList": `[{"RuleName":"again","Domain":"api.example.com","Url":"/v1","VServerGroupId":"{rsp}"}]`}),
	succeeds("DeleteRules", "one", params{"RuleIds": `["{rule}"]`}),
	refused("DeleteRules", "unknown", "InvalidRuleId.NotFound", params{"RuleIds": `["rule-gone"]`}),
	succeeds("SetRule", "settings", params{"RuleId": "{rule}", "RuleName": "new", "ListenerSync": "off", "Scheduler": "rr", "StickySession": "off", "HealthCheck": "off"}),
	refused("SetRule", "unknown", "InvalidRuleId.NotFound", params{"RuleId": "rule-gone", "RuleName": "new"}),
	succeeds("DescribeRules", "all", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080"}),
	succeeds("DescribeRules", "sticky", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082"}),
	succeeds("DescribeLoadBalancerHTTPListenerAttribute", "sticky-insert", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082"}),
	succeeds("DescribeLoadBalancerHTTPSListenerAttribute", "sticky-server", params{"LoadBalancerId": "{lb}", "ListenerPort": "8443"}),
	refused("DescribeRules", "unknown-load-balancer", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB, "ListenerPort": "8080"}),
	succeeds("DescribeRuleAttribute", "one", params{"RuleId": "{rule}"}),
	succeeds("DescribeRuleAttribute", "sticky-insert", params{"RuleId": "{rule}"}, step{"Slb", "SetRule", params{"RuleId": "{rule}", "ListenerSync": "off",
		"StickySession": "on", "StickySessionType": "insert", "CookieTimeout": "500"}, nil}),
	refused("DescribeRuleAttribute", "unknown", "InvalidRuleId.NotFound", params{"RuleId": "rule-gone"}),
}

var slbServerGroupCases = []apiCase{
	succeeds("CreateVServerGroup", "empty", params{"LoadBalancerId": "{lb}", "VServerGroupName": "k8s/30081/web/default/c1"}),
	succeeds("CreateVServerGroup", "with-servers", params{"LoadBalancerId": "{lb}", "VServerGroupName": "group",
		"BackendServers": servers(server(node1, 80, 100), server(node2, 80, 0))}),
	refused("CreateVServerGroup", "unknown-load-balancer", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB, "VServerGroupName": "group"}),
	succeeds("DeleteVServerGroup", "unused", params{"VServerGroupId": "{spareRsp}"}),
	refused("DeleteVServerGroup", "in-use", "RspoolVipExist", params{"VServerGroupId": "{rsp}"}),
	refused("DeleteVServerGroup", "unknown", "InvalidParameter", params{"VServerGroupId": "rsp-gone"}),
	succeeds("SetVServerGroupAttribute", "weight", params{"VServerGroupId": "{rsp}", "VServerGroupName": "new", "BackendServers": servers(server(node1, 30080, 50))}),
	refused("SetVServerGroupAttribute", "nothing", "MissingParameter", params{"VServerGroupId": "{rsp}"}),
	succeeds("AddVServerGroupBackendServers", "documentation", params{"VServerGroupId": "{rsp}", "BackendServers": servers(server(node2, 30080, 100))}),
	succeeds("AddVServerGroupBackendServers", "ccm", params{"VServerGroupId": "{rsp}", "BackendServers": servers(`{"IsUserManaged":false,"NodeName":null,` +
		`"description":"k8s/80/web/default/c1","serverId":"` + eni1 + `","serverIp":"192.168.0.11","weight":100,"port":80,"type":"eni","TargetRef":null,"Invalid":false}`)}),
	refused("AddVServerGroupBackendServers", "twice-in-one-call", "InvalidParameter",
		params{"VServerGroupId": "{rsp}", "BackendServers": servers(server(node2, 30080, 100), server(node2, 30080, 100))}),
	refused("AddVServerGroupBackendServers", "no-json", "BackendServersMalformed", params{"VServerGroupId": "{rsp}", "BackendServers": "node-1"}),
	refused("AddVServerGroupBackendServers", "of-another-vpc", "NetworkConflict",
		params{"VServerGroupId": "{innerRsp}", "BackendServers": servers(server(foreign1, 80, 100))},
		step{"Slb", "CreateVServerGroup", params{"LoadBalancerId": "{inner}", "VServerGroupName": "inner"}, saveAs("innerRsp", "VServerGroupId")}),
	succeeds("RemoveVServerGroupBackendServers", "one", params{"VServerGroupId": "{rsp}", "BackendServers": servers(server(node1, 30080, 100))}),
	succeeds("RemoveVServerGroupBackendServers", "absent", params{"VServerGroupId": "{rsp}", "BackendServers": servers(server(node3, 30080, 100))}),
	refused("RemoveVServerGroupBackendServers", "unknown-group", "InvalidParameter",
		params{"VServerGroupId": "rsp-gone", "BackendServers": servers(server(node1, 30080, 100))}),
	succeeds("ModifyVServerGroupBackendServers", "replace", params{"VServerGroupId": "{rsp}", "OldBackendServers": servers(server(node1, 30080, 100)),
		"NewBackendServers": servers(server(node2, 30080, 100))}),
	refused("ModifyVServerGroupBackendServers", "nothing", "MissingOldBackendServers", params{"VServerGroupId": "{rsp}"}),
	succeeds("DescribeVServerGroups", "all", params{"LoadBalancerId": "{lb}"}),
	succeeds("DescribeVServerGroups", "with-listeners", params{"LoadBalancerId": "{lb}", "IncludeListener": "true", "IncludeRule": "true"}),
	refused("DescribeVServerGroups", "unknown-load-balancer", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB}),
	succeeds("DescribeVServerGroupAttribute", "one", params{"VServerGroupId": "{rsp}"}),
	refused("DescribeVServerGroupAttribute", "unknown", "InvalidParameter", params{"VServerGroupId": "rsp-gone"}),

	succeeds("AddBackendServers", "one", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server(node3, 0, 100))}),
	refused("AddBackendServers", "unknown-server", "InvalidServerId.NotFound", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server("i-gone", 0, 100))}),
	succeeds("RemoveBackendServers", "one", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server(node1, 0, 100))}),
	refused("RemoveBackendServers", "no-json", "BackendServersMalformed", params{"LoadBalancerId": "{lb}", "BackendServers": "node-1"}),
	succeeds("SetBackendServers", "weight", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server(node1, 0, 0))}),
	refused("SetBackendServers", "weight-too-large", "InvalidWeight.Malformed", params{"LoadBalancerId": "{lb}", "BackendServers": servers(server(node1, 0, 101))}),
	succeeds("DescribeHealthStatus", "all", params{"LoadBalancerId": "{lb}"}),
	succeeds("DescribeHealthStatus", "one-listener", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "ListenerProtocol": "tcp"}),
	refused("DescribeHealthStatus", "unknown", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB}),
}

var slbAccessControlCases = []apiCase{
	succeeds("CreateAccessControlList", "new", params{"AclName": "new"}),
	refused("CreateAccessControlList", "unknown-resource-group", "InvalidResourceGroupId.NotFound", params{"AclName": "new", "ResourceGroupId": "rg-gone"}),
	succeeds("DeleteAccessControlList", "unused", params{"AclId": "{spareAcl}"}),
	refused("DeleteAccessControlList", "in-use", "OperationFailed.AclBindedWithVip", params{"AclId": "{acl}"}),
	succeeds("SetAccessControlListAttribute", "name", params{"AclId": "{acl}", "AclName": "new"}),
	refused("SetAccessControlListAttribute", "unknown", "AclNotExist", params{"AclId": "acl-gone", "AclName": "new"}),
	succeeds("AddAccessControlListEntry", "two", params{"AclId": "{acl}", "AclEntrys": `[{"entry":"192.168.0.0/24","comment":"a"},{"entry":"192.168.1.1/32"}]`}),
	refused("AddAccessControlListEntry", "exists", "InvalidParam.AclEntryExists", params{"AclId": "{acl}", "AclEntrys": `[{"entry":"10.0.0.0/8"}]`}),
	succeeds("RemoveAccessControlListEntry", "one", params{"AclId": "{acl}", "AclEntrys": `[{"entry":"10.0.0.0/8"}]`}),
	refused("RemoveAccessControlListEntry", "unknown-acl", "AclNotExist", params{"AclId": "acl-gone", "AclEntrys": `[{"entry":"10.0.0.0/8"}]`}),
	succeeds("DescribeAccessControlLists", "all", params{}),
	succeeds("DescribeAccessControlLists", "by-name", params{"AclName": "off"}),
	refused("DescribeAccessControlLists", "bad-page", "InvalidPageSize", params{"PageSize": "0"}),
	succeeds("DescribeAccessControlListAttribute", "one", params{"AclId": "{acl}"}),
	refused("DescribeAccessControlListAttribute", "unknown", "AclNotExist", params{"AclId": "acl-gone"}),

	succeeds("UploadServerCertificate", "new", params{"ServerCertificateName": "new", "ServerCertificate": certificate, "PrivateKey": privateKey}),
	refused("UploadServerCertificate", "no-certificate", "CertificateFormatInvalid",
		params{"ServerCertificateName": "new", "ServerCertificate": "PEM", "PrivateKey": privateKey}),
	succeeds("SetServerCertificateName", "one", params{"ServerCertificateId": "{cert}", "ServerCertificateName": "renamed"}),
	refused("SetServerCertificateName", "unknown", "ServerCertificateId.NotFound", params{"ServerCertificateId": "gone", "ServerCertificateName": "renamed"}),
	succeeds("DeleteServerCertificate", "unused", params{"ServerCertificateId": "{spareCert}"}),
	refused("DeleteServerCertificate", "in-use", "CertificateAndPrivateKeyIsRefered", params{"ServerCertificateId": "{cert}"}),
	succeeds("UploadServerCertificate", "of-the-certificate-service", takeOver.params, uploaded),
	refused("UploadServerCertificate", "unknown-at-the-service", "InvalidParameter.AliCloudCertificateId", params{"AliCloudCertificateId": "1"}),
	succeeds("DescribeServerCertificates", "all", params{}),
	succeeds("DescribeServerCertificates", "of-the-certificate-service", params{"ServerCertificateId": "{taken}"}, uploaded, takeOver),
	succeeds("DescribeServerCertificates", "unknown", params{"ServerCertificateId": "gone"}),
	refused("DescribeServerCertificates", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),
	succeeds("UploadCACertificate", "new", params{"CACertificateName": "new", "CACertificate": certificate}),
	refused("UploadCACertificate", "no-certificate", "CertificateFormatInvalid", params{"CACertificateName": "new", "CACertificate": "PEM"}),
	succeeds("SetCACertificateName", "one", params{"CACertificateId": "{ca}", "CACertificateName": "renamed"}),
	refused("SetCACertificateName", "unknown", "CACertificateId.NotFound", params{"CACertificateId": "gone", "CACertificateName": "renamed"}),
	succeeds("DeleteCACertificate", "unused", params{"CACertificateId": "{spareCA}"}),
	refused("DeleteCACertificate", "in-use", "CertificateAndPrivateKeyIsRefered", params{"CACertificateId": "{ca}"}),
	succeeds("DescribeCACertificates", "all", params{}),
	refused("DescribeCACertificates", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),

	succeeds("TagResources", "load-balancer", params{"ResourceType": "instance", "ResourceId.1": "{lb}", "Tag.1.Key": "env", "Tag.1.Value": "test"}),
	refused("TagResources", "unknown-resource", "ResourceNotExist",
		params{"ResourceType": "instance", "ResourceId.1": unknownLB, "Tag.1.Key": "env", "Tag.1.Value": "test"}),
	succeeds("UntagResources", "one-key", params{"ResourceType": "instance", "ResourceId.1": "{lb}", "TagKey.1": "kubernetes.do.not.delete"}),
	refused("UntagResources", "unknown-resource", "ResourceNotExist", params{"ResourceType": "instance", "ResourceId.1": unknownLB, "TagKey.1": "env"}),
	succeeds("ListTagResources", "load-balancer", params{"ResourceType": "instance", "ResourceId.1": "{lb}"}),
	succeeds("ListTagResources", "first-page", params{"ResourceType": "instance", "ResourceId.1": "{lb}", "ResourceId.2": "{inner}", "ResourceId.3": "{wide}"},
		step{"Slb", "TagResources", manyTags(), nil}),
	refused("ListTagResources", "neither-tag-nor-resource", "MissingParam.TagOrResourceId", params{"ResourceType": "instance"}),
}

// manyTags puts 19 tags on each of three load balancers: more than one page.
func manyTags() params {
	p := params{"ResourceType": "instance", "ResourceId.1": "{lb}", "ResourceId.2": "{inner}", "ResourceId.3": "{wide}"}
	for i := range 19 {
		n := strconv.Itoa(i + 1)
		p["Tag."+n+".Key"], p["Tag."+n+".Value"] = "key-"+n, "value"
	}
	return p
}

// takeOver takes a certificate of the certificate service.
var takeOver = step{"Slb", "UploadServerCertificate", params{"AliCloudCertificateId": "{userCert}", "AliCloudCertificateName": "web",
	"AliCloudCertificateRegionId": "cn-hangzhou"}, saveAs("taken", "ServerCertificateId")}
