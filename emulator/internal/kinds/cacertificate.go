package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// CACertificate is a certificate to check client certificates against.
type CACertificate struct {
	state.Owner
	ID   string
	Name string
	CertificateContent
	ResourceGroupID string
	CreateTime      time.Time
}

// TagCACertificate is the type of the tags of CACertificates.
const TagCACertificate state.TagResourceType = "slb:cacertificate"

// CACertificates by id.
var CACertificates = state.NewTable(Schema, "CACertificate", func(c *CACertificate) string { return c.ID }, state.Tagged(TagCACertificate, ProductCLB, "certificate"))

var _ = moved(ProductCLB, "certificate", CACertificates, func(c *CACertificate) *string { return &c.ResourceGroupID })

// CACertificatesByRegion finds certificates by account and region.
var CACertificatesByRegion = CACertificates.Index("region", func(c *CACertificate) [][]string {
	return state.Key(c.AccountID, c.RegionID)
})

// QuotaCACertificates limits a region.
var QuotaCACertificates = state.NewQuota(Schema, "slb_quota_ca_certs_num", 100, state.InRegion(CACertificates))
