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
	// Fields lists paths, with [] after lists and .* after maps. It is nil if this package has
	// none.
	Fields []string
}

// values lists what fields can be, by kind and path, where Kubernetes has a closed list.
var values = map[string]map[string][]string{
	"Service": {
		"spec.type":                  {"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"},
		"spec.externalTrafficPolicy": {"Cluster", "Local"},
		"spec.internalTrafficPolicy": {"Cluster", "Local"},
		"spec.sessionAffinity":       {"None", "ClientIP"},
		"spec.ipFamilyPolicy":        {"SingleStack", "PreferDualStack", "RequireDualStack"},
		"spec.ipFamilies.0":          {"IPv4", "IPv6"},
		"spec.ports.0.protocol":      {"TCP", "UDP", "SCTP"},
	},
	"EndpointSlice": {"addressType": {"IPv4", "IPv6", "FQDN"}, "ports.0.protocol": {"TCP", "UDP", "SCTP"}},
	"Node":          {"spec.taints.0.effect": {"NoSchedule", "PreferNoSchedule", "NoExecute"}},
	"Pod":           {"spec.restartPolicy": {"Always", "OnFailure", "Never"}},
}

// Values lists what the field at a path can be, with 0 for the elements of a list; nil is
// anything.
func (k Kind) Values(path ...string) []string { return values[k.Name][strings.Join(path, ".")] }

// Kinds lists the kinds that a cluster has on its own.
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
	"FailedAddFinalizer", "FailedRemoveFinalizer", "FailedAddHash", "FailedRemoveHash", "FailedUpdateStatus", "FailedSetEIPAddress", "UnAvailableLoadBalancer",
	"SkipSyncBackends", "SyncLoadBalancerFailed", "CleanLoadBalancer", "CleanLoadBalancerFailed", "EnsuredLoadBalancer",
	"AnnotationChanged", "TypeChanged", "ServiceSpecChanged", "DeleteTimestampChanged",
	"DeleteNodeFailed", "AddNodeFailed", "SyncNodeFailed", "DeletedNode", "InitializedNode",
	"CreateRouteFailed", "SyncRouteFailed", "CreatedRoute", "CloudControllerManagerPrecheckResult",
}

// Finalizers lists its own finalizer and those of Kubernetes.
var Finalizers = []string{
	"service.k8s.alibaba/resources", "service.k8s.alibaba/nlb", "service.kubernetes.io/load-balancer-cleanup", "foregroundDeletion", "orphan",
}

// ServiceName is the label by which an EndpointSlice belongs to a Service.
const ServiceName = "kubernetes.io/service-name"

// Labels lists the labels that Kubernetes or the cloud controller manager reads: on EndpointSlices,
// and on nodes that are no backends.
var Labels = []string{
	ServiceName, "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane",
	"node.kubernetes.io/exclude-from-external-load-balancers", "service.alibabacloud.com/exclude-node",
}
