package contracttests

// nlbMade makes what the rows of NLB are about.
var nlbMade = inSteps("make an NLB with listeners and server groups", nlbSteps()...)

func nlbSteps() (causes []cause) {
	for _, s := range nlbFixtures {
		causes = append(causes, callsOf(s))
	}
	return causes
}

func nlbCalls(action string, p params) cause {
	return callsOf(step{product: "Nlb", action: action, params: p})
}

// ofNLB returns a row about what nlbMade makes.
func ofNLB(r refusal) refusal {
	r.begin = append([]cause{nlbMade}, r.begin...)
	return ofProduct("Nlb", r)
}

// overNLBQuota returns a row that a quota causes.
func overNLBQuota(about, action string, p params, name, limit, holder string) refusal {
	return ofNLB(refusal{about: about, action: action, params: p, code: "QuotaExceeded.QuotaInsufficient",
		message: "The quota of " + holder + " is exceeded.", begin: []cause{quotaOf(name, limit)}, end: []cause{quotaOf(name, "default")}})
}

// lockNLB locks the load balancer, or unlocks it.
func lockNLB(lock string) cause {
	return cause{"`clbemu world set nlb.<id>.lock=" + lock + "`", func(r *refusalRun) error {
		return worldSet("nlb."+r.names.resolve(params{"": "{nlb}"})[""]+".lock", lock).do(r)
	}}
}

