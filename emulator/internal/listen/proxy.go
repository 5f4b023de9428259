package listen

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// The hosts that a proxy answers for.
const (
	cloudDomain  = ".aliyuncs.com"
	metadataHost = "100.100.100.200"
)

// proxy is a handler that clients may also use as their HTTP proxy, under the cloud's own
// host names. It connects to nothing: it ends the client's TLS itself, answers for the
// cloud's hosts by the handler, and refuses all others.
type proxy struct {
	handler http.Handler
	tls     *tls.Config
	tunnels *tunnels
	server  *http.Server // of what comes through the tunnels
}

var _ http.Handler = (*proxy)(nil)

func newProxy(life context.Context, cfg ServerConfig, at net.Addr) *proxy {
	return &proxy{tls: cfg.Proxy, tunnels: newTunnels(at), server: newHTTP(life, cfg.Log)}
}

// answersFor reports whether a host is the cloud's.
func answersFor(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(HostOf(host), "."))
	return host == metadataHost || strings.HasSuffix(host, cloudDomain)
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodConnect && !r.URL.IsAbs():
		p.handler.ServeHTTP(w, r)
	case !answersFor(r.Host):
		http.Error(w, fmt.Sprintf("clbemu is a proxy for *%s and %s alone, not for %.100q: name it in NO_PROXY", cloudDomain, metadataHost, HostOf(r.Host)), http.StatusForbidden)
	case r.Method == http.MethodConnect:
		p.tunnel(w)
	default: // by plain HTTP
		r.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery}
		p.handler.ServeHTTP(w, r)
	}
}

// tunnel answers a CONNECT, and serves what comes through the connection.
func (p *proxy) tunnel(w http.ResponseWriter) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, "this connection can't become a tunnel: "+err.Error(), http.StatusHTTPVersionNotSupported)
		return
	}
	if _, err := conn.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		_ = conn.Close()
		return
	}
	p.tunnels.add(tls.Server(&tunnel{conn, buffered.Reader}, p.tls))
}

// tunnel is a connection of which some may have been read.
type tunnel struct {
	net.Conn
	buffered *bufio.Reader
}

func (t *tunnel) Read(b []byte) (int, error) { return t.buffered.Read(b) }

// NetConn returns the connection that became the tunnel.
func (t *tunnel) NetConn() net.Conn { return t.Conn }

// tunnels is a listener that accepts the connections that it is given.
type tunnels struct {
	at     net.Addr
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

var _ net.Listener = (*tunnels)(nil)

func newTunnels(at net.Addr) *tunnels {
	closed := make(chan struct{})
	return &tunnels{at, make(chan net.Conn), closed, sync.OnceFunc(func() { close(closed) })}
}

func (t *tunnels) add(conn net.Conn) {
	select {
	case t.conns <- conn:
	case <-t.closed:
		_ = conn.Close()
	}
}

// Accept implements net.Listener.
func (t *tunnels) Accept() (net.Conn, error) {
	select {
	case conn := <-t.conns:
		return conn, nil
	case <-t.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (t *tunnels) Close() error {
	t.close()
	return nil
}

// Addr implements net.Listener.
func (t *tunnels) Addr() net.Addr { return t.at }
