package kinds

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// CertificateContent is a certificate, or a chain that starts with it, and what
// is read off it.
type CertificateContent struct {
	PEM         string
	Fingerprint string // SHA-1, bytes in hex with colons
	CommonName  string
	SANs        []string `json:",omitempty"`
	NotBefore   time.Time
	NotAfter    time.Time
	Algorithm   string // RSA or ECC
	KeyLength   int    // bits
}

// ParseCertificate reads one or more certificates in PEM form and describes the
// first.
func ParseCertificate(text string) (CertificateContent, error) {
	chain, err := parseChain(text)
	if err != nil {
		return CertificateContent{}, err
	}
	cert := chain[0]
	content := CertificateContent{
		PEM:         text,
		Fingerprint: fingerprint(cert),
		CommonName:  cert.Subject.CommonName,
		SANs:        slices.Clone(cert.DNSNames),
		NotBefore:   cert.NotBefore.UTC(),
		NotAfter:    cert.NotAfter.UTC(),
	}
	switch key := cert.PublicKey.(type) {
	case *rsa.PublicKey:
		content.Algorithm, content.KeyLength = "RSA", key.N.BitLen()
	case *ecdsa.PublicKey:
		content.Algorithm, content.KeyLength = "ECC", key.Curve.Params().BitSize
	default:
		return CertificateContent{}, fmt.Errorf("has a key of type %T, which load balancers do not take", key)
	}
	return content, nil
}

func parseChain(text string) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for rest := []byte(text); ; {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		switch {
		case block == nil && len(chain) > 0 && len(strings.TrimSpace(string(rest))) == 0:
			return chain, nil
		case block == nil || block.Type != "CERTIFICATE":
			return nil, errors.New("is not a certificate in PEM form, which starts with -----BEGIN CERTIFICATE-----")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("is not a readable certificate: %w", err)
		}
		chain = append(chain, cert)
	}
}

// fingerprint returns the SHA-1 sum in pairs of hex digits. Evidence CLB-0451.
func fingerprint(cert *x509.Certificate) string {
	sum := sha1.Sum(cert.Raw)
	parts := make([]string, len(sum))
	for i := range sum {
		parts[i] = hex.EncodeToString(sum[i : i+1])
	}
	return strings.Join(parts, ":")
}
