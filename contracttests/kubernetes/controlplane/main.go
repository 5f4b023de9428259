// Command controlplane runs the end-to-end tests' Kubernetes control plane for a
// person, with nodes that clbemu can import, until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/clbemu/clbemu/contracttests/kubernetes/cloud"
	"github.com/clbemu/clbemu/contracttests/kubernetes/cluster"
	"github.com/clbemu/clbemu/contracttests/kubernetes/tools"
)

func main() {
	nodes := flag.Int("nodes", 3, "how many nodes the cluster has")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *nodes, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// run leaves nothing behind when the context ends, which is no error.
func run(ctx context.Context, nodes int, out, progress io.Writer) error {
	programs, err := tools.Build(ctx, progress)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "clbemu-control-plane-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintln(progress, "starting the control plane")
	plane, err := cluster.Start(ctx, programs, dir)
	if err != nil {
		return err
	}
	defer plane.Stop()
	for n := 1; n <= nodes; n++ {
		instance := cloud.NewInstance(n)
		if err := plane.AddNode(ctx, cluster.NewNode(n, instance.ProviderID(), instance.Address)); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, `Kubernetes with %d nodes runs until Ctrl-C, without containers. In another terminal:

  export KUBECONFIG=%s PATH=%s:$PATH
  kubectl get nodes
`, nodes, plane.Kubeconfig, programs)
	<-ctx.Done()
	return nil
}
