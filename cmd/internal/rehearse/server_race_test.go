package rehearse

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/pires/go-proxyproto"
)

// TestServer proves that the server of all listeners answers with and without the PROXY protocol
// before a request.
func TestServer(t *testing.T) {
	s, err := startServer()
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for version := range byte(3) {
		conn, err := net.Dial("tcp", s.address)
		if err != nil {
			t.Fatal(err)
		}
		if version > 0 {
			if _, err := proxyproto.HeaderProxyFromAddrs(version, conn.LocalAddr(), conn.RemoteAddr()).WriteTo(conn); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("version %d of the PROXY protocol (0 is none): %+v, %v, want status %d", version, response, err, http.StatusOK)
		}
		_ = conn.Close()
	}
}
