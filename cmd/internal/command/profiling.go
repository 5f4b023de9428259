package command

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"

	"github.com/clbemu/clbemu/emulator"
)

// profilePath is the path of the profiles.
const profilePath = "/debug/pprof/"

// profiling serves the profiles of this process. Its zero value serves nothing.
type profiling struct {
	server  *http.Server
	address string
}

// startProfiling serves profiles on an address, or nothing if that is empty.
func startProfiling(address string) (p profiling, err error) {
	if address == "" {
		return p, nil
	}
	l, err := emulator.Listen("debug listener", address)
	if err != nil {
		return p, fmt.Errorf("debug listener: %w: choose another address by --debug-listen", err)
	}
	p = profiling{&http.Server{Handler: profiles(), ReadHeaderTimeout: closeTimeout}, l.Addr().String()}
	go func() { _ = p.server.Serve(l) }() // until Close, and profiles are no reason to end before
	return p, nil
}

// Close ends running profiles.
func (p profiling) Close() error {
	if p.server == nil {
		return nil
	}
	return p.server.Close()
}

// profiles answers callers that name a loopback address, which pages of other sites
// don't. The command line is not among the profiles: it may hold the token.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc(profilePath, pprof.Index)
	mux.HandleFunc(profilePath+"profile", pprof.Profile)
	mux.HandleFunc(profilePath+"symbol", pprof.Symbol)
	mux.HandleFunc(profilePath+"trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if host, _, err := net.SplitHostPort(r.Host); err != nil || !onlyLocal(host) {
			http.Error(w, "the Host of the call must be a loopback address with its port", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// onlyLocal reports whether only this machine reaches a host.
func onlyLocal(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// checkDebugListen refuses an address that other machines could reach.
func checkDebugListen(address string) error {
	host, _, err := net.SplitHostPort(address)
	if address == "" || err == nil && onlyLocal(host) {
		return nil
	}
	return usage(fmt.Errorf("--debug-listen is a loopback address and a port, such as 127.0.0.1:6060, not %q", address))
}
