package clouds

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/control"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/emulator/names"
)

// serve answers a call at the port of a cloud.
func (s *Clouds) serve(name string, w http.ResponseWriter, r *http.Request) {
	c, leave, ok := s.enter(name)
	if !ok {
		http.Error(w, s.unknown(name).Error(), http.StatusNotFound)
		return
	}
	defer leave()
	c.During(r, func(r *http.Request) { c.ServeAPI(w, r) })
}

// enter finds a cloud by its name, which stays until the caller leaves. It waits for one
// that is reset.
func (s *Clouds) enter(name string) (c *cloud.Cloud, leave func(), ok bool) {
	if name == "" || name == controlapi.DefaultCloud {
		return s.first, func() {}, true
	}
	for {
		f, resetting := s.find(name)
		if f != nil {
			return f.Cloud, f.calls.Done, true
		}
		if resetting == nil {
			return nil, nil, false
		}
		<-resetting
	}
}

// find finds a cloud and counts a call that enters it, or returns what is closed once a
// reset of it is over.
func (s *Clouds) find(name string) (f *forkedCloud, resetting <-chan struct{}) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f = s.forked[name]; f == nil {
		return nil, s.resetting[name]
	}
	f.calls.Add(1)
	return f, nil
}

func (s *Clouds) unknown(name string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.unopened[name]; err != nil {
		return fmt.Errorf("%w: %w", control.ErrNoCloud, err)
	}
	known := []string{controlapi.DefaultCloud}
	if len(s.forked) <= cloud.MaxSeries { // any client can ask, and looking through more takes long
		known = slices.AppendSeq(known, maps.Keys(s.forked))
	}
	return fmt.Errorf("%w: %.70q%s", control.ErrNoCloud, name, names.DidYouMean(name, known, "it may have expired; `clbemu cloud list` shows all"))
}

// ByHost finds the cloud that the host of a call names, such as NAME.localhost.
func (s *Clouds) ByHost(host string) (c *cloud.Cloud, leave func()) {
	if name, ok := strings.CutSuffix(strings.ToLower(strings.TrimSuffix(listen.HostOf(host), ".")), ".localhost"); ok {
		if c, leave, ok := s.enter(name); ok {
			return c, leave
		}
	}
	return s.first, func() {}
}

// ByKey implements cloud.Neighbours: an access key such as NAME.testid names a cloud.
func (s *Clouds) ByKey(c *cloud.Cloud, key string) (gateway.Chosen, error) {
	name, id, named := strings.Cut(key, ".")
	if !named {
		return gateway.Chosen{AccessKeyID: key}, nil
	}
	if name == c.Name() {
		return gateway.Chosen{AccessKeyID: id}, nil
	}
	chosen, leave, ok := s.enter(name)
	switch {
	case ok && c.Name() != "":
		leave()
		return gateway.Chosen{}, fmt.Errorf("the access key %.70s belongs to the cloud %s, and the host of the call to the cloud %s", key, name, c.Name())
	case ok && chosen != c && c.HasKey(key):
		leave()
		return gateway.Chosen{}, fmt.Errorf("the access key %.70s belongs to two clouds: it is one of the default cloud, and %s of the cloud %s", key, id, name)
	case ok:
		return gateway.Chosen{Server: chosen.Gateway(), AccessKeyID: id, Life: chosen.Life(), Leave: leave}, nil
	case !c.HasKey(key) && c.HasKey(id):
		return gateway.Chosen{}, s.unknown(name)
	}
	return gateway.Chosen{AccessKeyID: key}, nil
}

// Control implements control.Clouds.
func (s *Clouds) Control(name string) (http.Handler, error) {
	c, leave, ok := s.enter(name)
	if !ok {
		return nil, s.unknown(name)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer leave()
		c.During(r, func(r *http.Request) { c.ServeControl(w, r) })
	}), nil
}
