package clouds

import (
	"cmp"
	"errors"
	"maps"
	"net"
	"net/url"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/cloud"
)

// List implements control.Clouds.
func (s *Clouds) List() []controlapi.Cloud {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := []controlapi.Cloud{s.showDefault()}
	for name, f := range s.forked {
		list = append(list, s.show(name, f))
	}
	for name, err := range s.unopened {
		list = append(list, controlapi.Cloud{Name: name, Durable: true, Problem: err.Error()})
	}
	slices.SortFunc(list[1:], func(a, b controlapi.Cloud) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func (s *Clouds) showDefault() controlapi.Cloud {
	return controlapi.Cloud{Name: controlapi.DefaultCloud, Durable: s.cfg.Keep != nil, API: s.cfg.Process.APIURL(), DNS: s.first.DNSAddr(), Resources: s.first.Resources(), Calls: s.first.Answered()}
}

func (s *Clouds) show(name string, f *forkedCloud) controlapi.Cloud {
	shown := controlapi.Cloud{Name: name, From: f.made.From, Created: &f.created, Durable: f.made.Durable, Seed: f.made.Seed,
		API: s.cfg.Process.APIURL(), DNS: f.DNSAddr(), AccessKeyPrefix: name + ".", Resources: f.Resources(), Calls: f.Answered()}
	if !f.expires.IsZero() {
		shown.Expires = &f.expires
	}
	if u, err := url.Parse(shown.API); err == nil && u.Host != "" {
		shown.Host = net.JoinHostPort(name+".localhost", u.Port())
	}
	if f.port != nil {
		shown.API = f.port.URL()
	}
	return shown
}

// Ready implements cloud.Neighbours.
func (s *Clouds) Ready(c *cloud.Cloud) error {
	if c.Closing() {
		return errClosing
	}
	if c.Name() == "" {
		if err := s.cfg.Process.Ready(); err != nil {
			return err
		}
	}
	return c.Unwritten()
}

var errClosing = errors.New("clbemu is closing")

// Server implements cloud.Neighbours.
func (s *Clouds) Server(c *cloud.Cloud) controlapi.Server {
	described := controlapi.Server{DataDir: c.Dir(), API: s.cfg.Process.APIURL()}
	s.cfg.Process.Describe(&described)
	described.Unusual, described.FaultRules = c.Unusual()
	if c.Name() == "" {
		return described
	}
	described.Cloud, described.AccessKeyPrefix = c.Name(), c.Name()+"."
	s.mu.RLock()
	defer s.mu.RUnlock()
	if f := s.forked[c.Name()]; f != nil && f.port != nil {
		described.API = f.port.URL()
	}
	return described
}

var (
	cloudsDesc         = prometheus.NewDesc("clbemu_clouds", "Clouds beside the default one.", nil, nil)
	cloudCallsDesc     = prometheus.NewDesc("clbemu_cloud_calls_total", "Calls that a cloud answered. The cloud is other beyond the 100 oldest.", []string{"cloud"}, nil)
	cloudResourcesDesc = prometheus.NewDesc("clbemu_cloud_resources", "Resources in the state of a cloud. The cloud is other beyond the 100 oldest.", []string{"cloud"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Clouds) Describe(ch chan<- *prometheus.Desc) {
	ch <- cloudsDesc
	ch <- cloudCallsDesc
	ch <- cloudResourcesDesc
}

// Collect implements prometheus.Collector.
func (s *Clouds) Collect(ch chan<- prometheus.Metric) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	ch <- prometheus.MustNewConstMetric(cloudsDesc, prometheus.GaugeValue, float64(len(s.forked)))
	oldest := slices.SortedFunc(maps.Keys(s.forked), func(a, b string) int {
		return cmp.Or(s.forked[a].created.Compare(s.forked[b].created), cmp.Compare(a, b))
	})
	calls, resources := make(map[string]uint64), make(map[string]int)
	for i, name := range oldest {
		series := cloud.SeriesOf(i, name)
		calls[series] += s.forked[name].Answered()
		resources[series] += s.forked[name].Resources()
	}
	for series, n := range calls {
		ch <- prometheus.MustNewConstMetric(cloudCallsDesc, prometheus.CounterValue, float64(n), series)
		ch <- prometheus.MustNewConstMetric(cloudResourcesDesc, prometheus.GaugeValue, float64(resources[series]), series)
	}
}
