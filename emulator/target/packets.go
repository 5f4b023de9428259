package target

import (
	"context"
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// Packets implements scenarios.Target: a running emulator answers or does not.
func (r *Remote) Packets(ctx context.Context) error {
	_, err := r.control().Traffic(ctx, "")
	return err
}

// Reach implements scenarios.Target.
func (r *Remote) Reach(ctx context.Context, loadBalancer string, port int) (address, problem string, err error) {
	tree, err := r.control().LoadBalancer(ctx, controlapi.Where{}, loadBalancer)
	if err != nil {
		return "", "", err
	}
	traffic, err := r.control().Traffic(ctx, loadBalancer)
	if err != nil {
		return "", "", err
	}
	for _, listener := range tree.Listeners {
		first, _, _ := strings.Cut(listener.Listener.Fields["port"], "-")
		if first != fmt.Sprint(port) || listener.Listener.Fields["protocol"] == "udp" {
			continue
		}
		for _, l := range traffic.Listeners {
			if l.Listener == listener.Listener.ID {
				return l.AnswersAt, l.Problem, nil
			}
		}
	}
	return "", fmt.Sprintf("%s has no listener at port %d", loadBalancer, port), nil
}
