package controlclient

import (
	"context"
	"io"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
)

// ExportState streams the exported state, however large it is.
func (c *Client) ExportState(ctx context.Context, read func(io.Reader) error) error {
	return c.do(ctx, routes.ExportState.Route, call{stream: true}, read)
}

// ImportState replaces the state by an exported one. Repaired has a line for what was
// wrong with that and was set right.
func (c *Client) ImportState(ctx context.Context, from io.Reader) (repaired []string, err error) {
	done, err := ask(ctx, c, routes.ImportState, call{body: from})
	return done.Warnings, err
}

// CheckState lists what is wrong with the state.
func (c *Client) CheckState(ctx context.Context) ([]string, error) {
	found, err := ask(ctx, c, routes.CheckState, call{})
	return found.Problems, err
}

// ResetState deletes everything and plants the world again. The fault rules stay, unless
// they are to be deleted too.
func (c *Client) ResetState(ctx context.Context, faults bool) error {
	return c.tell(ctx, routes.ResetState.Route, call{query: routes.ResetState.Values(routes.OfReset{Faults: faults})})
}

// Snapshots lists the snapshots.
func (c *Client) Snapshots(ctx context.Context) ([]controlapi.Snapshot, error) {
	got, err := ask(ctx, c, routes.GetSnapshots, call{})
	return got.Snapshots, err
}

// TakeSnapshot keeps the state under a name.
func (c *Client) TakeSnapshot(ctx context.Context, name string) error {
	return c.tell(ctx, routes.TakeSnapshot.Route, call{name: name})
}

// RestoreSnapshot replaces the state with a snapshot. Repaired is as in ImportState.
func (c *Client) RestoreSnapshot(ctx context.Context, name string) (repaired []string, err error) {
	done, err := ask(ctx, c, routes.RestoreSnapshot, call{name: name})
	return done.Warnings, err
}

// DeleteSnapshot removes a snapshot.
func (c *Client) DeleteSnapshot(ctx context.Context, name string) error {
	return c.tell(ctx, routes.DeleteSnapshot.Route, call{name: name})
}

// World lists the conditions in force.
func (c *Client) World(ctx context.Context, where controlapi.Where) ([]controlapi.Setting, error) {
	got, err := ask(ctx, c, routes.GetWorld, call{query: routes.GetWorld.Values(routes.OfWorld(where))})
	return got.Conditions, err
}

// Conditions lists the conditions that there are, in force or not.
func (c *Client) Conditions(ctx context.Context) ([]controlapi.KnownCondition, error) {
	got, err := ask(ctx, c, routes.GetConditions, call{})
	return got.Conditions, err
}

// SetWorld changes conditions, all of them or none, and lists those in force then.
func (c *Client) SetWorld(ctx context.Context, change controlapi.Change) (controlapi.Conditions, error) {
	return send(ctx, c, routes.SetWorld, "", change)
}

// ImportCluster creates instances and network interfaces from the nodes and pods that
// kubectl get -o json prints.
func (c *Client) ImportCluster(ctx context.Context, where controlapi.Where, from io.Reader) (controlapi.Imported, error) {
	return ask(ctx, c, routes.ImportCluster, call{query: routes.ImportCluster.Values(routes.OfWorld(where)), body: from})
}

// Quotas lists the quotas with who uses them.
func (c *Client) Quotas(ctx context.Context, where controlapi.Where) ([]controlapi.QuotaUse, error) {
	got, err := ask(ctx, c, routes.GetQuotas, call{query: routes.GetQuotas.Values(routes.OfWorld(where))})
	return got.Quotas, err
}

// Clock returns the emulated time and its pace.
func (c *Client) Clock(ctx context.Context) (controlapi.Clock, error) {
	return ask(ctx, c, routes.GetClock, call{})
}

// MakeCall lets the emulator sign a call of the cloud's API, and make it.
func (c *Client) MakeCall(ctx context.Context, made controlapi.CloudCall) (controlapi.CloudAnswer, error) {
	return send(ctx, c, routes.MakeCall, "", made)
}

// SetClock advances, freezes or scales the emulated time.
func (c *Client) SetClock(ctx context.Context, change controlapi.ClockChange) error {
	_, err := send(ctx, c, routes.SetClock, "", change)
	return err
}

// Clouds lists the clouds, the default one first.
func (c *Client) Clouds(ctx context.Context) ([]controlapi.Cloud, error) {
	got, err := ask(ctx, c, routes.GetClouds, call{})
	return got.Clouds, err
}

// CreateCloud forks a cloud.
func (c *Client) CreateCloud(ctx context.Context, name string, made controlapi.NewCloud) (controlapi.Cloud, error) {
	return send(ctx, c, routes.CreateCloud, name, made)
}

// ResetCloud forks a cloud again from the one that it was forked from, as that is now.
func (c *Client) ResetCloud(ctx context.Context, name string) (controlapi.Cloud, error) {
	return ask(ctx, c, routes.ResetCloud, call{name: name})
}

// DeleteCloud deletes a cloud and everything in it.
func (c *Client) DeleteCloud(ctx context.Context, name string) error {
	return c.tell(ctx, routes.DeleteCloud.Route, call{name: name})
}