var nlbRefusals = []refusal{
	ofNLB(refusal{about: "NLB: vSwitch without a free address", action: "CreateLoadBalancer", params: nlbNew,
		code: "ResourceNotEnough.VSwitchIp", message: "The specified resource of VSwitchIp is not enough.",
		begin: []cause{worldSet("vswitch."+vsw2+".freeAddresses", "0")}, end: []cause{worldSet("vswitch."+vsw2+".freeAddresses", "all")}}),
	ofNLB(refusal{about: "NLB: account in arrears", action: "CreateLoadBalancer", params: nlbNew,
		code: "OperationFailed.UnpaidBill", message: "The operation failed because of UnpaidBill.",
		begin: []cause{worldSet("account.arrears", "true")}, end: []cause{worldSet("account.arrears", "false")}}),
	ofNLB(refusal{about: "NLB: balance under 100", action: "CreateLoadBalancer", params: nlbNew,
		code: "OperationFailed.CreateOrderError", message: "Operation failed because CreateOrderError.",
		begin: []cause{worldSet("account.balance", "99")}, end: []cause{worldSet("account.balance", "100")}}),
	ofNLB(refusal{about: "NLB: locked after the days of grace", action: "CreateListener", params: nlbListen,
		code: "OperationDenied.FinancialLocked", message: "The operation is not allowed because of FinancialLocked.",
		begin: []cause{worldSet("account.arrears", "true"), clockAdvance("24h")}, end: []cause{worldSet("account.arrears", "false")}}),
	ofNLB(refusal{about: "NLB: locked for its EIP, or for security", action: "CreateListener", params: nlbListen,
		code: "OperationDenied.LoadBalancerLocked", message: "The operation is not allowed because of SecurityLocked.",
		begin: []cause{lockNLB("SecurityLocked")}, end: []cause{lockNLB("none")}}),
	ofNLB(refusal{about: "NLB: zone sold out", action: "CreateLoadBalancer", params: nlbNew,
		code: "ResourceNotEnough.Zone", message: "The specified resource of Zone cn-hangzhou-h is not enough.",
		begin: []cause{worldSet("stock.cn-hangzhou-h", "soldout")}, end: []cause{worldSet("stock.cn-hangzhou-h", "available")}}),
	ofNLB(refusal{about: "NLB: another change holds the lock", action: "CreateListener", params: nlbListen,
		code: "Conflict.Lock", message: "The Lock [{nlb}] is conflict.",
		begin: []cause{clockAdvance("0s"), worldSet("life.nlb.loadbalancer.locked", "1h"), nlbCalls("StopListener", params{"ListenerId": "{lsn}"})},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: load balancer that is being made", action: "DeleteLoadBalancer", params: params{"LoadBalancerId": "{young}"},
		code: "ResourceInCreating.loadbalancer", message: "The specified resource of loadbalancer is creating, please try again later.",
		begin: []cause{worldSet("life.nlb.loadbalancer.provisioning", "1h"), callsOf(step{"Nlb", "CreateLoadBalancer", nlbNew, saveAs("young", "LoadbalancerId")})},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: load balancer that is being changed", action: "UpdateLoadBalancerAttribute", params: params{"LoadBalancerId": "{nlb}"},
		code: "ResourceInConfiguring.loadbalancer", message: "The specified resource of loadbalancer is being configured, please try again later.",
		begin: []cause{worldSet("life.nlb.loadbalancer.configuring", "1h"), nlbCalls("UpdateLoadBalancerAttribute", params{"LoadBalancerId": "{nlb}"})},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: listener that is being changed", action: "DeleteListener", params: params{"ListenerId": "{lsn}"},
		code: "IncorrectStatus.listener", message: "The status of listener is incorrect.",
		begin: []cause{worldSet("life.nlb.listener.configuring", "1h"), nlbCalls("UpdateListenerAttribute", params{"ListenerId": "{lsn}"})},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: setting a listener that is being changed", action: "UpdateListenerAttribute", params: params{"ListenerId": "{lsn}"},
		code: "OperationFailed.ResourceIsConfiguring", message: "The operation failed because of ResourceIsConfiguring.",
		begin: []cause{worldSet("life.nlb.listener.configuring", "1h"), worldSet("life.nlb.loadbalancer.locked", "0s"), nlbCalls("UpdateListenerAttribute", params{"ListenerId": "{lsn}"})},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: servers of a group that is being changed", action: "AddServersToServerGroup", params: nlbServe,
		code: "OperationFailed.ResourceIsConfiguring", message: "The operation failed because of ResourceIsConfiguring.",
		begin: []cause{worldSet("life.nlb.servergroup.configuring", "1h"), nlbCalls("UpdateServerGroupAttribute", params{"ServerGroupId": "{spareSgp}", "ServerGroupName": "new"})},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: removal from a group that is being changed", action: "RemoveServersFromServerGroup",
		params: params{"ServerGroupId": "{sgp}", "Servers.1.ServerType": "Ecs", "Servers.1.ServerId": node1, "Servers.1.Port": "30080"},
		code:   "IncorrectStatus.serverGroup", message: "The status of servergroup [{sgp}] is incorrect.",
		begin: []cause{worldSet("life.nlb.servergroup.configuring", "1h"), nlbCalls("UpdateServerGroupAttribute", params{"ServerGroupId": "{sgp}", "ServerGroupName": "new"})},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: server group that is being changed", action: "DeleteServerGroup", params: params{"ServerGroupId": "{spareSgp}"},
		code: "IncorrectStatus.serverGroup", message: "The status of servergroup [{spareSgp}] is incorrect.",
		begin: []cause{worldSet("life.nlb.servergroup.configuring", "1h"), nlbCalls("AddServersToServerGroup", nlbServe)},
		end:   []cause{clockAdvance("1h")}}),
	ofNLB(refusal{about: "NLB: deletion protection", action: "DeleteLoadBalancer", params: params{"LoadBalancerId": "{nlb}"},
		code: "OperationDenied.DeletionProtectionEnabled", message: "The operation is not allowed because of DeletionProtectionEnabled.",
		end: []cause{nlbCalls("UpdateLoadBalancerProtection", params{"LoadBalancerId": "{nlb}", "DeletionProtectionEnabled": "false"})}}),
	ofNLB(refusal{about: "NLB: port that another listener has", action: "CreateListener", params: more(nlbListen, "ListenerPort", "80"),
		code: "Conflict.Port", message: "The Port [80] is conflict.", end: []cause{nlbCalls("DeleteListener", params{"ListenerId": "{lsn}"})}}),
	ofNLB(refusal{about: "NLB: server group used by a listener", action: "DeleteServerGroup", params: params{"ServerGroupId": "{sgp}"},
		code: "ResourceInUse.ServerGroup", message: "The specified resource of ServerGroup is in use.",
		end: []cause{nlbCalls("DeleteListener", params{"ListenerId": "{lsn}"})}}),
	ofNLB(refusal{about: "NLB: security policy used by a listener", action: "DeleteSecurityPolicy", params: params{"SecurityPolicyId": "{policy}"},
		code: "ResourceInUse.SecurityPolicy", message: "The specified resource of SecurityPolicy is in use.",
		end: []cause{nlbCalls("DeleteListener", params{"ListenerId": "{tlsLsn}"})}}),
	ofNLB(refusal{about: "NLB: one zone", action: "CreateLoadBalancer", params: more(nlbNew, "ZoneMappings.2.ZoneId", "", "ZoneMappings.2.VSwitchId", ""),
		code: "InvalidZones", message: "The current zone list is illegal.", wrong: "one zone", right: "two zones", good: nlbNew}),
	ofNLB(refusal{about: "NLB: UDP health check whose timeout exceeds its interval", action: "CreateServerGroup",
		params: params{"ServerGroupName": "udp", "VpcId": vpc1, "Protocol": "UDP", "HealthCheckConfig.HealthCheckConnectTimeout": "12", "HealthCheckConfig.HealthCheckInterval": "5"},
		code:   "IllegalParam", message: "The param of HealthCheckConnectTimeout is illegal.", wrong: "a timeout of 12 and an interval of 5", right: "5 and 5",
		good: params{"ServerGroupName": "udp", "VpcId": vpc1, "Protocol": "UDP", "HealthCheckConfig.HealthCheckConnectTimeout": "5", "HealthCheckConfig.HealthCheckInterval": "5"}}),
	ofProduct("Nlb", refusal{about: "RAM policy, Nlb", action: "ListLoadBalancers", status: 403, code: "Forbidden.NoPermission", message: "Authentication is failed for NoPermission.",
		begin: []cause{worldSet("policy.key.testid", denyAll)}, end: []cause{worldSet("policy.key.testid", "none")}}),
	ofProduct("quotas", refusal{about: "RAM policy, quotas", action: "ListProducts", code: "RAM.PERMISSION.DENIED", message: "You do not have access.",
		begin: []cause{worldSet("policy.key.testid", denyAll)}, end: []cause{worldSet("policy.key.testid", "none")}}),
	ofProduct("quotas", refusal{about: "Quota Center: an application for no more than the quota's limit", action: "CreateQuotaApplication",
		params: more(moreLoadBalancers, "DesireValue", "60"), code: "QUOTA.DESIREVALUE.ILLEGAL", message: "The applied quota value is invalid.",
		wrong: "a DesireValue of 60", right: "100", good: moreLoadBalancers}),
	ofProduct("Nlb", refusal{about: "NLB: call rate of an action", action: "ListListeners", code: "Throttling.Api", message: "Request was denied due to api flow control.",
		begin: []cause{worldSet("throttle.action.ListListeners", "0.001/1"), nlbCalls("ListListeners", nil)}, end: []cause{worldSet("throttle.action.ListListeners", "default")}}),
	overNLBQuota("NLB: load balancers of a region", "CreateLoadBalancer", nlbNew, "nlb_quota_loadbalancers_num", "2", region),
	overNLBQuota("NLB: listeners of a load balancer", "CreateListener", nlbListen, "nlb_quota_loadbalancer_listeners_num", "3", "{nlb}"),
	overNLBQuota("NLB: server groups of a region", "CreateServerGroup", params{"ServerGroupName": "one", "VpcId": vpc1}, "nlb_quota_servergroups_num", "5", region),
	overNLBQuota("NLB: servers of a group", "AddServersToServerGroup", nlbServe, "nlb_quota_servergroup_noeci_servers_num", "0", "{spareSgp}"),
	overNLBQuota("NLB: servers behind a load balancer", "AddServersToServerGroup", more(nlbServe, "ServerGroupId", "{sgp}"), "nlb_quota_loadbalancer_noeci_servers_num", "0", "{nlb}"),
	overNLBQuota("NLB: security groups of a load balancer", "LoadBalancerJoinSecurityGroup",
		params{"LoadBalancerId": "{nlb}", "SecurityGroupIds.1": group1}, "nlb_quota_loadbalancer_securitygroups_num", "1", "{nlb}"),
	overNLBQuota("NLB: additional certificates of a load balancer", "AssociateAdditionalCertificatesWithListener",
		params{"ListenerId": "{tlsLsn}", "AdditionalCertificateIds.1": "{spareCert}"}, "nlb_quota_loadbalancer_certificates_num", "0", "{nlb}"),
	overNLBQuota("NLB: security policies of a region", "CreateSecurityPolicy",
		params{"SecurityPolicyName": "new", "TlsVersions.1": "TLSv1.2", "Ciphers.1": "AES128-SHA256"}, "nlb_quota_securitypolicies_num", "2", region),
}
