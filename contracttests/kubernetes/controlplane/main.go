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

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cluster"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
)

func main() {
	nodes := flag.Int("nodes", 3, "how many nodes the cluster has")
	build := flag.Bool("build", false, "build the programs into the cache, and run nothing")
	cached := flag.Bool("cached", false, "report by the exit status whether the programs are in the cache, and run nothing")
	flag.Parse()
	if *cached {
		dir, err := tools.Cached()
		if err != nil {
			fmt.Fprintln(os.Stderr, "controlplane:", err)
			os.Exit(1)
		}
		fmt.Println(dir)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	programs, err := tools.Build(ctx, os.Stderr)
	if err == nil && !*build {
		err = run(ctx, programs, *nodes, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

// run leaves nothing behind when the context ends, which is no error.
func run(ctx context.Context, programs tools.Dir, nodes int, out io.Writer) error {
	dir, err := os.MkdirTemp("", "clbemu-control-plane-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
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
