package cas

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// subject holds the fields that both answers read from a certificate.
type subject struct {
	Name            string `rpc:"Name"`
	Fingerprint     string `rpc:"Fingerprint"`
	Sha2            string `rpc:"Sha2"`
	SerialNo        string `rpc:"SerialNo"`
	Issuer          string `rpc:"Issuer"`
	OrgName         string `rpc:"OrgName"`
	Province        string `rpc:"Province"`
	City            string `rpc:"City"`
	Country         string `rpc:"Country"`
	Sans            string `rpc:"Sans"`
	StartDate       string `rpc:"StartDate"`
	EndDate         string `rpc:"EndDate"`
	Expired         bool   `rpc:"Expired"`
	Algorithm       string `rpc:"Algorithm"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
}

// names lists the certificate's names: its common name where it has no others:
// CLB-0524.
func names(c *kinds.UserCertificate) []string {
	if len(c.SANs) == 0 && c.CommonName != "" {
		return []string{c.CommonName}
	}
	return c.SANs
}

func subjectOf(c *kinds.UserCertificate, chain []*x509.Certificate, now time.Time) subject {
	s := subject{
		Name: c.Name, Fingerprint: strings.ToUpper(strings.ReplaceAll(c.Fingerprint, ":", "")), Sans: strings.Join(names(c), ","),
		StartDate: c.NotBefore.Format(time.DateOnly), EndDate: c.NotAfter.Format(time.DateOnly), Expired: expired(c, now),
		Algorithm: c.Algorithm, ResourceGroupID: c.ResourceGroupID,
	}
	if len(chain) == 0 {
		return s
	}
	first := chain[0]
	sum := sha256.Sum256(first.Raw)
	s.Sha2, s.SerialNo, s.Issuer = strings.ToUpper(hex.EncodeToString(sum[:])), first.SerialNumber.Text(16), first.Issuer.CommonName
	s.OrgName, s.Province = firstOf(first.Subject.Organization), firstOf(first.Subject.Province)
	s.City, s.Country = firstOf(first.Subject.Locality), firstOf(first.Subject.Country)
	return s
}

func expired(c *kinds.UserCertificate, now time.Time) bool { return !now.Before(c.NotAfter) }

func firstOf(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// chainOf returns the certificates of a chain. It skips none: the upload read them.
func chainOf(text string) (chain []*x509.Certificate) {
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return chain
		}
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			chain = append(chain, c)
		}
	}
}

type getUserCertificateDetailRequest struct {
	certificateRequest
	CertFilter bool `rpc:"CertFilter"`
}

type getUserCertificateDetailResponse struct {
	subject
	ID             int64           `rpc:"Id"`
	Common         string          `rpc:"Common"`
	CertIdentifier string          `rpc:"CertIdentifier"`
	Cert           string          `rpc:"Cert,omitempty"`
	Key            string          `rpc:"Key,omitempty"`
	BuyInAliyun    bool            `rpc:"BuyInAliyun"`
	NotBefore      int64           `rpc:"NotBefore"`
	NotAfter       int64           `rpc:"NotAfter"`
	CertChain      []chainLink     `rpc:"CertChain"`
	Tags           []tagging.Shown `rpc:"Tags"`
}

type chainLink struct {
	CommonName       string `rpc:"CommonName"`
	IssuerCommonName string `rpc:"IssuerCommonName"`
	NotBefore        int64  `rpc:"NotBefore"`
	NotAfter         int64  `rpc:"NotAfter"`
	RemainDay        int    `rpc:"RemainDay"`
}

func getUserCertificateDetail(v *state.View, req *getUserCertificateDetailRequest) (*getUserCertificateDetailResponse, error) {
	c, err := req.certificate(v)
	if err != nil {
		return nil, err
	}
	chain := chainOf(c.PEM)
	resp := &getUserCertificateDetailResponse{
		subject: subjectOf(c, chain, v.Now()), ID: c.ID, Common: c.CommonName, CertIdentifier: c.Identifier(),
		NotBefore: c.NotBefore.UnixMilli(), NotAfter: c.NotAfter.UnixMilli(),
	}
	if !req.CertFilter {
		resp.Cert, resp.Key = c.PEM, c.PrivateKey
	}
	for _, link := range chain {
		resp.CertChain = append(resp.CertChain, chainLink{link.Subject.CommonName, link.Issuer.CommonName, link.NotBefore.UnixMilli(),
			link.NotAfter.UnixMilli(), max(int(link.NotAfter.Sub(v.Now()).Hours()/24), 0)})
	}
	resp.Tags = tagging.ShownOf(v, kinds.TagUserCertificate, kinds.UserCertificates.ID(c))
	return resp, nil
}

type listUserCertificateOrderRequest struct {
	Keyword         string `rpc:"Keyword"`
	OrderType       string `rpc:"OrderType,default=CPACK,enum=CPACK|BUY|UPLOAD|CERT,invalid=OrderTypeUnknown"`
	Status          string `rpc:"Status,enum=PAYED|CHECKING|CHECKED_FAIL|ISSUED|WILLEXPIRED|EXPIRED|NOTACTIVATED|REVOKED,invalid=StatusUnknown"`
	ResourceGroupID string `rpc:"ResourceGroupId"`
	CurrentPage     int    `rpc:"CurrentPage,default=1,min=1"`
	ShowSize        int    `rpc:"ShowSize,default=50,min=1,max=1000"`
}

type listUserCertificateOrderResponse struct {
	CurrentPage          int         `rpc:"CurrentPage"`
	ShowSize             int         `rpc:"ShowSize"`
	TotalCount           int         `rpc:"TotalCount"`
	CertificateOrderList []orderView `rpc:"CertificateOrderList"`
}

type orderView struct {
	subject
	CertificateID int64  `rpc:"CertificateId"`
	CommonName    string `rpc:"CommonName"`
	Upload        bool   `rpc:"Upload"`
}

// listUserCertificateOrder lists certificates for the types UPLOAD and CERT alone:
// clbemu has no orders.
func listUserCertificateOrder(v *state.View, req *listUserCertificateOrderRequest) (*listUserCertificateOrderResponse, error) {
	var found []*kinds.UserCertificate
	for c := range kinds.UserCertificates.All(v) {
		if req.matches(c, v.Now()) {
			found = append(found, c)
		}
	}
	resp := &listUserCertificateOrderResponse{CurrentPage: req.CurrentPage, ShowSize: req.ShowSize, TotalCount: len(found)}
	for _, c := range listing.Page(found, req.CurrentPage, req.ShowSize) {
		resp.CertificateOrderList = append(resp.CertificateOrderList,
			orderView{subjectOf(c, chainOf(c.PEM), v.Now()), c.ID, c.CommonName, true})
	}
	return resp, nil
}

// soon is the time before its end at which a certificate is said to expire: CLB-0412.
const soon = 30 * 24 * time.Hour

func (r *listUserCertificateOrderRequest) matches(c *kinds.UserCertificate, now time.Time) bool {
	ordered := r.OrderType == "CPACK" || r.OrderType == "BUY"
	return !ordered && (r.Status == "" || r.Status == statusOf(c, now)) &&
		(r.ResourceGroupID == "" || r.ResourceGroupID == c.ResourceGroupID) &&
		slices.ContainsFunc(append([]string{c.Name, c.CommonName}, c.SANs...), func(text string) bool { return strings.Contains(text, r.Keyword) })
}

func statusOf(c *kinds.UserCertificate, now time.Time) string {
	switch {
	case expired(c, now):
		return "EXPIRED"
	case expired(c, now.Add(soon)):
		return "WILLEXPIRED"
	}
	return "ISSUED"
}
