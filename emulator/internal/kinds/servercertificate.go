package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// ServerCertificate is an uploaded certificate. No call of the API returns its private
// key, with which listeners terminate TLS.
type ServerCertificate struct {
	state.Owner
	ID   string
	Name string
	CertificateContent
	// PrivateKey is empty for a certificate that an earlier version uploaded.
	PrivateKey string `json:",omitempty"`
	// AliCloudCertificateID is the number of the certificate of the certificate
	// service that it was taken from, which need not be there any more.
	AliCloudCertificateID   string `json:",omitempty"`
	AliCloudCertificateName string `json:",omitempty"`
	ResourceGroupID         string
	CreateTime              time.Time
}

// TagServerCertificate is the type of the tags of ServerCertificates.
const TagServerCertificate state.TagResourceType = "certificate"

// ServerCertificates by id.
var ServerCertificates = state.NewTable(Schema, "ServerCertificate", func(c *ServerCertificate) string { return c.ID }, state.Tagged(TagServerCertificate, ProductCLB, "certificate"))

var _ = moved(ProductCLB, "certificate", ServerCertificates, func(s *ServerCertificate) *string { return &s.ResourceGroupID })

// ServerCertificatesByRegion finds certificates by account and region.
var ServerCertificatesByRegion = ServerCertificates.Index("region", func(c *ServerCertificate) [][]string {
	return state.Key(c.AccountID, c.RegionID)
})

// QuotaCertificates limits a region.
var QuotaCertificates = state.NewQuota(Schema, "slb_quota_certs_num", 100, state.InRegion(ServerCertificates))
