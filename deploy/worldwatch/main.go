// Command worldwatch keeps the emulated cloud's instances and network interfaces as a
// cluster's nodes and pods are: it follows them by client-go's informers and imports
// them when they change, or when the cloud has lost them. It is a program of its own
// so that clbemu links no client of Kubernetes. What is gone from the cluster stays
// in the cloud, as an instance outlives its node there, and what is deleted in the cloud
// is not brought back.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/clbemu/clbemu/emulator/controlclient"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "cluster to follow; the one that this runs in when empty")
	server := flag.String("server", "http://127.0.0.1:9601", "control API of clbemu; CLBEMU_CONTROL_TOKEN is its token")
	pods := flag.Bool("pods", true, "make network interfaces of pods as well")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *kubeconfig, *server, *pods); err != nil {
		fmt.Fprintln(os.Stderr, "worldwatch:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig, server string, pods bool) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	w := newWatcher(client, &control{&controlclient.Client{URL: server, Token: os.Getenv("CLBEMU_CONTROL_TOKEN")}}, pods)
	w.log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	return w.run(ctx)
}
