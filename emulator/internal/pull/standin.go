package pull

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// standInMark is the organization of certificates that stand in for real ones.
const standInMark = "clbemu stand-in"

// standIn gives a certificate of which only the description was read a content of clbemu's own, and
// returns the key. It has the names and dates of the real one and is marked. The key follows from
// the description, so that two copies of an account are alike: it is no secret.
func standIn(c *kinds.CertificateContent) (key string, err error) {
	seed := sha256.Sum256([]byte(standInMark + c.Fingerprint + c.CommonName))
	seed[0] = 0 // below the order of the curve
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), seed[:])
	if err != nil {
		return "", err
	}
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(seed[1:17]),
		Subject:      pkix.Name{CommonName: c.CommonName, Organization: []string{standInMark}},
		NotBefore:    c.NotBefore, NotAfter: c.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range c.SANs {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = template.NotBefore.Add(365 * 24 * time.Hour)
	}
	der, err := x509.CreateCertificate(nil, template, template, &private.PublicKey, private)
	if err != nil {
		return "", err
	}
	keyText, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", err
	}
	c.PEM = inPEM("CERTIFICATE", der)
	return inPEM("PRIVATE KEY", keyText), nil
}

func inPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
