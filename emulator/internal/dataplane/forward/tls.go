package forward

import (
	"crypto/tls"
	"errors"
	"strings"
)

// tlsConfig returns the configuration of the current plan for a handshake.
func (s *Server) tlsConfig(*tls.ClientHelloInfo) (*tls.Config, error) {
	if c := s.table.Load().tls; c != nil {
		return c, nil
	}
	return nil, ErrServerClosed
}

// tlsConfig returns the configuration that the plan describes.
func (p *Plan) tlsConfig() *tls.Config {
	c := &tls.Config{
		MinVersion:     p.TLS.MinVersion,
		MaxVersion:     p.TLS.MaxVersion,
		CipherSuites:   p.TLS.CipherSuites,
		GetCertificate: p.TLS.certificate,
		NextProtos:     p.nextProtos(),
	}
	if p.TLS.ClientCAs != nil {
		c.ClientAuth = tls.RequireAndVerifyClientCert
		c.ClientCAs = p.TLS.ClientCAs
	}
	return c
}

func (p *Plan) nextProtos() []string {
	switch {
	case p.Protocol == TCPSSL:
		return p.TLS.ALPN
	case p.HTTP2:
		return []string{"h2", "http/1.1"}
	default:
		return []string{"http/1.1"}
	}
}

// certificate returns the one for the name that the client asks for: of the
// exact name, of the narrowest wildcard, or the default one.
func (t *TLS) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if c, ok := t.Domains[name]; ok {
		return &c, nil
	}
	for rest := name; rest != ""; {
		_, rest, _ = strings.Cut(rest, ".")
		if c, ok := t.Domains["*."+rest]; ok {
			return &c, nil
		}
	}
	if len(t.Certificate.Certificate) == 0 {
		return nil, errors.New("the listener has no certificate")
	}
	return &t.Certificate, nil
}
