package rehearse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/rehearse"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
)

// patching is kubectl for a fakePlane: it patches Services and EndpointSlices.
type patching struct{ plane *cluster.Plane }

var _ scenarios.Cluster = (*patching)(nil)

// Kubectl implements scenarios.Cluster.
func (p patching) Kubectl(ctx context.Context, _ string, args ...string) ([]byte, error) {
	if args[0] != "patch" {
		return []byte(`{"items": []}`), nil
	}
	kind, name, _ := strings.Cut(args[1], "/")
	of := cluster.Object{"kind": map[string]string{"service": "Service", "endpointslice": "EndpointSlice"}[strings.ToLower(kind)], "metadata": map[string]any{"name": name, "namespace": args[3]}}
	var merge map[string]any
	if err := yaml.Unmarshal([]byte(args[7]), &merge); err != nil {
		return nil, err
	}
	return nil, p.plane.Update(ctx, of, func(now cluster.Object) {
		if metadata, is := merge["metadata"].(map[string]any); is {
			maps.Copy(now.Map("metadata"), metadata)
			delete(merge, "metadata")
		}
		maps.Copy(now, merge)
	})
}

// smallPlace is a copy of the account for a play with the small CCM.
type smallPlace struct {
	*target.Remote

	cloud  *emulator.Emulator
	plane  *fakePlane
	quotas func([]scenarios.QuotaUse)
}

var _ explore.Place = (*smallPlace)(nil)

var _ scenarios.Programs = (*smallPlace)(nil)

// Start implements scenarios.Programs.
func (p *smallPlace) Start(context.Context, scenarios.Program) (scenarios.Running, error) {
	return waiting{startCCM(p.plane, p.cloud.Handler(), careless)}, nil
}

// Close implements explore.Place.
func (p *smallPlace) Close(ctx context.Context) error {
	uses, err := p.Quotas(ctx)
	if err == nil {
		p.quotas(uses)
	}
	return errors.Join(err, p.cloud.Close(ctx))
}

// waiting waits for a program as long as it may.
type waiting struct{ *smallCCM }

var _ scenarios.Running = (*waiting)(nil)

// Wait implements scenarios.Running.
func (w waiting) Wait(ctx context.Context, limit time.Duration) (bool, error) {
	select {
	case <-w.stopped:
	case <-time.After(limit):
	case <-ctx.Done():
	}
	return w.smallCCM.Wait(ctx, 0)
}

// hasty gives the small CCM, which answers at once, less time to come to rest.
func hasty(t *testing.T, text []byte) []byte {
	t.Helper()
	var scenario map[string]any
	if err := json.Unmarshal(text, &scenario); err != nil {
		t.Fatal(err)
	}
	scenario["explore"] = map[string]any{"quiet": "300ms", "late": "300ms", "within": "2s"}
	text, err := json.Marshal(scenario)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestExplore proves that --explore plays the new version with disturbed calls on copies of the account, with
// its quotas, and that the report shows what that led to.
func TestExplore(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	a.setQuota("slb_quota_instances_num", "7")
	var limits []int
	report, err := a.rehearse(none, none, func(c *rehearse.Config) {
		c.Explore = func(ctx context.Context, _ *cluster.Plane) (*explore.Report, error) {
			x, err := rehearse.Exploration(a.copy, 50*time.Millisecond)
			if err != nil {
				return nil, err
			}
			plane := newFakePlane()
			if err := plane.plane().Fill(ctx, a.copy); err != nil || len(a.copy.Notes) > 0 {
				return nil, fmt.Errorf("%q, %w", a.copy.Notes, err)
			}
			x.Text = hasty(t, x.Text)
			x.Plays, x.Calls, x.Disturbances = 1, []string{"DescribeVServerGroups"}, []string{"throttled"}
			x.First, x.Program.Command = true, []string{"new"}
			x.Cluster = func(int) scenarios.Cluster { return patching{plane.plane()} }
			x.Open = func(ctx context.Context, _ int) (explore.Place, error) {
				e, err := emulator.New(ctx, emulator.Config{ForkOf: a.cloud.Store(), Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0"})
				if err == nil {
					err = e.Start()
				}
				if err != nil {
					return nil, err
				}
				remote := &target.Remote{API: "http://" + e.Addr(), Control: "http://" + e.ControlAddr(), Products: products.All()}
				return &smallPlace{remote, e, plane, func(uses []scenarios.QuotaUse) {
					at := slices.IndexFunc(uses, func(u scenarios.QuotaUse) bool { return u.Name == "slb_quota_instances_num" })
					limits = append(limits, uses[max(at, 0)].Limit)
				}}, nil
			}
			for _, condition := range x.Conditions {
				if strings.HasPrefix(condition.Name, "quota") {
					t.Errorf("the condition %s changes the quotas of the account", condition.Name)
				}
			}
			return explore.Run(ctx, x)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(report.Lines(), "\n")
	if x := report.Explored; x.Stopped != "" || x.Plays == 0 || len(x.Findings) == 0 || report.Problems() != len(x.Findings) || !strings.Contains(text, "explore: 1 violations in ") || !strings.Contains(text, ", rule ") {
		t.Errorf("explored: %+v\n%s", x, text)
	}
	if len(limits) == 0 || slices.ContainsFunc(limits, func(n int) bool { return n != 7 }) {
		t.Errorf("the account may have %v load balancers in the plays, want 7", limits)
	}
}
