package command

import (
	"context"
	"net/http"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/rehearse"
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

// explore disturbs the calls of the new version, which starts on the copies and sees each Service edited.
func (u *upgrade) explore(ctx context.Context, p *cluster.Plane) (*explore.Report, error) {
	c, err := rehearse.Exploration(u.copied, u.quiet)
	if err != nil {
		return nil, err
	}
	c.Plays, c.Program.Command = u.plays, u.command
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
