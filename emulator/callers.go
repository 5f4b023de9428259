package emulator

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// callers lets programs call the API, and keeps out web pages that somebody on this
// machine looks at. A page can reach a loopback address under a name that it made
// resolve to it, so names must be known; an address needs no look, as a page that was
// loaded from it is the API's own.
type callers struct {
	names []string // *.example matches every name that ends in .example
}

// newCallers knows the names of the loopback address, of the listener and of the
// cloud, and those that the user allows. Other names under localhost belong to
// clouds: a call for one that is gone must not reach another.
func (cfg *Config) newCallers(cloud string) callers {
	names := []string{"localhost", "*.aliyuncs.com"}
	for _, own := range ownHosts {
		names = append(names, own+".localhost")
	}
	if cloud != "" {
		names = append(names, cloud+".localhost")
	}
	if host := hostOf(cfg.Listen); host != "" {
		names = append(names, host)
	}
	return callers{append(names, cfg.AllowedHosts...)}
}

var errCrossSite = errors.New("the API takes no calls from the pages of other sites")

func (c callers) refuse(r *http.Request) error {
	host := hostOf(r.Host)
	if name, ok := strings.CutSuffix(host, ".localhost"); ok && !c.know(host) {
		return fmt.Errorf("there is no cloud %.70q: it may have expired, and `clbemu cloud list` shows all", name)
	}
	if !c.know(host) {
		return fmt.Errorf("the API is not known by the name %q: start clbemu with --allowed-host (CLBEMU_ALLOWED_HOST) "+
			"and that name, or call it by its address", host)
	}
	if crossSite(r) {
		return errCrossSite
	}
	return nil
}

func (c callers) know(host string) bool {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	for _, name := range c.names {
		name = strings.ToLower(name)
		if domain, wild := strings.CutPrefix(name, "*"); wild && strings.HasSuffix(host, domain) || host == name {
			return host != ""
		}
	}
	return false
}

// crossSite reports whether a browser says that the page of another site made the
// call. The gateway's reads and writes are all the same to a browser, so a GET is
// no better than a POST.
func crossSite(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site != "same-origin" && site != "none"
	}
	for _, name := range []string{"Origin", "Referer"} {
		page := r.Header.Get(name)
		if page == "" {
			continue
		}
		if from, err := url.Parse(page); err != nil || from.Host != r.Host {
			return true
		}
	}
	return false
}

// guardUnsigned refuses to let other machines change the cloud without a key,
// unless that is what is wanted.
func (e *Emulator) guardUnsigned() error {
	if e.cfg.StrictAuth || e.cfg.UnsignedRemote || isLoopback(hostOf(e.cfg.Listen)) {
		return nil
	}
	return fmt.Errorf("without signatures, whoever reaches %s can change the cloud: verify them with --auth strict, "+
		"listen on 127.0.0.1, or say --unsigned-remote (CLBEMU_UNSIGNED_REMOTE) if that is what you want", e.cfg.Listen)
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
