package command

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
)

// rehearsedPlace is a copy of the account for one play of explore.
type rehearsedPlace struct {
	*target.Remote

	cloud *emulator.Emulator
}

var _ explore.Place = (*rehearsedPlace)(nil)

// Close implements explore.Place: nothing of a copy needs to be put back.
func (p *rehearsedPlace) Close(ctx context.Context) error { return p.cloud.Close(ctx) }

// ofDefaultWorld are the conditions of explore that rest on the default world: its zones, its vSwitches, and
// quotas that end at their defaults, which an account may have raised.
var ofDefaultWorld = []string{"soldOut", "vSwitchFull", "quotaFull"}

// explore disturbs the calls of the new version, which starts on the copies and sees each Service edited.
func (u *upgrade) explore(ctx context.Context, p *cluster.Plane) (*explore.Report, error) {
	text, err := json.Marshal(rehearsedScenario(u.copied, u.quiet))
	if err != nil {
		return nil, err
	}
	c := exploring.Config("rehearsal.yaml", text, scenarios.KubernetesPart)
	c.Conditions = slices.DeleteFunc(slices.Clone(c.Conditions), func(c explore.Condition) bool { return slices.Contains(ofDefaultWorld, c.Name) })
	c.Parallel, c.Plays, c.Program.Command = 1, u.plays, u.command
	c.Cluster = func(int) scenarios.Cluster { return target.Kubectl{Kubeconfig: p.Kubeconfig} }
	c.Open = func(ctx context.Context, _ int) (explore.Place, error) {
		if err := p.Restore(ctx); err != nil {
			return nil, err
		}
		copied, err := u.cloud(ctx, func(api http.Handler) http.Handler { return api })
		if err != nil {
			return nil, err
		}
		return &rehearsedPlace{u.environment(copied), copied}, nil
	}
	return explore.Run(ctx, c)
}

// rehearsedScenario edits each Service, and lets a pod go and come back.
func rehearsedScenario(copied *cluster.Copy, quiet time.Duration) map[string]any {
	var objects []map[string]string
	rest := map[string]any{"rest": map[string]any{"quiet": quiet.String()}}
	steps := []any{rest}
	patch := func(kind string, o cluster.Object, merge map[string]any) {
		steps = append(steps, map[string]any{"kubectl": map[string]any{"patch": map[string]any{"object": kind + "/" + o.Name(), "namespace": o.Namespace(), "merge": merge}}})
	}
	add := func(o cluster.Object) {
		objects = append(objects, map[string]string{"kind": o.Kind(), "name": o.Name(), "namespace": o.Namespace()})
	}
	for _, o := range copied.Services {
		add(o)
		patch("service", o, map[string]any{"metadata": map[string]any{"annotations": map[string]string{"clbemu.example/rehearsal": "1"}}})
	}
	steps = append(steps, rest)
	for _, o := range copied.Slices {
		if endpoints := o.List("endpoints"); len(endpoints) > 1 {
			add(o)
			patch("endpointslice", o, map[string]any{"endpoints": endpoints[1:]})
			steps = append(steps, rest)
			patch("endpointslice", o, map[string]any{"endpoints": endpoints})
			break
		}
	}
	return map[string]any{"about": "A new version starts on a copy, and its Services are edited.", "given": map[string]any{"cluster": objects}, "kubernetes": map[string]any{"steps": steps}}
}
