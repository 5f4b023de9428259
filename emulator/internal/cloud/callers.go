package cloud

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/listen"
)

// OwnHosts are names under localhost of the cloud that is there from the start.
var OwnHosts = []string{"clbemu", controlapi.DefaultCloud}

// callers lets programs call the API, and keeps out web pages that a user on this
// machine looks at. A page can reach a loopback address under a name that it made
// resolve to it, so names must be known; an address needs no look, as a page that was
// loaded from it is the API's own.
type callers struct {
	names []string // *.example matches every name that ends in .example
}

// newCallers knows the names of the loopback address, of the listener and of the
// cloud, and those that the user allows. Other names under localhost belong to
// clouds: a call for one that is gone must not reach another.
func (cfg *Config) newCallers() callers {
	names := []string{"localhost", "*.aliyuncs.com"}
	for _, own := range OwnHosts {
		names = append(names, own+".localhost")
	}
	if cfg.Name != "" {
		names = append(names, cfg.Name+".localhost")
	}
	if cfg.Host != "" {
		names = append(names, cfg.Host)
	}
	return callers{append(names, cfg.AllowedHosts...)}
}

var errCrossSite = errors.New("the API takes no calls from the pages of other sites")

func (c callers) refuse(r *http.Request) error {
	host := listen.HostOf(r.Host)
	if name, ok := strings.CutSuffix(host, ".localhost"); ok && !c.isKnown(host) {
		return fmt.Errorf("there is no cloud %.70q: it may have expired, and `clbemu cloud list` shows all", name)
	}
	if !c.isKnown(host) {
		return fmt.Errorf("the API is not known by the name %q: start clbemu with --allowed-host (CLBEMU_ALLOWED_HOST) "+
			"and that name, or call it by its address", host)
	}
	if control.CrossSite(r) {
		return errCrossSite
	}
	return nil
}

func (c callers) isKnown(host string) bool {
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
