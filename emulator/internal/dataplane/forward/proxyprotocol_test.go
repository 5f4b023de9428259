package forward_test

import (
	"bufio"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/pires/go-proxyproto"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

func TestProxyProtocol(t *testing.T) {
	headers, rest := make(chan *proxyproto.Header, 1), make(chan string, 1)
	m := member("m", accepting(t, func(c *net.TCPConn) {
		r := bufio.NewReader(c)
		h, err := proxyproto.Read(r)
		if err != nil {
			t.Error(err)
		}
		headers <- h
		text, _ := io.ReadAll(r)
		rest <- string(text)
	}))
	_, addr := start(t, forward.Plan{Group: group(m), ProxyProtocol: forward.ProxyProtocol{
		On: true, VPCID: "vpc-1", EndpointID: "ep-1", EndpointServiceID: "epsrv-1",
	}}, forward.Config{})
	c := dial(t, addr)
	io.WriteString(c, "hello")
	c.CloseWrite()
	h := <-headers
	if h.SourceAddr.String() != c.LocalAddr().String() || h.DestinationAddr.String() != addr || h.Version != 2 {
		t.Errorf("the header is %+v", h)
	}
	fields, err := h.TLVs()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range fields {
		if f.Type == 0xE1 {
			got = append(got, string(f.Value))
		}
	}
	if want := []string{"\x01vpc-1", "\x02ep-1", "\x03epsrv-1"}; !slices.Equal(got, want) {
		t.Errorf("the header's fields are %q, want %q", got, want)
	}
	if text := <-rest; text != "hello" {
		t.Errorf("after the header comes %q, want hello", text)
	}
}
