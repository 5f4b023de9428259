package nlb_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb"
	"github.com/clbemu/clbemu/state"
)

// Calls that succeed, for the cases to spoil.
var (
	create = params("AddressType", "Internet", "VpcId", vpc1, "LoadBalancerName", "web",
		"ZoneMappings.1.ZoneId", zoneH, "ZoneMappings.1.VSwitchId", vSwitch1, "ZoneMappings.2.ZoneId", zoneI, "ZoneMappings.2.VSwitchId", vSwitch2)
	zones = params("LoadBalancerId", lb1, "ZoneMappings.1.ZoneId", zoneH, "ZoneMappings.1.VSwitchId", vSwitch1,
		"ZoneMappings.2.ZoneId", zoneI, "ZoneMappings.2.VSwitchId", vSwitch2)
	listen    = params("LoadBalancerId", lb1, "ListenerProtocol", "TCP", "ListenerPort", "81", "ServerGroupId", sgpSpare)
	listenTLS = params("LoadBalancerId", lb1, "ListenerProtocol", "TCPSSL", "ListenerPort", "8443", "ServerGroupId", sgpTLS, "CertificateIds.1", cert1)
	group     = params("ServerGroupName", "group", "VpcId", vpc1)
	serve     = params("ServerGroupId", sgpSpare, "Servers.1.ServerType", "Ecs", "Servers.1.ServerId", instance1, "Servers.1.Port", "80")
	join      = params("LoadBalancerId", lb1, "SecurityGroupIds.1", group1)
	tag       = params("ResourceType", "loadbalancer", "ResourceId.1", lb1, "Tag.1.Key", "k", "Tag.1.Value", "v")
	anLB      = params("LoadBalancerId", lb1)
)

