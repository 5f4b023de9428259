package state

import "time"

// AccessControlList is a list of addresses that listeners admit or refuse.
type AccessControlList struct {
	Owner
	ID               string
	Name             string
	AddressIPVersion string
	ResourceGroupID  string
	Entries          []AccessControlListEntry `json:",omitempty"`
	CreateTime       time.Time
}

// AccessControlListEntry is a CIDR block, as the caller spelled it.
type AccessControlListEntry struct {
	Entry   string
	Comment string `json:",omitempty"`
}

// AccessControlLists by id.
var AccessControlLists = newTable("AccessControlList", func(a *AccessControlList) string { return a.ID })

// AccessControlListsByRegion finds lists by account and region.
var AccessControlListsByRegion = AccessControlLists.index("region", func(a *AccessControlList) [][]string {
	return one(a.AccountID, a.RegionID)
})

// DomainExtension gives one domain of an HTTPS listener a certificate of its own.
type DomainExtension struct {
	Owner
	ID                  string
	LoadBalancerID      string
	ListenerPort        int
	Domain              string
	ServerCertificateID string
	CreateTime          time.Time
}

// DomainExtensions by id.
var DomainExtensions = newTable("DomainExtension", func(d *DomainExtension) string { return d.ID })

// DomainExtensionsByListener finds extensions by load balancer, PortKey, domain.
var DomainExtensionsByListener = DomainExtensions.index("listener", func(d *DomainExtension) [][]string {
	return one(d.LoadBalancerID, PortKey(d.ListenerPort), d.Domain)
})

// DomainExtensionsByCertificate finds extensions by server certificate.
var DomainExtensionsByCertificate = DomainExtensions.index("certificate", func(d *DomainExtension) [][]string {
	return one(d.ServerCertificateID)
})
