package contracttests

import "slices"

// nlbFixtures creates what cases of NLB find in addition to the fixtures of all. Names with
// "spare" are bound to nothing.
var nlbFixtures = []step{
	{"Vpc", "CreateVSwitch", params{"VpcId": vpc1, "ZoneId": "cn-hangzhou-i", "CidrBlock": "192.168.9.0/24", "Ipv6CidrBlock": "9"}, saveAs("vsw6", "VSwitchId")},
	newPackage,
	{"Vpc", "CreateCommonBandwidthPackage", params{"Bandwidth": "10"}, saveAs("spareCbwp", "BandwidthPackageId")},
	{"Vpc", "AllocateEipAddress", params{"InternetChargeType": "PayByTraffic", "Name": "zone"}, saveAs("zoneEip", "AllocationId")},
	{"Ecs", "CreateSecurityGroup", params{"VpcId": vpc1, "SecurityGroupName": "joined"}, saveAs("joined", "SecurityGroupId")},
	{"Ecs", "CreateSecurityGroup", params{"VpcId": vpc2, "SecurityGroupName": "foreign"}, saveAs("foreign", "SecurityGroupId")},

	{"Nlb", "CreateLoadBalancer", params{"AddressType": "Internet", "AddressIpVersion": "DualStack", "LoadBalancerName": "web", "VpcId": vpc1,
		"ZoneMappings.1.ZoneId": "cn-hangzhou-h", "ZoneMappings.1.VSwitchId": vsw1, "ZoneMappings.1.AllocationId": "{zoneEip}",
		"ZoneMappings.2.ZoneId": "cn-hangzhou-i", "ZoneMappings.2.VSwitchId": "{vsw6}", "BandwidthPackageId": "{cbwp}",
		"SecurityGroupIds.1": "{joined}", "Tag.1.Key": "kubernetes.do.not.delete", "Tag.1.Value": "a1",
		"DeletionProtectionConfig.Enabled": "true", "DeletionProtectionConfig.Reason": "in use",
		"ModificationProtectionConfig.Status": "ConsoleProtection", "ModificationProtectionConfig.Reason": "managed.by.ack"},
		saveAs("nlb", "LoadbalancerId")},
	{"Nlb", "CreateLoadBalancer", params{"AddressType": "Intranet", "LoadBalancerName": "spare", "VpcId": vpc1,
		"ZoneMappings.1.ZoneId": "cn-hangzhou-h", "ZoneMappings.1.VSwitchId": vsw1,
		"ZoneMappings.2.ZoneId": "cn-hangzhou-i", "ZoneMappings.2.VSwitchId": vsw2}, saveAs("spareNlb", "LoadbalancerId")},

	{"Nlb", "CreateServerGroup", params{"ServerGroupName": "k8s.30080.tcp.web.default.c1", "VpcId": vpc1, "Protocol": "TCP", "AddressIPVersion": "DualStack",
		"ConnectionDrainEnabled": "true", "ConnectionDrainTimeout": "30", "HealthCheckConfig.HealthCheckType": "http",
		"HealthCheckConfig.HealthCheckConnectPort": "8080", "HealthCheckConfig.HealthCheckDomain": "example.com",
		"HealthCheckConfig.HealthCheckUrl": "/healthz", "HealthCheckConfig.HealthCheckReq": "ping", "HealthCheckConfig.HealthCheckExp": "pong",
		"Tag.1.Key": "ack.aliyun.com", "Tag.1.Value": "c1"}, saveAs("sgp", "ServerGroupId")},
	{"Nlb", "CreateServerGroup", params{"ServerGroupName": "spare", "VpcId": vpc1}, saveAs("spareSgp", "ServerGroupId")},
	{"Nlb", "CreateServerGroup", params{"ServerGroupName": "tls", "VpcId": vpc1, "Protocol": "TCPSSL"}, saveAs("tlsSgp", "ServerGroupId")},
	{"Nlb", "CreateServerGroup", params{"ServerGroupName": "range", "VpcId": vpc1, "AnyPortEnabled": "true",
		"HealthCheckConfig.HealthCheckConnectPort": "80"}, saveAs("anySgp", "ServerGroupId")},
	{"Nlb", "CreateServerGroup", params{"ServerGroupName": "addresses", "VpcId": vpc1, "ServerGroupType": "Ip"}, saveAs("ipSgp", "ServerGroupId")},
	{"Nlb", "AddServersToServerGroup", params{"ServerGroupId": "{sgp}", "Servers.1.ServerType": "Ecs", "Servers.1.ServerId": node1,
		"Servers.1.Port": "30080", "Servers.1.Weight": "100", "Servers.1.Description": "k8s.30080.tcp.web.default.c1"}, nil},

	{"Nlb", "CreateSecurityPolicy", params{"SecurityPolicyName": "modern", "TlsVersions.1": "TLSv1.2", "Ciphers.1": "ECDHE-RSA-AES128-GCM-SHA256",
		"Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("policy", "SecurityPolicyId")},
	{"Nlb", "CreateSecurityPolicy", params{"SecurityPolicyName": "spare", "TlsVersions.1": "TLSv1.3", "Ciphers.1": "TLS_AES_128_GCM_SHA256"},
		saveAs("sparePolicy", "SecurityPolicyId")},
	{"Nlb", "CreateListener", params{"LoadBalancerId": "{nlb}", "ListenerProtocol": "TCP", "ListenerPort": "80", "ServerGroupId": "{sgp}",
		"ListenerDescription": "k8s.80.tcp.web.default.c1", "Cps": "1000", "Mss": "1400", "ProxyProtocolEnabled": "true", "SecSensorEnabled": "true",
		"ProxyProtocolV2Config": `{"Ppv2VpcIdEnabled":true,"Ppv2PrivateLinkEpIdEnabled":true,"Ppv2PrivateLinkEpsIdEnabled":true}`,
		"Tag.1.Key":             "app", "Tag.1.Value": "web"}, saveAs("lsn", "ListenerId")},
	{"Nlb", "CreateListener", params{"LoadBalancerId": "{nlb}", "ListenerProtocol": "TCPSSL", "ListenerPort": "443", "ServerGroupId": "{tlsSgp}",
		"CertificateIds.1": "{cert}", "CaEnabled": "true", "CaCertificateIds.1": "{ca}", "SecurityPolicyId": "{policy}",
		"AlpnEnabled": "true", "AlpnPolicy": "HTTP2Optional"}, saveAs("tlsLsn", "ListenerId")},
	{"Nlb", "CreateListener", params{"LoadBalancerId": "{nlb}", "ListenerProtocol": "TCP", "ListenerPort": "0", "StartPort": "1000", "EndPort": "2000",
		"ServerGroupId": "{anySgp}"}, map[string]string{"rangeLsn": "ListenerId", "job": "JobId"}},
	{"Nlb", "SetHdMonitorRegionConfig", params{"MetricStore": "metrics", "LogProject": "project"}, nil},
	{"Nlb", "UpdateLoadBalancerAttribute", params{"LoadBalancerId": "{spareNlb}", "Cps": "1000"}, nil},
}

// nlbCases returns the cases of NLB, on its fixtures.
func nlbCases() []apiCase {
	cases := of("Nlb", slices.Concat(nlbLoadBalancerCases, nlbListenerCases, nlbServerGroupCases, nlbOtherCases))
	for i := range cases {
		cases[i].before = slices.Concat(nlbFixtures, cases[i].before)
	}
	return cases
}
