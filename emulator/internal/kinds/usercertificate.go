package kinds

import (
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/state"
)

// UserCertificate is a certificate of the certificate service. That hands the
// private key out again, so it is kept: CLB-0410.
type UserCertificate struct {
	AccountID string
	ID        int64
	Name      string
	CertificateContent
	PrivateKey      string
	ResourceGroupID string
	CreateTime      time.Time
}

// Belonging returns the certificate's account. Certificates have no region.
func (c *UserCertificate) Belonging() state.Owner { return state.Owner{AccountID: c.AccountID} }

func (c *UserCertificate) key() string { return strconv.FormatInt(c.ID, 10) }

// identifierEnd follows the number of a certificate where a listener names it:
// CLB-0411.
const identifierEnd = "-cn-hangzhou"

// Identifier returns the listeners' name for the certificate.
func (c *UserCertificate) Identifier() string { return c.key() + identifierEnd }

// TagUserCertificate is the type of the tags of UserCertificates.
const TagUserCertificate state.TagResourceType = "cas:certificate"

// UserCertificates by number.
var UserCertificates = state.NewTable(Schema, "UserCertificate", (*UserCertificate).key, state.Tagged(TagUserCertificate, ProductCAS, ""))

// UserCertificatesByName finds certificates by account and name, which is one's own.
var UserCertificatesByName = UserCertificates.Index("name", func(c *UserCertificate) [][]string {
	return state.Key(c.AccountID, c.Name)
})

// FindUserCertificate returns the certificate that a listener names.
func FindUserCertificate(v *state.View, identifier string) (*UserCertificate, bool) {
	number, ok := strings.CutSuffix(identifier, identifierEnd)
	if !ok {
		return nil, false
	}
	return UserCertificates.Find(v, number)
}
