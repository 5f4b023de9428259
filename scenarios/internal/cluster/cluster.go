// Package cluster knows the names in a Kubernetes cluster: kinds and their fields, and
// the annotations, Events and finalizers of a Cloud Controller Manager. It must not
// know what scenarios do with them.
package cluster

import (
	_ "embed"
	"strings"
	"sync"
)

// kubernetes is a kind a line, with its API version before it, and a field of it a
// line; a test of contracttests/kubernetes writes it.
//
//go:embed kubernetes.txt
var kubernetes string

// Kind is a kind of objects.
type Kind struct {
	APIVersion, Name string
	// Fields are paths, with [] behind lists and .* behind maps; nil where this
	// package has none.
	Fields []string
}

// Kinds lists the kinds that a cluster has by itself.
var Kinds = sync.OnceValue(func() (kinds []Kind) {
	for line := range strings.Lines(kubernetes) {
		words := strings.Fields(line)
		if len(words) == 2 {
			kinds = append(kinds, Kind{APIVersion: words[0], Name: words[1]})
			continue
		}
		last := &kinds[len(kinds)-1]
		last.Fields = append(last.Fields, words[2])
	}
	return kinds
})

// What follows are names of the cloud controller manager as of April 2026.

// Reasons are the reasons of its Events.
var Reasons = []string{
	"FailedAddFinalizer", "FailedRemoveFinalizer", "FailedAddHash", "FailedRemoveHash", "FailedUpdateStatus", "UnAvailableLoadBalancer",
	"SkipSyncBackends", "SyncLoadBalancerFailed", "CleanLoadBalancer", "CleanLoadBalancerFailed", "EnsuredLoadBalancer",
	"AnnotationChanged", "TypeChanged", "ServiceSpecChanged", "DeleteTimestampChanged",
	"DeleteNodeFailed", "AddNodeFailed", "SyncNodeFailed", "DeletedNode", "InitializedNode",
	"CreateRouteFailed", "SyncRouteFailed", "CreatedRoute", "CloudControllerManagerPrecheckResult",
}

// Finalizers are its own and those of Kubernetes.
var Finalizers = []string{
	"service.k8s.alibaba/resources", "service.k8s.alibaba/nlb", "service.kubernetes.io/load-balancer-cleanup", "foregroundDeletion", "orphan",
}

// ServiceName is the label by which an EndpointSlice belongs to a Service.
const ServiceName = "kubernetes.io/service-name"

// Labels are those that Kubernetes or the cloud controller manager reads: of
// EndpointSlices, and of nodes that are no backends.
var Labels = []string{
	ServiceName, "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane",
	"node.kubernetes.io/exclude-from-external-load-balancers", "service.alibabacloud.com/exclude-node",
}

// AnnotationPrefixes are the two under which it takes an annotation.
var AnnotationPrefixes = []string{"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-", "service.beta.kubernetes.io/alicloud-loadbalancer-"}

// annotationNames are what follows the prefixes.
var annotationNames = strings.Fields(`
	acl-id acl-status acl-type additional-cert-ids additional-resource-tags address-type alpn alpn-policy
	backend-ip-version backend-label bandwidth bandwidth-package-id cacert cacert-id cert-id charge-type
	connection-drain connection-drain-timeout cookie cookie-timeout cps cross-zone-enabled default-weight
	delete-protection domain-extensions established-timeout external-ip-type force-override-listeners forward-port
	health-check-connect-port health-check-connect-timeout health-check-domain health-check-flag health-check-httpcode
	health-check-interval health-check-method health-check-switch health-check-timeout health-check-type
	health-check-uri healthy-threshold hostname http2-enabled id idle-timeout ignore-weight-update instance-charge-type
	ip ip-version ipv6-address-type listener-port-range master-zoneid modification-protection name network-type
	persistence-timeout ppv2-pvl-ep-id-enabled ppv2-pvl-eps-id-enabled ppv2-pvl-vpc-id-enabled preserve-client-ip
	preserve-lb-on-delete protocol-port proxy-protocol remove-unscheduled-backend request-timeout resource-group-id
	scheduler security-group-ids server-group-type slave-zoneid slb-network-type spec sticky-session sticky-session-type
	tls-cipher-policy unhealthy-threshold vgroup-port vswitch-id weight xforwardedfor-clientsrcport xforwardedfor-proto
	xforwardedfor-slbport zone-maps`)

// Annotations lists the annotations of Services that it reads.
var Annotations = sync.OnceValue(func() []string {
	all := []string{"service.beta.kubernetes.io/backend-type", "service.beta.kubernetes.io/class"}
	for _, prefix := range AnnotationPrefixes {
		for _, name := range annotationNames {
			all = append(all, prefix+name)
		}
	}
	return all
})
