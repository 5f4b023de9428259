package controlclient

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/routes"
)

// Wanted selects resources; empty fields select all.
type Wanted struct {
	controlapi.Where
	Kind, Name string
}

func (w Wanted) query() url.Values {
	query := about(w.Where)
	for name, value := range map[string]string{"kind": w.Kind, "name": w.Name} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// Resources lists the resources of the cloud.
func (c *Client) Resources(ctx context.Context, wanted Wanted) (got controlapi.Resources, err error) {
	err = c.do(ctx, call{route: routes.GetResources.Route, query: wanted.query()}, into(&got))
	return got, err
}

// WatchResources shows the resources of the cloud and then their changes, until ctx
// ends or show fails.
func (c *Client) WatchResources(ctx context.Context, wanted Wanted, show func(controlapi.ResourceChange) error) error {
	return c.do(ctx, call{route: routes.WatchResources.Route, query: wanted.query(), stream: true}, func(body io.Reader) error {
		return events(body, func(data []byte) error {
			var change controlapi.ResourceChange
			if err := json.Unmarshal(data, &change); err != nil {
				return err
			}
			return show(change)
		})
	})
}

// LoadBalancer returns a load balancer, by its id or name, with everything that belongs to it.
func (c *Client) LoadBalancer(ctx context.Context, where controlapi.Where, name string) (got controlapi.LoadBalancerTree, err error) {
	what := call{route: routes.GetLoadBalancer.Route, path: routes.GetLoadBalancer.For(name), query: about(where)}
	err = c.do(ctx, what, into(&got))
	return got, err
}

// Explanation returns the explanation of a code or an action.
func (c *Client) Explanation(ctx context.Context, name string) (got controlapi.Explanation, err error) {
	err = c.do(ctx, call{route: routes.GetExplanation.Route, path: routes.GetExplanation.For(name)}, into(&got))
	return got, err
}

// maxEvent bounds a line of a stream; entries and resources are some KiB.
const maxEvent = 1 << 20

// events reads the data of server-sent events.
func events(body io.Reader, each func([]byte) error) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := each([]byte(data)); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// Traffic returns the traffic of listeners: those whose id, load balancer's id or load
// balancer's name matches a glob; "" is all.
func (c *Client) Traffic(ctx context.Context, name string) (got controlapi.Traffic, err error) {
	query := url.Values{}
	if name != "" {
		query.Set("name", name)
	}
	err = c.do(ctx, call{route: routes.GetTraffic.Route, query: query}, into(&got))
	return got, err
}

// ResourceKinds lists the kinds of resources.
func (c *Client) ResourceKinds(ctx context.Context) ([]controlapi.ResourceKind, error) {
	var got controlapi.ResourceKinds
	err := c.do(ctx, call{route: routes.GetResourceKinds.Route}, into(&got))
	return got.Kinds, err
}
