package contracttests

import "strings"

// fixtures makes a resource of each kind. Names with "spare" are bound to
// nothing, so that they can be deleted.
var fixtures = []step{
	// An internet load balancer with everything on it.
	{"Slb", "CreateLoadBalancer", params{"AddressType": "internet", "LoadBalancerName": "web", "InstanceChargeType": "PayByCLCU",
		"InternetChargeType": "paybytraffic", "ModificationProtectionStatus": "ConsoleProtection",
		"ModificationProtectionReason": "managed.by.ack", "Tag.1.Key": "kubernetes.do.not.delete", "Tag.1.Value": "a1"},
		saveAs("lb", "LoadBalancerId")},
	{"Slb", "CreateVServerGroup", params{"LoadBalancerId": "{lb}", "VServerGroupName": "k8s/30080/web/default/c1",
		"BackendServers": servers(server(node1, 30080, 100)), "Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("rsp", "VServerGroupId")},
	{"Slb", "CreateVServerGroup", params{"LoadBalancerId": "{lb}", "VServerGroupName": "spare"}, saveAs("spareRsp", "VServerGroupId")},
	{"Slb", "AddBackendServers", params{"LoadBalancerId": "{lb}", "BackendServers": servers(
		`{"ServerId":"`+node1+`","Weight":"100","Description":"default"}`, server(node2, 0, 50),
		`{"ServerId":"eni-bp1clbemu000000011","Weight":"10","Type":"eni"}`)}, nil},
	{"Slb", "CreateAccessControlList", params{"AclName": "office", "Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("acl", "AclId")},
	{"Slb", "AddAccessControlListEntry", params{"AclId": "{acl}", "AclEntrys": `[{"entry":"10.0.0.0/8","comment":"office"}]`}, nil},
	{"Slb", "CreateAccessControlList", params{"AclName": "spare"}, saveAs("spareAcl", "AclId")},
	{"Slb", "UploadServerCertificate", params{"ServerCertificateName": "example", "ServerCertificate": certificate, "PrivateKey": privateKey,
		"Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("cert", "ServerCertificateId")},
	{"Slb", "UploadServerCertificate", params{"ServerCertificateName": "spare", "ServerCertificate": certificate, "PrivateKey": privateKey},
		saveAs("spareCert", "ServerCertificateId")},
	{"Slb", "UploadCACertificate", params{"CACertificateName": "clients", "CACertificate": certificate,
		"Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("ca", "CACertificateId")},
	{"Slb", "UploadCACertificate", params{"CACertificateName": "spare", "CACertificate": certificate}, saveAs("spareCA", "CACertificateId")},
	{"Slb", "CreateLoadBalancerTCPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "Bandwidth": "-1", "VServerGroupId": "{rsp}",
		"Description": "k8s/80/web/default/c1", "AclId": "{acl}", "AclType": "white", "AclStatus": "on", "Tag.1.Key": "app", "Tag.1.Value": "web",
		"PersistenceTimeout": "30", "ConnectionDrain": "on", "ConnectionDrainTimeout": "30", "HealthCheckConnectPort": "8080",
		"HealthCheckType": "http", "HealthCheckDomain": "example.com", "HealthCheckURI": "/healthz", "ProxyProtocolV2Enabled": "true"}, nil},
	{"Slb", "StartLoadBalancerListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "80", "ListenerProtocol": "tcp"}, nil},
	{"Slb", "CreateLoadBalancerUDPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "53", "Bandwidth": "-1", "VServerGroupId": "{rsp}",
		"Description": "dns", "AclId": "{acl}", "AclType": "black", "AclStatus": "on", "HealthCheckConnectPort": "53",
		"healthCheckReq": "ping", "healthCheckExp": "pong", "ProxyProtocolV2Enabled": "true", "Tag.1.Key": "app", "Tag.1.Value": "dns"}, nil},
	{"Slb", "CreateLoadBalancerHTTPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080", "Bandwidth": "-1", "VServerGroupId": "{rsp}",
		"Description": "http", "StickySession": "on", "StickySessionType": "server", "Cookie": "SESSION", "HealthCheck": "on",
		"HealthCheckDomain": "example.com", "HealthCheckURI": "/healthz", "HealthCheckConnectPort": "8080", "BackendServerPort": "8080",
		"AclId": "{acl}", "AclType": "white", "AclStatus": "on", "Tag.1.Key": "app", "Tag.1.Value": "web"}, nil},
	{"Slb", "CreateLoadBalancerHTTPSListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "443", "Bandwidth": "-1", "VServerGroupId": "{rsp}",
		"Description": "https", "StickySession": "on", "StickySessionType": "insert", "CookieTimeout": "500", "HealthCheck": "on",
		"HealthCheckDomain": "example.com", "HealthCheckURI": "/healthz", "HealthCheckConnectPort": "8080", "BackendServerPort": "8443",
		"ServerCertificateId": "{cert}", "CACertificateId": "{ca}", "AclId": "{acl}", "AclType": "white", "AclStatus": "on",
		"Tag.1.Key": "app", "Tag.1.Value": "web"}, nil},
	{"Slb", "CreateLoadBalancerHTTPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "8081", "StickySession": "off", "HealthCheck": "off",
		"ListenerForward": "on", "ForwardPort": "443"}, nil},
	{"Slb", "CreateLoadBalancerTCPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "90", "Bandwidth": "-1", "BackendServerPort": "90"}, nil},
	{"Slb", "CreateLoadBalancerUDPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "90", "Bandwidth": "-1", "BackendServerPort": "90"}, nil},
	{"Slb", "CreateLoadBalancerHTTPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082", "BackendServerPort": "8082",
		"StickySession": "on", "StickySessionType": "insert", "CookieTimeout": "500", "HealthCheck": "off"}, nil},
	{"Slb", "CreateLoadBalancerHTTPSListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "8443", "Bandwidth": "-1", "BackendServerPort": "8443",
		"StickySession": "on", "StickySessionType": "server", "Cookie": "SESSION", "HealthCheck": "off", "ServerCertificateId": "{cert}"}, nil},
	{"Slb", "CreateDomainExtension", params{"LoadBalancerId": "{lb}", "ListenerPort": "443", "Domain": "www.example.com", "ServerCertificateId": "{cert}"},
		saveAs("extension", "DomainExtensionId")},

	{"Slb", "CreateRules", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080",
		"RuleList": `[{"RuleName":"api","Domain":"api.example.com","Url":"/v1","VServerGroupId":"{rsp}"}]`}, saveAs("rule", "Rules.Rule.0.RuleId")},
	{"Slb", "CreateRules", params{"LoadBalancerId": "{lb}", "ListenerPort": "443",
		"RuleList": `[{"RuleName":"api","Domain":"www.example.com","Url":"/v1","VServerGroupId":"{rsp}"}]`}, nil},
	{"Slb", "CreateRules", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082",
		"RuleList": `[{"RuleName":"api","Url":"/v1","VServerGroupId":"{rsp}"}]`}, nil},
	{"Slb", "CreateRules", params{"LoadBalancerId": "{lb}", "ListenerPort": "8443",
		"RuleList": `[{"RuleName":"api","Url":"/v1","VServerGroupId":"{rsp}"}]`}, nil},

	// Others, for what the first one can't show.
	{"Slb", "CreateLoadBalancer", params{"AddressType": "intranet", "VSwitchId": vsw1, "LoadBalancerName": "inner",
		"InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s2.small", "Address": "192.168.0.200"}, saveAs("inner", "LoadBalancerId")},
	{"Slb", "CreateLoadBalancer", params{"AddressType": "internet", "InternetChargeType": "paybybandwidth", "Bandwidth": "10", "LoadBalancerName": "wide",
		"InstanceChargeType": "PayBySpec", "LoadBalancerSpec": "slb.s1.small"}, saveAs("wide", "LoadBalancerId")},
	{"Slb", "CreateLoadBalancer", params{"AddressType": "internet", "LoadBalancerName": "kept", "DeleteProtection": "on",
		"InstanceChargeType": "PayByCLCU"}, saveAs("kept", "LoadBalancerId")},

	{"Vpc", "CreateVpc", params{"VpcName": "spare", "CidrBlock": "172.16.0.0/12", "Description": "spare VPC", "EnableIpv6": "true", "Tag.1.Key": "app", "Tag.1.Value": "web"},
		saveAs("vpc", "VpcId")},
	{"Vpc", "CreateVSwitch", params{"VpcId": "{vpc}", "ZoneId": "cn-hangzhou-h", "CidrBlock": "172.16.0.0/24", "Ipv6CidrBlock": "1", "VSwitchName": "spare",
		"Description": "spare vSwitch", "Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("vsw", "VSwitchId")},
	{"Vpc", "CreateRouteTable", params{"VpcId": vpc1, "RouteTableName": "custom", "Description": "spare table"}, saveAs("vtb", "RouteTableId")},
	{"Vpc", "CreateRouteEntry", params{"RouteTableId": vtb1, "DestinationCidrBlock": "172.20.0.0/24", "NextHopType": "Instance", "NextHopId": node1,
		"RouteEntryName": "node-1", "Description": "pods of node 1"}, saveAs("rte", "RouteEntryId")},
	{"Vpc", "AllocateEipAddress", params{"Name": "spare", "Description": "spare EIP", "Bandwidth": "5", "Tag.1.Key": "app", "Tag.1.Value": "web"},
		saveAs("eip", "AllocationId")},
	{"Ecs", "CreateSecurityGroup", params{"VpcId": vpc1, "SecurityGroupName": "spare", "Description": "spare group", "Tag.1.Key": "app", "Tag.1.Value": "web"},
		saveAs("sg", "SecurityGroupId")},
	{"Ecs", "AuthorizeSecurityGroup", params{"SecurityGroupId": "{sg}", "Permissions.1.IpProtocol": "TCP", "Permissions.1.PortRange": "80/80",
		"Permissions.1.SourceCidrIp": "10.0.0.0/8", "Permissions.1.Policy": "accept", "Permissions.1.Description": "web"}, nil},
	{"Vpc", "AllocateEipAddress", params{"Name": "bound", "Bandwidth": "5"}, saveAs("boundEip", "AllocationId")},
	{"Vpc", "AssociateEipAddress", params{"AllocationId": "{boundEip}", "InstanceId": "{inner}", "InstanceType": "SlbInstance"}, nil},
}

func saveAs(name, field string) map[string]string { return map[string]string{name: field} }

// servers returns a BackendServers parameter.
func servers(elements ...string) string { return "[" + strings.Join(elements, ",") + "]" }
