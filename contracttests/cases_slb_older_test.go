package contracttests

// Fixtures for the cases below.
var (
	aPair = step{"Slb", "CreateMasterSlaveServerGroup", params{"LoadBalancerId": "{lb}", "MasterSlaveServerGroupName": "pair",
		"MasterSlaveBackendServers": pair, "Tag.1.Key": "app", "Tag.1.Value": "web"}, saveAs("pair", "MasterSlaveServerGroupId")}
	aPairInUse = step{"Slb", "CreateLoadBalancerTCPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "91", "Bandwidth": "-1",
		"MasterSlaveServerGroupId": "{pair}"}, nil}
	aPairForUDP = step{"Slb", "CreateLoadBalancerUDPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "91", "Bandwidth": "-1",
		"MasterSlaveServerGroupId": "{pair}"}, nil}
	aPolicy = step{"Slb", "CreateTLSCipherPolicy", params{"Name": "own", "TLSVersions.1": "TLSv1.2", "TLSVersions.2": "TLSv1.3",
		"Ciphers.1": "AES256-GCM-SHA384", "Ciphers.2": "TLS_AES_128_GCM_SHA256"}, saveAs("policy", "TLSCipherPolicyId")}
	anotherPolicy = step{"Slb", "CreateTLSCipherPolicy", params{"Name": "other", "TLSVersions.1": "TLSv1.2", "Ciphers.1": "AES256-GCM-SHA384"}, nil}
	aPolicyInUse  = step{"Slb", "SetLoadBalancerHTTPSListenerAttribute", params{"LoadBalancerId": "{lb}", "ListenerPort": "443",
		"TLSCipherPolicy": "{policy}"}, nil}
	aWhiteList = step{"Slb", "AddListenerWhiteListItem", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082",
		"SourceItems": "10.0.0.1,10.1.0.0/16"}, nil}
	aDrainingUDP = step{"Slb", "CreateLoadBalancerUDPListener", params{"LoadBalancerId": "{lb}", "ListenerPort": "92", "Bandwidth": "-1",
		"BackendServerPort": "92", "ConnectionDrain": "on", "ConnectionDrainTimeout": "30", "PersistenceTimeout": "60"}, nil}
	anAccessLog = step{"Slb", "SetAccessLogsDownloadAttribute", params{"LogsDownloadAttributes": accessLog("{lb}")}, nil}
	aMonitor    = step{"Slb", "EnableHighDefinationMonitor", params{"LogProject": "my-project", "LogStore": "my-store"}, nil}
)

// pair is a master and a slave.
var pair = servers(`{"ServerId":"`+node1+`","Port":"8080","Weight":"100","ServerType":"Master","Description":"first"}`,
	`{"ServerId":"`+node2+`","Port":"8080","Weight":"100","ServerType":"Slave"}`)

func accessLog(id string) string {
	return `[{"logProject":"my-project","LogStore":"my-store","LoadBalancerId":"` + id + `"}]`
}

