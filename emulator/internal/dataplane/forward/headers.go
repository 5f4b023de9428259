package forward

import (
	"net"
	"net/http"
	"strconv"
	"strings"
)

// set writes the headers that the switches ask for. The reverse proxy has taken
// what clients say of themselves out of h; it goes on as it came.
func (f *Forwarded) set(h http.Header, in *http.Request) {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := in.Header[name]; ok {
			h[name] = values
		}
	}
	address, port, _ := net.SplitHostPort(in.RemoteAddr)
	if f.For {
		h.Set("X-Forwarded-For", strings.Join(append(in.Header.Values("X-Forwarded-For"), address), ", "))
	}
	if f.Proto {
		h.Set("X-Forwarded-Proto", scheme(in))
	}
	if f.ClientPort {
		h.Set("X-Forwarded-Client-Srcport", port)
	}
	if f.Port != 0 {
		h.Set("X-Forwarded-Port", strconv.Itoa(f.Port))
	}
	if f.ID != "" {
		h.Set("Slb-Id", f.ID)
	}
	if f.IP != "" {
		h.Set("Slb-Ip", f.ip(in))
	}
}

// ip returns the address of the load balancer that the client used (CLB-0620), as far as
// it is known.
func (f *Forwarded) ip(in *http.Request) string {
	local, known := in.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if f.LocalIP && known {
		return addrPort(local).Addr().String()
	}
	return f.IP
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
