package forward_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// certificate returns a certificate of its own for the name.
func certificate(t testing.TB, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// dialTLS connects and shakes hands.
func dialTLS(t testing.TB, addr string, config *tls.Config) (*tls.Conn, error) {
	t.Helper()
	config.InsecureSkipVerify = true
	c := tls.Client(&counted{Conn: dial(t, addr)}, config)
	return c, c.Handshake()
}

// counted counts the bytes that a client sends, TLS's own among them.
type counted struct {
	net.Conn
	sent uint64
}

func (c *counted) Write(text []byte) (int, error) {
	c.sent += uint64(len(text))
	return c.Conn.Write(text)
}

// served returns the name in the certificate that a client gets.
func served(t testing.TB, addr, name string) string {
	t.Helper()
	c, err := dialTLS(t, addr, &tls.Config{ServerName: name})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

func TestTCPSSL(t *testing.T) {
	m := member("m", accepting(t, func(c *net.TCPConn) {
		got, _ := io.ReadAll(c)
		c.Write(got)
	}))
	plan := forward.Plan{Protocol: forward.TCPSSL, Group: group(m), TLS: forward.TLS{Certificate: certificate(t, "default"), ALPN: []string{"mqtt"}}}
	s, addr := start(t, plan, forward.Config{})
	c, err := dialTLS(t, addr, &tls.Config{NextProtos: []string{"x", "mqtt"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.ConnectionState().NegotiatedProtocol; got != "mqtt" {
		t.Errorf("the protocol is %q, want mqtt", got)
	}
	text := strings.Repeat("hello ", 100000)
	go func() {
		io.WriteString(c, text)
		c.CloseWrite()
	}()
	if got, err := io.ReadAll(c); err != nil || string(got) != text {
		t.Errorf("%d bytes came back, want %d (%v)", len(got), len(text), err)
	}
	if _, err := dialTLS(t, addr, &tls.Config{NextProtos: []string{"x"}}); err == nil {
		t.Error("a client of another protocol is accepted")
	}
	garbage := dial(t, addr)
	io.WriteString(garbage, "GET / HTTP/1.1\r\n\r\n")
	io.Copy(io.Discard, garbage)
	await.Until(t, "all connections have ended", func() bool { return s.Stats().Total.Active == 0 })
}

func TestTCPSSLIdle(t *testing.T) {
	m := echo(t, "m")
	plan := forward.Plan{Protocol: forward.TCPSSL, Group: group(m), TLS: forward.TLS{Certificate: certificate(t, "default")}}
	clock := newClock()
	_, addr := start(t, plan, forward.Config{Clock: clock})
	c, err := dialTLS(t, addr, &tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	readLine(t, c)
	clock.run(t)
	wantReset(t, c)
}

func TestCertificates(t *testing.T) {
	plan := forward.Plan{Protocol: forward.HTTPS, TLS: forward.TLS{Certificate: certificate(t, "default"), Domains: map[string]tls.Certificate{
		"www.example.com": certificate(t, "exact"), "*.example.com": certificate(t, "narrow"), "*.com": certificate(t, "wide"),
	}}}
	s, addr := start(t, plan, forward.Config{})
	for name, want := range map[string]string{
		"WWW.example.com": "exact", "a.b.example.com": "narrow", "example.com": "wide", "example.org": "default", "": "default",
	} {
		if got := served(t, addr, name); got != want {
			t.Errorf("%q gets the certificate %s, want %s", name, got, want)
		}
	}
	plan.TLS.Certificate = certificate(t, "renewed")
	apply(t, s, plan)
	if got := served(t, addr, ""); got != "renewed" {
		t.Errorf("after the renewal the certificate is %s", got)
	}
	plan.TLS = forward.TLS{}
	apply(t, s, plan)
	if _, err := dialTLS(t, addr, &tls.Config{}); err == nil {
		t.Error("a listener without certificate shakes hands")
	}
}

func TestMutualTLS(t *testing.T) {
	ours, other := certificate(t, "ours"), certificate(t, "other")
	leaf, err := x509.ParseCertificate(ours.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	cas := x509.NewCertPool()
	cas.AddCert(leaf)
	_, addr := start(t, forward.Plan{
		Protocol: forward.TCPSSL, Group: group(echo(t, "m")),
		TLS: forward.TLS{Certificate: certificate(t, "default"), ClientCAs: cas},
	}, forward.Config{})
	for name, tt := range map[string]struct {
		certificates []tls.Certificate
		want         string
	}{"Ours": {[]tls.Certificate{ours}, "m\n"}, "Other": {[]tls.Certificate{other}, ""}, "None": {nil, ""}} {
		c, err := dialTLS(t, addr, &tls.Config{GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &append(tt.certificates, tls.Certificate{})[0], nil
		}})
		got := make([]byte, 2)
		n := 0
		if err == nil {
			n, _ = io.ReadFull(c, got)
		}
		if string(got[:n]) != tt.want {
			t.Errorf("%s: the member sends %q, want %q", name, got[:n], tt.want)
		}
	}
}

func TestTLSPolicy(t *testing.T) {
	_, addr := start(t, forward.Plan{Protocol: forward.HTTPS, TLS: forward.TLS{
		Certificate: certificate(t, "default"), MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
		CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384},
	}}, forward.Config{})
	c, err := dialTLS(t, addr, &tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if st := c.ConnectionState(); st.Version != tls.VersionTLS12 || st.CipherSuite != tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384 {
		t.Errorf("the connection has version %x and suite %x", st.Version, st.CipherSuite)
	}
	for name, config := range map[string]*tls.Config{
		"Version": {MinVersion: tls.VersionTLS13},
		"Suite":   {MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}},
	} {
		if _, err := dialTLS(t, addr, config); err == nil {
			t.Errorf("%s: a client outside the policy is accepted", name)
		}
	}
}

func TestHTTPS(t *testing.T) {
	m := webMember(t, "m", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto+" "+r.Header.Get("X-Forwarded-Proto"))
	})
	plan := forward.Plan{
		Protocol: forward.HTTPS, Group: group(m), HTTP2: true,
		TLS: forward.TLS{Certificate: certificate(t, "default")}, Forwarded: forward.Forwarded{Proto: true},
	}
	clock := newClock()
	s, addr := start(t, plan, forward.Config{Clock: clock})
	for _, want := range []string{"HTTP/2.0", "HTTP/1.1"} {
		c := httpClient(t)
		c.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
		c.Transport.(*http.Transport).ForceAttemptHTTP2 = true
		got := get(t, c, "https://"+addr)
		if got.Proto != want || got.text != "HTTP/1.1 https" {
			t.Errorf("the reply of %s is %q, want %s and HTTP/1.1 https", got.Proto, got.text, want)
		}
		plan.HTTP2 = false
		apply(t, s, plan)
	}
	if got := send(t, "http://"+addr, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "X-Clbemu-Reason: plain HTTP") {
		t.Errorf("plain HTTP is answered %q, want 400", got)
	}
	if got := send(t, "http://"+addr, "\x16\x03\x01\x00\x05garbage"); strings.HasPrefix(got, "HTTP") {
		t.Errorf("garbage is answered %q", got)
	}
	before := s.Stats().Total.BytesIn
	c, err := dialTLS(t, addr, &tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(c, "GET / HTTP/1.1\r\nHost")
	await.Until(t, "the half request was read", func() bool { return s.Stats().Total.BytesIn >= before+c.NetConn().(*counted).sent })
	clock.run(t)
	if got, _ := io.ReadAll(c); !strings.HasPrefix(string(got), "HTTP/1.1 408 ") {
		t.Errorf("half a request is answered %q, want 408", got)
	}
}
