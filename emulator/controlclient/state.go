package controlclient

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"strconv"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/routes"
)

// ExportState streams the exported state, however large it is.
func (c *Client) ExportState(ctx context.Context, read func(io.Reader) error) error {
	return c.do(ctx, call{route: routes.ExportState.Route, stream: true}, read)
}

// ImportState replaces the state by an exported one. Repaired has a line for what was
// wrong with that and was set right.
func (c *Client) ImportState(ctx context.Context, from io.Reader) (repaired []string, err error) {
	var done controlapi.Status
	err = c.do(ctx, call{route: routes.ImportState.Route, body: from}, into(&done))
	return done.Warnings, err
}

// CheckState lists what is wrong with the state.
func (c *Client) CheckState(ctx context.Context) ([]string, error) {
	var found controlapi.Problems
	err := c.do(ctx, call{route: routes.CheckState.Route}, into(&found))
	return found.Problems, err
}

// ResetState deletes everything and plants the world again. The fault rules stay, unless
// they are to be deleted too.
func (c *Client) ResetState(ctx context.Context, faults bool) error {
	return c.do(ctx, call{route: routes.ResetState.Route, query: url.Values{"faults": {strconv.FormatBool(faults)}}}, discard)
}

// Snapshots lists the snapshots.
func (c *Client) Snapshots(ctx context.Context) ([]controlapi.Snapshot, error) {
	var got controlapi.Snapshots
	err := c.do(ctx, call{route: routes.GetSnapshots.Route}, into(&got))
	return got.Snapshots, err
}

// TakeSnapshot keeps the state under a name.
func (c *Client) TakeSnapshot(ctx context.Context, name string) error {
	return c.do(ctx, call{route: routes.TakeSnapshot.Route, path: routes.TakeSnapshot.For(name)}, discard)
}

// RestoreSnapshot replaces the state with a snapshot. Repaired is as in ImportState.
func (c *Client) RestoreSnapshot(ctx context.Context, name string) (repaired []string, err error) {
	var done controlapi.Status
	err = c.do(ctx, call{route: routes.RestoreSnapshot.Route, path: routes.RestoreSnapshot.For(name)}, into(&done))
	return done.Warnings, err
}

// DeleteSnapshot removes a snapshot.
func (c *Client) DeleteSnapshot(ctx context.Context, name string) error {
	return c.do(ctx, call{route: routes.DeleteSnapshot.Route, path: routes.DeleteSnapshot.For(name)}, discard)
}

func about(where controlapi.Where) url.Values {
	query := make(url.Values)
	if where.AccountID != "" {
		query.Set("account", where.AccountID)
	}
	if where.RegionID != "" {
		query.Set("region", where.RegionID)
	}
	return query
}

// World lists the conditions in force.
func (c *Client) World(ctx context.Context, where controlapi.Where) ([]controlapi.Setting, error) {
	var got controlapi.Conditions
	err := c.do(ctx, call{route: routes.GetWorld.Route, query: about(where)}, into(&got))
	return got.Conditions, err
}

// Conditions lists the conditions that there are, in force or not.
func (c *Client) Conditions(ctx context.Context) ([]controlapi.KnownCondition, error) {
	var got controlapi.KnownConditions
	err := c.do(ctx, call{route: routes.GetConditions.Route}, into(&got))
	return got.Conditions, err
}

// SetWorld changes conditions, all of them or none, and lists those in force then.
func (c *Client) SetWorld(ctx context.Context, change controlapi.Change) (set controlapi.Conditions, err error) {
	err = c.send(ctx, routes.SetWorld.Route, change, into(&set))
	return set, err
}

// ImportCluster creates instances and network interfaces from the nodes and pods that
// kubectl get -o json prints.
func (c *Client) ImportCluster(ctx context.Context, where controlapi.Where, from io.Reader) (done controlapi.Imported, err error) {
	err = c.do(ctx, call{route: routes.ImportCluster.Route, query: about(where), body: from}, into(&done))
	return done, err
}

// Quotas lists the quotas with who uses them.
func (c *Client) Quotas(ctx context.Context, where controlapi.Where) ([]controlapi.QuotaUse, error) {
	var got controlapi.Quotas
	err := c.do(ctx, call{route: routes.GetQuotas.Route, query: about(where)}, into(&got))
	return got.Quotas, err
}

// Clock is the emulated time and how it goes.
func (c *Client) Clock(ctx context.Context) (got controlapi.Clock, err error) {
	err = c.do(ctx, call{route: routes.GetClock.Route}, into(&got))
	return got, err
}

// MakeCall lets the emulator sign a call of the cloud's API, and make it.
func (c *Client) MakeCall(ctx context.Context, made controlapi.CloudCall) (controlapi.CloudAnswer, error) {
	var got controlapi.CloudAnswer
	err := c.send(ctx, routes.MakeCall.Route, made, into(&got))
	return got, err
}

// SetClock advances, freezes or scales the emulated time.
func (c *Client) SetClock(ctx context.Context, change controlapi.ClockChange) error {
	return c.send(ctx, routes.SetClock.Route, change, discard)
}

// Clouds lists the clouds, the default one first.
func (c *Client) Clouds(ctx context.Context) ([]controlapi.Cloud, error) {
	var got controlapi.Clouds
	err := c.do(ctx, call{route: routes.GetClouds.Route}, into(&got))
	return got.Clouds, err
}

// CreateCloud forks a cloud.
func (c *Client) CreateCloud(ctx context.Context, name string, made controlapi.NewCloud) (created controlapi.Cloud, err error) {
	text, err := json.Marshal(made)
	if err != nil {
		return created, err
	}
	err = c.do(ctx, call{route: routes.CreateCloud.Route, path: routes.CreateCloud.For(name), body: bytes.NewReader(text)}, into(&created))
	return created, err
}

// ResetCloud forks a cloud again from the one that it was forked from, as that is now.
func (c *Client) ResetCloud(ctx context.Context, name string) (reset controlapi.Cloud, err error) {
	err = c.do(ctx, call{route: routes.ResetCloud.Route, path: routes.ResetCloud.For(name)}, into(&reset))
	return reset, err
}

// DeleteCloud deletes a cloud and everything in it.
func (c *Client) DeleteCloud(ctx context.Context, name string) error {
	return c.do(ctx, call{route: routes.DeleteCloud.Route, path: routes.DeleteCloud.For(name)}, discard)
}
