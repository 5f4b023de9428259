// Package annotation reads what the annotations of Services say. docs/annotations.md has
// what a real CCM makes of each.
package annotation

import corev1 "k8s.io/api/core/v1"

// The annotations that the driver reads.
const (
	prefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"

	ID                 = prefix + "id"
	Override           = prefix + "force-override-listeners"
	Preserve           = prefix + "preserve-lb-on-delete"
	AddressType        = prefix + "address-type"
	Spec               = prefix + "spec"
	InstanceChargeType = prefix + "instance-charge-type"
	InternetChargeType = prefix + "charge-type"
	Bandwidth          = prefix + "bandwidth"
	VSwitch            = prefix + "vswitch-id"
	MasterZone         = prefix + "master-zoneid"
	SlaveZone          = prefix + "slave-zoneid"
	ResourceGroup      = prefix + "resource-group-id"
	DeleteProtection   = prefix + "delete-protection"
	ProtocolPort       = prefix + "protocol-port"
	Certificate        = prefix + "cert-id"
	Scheduler          = prefix + "scheduler"
	Drain              = prefix + "connection-drain"
	DrainTimeout       = prefix + "connection-drain-timeout"
	CheckInterval      = prefix + "health-check-interval"
	Sticky             = prefix + "sticky-session"
	StickyType         = prefix + "sticky-session-type"
	CookieTimeout      = prefix + "cookie-timeout"
	ACLStatus          = prefix + "acl-status"
	ACLType            = prefix + "acl-type"
	ACLID              = prefix + "acl-id"
	Hostname           = prefix + "hostname"
	BackendLabel       = prefix + "backend-label"
	RemoveUnscheduled  = prefix + "remove-unscheduled-backend"
	ZoneMaps           = prefix + "zone-maps"
	BackendType        = "service.beta.kubernetes.io/backend-type"
)

// Is reports whether an annotation of a Service has a value.
func Is(service *corev1.Service, name, value string) bool { return service.Annotations[name] == value }
