package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The files that GenerateTLS keeps in the data folder.
const (
	CAFile      = "ca.pem"
	tlsCertFile = "tls-cert.pem"
	tlsKeyFile  = "tls-key.pem"
)

// certificateLife is the validity of a generated certificate. A start creates a new one
// when less than renewBefore is left.
const (
	certificateLife = 2 * 365 * 24 * time.Hour
	renewBefore     = 30 * 24 * time.Hour
)

// GenerateTLS returns a server certificate for the hosts, names or addresses.
// It is kept in dir, with the certificate of its authority in CAFile for
// clients to trust. The authority's key is thrown away, so that trusting it is
// trusting this one certificate.
func GenerateTLS(dir string, hosts []string) (*tls.Config, error) {
	certPath, keyPath := filepath.Join(dir, tlsCertFile), filepath.Join(dir, tlsKeyFile)
	config, err := LoadTLS(certPath, keyPath)
	if err == nil && serves(config, hosts) && isTrusted(config, filepath.Join(dir, CAFile)) {
		return config, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: delete %s to get a new one", err, certPath)
	}
	if err := generate(dir, hosts); err != nil {
		return nil, fmt.Errorf("generate a certificate: %w", err)
	}
	return LoadTLS(certPath, keyPath)
}

// LoadTLS returns a configuration with the certificate of the two PEM files.
func LoadTLS(certFile, keyFile string) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("TLS certificate: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}, nil
}

// CertificateOf returns the certificate of a configuration in PEM. A client that trusts it trusts
// no other certificate by that.
func CertificateOf(config *tls.Config) string {
	if len(config.Certificates) == 0 {
		return ""
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: config.Certificates[0].Certificate[0]}))
}

// serves reports whether the certificate is good for all the hosts for some time.
func serves(config *tls.Config, hosts []string) bool {
	cert := config.Certificates[0].Leaf
	return time.Until(cert.NotAfter) > renewBefore && !slices.ContainsFunc(hosts, func(host string) bool {
		return cert.VerifyHostname(host) != nil
	})
}

// isTrusted reports whether who trusts the authority in the file trusts the
// certificate. If the file was lost, no client can.
func isTrusted(config *tls.Config, authorityFile string) bool {
	text, err := os.ReadFile(authorityFile)
	if err != nil {
		return false
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	_, err = config.Certificates[0].Leaf.Verify(x509.VerifyOptions{Roots: pool})
	return err == nil
}

func generate(dir string, hosts []string) error {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	keyText, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	authority, server := authorityTemplate(), serverTemplate(hosts)
	authorityText, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return err
	}
	serverText, err := x509.CreateCertificate(rand.Reader, server, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return err
	}
	for _, name := range []string{CAFile, tlsKeyFile, tlsCertFile} {
		if err := replaceable(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return errors.Join(
		os.MkdirAll(dir, 0o700),
		write(filepath.Join(dir, CAFile), 0o644, "CERTIFICATE", authorityText),
		write(filepath.Join(dir, tlsKeyFile), 0o600, "PRIVATE KEY", keyText),
		write(filepath.Join(dir, tlsCertFile), 0o644, "CERTIFICATE", serverText),
	)
}

func template(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()),
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour),
		NotAfter:     now.Add(certificateLife),
	}
}

func authorityTemplate() *x509.Certificate {
	cert := template("clbemu CA")
	cert.IsCA, cert.BasicConstraintsValid = true, true
	cert.KeyUsage = x509.KeyUsageCertSign
	return cert
}

func serverTemplate(hosts []string) *x509.Certificate {
	cert := template("clbemu")
	cert.KeyUsage = x509.KeyUsageDigitalSignature
	cert.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			cert.IPAddresses = append(cert.IPAddresses, ip)
		} else {
			cert.DNSNames = append(cert.DNSNames, host)
		}
	}
	return cert
}

// replaceable returns an error if there is something else than a regular file, such as a
// link, which something else may depend on.
func replaceable(path string) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file, and only such a file is replaced: remove it, or choose another folder", path)
	}
	return nil
}

// write replaces the file, since an existing one could have another mode.
func write(path string, mode fs.FileMode, kind string, content []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}), mode)
}
