package dataplane

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/internal/topology"
)

// keyring keeps what was parsed of certificates, by their texts: parsing costs more than
// all else of a plan.
type keyring map[string]any

// maxParsed is the size at which the ring forgets everything.
const maxParsed = 10_000

func cached[T any](ring keyring, text string, parse func() (T, error)) (T, error) {
	if parsed, ok := ring[text].(T); ok {
		return parsed, nil
	}
	parsed, err := parse()
	if err == nil {
		if len(ring) >= maxParsed {
			clear(ring)
		}
		ring[text] = parsed
	}
	return parsed, err
}

// load parses the keys of a frontend.
func (ring keyring) load(keys *topology.Keys, alpn []string) (forward.TLS, error) {
	out := forward.TLS{ALPN: alpn}
	if len(keys.Certificates) == 0 {
		return out, fmt.Errorf("the listener has no certificate")
	}
	for i, c := range keys.Certificates {
		certificate, err := ring.certificate(&c)
		if err != nil {
			return out, err
		}
		if i == 0 {
			out.Certificate = *certificate
			continue
		}
		if out.Domains == nil {
			out.Domains = make(map[string]tls.Certificate)
		}
		for _, domain := range c.Domains {
			out.Domains[domain] = *certificate
		}
	}
	if len(keys.ClientCAs) > 0 {
		pool, err := ring.pool(strings.Join(keys.ClientCAs, "\n"))
		if err != nil {
			return out, err
		}
		out.ClientCAs = pool
	}
	out.MinVersion, out.MaxVersion = versions(keys.Versions)
	out.CipherSuites = suites(keys.Ciphers)
	return out, nil
}

func (ring keyring) certificate(c *topology.Certificate) (*tls.Certificate, error) {
	if c.PrivateKey == "" {
		return nil, fmt.Errorf("the certificate %s has no private key here: upload it again", c.ID)
	}
	return cached(ring, c.Chain+c.PrivateKey, func() (*tls.Certificate, error) {
		pair, err := tls.X509KeyPair([]byte(c.Chain), []byte(c.PrivateKey))
		if err != nil {
			return nil, fmt.Errorf("the certificate %s: %w", c.ID, err)
		}
		return &pair, nil
	})
}

func (ring keyring) pool(text string) (*x509.CertPool, error) {
	return cached(ring, text, func() (*x509.CertPool, error) {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(text)) {
			return nil, fmt.Errorf("the CA certificate can't be read")
		}
		return pool, nil
	})
}

// versions returns the oldest and the newest of the cloud's names; 0 is Go's choice.
func versions(names []string) (oldest, newest uint16) {
	for _, name := range names {
		v := map[string]uint16{"TLSv1.0": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}[name]
		if v == 0 {
			continue
		}
		if oldest == 0 || v < oldest {
			oldest = v
		}
		newest = max(newest, v)
	}
	return oldest, newest
}

// suites returns the cipher suites that Go has of the cloud's names, which are OpenSSL's;
// none is Go's choice.
func suites(names []string) (list []uint16) {
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		for _, name := range names {
			if name == openSSLName(s.Name) {
				list = append(list, s.ID)
			}
		}
	}
	return list
}

// openSSLName spells the name of a suite as OpenSSL does: TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
// is ECDHE-RSA-AES128-GCM-SHA256.
func openSSLName(name string) string {
	name = strings.TrimPrefix(name, "TLS_")
	name = strings.TrimPrefix(strings.Replace(name, "_WITH_", "_", 1), "RSA_")
	name = strings.NewReplacer("AES_128", "AES128", "AES_256", "AES256", "_CBC_SHA", "-SHA", "_CBC3_SHA", "-CBC3-SHA").Replace(name)
	return strings.ReplaceAll(name, "_", "-")
}
