// Package routes gives the pods of each node a route to the node's instance.
package routes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/clbemu/clbemu/contracttests/kubernetes/driver/internal/openapi"
)

// How long after a change of nodes, and after a failure, the routes are looked at.
const (
	settle = 200 * time.Millisecond
	retry  = 2 * time.Second
)

// Keeper keeps the routes of a table.
type Keeper struct {
	Cloud *openapi.Client
	Table string
	Nodes corelisters.NodeLister
	// Changed has an entry while there are changes to look at.
	Changed chan struct{}
}

// route leads to the pods of a node.
type route struct{ cidr, instance string }

// Handler returns what an informer of nodes calls.
func (k *Keeper) Handler() cache.ResourceEventHandler {
	look := func(any) {
		select {
		case k.Changed <- struct{}{}:
		default:
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: look, DeleteFunc: look, UpdateFunc: func(before, after any) {
		if before.(*corev1.Node).Spec.PodCIDR != after.(*corev1.Node).Spec.PodCIDR {
			look(after)
		}
	}}
}

// Run keeps the routes until the context ends.
func (k *Keeper) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.Changed:
		}
		for wait := settle; ; wait = retry {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			err := k.sync()
			if err == nil {
				break
			}
			klog.Errorf("keep the routes: %v", err)
		}
	}
}

// sync deletes the routes to nodes that are gone, and then adds those that are missing.
func (k *Keeper) sync() error {
	nodes, err := k.Nodes.List(labels.Everything())
	if err != nil {
		return err
	}
	var wanted []route
	for _, node := range nodes {
		if _, instance, ok := strings.Cut(node.Spec.ProviderID, "."); ok && node.Spec.PodCIDR != "" {
			wanted = append(wanted, route{node.Spec.PodCIDR, instance})
		}
	}
	present, err := k.present()
	if err != nil {
		return err
	}
	without := func(routes, others []route) []route {
		return slices.DeleteFunc(slices.Clone(routes), func(r route) bool { return slices.Contains(others, r) })
	}
	if err := k.change("DeleteRouteEntries", without(present, wanted)); err != nil {
		return err
	}
	return k.change("CreateRouteEntries", without(wanted, present))
}

// present returns the routes of the table that lead to instances.
func (k *Keeper) present() (all []route, err error) {
	params := openapi.Params{"RouteTableId": k.Table, "RouteEntryType": "Custom", "NextHopType": "Instance", "MaxResult": "100"}
	for {
		var page struct {
			RouteEntrys struct {
				RouteEntry []struct {
					DestinationCidrBlock string
					NextHops             struct {
						NextHop []struct{ NextHopID string }
					}
				}
			}
			NextToken string
		}
		if err := k.Cloud.Call(openapi.VPC, "DescribeRouteEntryList", params, &page); err != nil {
			return nil, err
		}
		for _, entry := range page.RouteEntrys.RouteEntry {
			if len(entry.NextHops.NextHop) == 1 {
				all = append(all, route{entry.DestinationCidrBlock, entry.NextHops.NextHop[0].NextHopID})
			}
		}
		if params["NextToken"] = page.NextToken; page.NextToken == "" {
			return all, nil
		}
	}
}

// change creates or deletes routes. The answer says which ones failed.
func (k *Keeper) change(action string, routes []route) error {
	if len(routes) == 0 {
		return nil
	}
	params := openapi.Params{}
	for i, r := range routes {
		at := fmt.Sprintf("RouteEntries.%d.", i+1)
		params[at+"RouteTableId"], params[at+"DstCidrBlock"], params[at+"NextHop"] = k.Table, r.cidr, r.instance
		if action == "CreateRouteEntries" {
			params[at+"NextHopType"] = "Instance"
		}
	}
	var reply struct {
		FailedRouteEntries []struct{ NextHop, FailedCode, FailedMessage string }
	}
	if err := k.Cloud.Call(openapi.VPC, action, params, &reply); err != nil {
		return err
	}
	for _, failed := range reply.FailedRouteEntries {
		return fmt.Errorf("%s: the route to %s: %s %s", action, failed.NextHop, failed.FailedCode, failed.FailedMessage)
	}
	return nil
}
