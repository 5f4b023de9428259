package rehearse

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/scenarios"
)

// ofDefaultWorld are the conditions of explore that rest on the default world: its zones, its vSwitches, and
// quotas that end at their defaults, which an account may have raised.
var ofDefaultWorld = []string{"soldOut", "vSwitchFull", "quotaFull"}

// Exploration returns the configuration with which explore disturbs the calls of a version that
// starts on the copies and sees each Service edited. It lacks the program, the cluster and the
// account of a play.
func Exploration(copied *cluster.Copy, quiet time.Duration) (c explore.Config, err error) {
	text, err := json.Marshal(scenarioOf(copied, quiet))
	if err != nil {
		return c, err
	}
	c = exploring.Config("rehearsal.yaml", text, scenarios.KubernetesPart)
	c.Conditions = slices.DeleteFunc(slices.Clone(c.Conditions), func(c explore.Condition) bool { return slices.Contains(ofDefaultWorld, c.Name) })
	c.Parallel = 1
	return c, nil
}

// scenarioOf edits each Service, and lets a pod go and come back.
func scenarioOf(copied *cluster.Copy, quiet time.Duration) map[string]any {
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
