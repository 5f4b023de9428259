package scenarios

import (
	"context"
	"reflect"
)

var restartKind = Kind{Name: "restart", About: "true: stop the server cleanly and start it again.", Value: reflect.TypeFor[restart](), needs: restarts}

type restart bool

func (restart) do(ctx context.Context, p *play, _ *Step) error { return p.Target.Restart(ctx, false) }

var killKind = Kind{Name: "kill", About: "true: kill the server and start it again.", Value: reflect.TypeFor[kill](), needs: restarts}

type kill bool

func (kill) do(ctx context.Context, p *play, _ *Step) error { return p.Target.Restart(ctx, true) }
