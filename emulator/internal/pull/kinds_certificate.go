package pull

import (
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// certificateKinds returns the kinds of certificates and access control lists, which listeners
// name.
func certificateKinds() []*kind {
	return []*kind{
		userCertificates(), serverCertificates(),
		of(kinds.CACertificates, kind{
			lists: []read{{product: "Slb", action: "DescribeCACertificates", list: "CACertificates.CACertificate"}},
			id:    "CACertificateId", tags: "Tags.Tag", tag: kinds.TagCACertificate,
		}, nil),
		of(kinds.AccessControlLists, kind{
			lists: []read{{product: "Slb", action: "DescribeAccessControlLists", list: "Acls.Acl", pages: numbered}},
			id:    "AclId", tags: "Tags.Tag", tag: kinds.TagAccessControlList,
			details: []detail{{read: read{product: "Slb", action: "DescribeAccessControlListAttribute", params: each("AclId", "=AclId"), list: "AclEntrys.AclEntry",
				pages: pages{number: "Page", size: "PageSize", most: 50}}, as: "AclEntrys", needed: true}},
		}, nil),
		tlsCipherPolicies(),
	}
}

func userCertificates() *kind {
	return of(kinds.UserCertificates, kind{
		lists: []read{{product: "cas", action: "ListUserCertificateOrder", params: each("OrderType", "CERT"), list: "CertificateOrderList",
			pages: pages{number: "CurrentPage", size: "ShowSize", most: 50}}},
		id: "CertificateId", tags: "Tags", tag: kinds.TagUserCertificate,
		// CertFilter leaves the certificate and its key out of the answer.
		details: []detail{{read: read{product: "cas", action: "GetUserCertificateDetail", params: each("CertId", "=CertificateId", "CertFilter", "true")}}},
	}, func(_ *builder, c *kinds.UserCertificate, _ row) (err error) {
		c.Fingerprint = spaced(c.Fingerprint)
		c.PrivateKey, err = standIn(&c.CertificateContent)
		return err
	})
}

// spaced spells a fingerprint as load balancers do.
func spaced(fingerprint string) string {
	if strings.Contains(fingerprint, ":") || len(fingerprint)%2 != 0 {
		return strings.ToLower(fingerprint)
	}
	var pairs []string
	for i := 0; i < len(fingerprint); i += 2 {
		pairs = append(pairs, fingerprint[i:i+2])
	}
	return strings.ToLower(strings.Join(pairs, ":"))
}

func serverCertificates() *kind {
	return of(kinds.ServerCertificates, kind{
		lists: []read{{product: "Slb", action: "DescribeServerCertificates", list: "ServerCertificates.ServerCertificate"}},
		id:    "ServerCertificateId", tags: "Tags.Tag", tag: kinds.TagServerCertificate,
	}, func(_ *builder, c *kinds.ServerCertificate, _ row) (err error) {
		c.NotBefore = c.CreateTime
		c.PrivateKey, err = standIn(&c.CertificateContent)
		return err
	})
}

func tlsCipherPolicies() *kind {
	return of(kinds.TLSCipherPolicies, kind{
		lists: []read{{product: "Slb", action: "ListTLSCipherPolicies", list: "TLSCipherPolicies", pages: pages{token: "NextToken", size: "MaxItems", most: 50}}},
		id:    "InstanceId",
	}, func(_ *builder, p *kinds.TLSCipherPolicy, _ row) error {
		p.Activity = map[string]string{"configuring": "busy"}[p.Activity]
		return nil
	})
}