// Each refusal has the code and the words that the table says, and each row of the
// table is reached.
func TestRefusals(t *testing.T) {
	cases := []gatewaytest.ErrorCase{
		// What does not exist.
		{Name: "Unknown", Action: "GetLoadBalancerAttribute", Params: params("LoadBalancerId", "nlb-none"), Status: 404, Code: "ResourceNotFound.loadBalancer"},
		{Name: "OtherRegion", Action: "GetLoadBalancerAttribute", Params: with(anLB, "RegionId", "cn-shanghai"), Status: 404, Code: "ResourceNotFound.loadBalancer"},
		{Name: "Unknown", Action: "DeleteListener", Params: params("ListenerId", "lsn-none"), Status: 404, Code: "ResourceNotFound.listener"},
		{Name: "Unknown", Action: "DeleteServerGroup", Params: params("ServerGroupId", "sgp-none"), Status: 404, Code: "ResourceNotFound.serverGroup"},
		{Name: "Unknown", Action: "DeleteSecurityPolicy", Params: params("SecurityPolicyId", "tls-none"), Status: 404, Code: "ResourceNotFound.SecurityPolicy"},
		{Name: "None", Action: "DescribeHdMonitorRegionConfig", Status: 404, Code: "ResourceNotFound.HdMonitorConfigNotExist"},
		{Name: "Unknown", Action: "GetJobStatus", Params: params("JobId", "none"), Status: 404, Code: "ResourceNotFound.Job"},
		{Name: "UnknownVPC", Action: "CreateLoadBalancer", Params: with(create, "VpcId", "vpc-none"), Status: 404, Code: "ResourceNotFound.Vpc"},
		{Name: "LocalAddress", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.Ipv4LocalAddresses.1", "here"), Status: 400, Code: "IllegalParam"},
		{Name: "LocalAddressOfIPv4", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.Ipv6LocalAddresses.1", "10.0.0.1"), Status: 400, Code: "IllegalParam"},
		{Name: "NoAddress", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.PrivateIPv4Address", "first"), Status: 400, Code: "IllegalParam.PrivateIPv4Address"},
		{Name: "EmptyAddress", Action: "CreateLoadBalancer", Params: with(create, "AddressType", "Intranet", "ZoneMappings.1.PrivateIPv4Address", gatewaytest.Empty), Status: 400, Code: "IllegalParam.PrivateIPv4Address"},
		{Name: "EmptyAddressOfZone", Action: "UpdateLoadBalancerZones", Params: with(zones, "LoadBalancerId", lbPlain, "ZoneMappings.1.PrivateIPv4Address", gatewaytest.Empty), Status: 400, Code: "IllegalParam.PrivateIPv4Address"},
		{Name: "ListAsJSON", Action: "AddServersToServerGroup", Params: with(serve, "Servers", `[{"ServerId":"i-1"}]`), Status: 400, Code: "InvalidServers"},
		{Name: "UnknownVSwitch", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.VSwitchId", "vsw-none"), Status: 404, Code: "ResourceNotFound.VSwitch"},
		{Name: "UnknownEIP", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.AllocationId", "eip-none"), Status: 404, Code: "ResourceNotFound.AllocationId"},
		{Name: "UnknownSecurityGroup", Action: "LoadBalancerJoinSecurityGroup", Params: with(join, "SecurityGroupIds.1", "sg-none"), Status: 404, Code: "ResourceNotFound.SecurityGroup"},
		{Name: "UnknownResourceGroup", Action: "CreateServerGroup", Params: with(group, "ResourceGroupId", "rg-none"), Status: 404, Code: "ResourceNotFound.ResourceGroup"},

		// Load balancers.
		{Name: "NoVPC", Action: "CreateLoadBalancer", Params: with(create, "VpcId", ""), Status: 400, Code: "MissingVpcId"},
		{Name: "AddressType", Action: "CreateLoadBalancer", Params: with(create, "AddressType", "extranet"), Status: 400, Code: "IllegalParam"},
		{Name: "IPVersion", Action: "CreateLoadBalancer", Params: with(create, "AddressIpVersion", "ipv5"), Status: 400, Code: "IllegalParam"},
		{Name: "Name", Action: "CreateLoadBalancer", Params: with(create, "LoadBalancerName", "7*9"), Status: 400, Code: "IllegalParam.loadBalancerName"},
		{Name: "LongName", Action: "CreateLoadBalancer", Params: with(create, "LoadBalancerName", strings.Repeat("a", 129)), Status: 400, Code: "IllegalParam.loadBalancerName"},
		{Name: "PrePay", Action: "CreateLoadBalancer", Params: with(create, "LoadBalancerBillingConfig.PayType", "PrePay"), Status: 400, Code: "OperationDenied.OnlyPostPaidSupported"},
		{Name: "Token", Action: "ListLoadBalancers", Params: params("NextToken", "none"), Status: 400, Code: "IllegalParam"},
		{Name: "DryRun", Action: "CreateLoadBalancer", Params: with(create, "DryRun", "true"), Status: 400, Code: "DryRunOperation"},
		{Name: "Arrears", Action: "CreateLoadBalancer", Params: create, Plant: set("account.arrears", "true"), Status: 400, Code: "OperationFailed.UnpaidBill"},
		{Name: "Balance", Action: "CreateLoadBalancer", Params: create, Plant: set("account.balance", "99"), Status: 400, Code: "OperationFailed.CreateOrderError"},
		{Name: "Quota", Action: "CreateLoadBalancer", Params: create, Plant: set("quota.nlb_quota_loadbalancers_num", "2"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "TokenConflict", Action: "CreateLoadBalancer", Params: with(create, "ClientToken", "t"), Plant: plantToken(""), Status: 400, Code: "IdempotenceSignatureMismatch"},
		{Name: "TokenProcessing", Action: "CreateLoadBalancer", Params: with(create, "ClientToken", "t"), Plant: plantToken(state.Busy), Status: 400, Code: "IdempotenceProcessing"},
		{Name: "Creating", Action: "DeleteLoadBalancer", Params: anLB, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.Status = kinds.NLBProvisioning }), Status: 400, Code: "ResourceInCreating.loadbalancer"},
		{Name: "Configuring", Action: "DeleteLoadBalancer", Params: anLB, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.Status = kinds.NLBConfiguring }), Status: 400, Code: "ResourceInConfiguring.loadbalancer"},
		{Name: "Configuring", Action: "UpdateLoadBalancerAttribute", Params: anLB, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.Status = kinds.NLBConfiguring }), Status: 400, Code: "ResourceInConfiguring.loadbalancer"},
		{Name: "Creating", Action: "CreateListener", Params: listen, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.Status = kinds.NLBProvisioning }), Status: 400, Code: "IncorrectStatus.loadbalancer"},
		{Name: "Locked", Action: "DeleteListener", Params: params("ListenerId", lsnTCP), Plant: lock, Status: 400, Code: "Conflict.Lock"},
		{Name: "OtherLocked", Action: "CreateListener", Params: listen, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.OtherLock = kinds.NLBResidualLocked }), Status: 400, Code: "OperationDenied.LoadBalancerLocked"},
		{Name: "FinancialLocked", Action: "CreateListener", Params: listen, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.FinancialLocked = true }), Status: 400, Code: "OperationDenied.FinancialLocked"},
		{Name: "IsOn", Action: "EnableLoadBalancerIpv6Internet", Params: anLB, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) {
			lb.AddressIPVersion, lb.IPv6AddressType = "DualStack", kinds.NLBInternet
		}), Status: 400, Code: "OperationDenied.Ipv6InternetInstance"},
		{Name: "IsOff", Action: "DisableLoadBalancerIpv6Internet", Params: anLB, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) {
			lb.AddressIPVersion, lb.IPv6AddressType = "DualStack", kinds.NLBIntranet
		}), Status: 400, Code: "OperationDenied.Ipv6IntranetInstance"},
		{Name: "IsIn", Action: "LoadBalancerJoinSecurityGroup", Params: join, Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.SecurityGroupIDs = []string{group1} }), Status: 400, Code: "ResourceAlreadyAssociated.SecurityGroup"},
		{Name: "OtherVPC", Action: "LoadBalancerJoinSecurityGroup", Params: with(join, "SecurityGroupIds.1", "sg-far"), Status: 400, Code: "Mismatch.VpcId"},
		{Name: "Quota", Action: "LoadBalancerJoinSecurityGroup", Params: join, Plant: set("quota.nlb_quota_loadbalancer_securitygroups_num", "0"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "NotIn", Action: "LoadBalancerLeaveSecurityGroup", Params: join, Status: 400, Code: "ResourceNotAssociated.SecurityGroup"},
		{Name: "ItsEIPHasOne", Action: "AttachCommonBandwidthPackageToLoadBalancer", Params: with(anLB, "BandwidthPackageId", package2), Plant: all(shareEIP, putEIPOnLB), Status: 400, Code: "OperationDenied.EipAlreadyInBandwidthPackage"},
		{Name: "Full", Action: "AttachCommonBandwidthPackageToLoadBalancer", Params: with(anLB, "BandwidthPackageId", package1), Plant: set("quota.cbwp_quota_eip_num", "1"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "Package", Action: "CreateLoadBalancer", Params: with(create, "BandwidthPackageId", "cbwp-none"), Status: 404, Code: "ResourceNotFound.CommonBandwidthPackage"},
		{Name: "PackageAndEIP", Action: "CreateLoadBalancer", Params: with(create, "BandwidthPackageId", package1, "ZoneMappings.1.AllocationId", eip1), Plant: shareEIP, Status: 400, Code: "OperationDenied.EipAlreadyInBandwidthPackage"},
		{Name: "IntranetPackage", Action: "CreateLoadBalancer", Params: with(create, "AddressType", "Intranet", "BandwidthPackageId", package1), Status: 400, Code: "OperationDenied.IntranetLoadBalancer"},
		{Name: "NotItsPackage", Action: "DetachCommonBandwidthPackageFromLoadBalancer", Params: with(anLB, "BandwidthPackageId", package2), Plant: shareBandwidth, Status: 404, Code: "ResourceNotFound.CommonBandwidthPackage"},

		// Zones.
		{Name: "OneZone", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.2.ZoneId", "", "ZoneMappings.2.VSwitchId", ""), Status: 400, Code: "InvalidZones"},
		{Name: "UnknownZone", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.ZoneId", "mars-a"), Status: 403, Code: "UnauthorizedZone"},
		{Name: "ZoneTwice", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.2.ZoneId", zoneH, "ZoneMappings.2.VSwitchId", vSwitch1), Status: 400, Code: "OperationFailed.DuplicateZones."},
		{Name: "ZoneSoldOut", Action: "CreateLoadBalancer", Params: create, Plant: set("stock."+zoneH, "soldout"), Status: 400, Code: "ResourceNotEnough.Zone"},
		{Name: "OtherZone", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.2.ZoneId", zoneJ), Status: 400, Code: "Mismatch.ZoneIdAndVswitchId"},
		{Name: "OtherVPC", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.VSwitchId", vSwitch3), Status: 400, Code: "Mismatch.VpcId"},
		{Name: "NoIPv6", Action: "CreateLoadBalancer", Params: with(create, "AddressIpVersion", "DualStack"), Status: 400, Code: "OperationFailed.vSwitchNotSupportIpv6"},
		{Name: "EIPTwice", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.AllocationId", eip1, "ZoneMappings.2.AllocationId", eip1), Status: 400, Code: "DuplicatedParam.AllocationId"},
		{Name: "EIPTaken", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.AllocationId", eip1), Plant: takeEIP, Status: 400, Code: "ResourceAlreadyAssociated.AllocationId"},
		{Name: "EIPInPackage", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.AllocationId", eip1), Plant: shareEIP, Status: 400, Code: "OperationDenied.EipAlreadyInBandwidthPackage"},
		{Name: "EIPByBandwidth", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.AllocationId", eip1), Plant: payEIPByBandwidth, Status: 400, Code: "OperationDenied.EipPayByBandwidth"},
		{Name: "VSwitchFull", Action: "CreateLoadBalancer", Params: create, Plant: set("vswitch."+vSwitch1+".freeAddresses", "0"), Status: 400, Code: "ResourceNotEnough.VSwitchIp"},
		{Name: "AddressOutside", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.PrivateIPv4Address", "10.9.9.9"), Status: 400, Code: "IllegalParam.IP"},
		{Name: "AddressTaken", Action: "CreateLoadBalancer", Params: with(create, "ZoneMappings.1.PrivateIPv4Address", "192.168.0.11"), Status: 400, Code: "ResourceInUse.IP"},
		{Name: "SameZones", Action: "UpdateLoadBalancerZones", Params: zones, Status: 400, Code: "OperationDenied.ZoneMappingsNotChanged"},
		{Name: "SameZonesInAnotherOrder", Action: "UpdateLoadBalancerZones", Params: with(zones, "ZoneMappings.1.ZoneId", zoneI, "ZoneMappings.1.VSwitchId", vSwitch2, "ZoneMappings.2.ZoneId", zoneH, "ZoneMappings.2.VSwitchId", vSwitch1), Status: 400, Code: "OperationDenied.ZoneMappingsNotChanged"},
		{Name: "OtherVSwitch", Action: "UpdateLoadBalancerZones", Params: with(zones, "ZoneMappings.1.VSwitchId", vSwitch2), Status: 400, Code: "OperationDenied.ZoneVSwitchChanged"},
		{Name: "OtherAddress", Action: "UpdateLoadBalancerZones", Params: with(zones, "ZoneMappings.1.PrivateIPv4Address", "192.168.0.249"), Status: 400, Code: "OperationDenied.ProtectedPrivateIPv4AddressChanged"},
		{Name: "OtherEIP", Action: "UpdateLoadBalancerZones", Params: with(zones, "ZoneMappings.1.AllocationId", eip1), Status: 400, Code: "OperationDenied.ZoneEipChanged"},
		{Name: "NotMapped", Action: "StartShiftLoadBalancerZones", Params: with(anLB, "ZoneMappings.1.ZoneId", zoneJ, "ZoneMappings.1.VSwitchId", vSwitchJ), Status: 400, Code: "IllegalParam.ZoneMappings"},
		{Name: "Last", Action: "StartShiftLoadBalancerZones", Params: with(anLB, "ZoneMappings.1.ZoneId", zoneH, "ZoneMappings.1.VSwitchId", vSwitch1),
			Plant: editLB(lb1, func(lb *kinds.NLBLoadBalancer) {
				shifted := []kinds.NLBZoneMapping{lb.ZoneMappings[0], lb.ZoneMappings[1]}
				shifted[1].Status = kinds.NLBZoneShifted
				lb.ZoneMappings = shifted
			}), Status: 400, Code: "OperationDenied.LastZone"},

		// Listeners.
		{Name: "Protocol", Action: "CreateListener", Params: with(listen, "ListenerProtocol", "HTTP"), Status: 400, Code: "IllegalParam"},
		{Name: "SamePort", Action: "CreateListener", Params: with(listen, "ListenerPort", "80"), Status: 400, Code: "Conflict.Port"},
		{Name: "OverlappingRange", Action: "CreateListener", Params: with(listen, "ListenerPort", "0", "StartPort", "70", "EndPort", "90", "ServerGroupId", sgpAny), Status: 400, Code: "Conflict.Port"},
		{Name: "NoRange", Action: "CreateListener", Params: with(listen, "ListenerPort", "0"), Status: 400, Code: "IllegalParam.Port"},
		{Name: "RangeBackwards", Action: "CreateListener", Params: with(listen, "ListenerPort", "0", "StartPort", "90", "EndPort", "85"), Status: 400, Code: "IllegalParam.Port"},
		{Name: "OtherVPC", Action: "CreateListener", Params: with(listen, "ServerGroupId", sgpFar), Status: 400, Code: "Mismatch.VpcId"},
		{Name: "UDPIdle", Action: "CreateListener", Params: with(listen, "ListenerProtocol", "UDP", "ServerGroupId", sgpUDP, "IdleTimeout", "21"), Status: 400, Code: "IllegalParam.IdleTimeout"},
		{Name: "Description", Action: "CreateListener", Params: with(listen, "ListenerDescription", strings.Repeat("a", 513)), Status: 400, Code: "IllegalParam.ListenerDescription"},
		{Name: "Quota", Action: "CreateListener", Params: listen, Plant: set("quota.nlb_quota_loadbalancer_listeners_num", "2"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "NoCertificate", Action: "CreateListener", Params: with(listenTLS, "CertificateIds.1", ""), Status: 400, Code: "MissingParam.Certificate"},
		{Name: "NoCA", Action: "CreateListener", Params: with(listenTLS, "CaEnabled", "true"), Status: 400, Code: "MissingParam.Certificate"},
		{Name: "UnknownCA", Action: "CreateListener", Params: with(listenTLS, "CaEnabled", "true", "CaCertificateIds.1", "none"), Status: 404, Code: "ResourceNotFound.CaCertificate"},
		{Name: "UnknownPolicy", Action: "CreateListener", Params: with(listenTLS, "SecurityPolicyId", "tls-none"), Status: 404, Code: "ResourceNotFound.securitypolicy"},
		{Name: "NoAlpnPolicy", Action: "CreateListener", Params: with(listenTLS, "AlpnEnabled", "true"), Status: 400, Code: "MissingParam.AlpnPolicy"},
		{Name: "PreservesClientIP", Action: "CreateListener", Params: with(listenTLS, "ServerGroupId", sgpSpare), Status: 400, Code: "IllegalParam.PreserveClientIpSwitch"},
		{Name: "Busy", Action: "StopListener", Params: params("ListenerId", lsnTCP), Plant: editListener(func(l *kinds.NLBListener) { l.Status = kinds.NLBListenerConfiguring }), Status: 400, Code: "IncorrectStatus.listener"},
		{Name: "Busy", Action: "UpdateListenerAttribute", Params: params("ListenerId", lsnTCP), Plant: editListener(func(l *kinds.NLBListener) { l.Status = kinds.NLBListenerConfiguring }), Status: 400, Code: "OperationFailed.ResourceIsConfiguring"},
		{Name: "Running", Action: "StartListener", Params: params("ListenerId", lsnTCP), Status: 400, Code: "IncorrectStatus.listener"},
		{Name: "NotTLS", Action: "AssociateAdditionalCertificatesWithListener", Params: params("ListenerId", lsnTCP, "AdditionalCertificateIds.1", "cert-two"), Status: 400, Code: "OperationDenied.ListenerProtocolNotSupport"},
		{Name: "HasIt", Action: "AssociateAdditionalCertificatesWithListener", Params: params("ListenerId", lsnTLS, "AdditionalCertificateIds.1", cert1), Status: 400, Code: "ResourceAlreadyAssociated.Certificate"},
		{Name: "HasItNot", Action: "DisassociateAdditionalCertificatesWithListener", Params: params("ListenerId", lsnTLS, "AdditionalCertificateIds.1", "cert-two"), Status: 400, Code: "ResourceNotAssociated.Certificate"},

		// Server groups.
		{Name: "NoName", Action: "CreateServerGroup", Params: with(group, "ServerGroupName", ""), Status: 400, Code: "MissingParam.ServerGroupName"},
		{Name: "Protocol", Action: "CreateServerGroup", Params: with(group, "Protocol", "HTTP"), Status: 400, Code: "IllegalParam"},
		{Name: "Scheduler", Action: "CreateServerGroup", Params: with(group, "Scheduler", "qch"), Status: 400, Code: "IllegalParam"},
		{Name: "UDPTimeout", Action: "CreateServerGroup", Params: with(group, "Protocol", "UDP", "HealthCheckConfig.HealthCheckConnectTimeout", "12"), Status: 400, Code: "IllegalParam"},
		{Name: "UDPCheckOfTCP", Action: "CreateServerGroup", Params: with(group, "HealthCheckConfig.HealthCheckType", "UDP"), Status: 400, Code: "IllegalParam"},
		{Name: "Interval", Action: "CreateServerGroup", Params: with(group, "HealthCheckConfig.HealthCheckInterval", "51"), Status: 400, Code: "IllegalParam"},
		{Name: "Busy", Action: "AddServersToServerGroup", Params: with(serve, "ServerGroupId", sgpSpare), Plant: editGroup(func(g *kinds.NLBServerGroup) { g.Status = kinds.NLBGroupConfiguring }), Status: 400, Code: "OperationFailed.ResourceIsConfiguring"},
		{Name: "Busy", Action: "UpdateServerGroupAttribute", Params: params("ServerGroupId", sgpSpare), Plant: editGroup(func(g *kinds.NLBServerGroup) { g.Status = kinds.NLBGroupConfiguring }), Status: 400, Code: "IncorrectStatus.serverGroup"},
		{Name: "InUse", Action: "DeleteServerGroup", Params: params("ServerGroupId", sgpTCP), Status: 400, Code: "ResourceInUse.ServerGroup"},
		{Name: "QuotaOfGroup", Action: "CreateListener", Params: with(listen, "ServerGroupId", sgpTCP), Plant: set("quota.nlb_quota_servergroup_attached_num", "1"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "QuotaOfGroup", Action: "UpdateListenerAttribute", Params: params("ListenerId", lsnTCP, "ServerGroupId", sgpSpare), Plant: set("quota.nlb_quota_servergroup_attached_num", "0"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "Quota", Action: "CreateServerGroup", Params: group, Plant: set("quota.nlb_quota_servergroups_num", "7"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},

		// Servers.
		{Name: "NoType", Action: "AddServersToServerGroup", Params: with(serve, "Servers.1.ServerType", ""), Status: 400, Code: "MissingParam.ServerType"},
		{Name: "Type", Action: "AddServersToServerGroup", Params: with(serve, "Servers.1.ServerType", "Slb"), Status: 400, Code: "IllegalParam"},
		{Name: "NoPort", Action: "AddServersToServerGroup", Params: with(serve, "Servers.1.Port", ""), Status: 400, Code: "IllegalParam.RSPortConflictWithServerGroup"},
		{Name: "PortInAnyPortGroup", Action: "AddServersToServerGroup", Params: with(serve, "ServerGroupId", sgpAny), Status: 400, Code: "IllegalParam.RSPortConflictWithServerGroup"},
		{Name: "OtherVPC", Action: "AddServersToServerGroup", Params: with(serve, "Servers.1.ServerId", instanceB), Status: 400, Code: "Mismatch.VpcId"},
		{Name: "OtherIP", Action: "AddServersToServerGroup", Params: with(serve, "Servers.1.ServerType", "Eni", "Servers.1.ServerId", eni1, "Servers.1.ServerIp", "10.0.0.1"), Status: 400, Code: "IllegalParam.IP"},
		{Name: "NoIP", Action: "AddServersToServerGroup", Params: with(serve, "ServerGroupId", sgpIP, "Servers.1.ServerType", "Ip", "Servers.1.ServerId", "host"), Status: 400, Code: "IllegalParam.IP"},
		{Name: "Weight", Action: "AddServersToServerGroup", Params: with(serve, "Servers.1.Weight", "101"), Status: 400, Code: "IllegalParam"},
		{Name: "Quota", Action: "AddServersToServerGroup", Params: serve, Plant: set("quota.nlb_quota_servergroup_noeci_servers_num", "0"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "QuotaBehind", Action: "AddServersToServerGroup", Params: with(serve, "ServerGroupId", sgpTCP, "Servers.1.ServerType", "Eni", "Servers.1.ServerId", eni1), Plant: set("quota.nlb_quota_loadbalancer_noeci_servers_num", "1"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
		{Name: "Busy", Action: "RemoveServersFromServerGroup", Params: with(serve, "ServerGroupId", sgpSpare), Plant: editGroup(func(g *kinds.NLBServerGroup) { g.Status = kinds.NLBGroupConfiguring }), Status: 400, Code: "IncorrectStatus.serverGroup"},
		{Name: "EmptyMethod", Action: "CreateServerGroup", Params: with(group, "HealthCheckConfig.HttpCheckMethod", gatewaytest.Empty), Status: 400, Code: "IllegalParam"},
		{Name: "OtherKindOfGroup", Action: "LoadBalancerJoinSecurityGroup", Params: join, Plant: advancedGroup, Status: 400, Code: "OperationDenied.SecurityGroupTypeMismatch"},
		{Name: "OtherKindOfGroup", Action: "CreateLoadBalancer", Params: with(create, "SecurityGroupIds.1", group1, "SecurityGroupIds.2", "sg-advanced"), Plant: advancedGroup, Status: 400, Code: "OperationDenied.SecurityGroupTypeMismatch"},
		{Name: "NotThere", Action: "RemoveServersFromServerGroup", Params: serve, Status: 404, Code: "ResourceNotFound.BackendServer"},
		{Name: "NotThere", Action: "UpdateServerGroupServersAttribute", Params: serve, Status: 404, Code: "ResourceNotFound.BackendServer"},

		// Policies and tags.
		{Name: "Name", Action: "CreateSecurityPolicy", Params: params("SecurityPolicyName", strings.Repeat("a", 201), "TlsVersions.1", "TLSv1.2", "Ciphers.1", "x"), Status: 400, Code: "IllegalParam.SecurityPolicyName"},
		{Name: "InUse", Action: "DeleteSecurityPolicy", Params: params("SecurityPolicyId", policy1), Status: 400, Code: "ResourceInUse.SecurityPolicy"},
		{Name: "NoTag", Action: "TagResources", Params: params("ResourceType", "loadbalancer", "ResourceId.1", "nlb-one"), Status: 400, Code: "MissingParam.Tag"},
		{Name: "NoKey", Action: "UntagResources", Params: params("ResourceType", "loadbalancer", "ResourceId.1", "nlb-one"), Status: 400, Code: "MissingParam.TagKey"},
		{Name: "NoResource", Action: "ListTagResources", Params: params("ResourceType", "loadbalancer"), Status: 400, Code: "MissingParam.ResourceId"},
		{Name: "Key", Action: "TagResources", Params: with(tag, "Tag.1.Key", "aliyun"), Status: 400, Code: "IllegalParam.TagKey"},
		{Name: "Value", Action: "TagResources", Params: with(tag, "Tag.1.Value", "http://x"), Status: 400, Code: "IllegalParam.TagValue"},
		{Name: "KeyTwice", Action: "TagResources", Params: with(tag, "Tag.2.Key", "k"), Status: 400, Code: "DuplicatedParam.TagKey"},
		{Name: "Unknown", Action: "TagResources", Params: with(tag, "ResourceId.1", "nlb-none"), Status: 404, Code: "ResourceNotFound.ResourceId"},
		{Name: "Quota", Action: "TagResources", Params: tag, Plant: set("quota.slb_quota_tags_num", "0"), Status: 400, Code: "QuotaExceeded.QuotaInsufficient"},
	}
	gatewaytest.MatchErrors(t, nlb.Product(gateway.Deps{}), plant, cases)
}

// Every refusal that a tag of a request names is there.
func TestTagsNameRefusals(t *testing.T) { gatewaytest.MatchTags(t, nlb.Product(gateway.Deps{})) }

func editListener(change func(*kinds.NLBListener)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.NLBListeners.Edit(tx.In(owner), lsnTCP, func(l *kinds.NLBListener) error {
			change(l)
			return nil
		})
	}
}

func editGroup(change func(*kinds.NLBServerGroup)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.NLBServerGroups.Edit(tx.In(owner), sgpSpare, func(g *kinds.NLBServerGroup) error {
			change(g)
			return nil
		})
	}
}

// plantToken puts the token t of another request that made lb1.
func plantToken(activity string) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		state.ClientTokens.Put(tx, &state.ClientToken{AccountID: account, Action: "CreateLoadBalancer", Token: "t", Digest: "other",
			ResourceID: lb1, Activity: activity, CreateTime: tx.Now()})
		return nil
	}
}

// lock is a change of lb1 that holds its lock.
func lock(tx *state.Tx) error {
	kinds.NLBLocks.Put(tx, &kinds.Lock{Owner: owner, LoadBalancerID: lb1, Activity: state.Busy})
	return nil
}

// takeEIP puts the EIP on an instance.
func takeEIP(tx *state.Tx) error {
	return kinds.EIPs.Edit(tx.In(owner), eip1, func(e *kinds.EIP) error {
		e.Status, e.InstanceID, e.InstanceType = kinds.EIPInUse, instance1, "EcsInstance"
		return nil
	})
}

// shareBandwidth puts lb1 into the first package, shareEIP the EIP.
var shareBandwidth = editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.BandwidthPackageID = package1 })

func shareEIP(tx *state.Tx) error {
	return kinds.EIPs.Edit(tx.In(owner), eip1, func(e *kinds.EIP) error {
		e.BandwidthPackageID = package1
		return nil
	})
}

func payEIPByBandwidth(tx *state.Tx) error {
	return kinds.EIPs.Edit(tx.In(owner), eip1, func(e *kinds.EIP) error {
		e.InternetChargeType = "PayByBandwidth"
		return nil
	})
}

// putEIPOnLB puts the EIP on a zone of lb1, in place of its own.
func putEIPOnLB(tx *state.Tx) error {
	tx = tx.In(owner)
	eip, err := kinds.EIPs.Get(tx.View, eip1)
	if err != nil {
		return err
	}
	on := *eip
	on.Status, on.InstanceID, on.InstanceType = kinds.EIPInUse, lb1, "NlbInstance"
	kinds.EIPs.Put(tx, &on)
	return kinds.NLBLoadBalancers.Edit(tx, lb1, func(lb *kinds.NLBLoadBalancer) error {
		lb.ZoneMappings = slices.Clone(lb.ZoneMappings)
		z := &lb.ZoneMappings[0]
		kinds.Addresses.Delete(tx, kinds.AddressID(kinds.PublicPool(lb.RegionID), z.PublicIPv4Address))
		z.OwnEIP, z.AllocationID, z.PublicIPv4Address = false, eip1, eip.IPAddress
		return nil
	})
}

// advancedGroup puts an advanced security group, which the first load balancer is in.
func advancedGroup(tx *state.Tx) error {
	kinds.SecurityGroups.Put(tx, &kinds.SecurityGroup{Owner: owner, ID: "sg-advanced", VPCID: vpc1, Type: "enterprise"})
	return editLB(lb1, func(lb *kinds.NLBLoadBalancer) { lb.SecurityGroupIDs = []string{"sg-advanced"} })(tx)
}
