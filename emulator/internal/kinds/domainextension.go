package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// DomainExtension gives one domain of an HTTPS listener its own certificate.
type DomainExtension struct {
	state.Owner
	ID                  string
	LoadBalancerID      string
	ListenerPort        int
	Domain              string
	ServerCertificateID string
	CreateTime          time.Time
	// Activity is Busy while a change takes effect.
	Activity string `json:",omitempty"`
}

// DomainExtensions by id.
var DomainExtensions = state.NewTable(Schema, "DomainExtension", func(d *DomainExtension) string { return d.ID },
	state.IDForm("de-", 10),
	state.Belongs(ServerCertificates, func(d *DomainExtension) string { return d.ServerCertificateID }),
	state.Life(func(d *DomainExtension) *string { return &d.Activity }))

// StageDomainExtensionConfiguring is while a change of a domain extension takes effect. How long
// that takes is unpublished, and a CCM makes several in a row: no time, unless a world says
// otherwise. CLB-0583.
var StageDomainExtensionConfiguring = DomainExtensions.Stage("domainextension.configuring", state.Busy, state.Idle, 0)

// ListenerID returns the id of the extension's listener, which is an HTTPS one.
func (d *DomainExtension) ListenerID() string {
	return ListenerID(d.LoadBalancerID, HTTPS, d.ListenerPort)
}

// DomainExtensionsByListener finds extensions by ListenerID, domain.
var DomainExtensionsByListener = DomainExtensions.Index("listener", func(d *DomainExtension) [][]string {
	return state.Key(d.ListenerID(), d.Domain)
})

// DomainExtensionsByCertificate finds extensions by server certificate.
var DomainExtensionsByCertificate = DomainExtensions.Index("certificate", func(d *DomainExtension) [][]string {
	return state.Key(d.ServerCertificateID)
})

var _ = Listeners.With(state.OwnedBy(DomainExtensionsByListener, Listeners))

// QuotaDomainExtensions limits a listener.
var QuotaDomainExtensions = state.NewQuota(Schema, "slb_quota_domain_extensions_num", 3,
	state.Of(DomainExtensions, func(d *DomainExtension, add func(string, int)) { add(d.ListenerID(), 1) }))