// slbOlderCases are about what is older than what CCMs use today.
var slbOlderCases = []apiCase{
	succeeds("CreateMasterSlaveServerGroup", "pair", params{"LoadBalancerId": "{lb}", "MasterSlaveServerGroupName": "pair", "MasterSlaveBackendServers": pair}),
	refused("CreateMasterSlaveServerGroup", "one-server", "BACKEND_SERVERS_NUM_MUST_BE_TWO", params{"LoadBalancerId": "{lb}",
		"MasterSlaveBackendServers": servers(`{"ServerId":"` + node1 + `","Port":"8080","ServerType":"Master"}`)}),
	succeeds("DeleteMasterSlaveServerGroup", "unused", params{"MasterSlaveServerGroupId": "{pair}"}, aPair),
	refused("DeleteMasterSlaveServerGroup", "in-use", "RspoolVipExist", params{"MasterSlaveServerGroupId": "{pair}"}, aPair, aPairInUse),
	succeeds("DescribeMasterSlaveServerGroups", "with-listeners", params{"LoadBalancerId": "{lb}", "IncludeListener": "true"}, aPair, aPairInUse),
	refused("DescribeMasterSlaveServerGroups", "unknown-load-balancer", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB}),
	succeeds("DescribeMasterSlaveServerGroupAttribute", "one", params{"MasterSlaveServerGroupId": "{pair}"}, aPair),
	refused("DescribeMasterSlaveServerGroupAttribute", "unknown", "InvalidParameter", params{"MasterSlaveServerGroupId": "rsp-gone"}),
	succeeds("DescribeLoadBalancerTCPListenerAttribute", "master-slave", params{"LoadBalancerId": "{lb}", "ListenerPort": "91"}, aPair, aPairInUse),
	succeeds("DescribeLoadBalancerUDPListenerAttribute", "master-slave", params{"LoadBalancerId": "{lb}", "ListenerPort": "91"}, aPair, aPairForUDP),
	succeeds("DescribeLoadBalancerListeners", "master-slave", params{"LoadBalancerId.1": "{lb}", "ListenerPort": "91"}, aPair, aPairInUse, aPairForUDP),

	succeeds("CreateLoadBalancerUDPListener", "draining", aDrainingUDP.params),
	succeeds("DescribeLoadBalancerUDPListenerAttribute", "draining", params{"LoadBalancerId": "{lb}", "ListenerPort": "92"}, aDrainingUDP),
	succeeds("DescribeLoadBalancerListeners", "draining", params{"LoadBalancerId.1": "{lb}", "ListenerPort": "92"}, aDrainingUDP),

	succeeds("CreateTLSCipherPolicy", "new", aPolicy.params),
	refused("CreateTLSCipherPolicy", "unknown-cipher", "TLSPolicyNoSupportCipher", params{"Name": "own", "TLSVersions.1": "TLSv1.2", "Ciphers.1": "ROT13"}),
	succeeds("SetTLSCipherPolicyAttribute", "ciphers", params{"TLSCipherPolicyId": "{policy}", "Name": "own", "TLSVersions.1": "TLSv1.3",
		"Ciphers.1": "TLS_AES_128_GCM_SHA256"}, aPolicy),
	refused("SetTLSCipherPolicyAttribute", "unknown", "InvalidTLSPolicyId.NotExist", params{"TLSCipherPolicyId": "tls-gone", "Name": "own",
		"TLSVersions.1": "TLSv1.3", "Ciphers.1": "TLS_AES_128_GCM_SHA256"}),
	succeeds("DeleteTLSCipherPolicy", "unused", params{"TLSCipherPolicyId": "{policy}"}, aPolicy),
	refused("DeleteTLSCipherPolicy", "in-use", "TLSPolicyRelated", params{"TLSCipherPolicyId": "{policy}"}, aPolicy, aPolicyInUse),
	succeeds("ListTLSCipherPolicies", "with-listeners", params{"TLSCipherPolicyId": "{policy}", "IncludeListener": "true"}, aPolicy, aPolicyInUse),
	succeeds("ListTLSCipherPolicies", "first-page", params{"MaxItems": "1"}, aPolicy, anotherPolicy),
	refused("ListTLSCipherPolicies", "bad-token", "QueryTokenInvalid", params{"NextToken": "?"}),

	succeeds("AddListenerWhiteListItem", "two", aWhiteList.params),
	refused("AddListenerWhiteListItem", "acl-enabled", "Operation.NotAllowed", params{"LoadBalancerId": "{lb}", "ListenerPort": "8080", "SourceItems": "10.0.0.1"}),
	succeeds("RemoveListenerWhiteListItem", "one", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082", "SourceItems": "10.0.0.1"}, aWhiteList),
	refused("RemoveListenerWhiteListItem", "two-listeners", "TooManyListeners", params{"LoadBalancerId": "{lb}", "ListenerPort": "90", "SourceItems": "10.0.0.1"}),
	succeeds("SetListenerAccessControlStatus", "open", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082", "AccessControlStatus": "open_white_list"}),
	refused("SetListenerAccessControlStatus", "no-listener", "ListenerNotFound", params{"LoadBalancerId": "{lb}", "ListenerPort": "9", "AccessControlStatus": "close"}),
	succeeds("DescribeListenerAccessControlAttribute", "two", params{"LoadBalancerId": "{lb}", "ListenerPort": "8082"}, aWhiteList),
	refused("DescribeListenerAccessControlAttribute", "no-listener", "ListenerNotFound", params{"LoadBalancerId": "{lb}", "ListenerPort": "9"}),

	succeeds("SetAccessLogsDownloadAttribute", "new", anAccessLog.params),
	refused("SetAccessLogsDownloadAttribute", "exists", "Operation.NotAllowed", anAccessLog.params, anAccessLog),
	succeeds("DeleteAccessLogsDownloadAttribute", "one", anAccessLog.params, anAccessLog),
	refused("DeleteAccessLogsDownloadAttribute", "none", "Operation.NotAllowed", anAccessLog.params),
	succeeds("DescribeAccessLogsDownloadAttribute", "all", params{}, anAccessLog),
	refused("DescribeAccessLogsDownloadAttribute", "bad-page", "InvalidPageSize", params{"PageSize": "51"}),
	succeeds("EnableHighDefinationMonitor", "new", aMonitor.params),
	refused("EnableHighDefinationMonitor", "enabled", "OperationNotAllowed.HighDefinitionMonitorEnabled", aMonitor.params, aMonitor),
	succeeds("ModifyHighDefinationMonitor", "store", params{"LogProject": "my-project", "LogStore": "other-store"}, aMonitor),
	refused("ModifyHighDefinationMonitor", "not-enabled", "OperationNotAllowed.HighDefinitionMonitorNotEnabled", aMonitor.params),
	succeeds("DescribeHighDefinationMonitor", "enabled", params{}, aMonitor),
	succeeds("DescribeHighDefinationMonitor", "not-enabled", params{}),
	refused("DescribeHighDefinationMonitor", "unknown-region", "InvalidRegionId.NotFound", params{"RegionId": "mars"}),

	succeeds("MoveResourceGroup", "load-balancer", params{"ResourceType": "loadbalancer", "ResourceId": "{lb}", "NewResourceGroupId": "rg-clbemu0second"}),
	refused("MoveResourceGroup", "unknown-group", "InvalidResourceGroupId.NotFound",
		params{"ResourceType": "acl", "ResourceId": "{acl}", "NewResourceGroupId": "rg-gone"}),
	succeeds("ModifyLoadBalancerPayType", "prepaid", params{"LoadBalancerId": "{wide}", "PayType": "PrePay", "PricingCycle": "month", "Duration": "1", "AutoPay": "true"}),
	refused("ModifyLoadBalancerPayType", "pay-by-clcu", "OperationDenied.PayByCLCU", params{"LoadBalancerId": "{lb}", "PayType": "PrePay"}),

	succeeds("AddTags", "two", params{"LoadBalancerId": "{lb}", "Tags": `[{"TagKey":"env","TagValue":"test"},{"TagKey":"team","TagValue":"a"}]`}),
	refused("AddTags", "key-twice", "Duplicate.TagKey", params{"LoadBalancerId": "{lb}", "Tags": `[{"TagKey":"env","TagValue":"a"},{"TagKey":"env","TagValue":"b"}]`}),
	succeeds("RemoveTags", "one", params{"LoadBalancerId": "{lb}", "Tags": `[{"TagKey":"kubernetes.do.not.delete","TagValue":"a1"}]`}),
	refused("RemoveTags", "unknown-load-balancer", "InvalidLoadBalancerId.NotFound", params{"LoadBalancerId": unknownLB, "Tags": `[{"TagKey":"env"}]`}),
	succeeds("DescribeTags", "of-one", params{"LoadBalancerId": "{lb}"}),
	refused("DescribeTags", "malformed-tags", "InvalidTag", params{"Tags": "kubernetes"}),
}
