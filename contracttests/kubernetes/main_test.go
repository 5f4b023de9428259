package kubernetes_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cluster"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
	"github.com/clbemu/clbemu/contracttests/netns"
)

// nodes is how many the cluster has; tests may add spare ones.
const (
	nodes  = 3
	spares = 2
)

// planes is how many control planes there are, and how many tests run side by side. Most
// of their time goes into the back-off of a controller, also on two cores.
var planes = 6

// shared is what the tests have in common: the binaries, and the control planes
// that no test uses now. Each test has a cloud, a controller and a namespace of its own.
var shared struct {
	dir, driver, world string
	free               chan *cluster.Cluster
}

func TestMain(m *testing.M) {
	flag.Parse()
	if (*updateEvents || *recordVersion != "") && ccmBinary() == "" {
		fmt.Fprintln(os.Stderr, "-update-events and -record-version record what a real CCM does: name its binary by CCM_BIN")
		os.Exit(2)
	}
	if netns.Inside() { // of a test that has a network for itself
		planes = 1
		if err := netns.Up(); err != nil {
			fmt.Fprintln(os.Stderr, "bring up the loopback interface:", err)
			os.Exit(1)
		}
	}
	if err := flag.Set("test.parallel", strconv.Itoa(planes)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(run(m))
}

// run keeps the logs when a test has failed, and nothing otherwise.
func run(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "clbemu-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if code != 0 {
			fmt.Fprintln(os.Stderr, "the logs are in", dir)
			return
		}
		os.RemoveAll(dir)
	}()
	shared.dir = dir
	if err := prepare(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stopClusters()
	return m.Run()
}

func prepare(ctx context.Context) error {
	programs, err := tools.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	if err := binary.Prepare(); err != nil {
		return err
	}
	shared.world = filepath.Join(shared.dir, "world.yaml")
	if err := cloud.WriteWorld(ctx, shared.world, instances()); err != nil {
		return err
	}
	shared.driver = filepath.Join(shared.dir, "driver")
	if err := binary.Release("driver", shared.driver); err != nil {
		return err
	}
	shared.free = make(chan *cluster.Cluster, planes)
	for n := range planes {
		started, err := startCluster(ctx, programs, filepath.Join(shared.dir, fmt.Sprintf("cluster-%d", n)))
		if err != nil {
			stopClusters()
			return err
		}
		shared.free <- started
	}
	return nil
}

// startCluster brings a control plane up, with its nodes and a role for a CCM.
func startCluster(ctx context.Context, programs tools.Dir, folder string) (*cluster.Cluster, error) {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	started, err := cluster.Start(ctx, programs, folder)
	if err != nil {
		return nil, err
	}
	for n := 1; n <= nodes; n++ {
		if err := started.AddNode(ctx, node(n)); err != nil {
			started.Stop()
			return nil, err
		}
	}
	if err := grantCCM(ctx, started); err != nil {
		started.Stop()
		return nil, err
	}
	return started, nil
}

// grantCCM lets a CCM do what it may do in a kind cluster, and no more.
func grantCCM(ctx context.Context, c *cluster.Cluster) error {
	kubectl := exec.CommandContext(ctx, c.Kubectl(), "--kubeconfig", c.Kubeconfig, "--namespace", "kube-system",
		"apply", "--filename", "../../deploy/kind/ccm/rbac.yaml")
	if out, err := kubectl.CombinedOutput(); err != nil {
		return fmt.Errorf("grant the CCM its role: %w\n%s", err, out)
	}
	return nil
}

// stopClusters stops those that no test has, which are all when none runs.
func stopClusters() {
	close(shared.free)
	for c := range shared.free {
		c.Stop()
	}
}

// node returns the node that runs on the nth instance.
func node(n int) cluster.Node {
	instance := cloud.NewInstance(n)
	return cluster.NewNode(n, instance.ProviderID(), instance.Address)
}

// instances returns all instances that the world has for nodes.
func instances() (all []cloud.Instance) {
	for n := 1; n <= nodes+spares; n++ {
		all = append(all, cloud.NewInstance(n))
	}
	return all
}
