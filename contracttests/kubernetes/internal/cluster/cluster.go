// Package cluster runs a Kubernetes control plane on this machine, without
// containers: etcd, the API server, the scheduler and those controllers that
// make pods and endpoints, with kwok instead of kubelets, which makes
// nodes Ready and pods Running without running anything. It knows nothing of
// load balancers.
package cluster

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/tools"
)

const (
	// PodCIDR is the range from which kwok takes the addresses of pods.
	PodCIDR     = "172.20.0.0/16"
	serviceCIDR = "10.96.0.0/16"
	startTime   = 2 * time.Minute
	pollEvery   = 50 * time.Millisecond
	adminToken  = "admin"
)

// Cluster is a running control plane.
type Cluster struct {
	Client     kubernetes.Interface
	Kubeconfig string
	// Etcd is the URL of its etcd.
	Etcd    string
	dir     string
	server  string
	tools   tools.Dir
	running []*process.Process
}

// Start brings a control plane up in a folder, which holds its data and logs. A
// context that ends stops the waiting, not the control plane: Stop does that.
func Start(ctx context.Context, programs tools.Dir, dir string) (*Cluster, error) {
	c := &Cluster{dir: dir, tools: programs, Kubeconfig: filepath.Join(dir, "kubeconfig")}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := c.start(ctx); err != nil {
		c.Stop()
		return nil, err
	}
	return c, nil
}

// New starts a control plane that ends with the test, and that no other test uses.
func New(t testing.TB) *Cluster {
	t.Helper()
	programs, err := tools.Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Start(t.Context(), programs, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Stop)
	return c
}

func (c *Cluster) start(ctx context.Context) error {
	ports, err := process.FreePorts(3)
	if err != nil {
		return err
	}
	c.Etcd = local("http", ports[0])
	peer, secure := local("http", ports[1]), ports[2]
	c.server = local("https", secure)
	if err := c.writeFiles(); err != nil {
		return err
	}
	if err := c.run(etcd(c.Etcd, peer)); err != nil {
		return err
	}
	if err := c.run(apiServer(c.Etcd, secure)); err != nil {
		return err
	}
	if err := c.await(ctx); err != nil {
		return err
	}
	for _, p := range []program{controllerManager(), scheduler(), c.kwok()} {
		if err := c.run(p); err != nil {
			return err
		}
	}
	return nil
}

func local(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }

func (c *Cluster) run(p program) error {
	started, err := process.Start(process.Command{Dir: c.dir, Name: p.name, Path: c.tools.Path(p.file), Args: p.args})
	if err != nil {
		return err
	}
	c.running = append(c.running, started)
	return nil
}

// writeFiles gives the API server the one user that it knows, the key of service
// accounts that it wants, and others a way to reach it.
func (c *Cluster) writeFiles() error {
	key, err := signingKey()
	if err != nil {
		return err
	}
	users := []byte(adminToken + `,admin,admin,"system:masters"` + "\n")
	for name, text := range map[string][]byte{"tokens.csv": users, "sa.key": key} {
		if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return c.WriteKubeconfig(c.Kubeconfig, "")
}

// WriteKubeconfig writes how to reach the cluster as a user of any name, who may
// do what its roles allow; without a name, as the one who may do anything.
func (c *Cluster) WriteKubeconfig(file, user string) error {
	config := api.NewConfig()
	config.Clusters["e2e"] = &api.Cluster{Server: c.server, InsecureSkipTLSVerify: true}
	config.AuthInfos["admin"] = &api.AuthInfo{Token: adminToken, Impersonate: user}
	config.Contexts["e2e"] = &api.Context{Cluster: "e2e", AuthInfo: "admin"}
	config.CurrentContext = "e2e"
	return clientcmd.WriteToFile(*config, file)
}

// await waits until the API server is ready, or any of the programs has ended.
func (c *Cluster) await(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 200, 400
	if c.Client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, pollEvery, true, func(ctx context.Context) (bool, error) {
		for _, p := range c.running {
			select {
			case <-p.Done():
				return false, fmt.Errorf("%s ended:\n%s", p.Name, p.Tail(5))
			default:
			}
		}
		return ready(ctx, c.Client.Discovery().RESTClient()), nil
	})
	if err != nil {
		return fmt.Errorf("the API server does not get ready (logs in %s): %w", c.dir, err)
	}
	return nil
}

func ready(ctx context.Context, client rest.Interface) bool {
	var status int
	client.Get().AbsPath("/readyz").Do(ctx).StatusCode(&status)
	return status == http.StatusOK
}

// Kubectl returns the path of the command, which takes --kubeconfig.
func (c *Cluster) Kubectl() string { return c.tools.Path("kubectl") }

// Stop ends the control plane. Nothing in it is worth a soft landing.
func (c *Cluster) Stop() {
	for _, p := range slices.Backward(c.running) {
		p.Kill()
	}
	c.running = nil
}
