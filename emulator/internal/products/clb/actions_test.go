package clb_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
)

// The action tables agree with the API's metadata, but for what is excepted here
// with its reason.
func TestActionsMatchMetadata(t *testing.T) {
	reasons := make(map[string]string)
	for reason, keys := range exceptions {
		for _, key := range keys {
			reasons[key] = reason
		}
	}
	gatewaytest.MatchActions(t, clb.Product(gateway.Deps{}), "testdata/actions.json", reasons)
}

// Every fact that a handler can report has a row in the error table.
func TestTagsNameRefusals(t *testing.T) { gatewaytest.MatchTags(t, clb.Product(gateway.Deps{})) }

// exceptions are the known differences from the metadata, by reason.
var exceptions = map[string][]string{
	"older clients call it: CLB-0528": {"ServiceManagedControl"},
	"a filter by tag must name a key": {
		"DescribeLoadBalancers.Tag.N.Key",
		"DescribeLoadBalancerListeners.Tag.N.Key",
		"DescribeVServerGroups.Tag.N.Key",
		"DescribeMasterSlaveServerGroups.Tag.N.Key",
		"DescribeAccessControlLists.Tag.N.Key",
		"DescribeServerCertificates.Tag.N.Key",
		"DescribeCACertificates.Tag.N.Key",
		"ListTagResources.Tag.N.Key",
	},
	"belongs to other products or to features without a documented action": {
		"DescribeLoadBalancers->LoadBalancers.LoadBalancer[].ServiceManagedReason",
		"DescribeLoadBalancers->LoadBalancers.LoadBalancer[].SpecType",
		"DescribeLoadBalancerAttribute->AssociatedCenId",
		"DescribeLoadBalancerAttribute->AssociatedCenStatus",
		"DescribeLoadBalancerAttribute->CloudInstanceId",
		"DescribeLoadBalancerAttribute->CloudInstanceType",
		"DescribeLoadBalancerAttribute->CloudInstanceUid",
		"DescribeLoadBalancerAttribute->CloudType",
		"DescribeLoadBalancerAttribute->Labels",
		"DescribeLoadBalancerAttribute->RenewalCycUnit",
		"DescribeLoadBalancerAttribute->RenewalDuration",
		"DescribeLoadBalancerAttribute->SpecType",
		"DescribeLoadBalancerAttribute->SupportPrivateLink",
		"DescribeLoadBalancerAttribute->TunnelType",
		"CreateVServerGroup->BackendServers.BackendServer[].VbrId",
		"SetVServerGroupAttribute->BackendServers.BackendServer[].VbrId",
		"AddVServerGroupBackendServers->BackendServers.BackendServer[].VbrId",
		"RemoveVServerGroupBackendServers->BackendServers.BackendServer[].VbrId",
		"ModifyVServerGroupBackendServers->BackendServers.BackendServer[].VbrId",
		"DescribeVServerGroupAttribute->BackendServers.BackendServer[].VbrId",
	},
	"set by no documented parameter": {
		"DescribeLoadBalancerListeners->Listeners[].BackendProtocol",
		"DescribeLoadBalancerListeners->Listeners[].HTTPListenerConfig.ForwardCode",
		"DescribeLoadBalancerListeners->Listeners[].HTTPListenerConfig.HealthCheckHttpVersion",
		"DescribeLoadBalancerListeners->Listeners[].HTTPListenerConfig.MaxConnection",
		"DescribeLoadBalancerListeners->Listeners[].HTTPSListenerConfig.HealthCheckHttpVersion",
		"DescribeLoadBalancerListeners->Listeners[].HTTPSListenerConfig.MaxConnection",
		"DescribeLoadBalancerListeners->Listeners[].HTTPSListenerConfig.XForwardedFor_ClientCertClientVerifyAlias",
		"DescribeLoadBalancerListeners->Listeners[].HTTPSListenerConfig.XForwardedFor_ClientCertFingerprintAlias",
		"DescribeLoadBalancerListeners->Listeners[].HTTPSListenerConfig.XForwardedFor_ClientCertIssuerDNAlias",
		"DescribeLoadBalancerListeners->Listeners[].HTTPSListenerConfig.XForwardedFor_ClientCertSubjectDNAlias",
		"DescribeLoadBalancerListeners->Listeners[].TCPListenerConfig.HealthCheckTcpFastCloseEnabled",
		"DescribeLoadBalancerListeners->Listeners[].TCPListenerConfig.MaxConnection",
		"DescribeLoadBalancerListeners->Listeners[].UDPListenerConfig.MaxConnection",
		"DescribeLoadBalancerListeners->Listeners[].UDPListenerConfig.QuicVersion",
		"DescribeLoadBalancerTCPListenerAttribute->HealthCheckTcpFastCloseEnabled",
		"DescribeLoadBalancerTCPListenerAttribute->MaxConnection",
		"DescribeLoadBalancerTCPListenerAttribute->VpcIds",
		"DescribeLoadBalancerUDPListenerAttribute->MaxConnection",
		"DescribeLoadBalancerUDPListenerAttribute->QuicVersion",
		"DescribeLoadBalancerUDPListenerAttribute->VpcIds",
		"DescribeLoadBalancerHTTPListenerAttribute->ForwardCode",
		"DescribeLoadBalancerHTTPListenerAttribute->HealthCheckHttpVersion",
		"DescribeLoadBalancerHTTPListenerAttribute->MaxConnection",
		"DescribeLoadBalancerHTTPListenerAttribute->VpcIds",
		"DescribeLoadBalancerHTTPSListenerAttribute->BackendProtocol",
		"DescribeLoadBalancerHTTPSListenerAttribute->HealthCheckHttpVersion",
		"DescribeLoadBalancerHTTPSListenerAttribute->MaxConnection",
		"DescribeLoadBalancerHTTPSListenerAttribute->VpcIds",
		"DescribeLoadBalancerHTTPSListenerAttribute->XForwardedFor_ClientCertClientVerifyAlias",
		"DescribeLoadBalancerHTTPSListenerAttribute->XForwardedFor_ClientCertFingerprintAlias",
		"DescribeLoadBalancerHTTPSListenerAttribute->XForwardedFor_ClientCertIssuerDNAlias",
		"DescribeLoadBalancerHTTPSListenerAttribute->XForwardedFor_ClientCertSubjectDNAlias",
	},
	"several certificates a listener: not documented; ServerCertificateId tells the one": {
		"DescribeLoadBalancerListeners->Listeners[].HTTPSListenerConfig.ServerCertificates",
		"DescribeLoadBalancerHTTPSListenerAttribute->DomainExtensions.DomainExtension[].Certificates",
		"DescribeLoadBalancerHTTPSListenerAttribute->DomainExtensions.DomainExtension[].ServerCertificates",
		"DescribeLoadBalancerHTTPSListenerAttribute->ServerCertificates",
		"DescribeDomainExtensionAttribute->Certificates",
		"DescribeDomainExtensionAttribute->ServerCertificates",
		"DescribeDomainExtensions->DomainExtensions.DomainExtension[].Certificates",
		"DescribeDomainExtensions->DomainExtensions.DomainExtension[].ServerCertificates",
	},
	"a pair of vServer groups as master and slave is set by no documented parameter": {
		"DescribeLoadBalancerListeners->Listeners[].TCPListenerConfig.FailoverStrategy",
		"DescribeLoadBalancerListeners->Listeners[].TCPListenerConfig.FailoverThreshold",
		"DescribeLoadBalancerListeners->Listeners[].TCPListenerConfig.MasterServerGroupId",
		"DescribeLoadBalancerListeners->Listeners[].TCPListenerConfig.MasterSlaveModeEnabled",
		"DescribeLoadBalancerListeners->Listeners[].TCPListenerConfig.SlaveServerGroupId",
		"DescribeLoadBalancerListeners->Listeners[].UDPListenerConfig.FailoverStrategy",
		"DescribeLoadBalancerListeners->Listeners[].UDPListenerConfig.FailoverThreshold",
		"DescribeLoadBalancerListeners->Listeners[].UDPListenerConfig.MasterServerGroupId",
		"DescribeLoadBalancerListeners->Listeners[].UDPListenerConfig.MasterSlaveModeEnabled",
		"DescribeLoadBalancerListeners->Listeners[].UDPListenerConfig.SlaveServerGroupId",
		"DescribeLoadBalancerTCPListenerAttribute->FailoverStrategy",
		"DescribeLoadBalancerTCPListenerAttribute->FailoverThreshold",
		"DescribeLoadBalancerTCPListenerAttribute->MasterServerGroupId",
		"DescribeLoadBalancerTCPListenerAttribute->MasterSlaveModeEnabled",
		"DescribeLoadBalancerTCPListenerAttribute->SlaveServerGroupId",
		"DescribeLoadBalancerTCPListenerAttribute->WorkingServerGroupId",
		"DescribeLoadBalancerUDPListenerAttribute->FailoverStrategy",
		"DescribeLoadBalancerUDPListenerAttribute->FailoverThreshold",
		"DescribeLoadBalancerUDPListenerAttribute->MasterServerGroupId",
		"DescribeLoadBalancerUDPListenerAttribute->MasterSlaveModeEnabled",
		"DescribeLoadBalancerUDPListenerAttribute->SlaveServerGroupId",
		"DescribeLoadBalancerUDPListenerAttribute->WorkingServerGroupId",
	},
	"TCPS listeners are made by no action of this API": {
		"DescribeLoadBalancerListeners->Listeners[].TCPSListenerConfig",
		"DescribeVServerGroups->VServerGroups.VServerGroup[].AssociatedObjects.Listeners.Listener[].TCPSListenerConfig",
	},
	"CCM reads it; both names are answered: CLB-0146": {
		"DescribeLoadBalancerTCPListenerAttribute->HealthCheckSwitch",
	},
	"the port and protocol tell the listener; the rest is in its own Describe": {
		"DescribeVServerGroups->VServerGroups.VServerGroup[].AssociatedObjects.Listeners.Listener[]",
		"DescribeMasterSlaveServerGroups->MasterSlaveServerGroups.MasterSlaveServerGroup[].AssociatedObjects.Listeners.Listener[]",
	},
	"rules forward to vServer groups only": {
		"DescribeMasterSlaveServerGroups->MasterSlaveServerGroups.MasterSlaveServerGroup[].AssociatedObjects.Rules",
	},
	"no log is written, so no role is taken to write one: CLB-0184": {
		"DescribeAccessLogsDownloadAttribute->LogsDownloadAttributes.LogsDownloadAttribute[].RoleArn",
	},
	"the default group's answer in the metadata is DescribeHealthStatus's; what has no meaning there is left out": {
		"DescribeVServerGroupAttribute->BackendServers.BackendServer[].ProxyProtocolV2Enabled",
		"AddBackendServers->BackendServers.BackendServer[].EniHost",
		"AddBackendServers->BackendServers.BackendServer[].ListenerPort",
		"AddBackendServers->BackendServers.BackendServer[].Port",
		"AddBackendServers->BackendServers.BackendServer[].Protocol",
		"AddBackendServers->BackendServers.BackendServer[].ServerHealthStatus",
		"SetBackendServers->BackendServers.BackendServer[].EniHost",
		"SetBackendServers->BackendServers.BackendServer[].ListenerPort",
		"SetBackendServers->BackendServers.BackendServer[].Port",
		"SetBackendServers->BackendServers.BackendServer[].Protocol",
		"SetBackendServers->BackendServers.BackendServer[].ServerHealthStatus",
		"DescribeHealthStatus->BackendServers.BackendServer[].EniHost",
	},
	"the gateway does not demand it, the service does": {
		"AddAccessControlListEntry.AclId",
	},
	"certificates of other standards are not emulated": {
		"DescribeServerCertificates->ServerCertificates.ServerCertificate[].BindingType",
		"DescribeServerCertificates->ServerCertificates.ServerCertificate[].CertificateId",
		"DescribeServerCertificates->ServerCertificates.ServerCertificate[].StandardType",
		"DescribeCACertificates->CACertificates.CACertificate[].StandardType",
	},
}
