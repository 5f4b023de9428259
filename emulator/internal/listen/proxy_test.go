package listen_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// proxyServer is a server that answers with what it was asked, and that clients may use
// as their proxy; by TLS itself if secure.
func proxyServer(t *testing.T, secure bool, connections int) (s *listen.Server, trust *x509.CertPool) {
	t.Helper()
	dir := t.TempDir()
	certificate, err := listen.GenerateTLS(dir, []string{"127.0.0.1", "*.aliyuncs.com", "*.cn-hangzhou.aliyuncs.com"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := listen.ServerConfig{Name: "API", Address: "127.0.0.1:0", Connections: listen.NewPlaces(connections), Proxy: certificate, Log: zerolog.Nop()}
	if secure {
		cfg.TLS = certificate
	}
	s, err = listen.NewServer(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s%s?%s absolute=%v tls=%v", r.Method, r.Host, r.URL.Path, r.URL.RawQuery, r.URL.IsAbs(), r.TLS != nil)
		}))
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), await.Patience)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("Shutdown = %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
	})
	authority, err := os.ReadFile(filepath.Join(dir, listen.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	trust = x509.NewCertPool()
	trust.AppendCertsFromPEM(authority)
	return s, trust
}

// through returns a client that reaches all by the proxy.
func through(t *testing.T, s *listen.Server, trust *x509.CertPool) *http.Client {
	t.Helper()
	at, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(at), TLSClientConfig: &tls.Config{RootCAs: trust}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestProxy proves that a client whose proxy is the server reaches the handler under the
// names of the cloud, by HTTPS and HTTP, and nothing under other names.
func TestProxy(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s, trust := proxyServer(t, secure, 8)
		client := through(t, s, trust)
		for _, test := range []struct{ url, want string }{
			{"https://slb.aliyuncs.com/?Action=A", "GET slb.aliyuncs.com/?Action=A absolute=false tls=true"},
			{"https://vpc.cn-hangzhou.aliyuncs.com/?Action=B", "GET vpc.cn-hangzhou.aliyuncs.com/?Action=B absolute=false tls=true"},
			{"http://SLB.aliyuncs.com/x%2Fy?Action=C", fmt.Sprintf("GET SLB.aliyuncs.com/x/y?Action=C absolute=false tls=%v", secure)},
			{"http://100.100.100.200/latest/meta-data/region-id", fmt.Sprintf("GET 100.100.100.200/latest/meta-data/region-id? absolute=false tls=%v", secure)},
			{"http://example.com/", "clbemu is a proxy for *.aliyuncs.com and 100.100.100.200 alone, not for \"example.com\": name it in NO_PROXY"},
			{"http://aliyuncs.com.example.com/", "not for \"aliyuncs.com.example.com\""},
			{"http://127.0.0.1:22/", "not for \"127.0.0.1\""},
		} {
			resp, err := client.Get(test.url)
			if err != nil {
				t.Errorf("secure=%v: %s: %v", secure, test.url, err)
				continue
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || !strings.Contains(string(body), test.want) {
				t.Errorf("secure=%v: %s = %q, %v, want %q", secure, test.url, body, err, test.want)
			}
		}
		for _, refused := range []string{"https://example.com/", "https://127.0.0.1:6443/", "https://evilaliyuncs.com/"} {
			if resp, err := client.Get(refused); err == nil || !strings.Contains(err.Error(), "Forbidden") {
				t.Errorf("secure=%v: %s = %v, %v, want Forbidden", secure, refused, resp, err)
			}
		}
	}
}

// TestProxyTunnels proves that what comes through a tunnel is the cloud's API and no
// proxy again, that a client that speaks no TLS is refused, and that a tunnel counts as a
// connection until it ends.
func TestProxyTunnels(t *testing.T) {
	s, trust := proxyServer(t, false, 1)
	open := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "CONNECT slb.aliyuncs.com:443 HTTP/1.1\r\nHost: slb.aliyuncs.com:443\r\n\r\n")
		from := bufio.NewReader(conn)
		resp, err := http.ReadResponse(from, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("CONNECT = %v, %v", resp, err)
		}
		return conn, from
	}
	conn, _ := open()
	secure := tls.Client(conn, &tls.Config{RootCAs: trust, ServerName: "slb.aliyuncs.com"})
	fmt.Fprintf(secure, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n")
	inner := bufio.NewReader(secure)
	resp, err := http.ReadResponse(inner, nil)
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(resp.Body); err != nil || !strings.HasPrefix(string(body), "CONNECT example.com") {
		t.Errorf("inside the tunnel, CONNECT = %q, %v, want the handler's answer", body, err)
	}
	secure.Close() // which makes room for the next
	conn, from := open()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: slb.aliyuncs.com\r\n\r\n")
	if answer, err := io.ReadAll(from); err != nil || strings.Contains(string(answer), "200") {
		t.Errorf("plain text in the tunnel = %q, %v, want its end", answer, err)
	}
	open()
}
