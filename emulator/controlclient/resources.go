package controlclient

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
)

// Wanted selects resources; empty fields select all.
type Wanted struct {
	controlapi.Where
	Kind, Name string
}

func (w Wanted) query() routes.OfResources {
	return routes.OfResources{Kind: w.Kind, Name: w.Name, OfOwner: routes.OfOwner(w.Where)}
}

// Resources lists the resources of the cloud.
func (c *Client) Resources(ctx context.Context, wanted Wanted) (controlapi.Resources, error) {
	return ask(ctx, c, routes.GetResources, call{query: routes.GetResources.Values(wanted.query())})
}

// WatchResources shows the resources of the cloud and then their changes, until ctx
// ends or show fails.
func (c *Client) WatchResources(ctx context.Context, wanted Wanted, show func(controlapi.ResourceChange) error) error {
	return watch(ctx, c, routes.WatchResources, wanted.query(), show)
}

// LoadBalancer returns a load balancer, by its id or name, with everything that belongs to it.
func (c *Client) LoadBalancer(ctx context.Context, where controlapi.Where, name string) (controlapi.LoadBalancerTree, error) {
	return ask(ctx, c, routes.GetLoadBalancer, call{name: name, query: routes.GetLoadBalancer.Values(routes.OfOwner(where))})
}

// Explanation returns the explanation of a code or an action.
func (c *Client) Explanation(ctx context.Context, name string) (controlapi.Explanation, error) {
	return ask(ctx, c, routes.GetExplanation, call{name: name})
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

// Traffic returns the traffic of listeners whose id, load balancer's id or load balancer's name
// matches a glob. "" matches all.
func (c *Client) Traffic(ctx context.Context, name string) (controlapi.Traffic, error) {
	return ask(ctx, c, routes.GetTraffic, call{query: routes.GetTraffic.Values(routes.OfTraffic{Name: name})})
}

// ResourceKinds lists the kinds of resources.
func (c *Client) ResourceKinds(ctx context.Context) ([]controlapi.ResourceKind, error) {
	got, err := ask(ctx, c, routes.GetResourceKinds, call{})
	return got.Kinds, err
}
