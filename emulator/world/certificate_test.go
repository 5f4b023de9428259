package world_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// TestServerCertificate proves that a certificate of the file is read for the
// names, the times and the fingerprint that the API shows. CLB-0451.
func TestServerCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	expiry := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: []string{"www.example.com"}, NotAfter: expiry,
	}, &x509.Certificate{}, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	w, err := world.Parse("cert.yaml", []byte(base+"serverCertificates:\n  - id: c-1\n    name: web\n    certificate: |\n      "+
		strings.ReplaceAll(text, "\n", "\n      ")+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	store := mustPlant(t, w)
	v := store.View(state.Owner{})
	c, err := kinds.ServerCertificates.Get(v, "c-1")
	if err != nil {
		t.Fatal(err)
	}
	if c.CommonName != "example.com" || len(c.SANs) != 1 || !c.NotAfter.Equal(expiry) {
		t.Errorf("certificate = %+v, want the names and expiry of the file's", c)
	}
	sum := sha1.Sum(der)
	if want := strings.ReplaceAll(fmt.Sprintf("% x", sum), " ", ":"); c.Fingerprint != want {
		t.Errorf("fingerprint = %s, want %s", c.Fingerprint, want)
	}
}
