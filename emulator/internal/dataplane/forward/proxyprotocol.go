package forward

import (
	"net"

	"github.com/pires/go-proxyproto"
)

// The cloud's own field of the proxy protocol: a subtype and an id (CLB-0604).
const (
	cloudField        proxyproto.PP2Type = 0xE1
	cloudVPC          byte               = 0x01
	cloudEndpoint     byte               = 0x02
	cloudEndpointServ byte               = 0x03
)

// header returns what a member gets before the first byte or packet, or nil if the protocol is off.
func (p *ProxyProtocol) header(from, to net.Addr) ([]byte, error) {
	if !p.On {
		return nil, nil
	}
	h := proxyproto.HeaderProxyFromAddrs(2, from, to)
	var fields []proxyproto.TLV
	for _, f := range []struct {
		subtype byte
		id      string
	}{{cloudVPC, p.VPCID}, {cloudEndpoint, p.EndpointID}, {cloudEndpointServ, p.EndpointServiceID}} {
		if f.id != "" {
			fields = append(fields, proxyproto.TLV{Type: cloudField, Value: append([]byte{f.subtype}, f.id...)})
		}
	}
	if err := h.SetTLVs(fields); err != nil {
		return nil, err
	}
	return h.Format()
}

func (st *stream) writeProxyHeader() error {
	h, err := st.table.ProxyProtocol.header(st.raw.RemoteAddr(), st.raw.LocalAddr())
	if err != nil || h == nil {
		return err
	}
	_, err = st.member.Write(h)
	return err
}
