package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/cmd/internal/rehearse"
	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
)

// upgrade is a rehearsal of a version of a Cloud Controller Manager.
type upgrade struct {
	ccm, old, kubeconfig, report string
	clusterID, cloudConfig       string
	objects, apply               []string
	quiet, timeout               time.Duration
	// dataDir is the account, args are more of the CCM's arguments.
	dataDir string
	args    []string
	traffic bool
	// plays limits the plays of explore, which start command.
	plays   int
	command []string
	dir     string
	copied  *cluster.Copy
}

func (u *upgrade) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&u.ccm, "ccm", "", "program of the new version")
	flags.StringVar(&u.old, "old", "", "program of the old version")
	flags.StringVar(&u.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster, which is only read")
	flags.StringArrayVar(&u.objects, "objects", nil, "file with what kubectl get -o json prints, in place of --kubeconfig; may be repeated")
	flags.StringVar(&u.clusterID, "cluster-id", "", "id of the cluster (default: the CCM's ConfigMap, or the tag ack.aliyun.com)")
	flags.StringVar(&u.cloudConfig, "cloud-config", "", "the CCM's file about its cloud, with a key of the copy (default: the CCM's ConfigMap, with such a key)")
	flags.StringArrayVar(&u.apply, "apply", nil, "file with a manifest to apply; may be repeated")
	flags.BoolVar(&u.traffic, "traffic", false, "let clients use all listeners of the copy, and count what breaks")
	flags.IntVar(&u.plays, "explore", 0, "play the new version on the copies this often, each time with a disturbed call (default: never)")
	flags.StringVar(&u.report, "report", "", "file for the whole report, in Markdown")
	flags.DurationVar(&u.quiet, "quiet", 10*time.Second, "a CCM that does nothing for this long rests")
	flags.DurationVar(&u.timeout, "timeout", 5*time.Minute, "how long the CCM may take to rest, each time")
	cmd.MarkFlagsMutuallyExclusive("kubeconfig", "objects")
	cmd.MarkFlagsMutuallyExclusive("old", "apply")
}

// run rehearses, and prints the report.
func (u *upgrade) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if err := u.read(cmd); err != nil {
		return err
	}
	if _, _, err := cluster.Programs(); err != nil {
		return cannot(err)
	}
	if err := u.checkReport(); err != nil {
		return usage(err)
	}
	var err error
	if u.dir, err = os.MkdirTemp("", "clbemu-rehearse-"); err != nil {
		return cannot(err)
	}
	defer os.RemoveAll(u.dir)
	u.lacks()
	var now atomic.Value
	now.Store("starting")
	stop := terminal.New(cmd.ErrOrStderr()).Live(func() string { return now.Load().(string) })
	config := rehearse.Config{Copy: u.copied, Cloud: u.cloud, Plane: u.plane, Start: u.start, Old: u.old, New: u.ccm, Traffic: u.traffic, Quiet: u.quiet, Most: u.timeout,
		Progress: func(text string) { now.Store(text) }}
	if u.plays > 0 {
		config.Explore = u.explore
	}
	if config.Apply, err = u.manifest(cmd); err != nil {
		stop()
		return err
	}
	report, err := config.Run(ctx)
	stop()
	if errors.Is(err, fs.ErrNotExist) {
		return usage(err)
	}
	if err != nil {
		return cannot(err)
	}
	var kept error
	if u.report != "" {
		kept = os.WriteFile(u.report, []byte(report.Markdown()), 0o600)
	}
	if err := printing(cmd).show(report, func(s *terminal.Screen) error {
		for _, line := range report.Lines() {
			s.Printf("%s", s.Fit(printable(line)+"\n", 8))
		}
		return nil
	}); err != nil {
		return err
	}
	if kept != nil {
		return cannot(kept)
	}
	if n := report.Problems(); n > 0 {
		return failed(fmt.Errorf("the rehearsal has %s", counted(n, "finding")))
	}
	return nil
}

// checkReport returns an error where the report can't be written: a rehearsal takes minutes.
func (u *upgrade) checkReport() error {
	if u.report == "" {
		return nil
	}
	file, err := os.OpenFile(u.report, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return file.Close()
}

// read reads the cluster, and refuses what does not fit together.
func (u *upgrade) read(cmd *cobra.Command) (err error) {
	for _, program := range []*string{&u.ccm, &u.old} {
		if *program != "" {
			if *program, err = exec.LookPath(*program); err != nil {
				return usage(err)
			}
			if *program, err = filepath.Abs(*program); err != nil {
				return usage(err)
			}
		}
	}
	if u.plays < 0 {
		return usage(fmt.Errorf("--explore is a number of plays, not %d", u.plays))
	}
	if u.plays > 0 {
		if _, err := exec.LookPath("kubectl"); err != nil {
			return usage(fmt.Errorf("--explore changes the copied cluster by kubectl: %w", err))
		}
	}
	if (u.kubeconfig == "") == (len(u.objects) == 0) {
		return usage(errors.New("say which cluster: --kubeconfig FILE, or --objects FILE with what kubectl get services,nodes,endpointslices -A -o json prints"))
	}
	if u.kubeconfig != "" {
		if u.copied, err = cluster.From(cmd.Context(), target.Kubectl{Kubeconfig: u.kubeconfig}); err != nil {
			return cannot(fmt.Errorf("read the cluster of %s: %w", u.kubeconfig, err))
		}
		return nil
	}
	objects, err := objectsIn(cmd, u.objects)
	u.copied = &cluster.Copy{}
	u.copied.Add(objects...)
	return usage(cmp.Or(err, u.copied.Trim()))
}

// objectsIn reads the objects of files.
func objectsIn(cmd *cobra.Command, files []string) (objects []cluster.Object, err error) {
	for _, file := range files {
		text, err := readFile(cmd, file)
		if err != nil {
			return nil, err
		}
		more, err := cluster.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

// lacks notes what the copy of the account lacks: a CCM makes it again, as if it had been deleted by hand.
func (u *upgrade) lacks() {
	text, err := readPath(filepath.Join(u.dataDir, refusedFile)) // only a pull writes it
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		u.copied.Notes.Add("what the pull could not read is not known: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		u.copied.Notes.Add("the copy of the account lacks what the pull could not read, and it looks like drift: %s", strings.TrimSpace(line))
	}
}

// manifest reads the objects to apply.
func (u *upgrade) manifest(cmd *cobra.Command) (objects []cluster.Object, err error) {
	objects, err = objectsIn(cmd, u.apply)
	for _, o := range objects {
		if o.Name() == "" {
			return nil, usage(fmt.Errorf("--apply: a %s has no metadata.name", o.Kind()))
		}
		if o.Namespace() == "" && o.Kind() != "Namespace" && o.Kind() != "Node" {
			o.Map("metadata")["namespace"] = "default"
		}
	}
	return objects, usage(err)
}

// cloud returns a copy of the account, in which the nodes are instances.
func (u *upgrade) cloud(ctx context.Context, around func(http.Handler) http.Handler) (*emulator.Emulator, error) {
	region, _ := u.copied.Config["region"].(string)
	certificate, err := emulator.GenerateTLS(u.dir, []string{"*.aliyuncs.com", "*." + cmp.Or(region, "cn-hangzhou") + ".aliyuncs.com"})
	if err != nil {
		return nil, err
	}
	config := emulator.Config{Fork: u.dataDir, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", Proxy: certificate, Around: around, Version: version()}
	if u.traffic {
		config.DataPlane = emulator.Ports
	}
	copied, err := emulator.New(ctx, config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: is it the right folder?", err)
	}
	if err != nil {
		return nil, err
	}
	if err = u.fill(ctx, copied); err != nil {
		return nil, errors.Join(err, copied.Close(ctx))
	}
	return copied, nil
}

// fill starts a copy of the account, and makes the nodes instances of it.
func (u *upgrade) fill(ctx context.Context, copied *emulator.Emulator) error {
	if err := copied.Start(); err != nil {
		return err
	}
	control := controlclient.InProcess(copied.ControlHandler())
	nodes, err := json.Marshal(map[string]any{"kind": "NodeList", "items": append([]cluster.Object{}, u.copied.Nodes...)})
	if err != nil {
		return err
	}
	imported, err := control.ImportCluster(ctx, controlapi.Where{}, strings.NewReader(string(nodes)))
	if err != nil {
		u.copied.Notes.Add("the nodes can't be instances of the copy: %v", err)
	} else if n := imported.Instances.Created; n > 0 {
		u.copied.Notes.Add("the copy of the account lacks the instances of %s, so clbemu made them from the Nodes", counted(n, "node"))
	}
	return nil
}

// plane starts an empty control plane.
func (u *upgrade) plane(ctx context.Context) (*cluster.Plane, error) {
	dir, err := os.MkdirTemp(u.dir, "plane-")
	if err != nil {
		return nil, err
	}
	return cluster.Start(ctx, &target.Remote{API: "http://127.0.0.1"}, dir, u.copied) // which nothing calls
}

// replaced are the arguments of a CCM that a rehearsal replaces, or leaves out.
var replaced = []string{"--kubeconfig", "--master", "--cloud-config", "--leader-elect", "--metrics-bind-addr", "--health-probe-bind-addr", "--pprof-bind-addr", "--dry-run",
	"--use-service-account-credentials", "--log", "--alsologtostderr", "--stderrthreshold", "--v", "-v"}

// start starts a version. It reaches the copy by the variables for its endpoints; the calls of versions
// without such variables go to the copy as their proxy, which rejects all hosts but the cloud's.
func (u *upgrade) start(ctx context.Context, program string, p *cluster.Plane, copied *emulator.Emulator) (scenarios.Running, error) {
	config, err := u.config(copied)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(filepath.Dir(p.Kubeconfig), "cloud-config.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return nil, err
	}
	command := []string{program, "--kubeconfig=" + p.Kubeconfig, "--cloud-config=" + file, "--leader-elect=false", "--metrics-bind-addr=127.0.0.1:0", "--health-probe-bind-addr=127.0.0.1:0"}
	environment := u.environment(copied)
	if takes, err := takesProfiles(ctx, environment, program); err != nil {
		return nil, err
	} else if takes {
		command = append(command, "--pprof-bind-addr=0")
	}
	u.command = append(command, u.arguments()...)
	return environment.Start(ctx, scenarios.Program{Command: u.command})
}

// arguments returns the CCM's own arguments and those after --, which replace them: a CCM that gets
// a list twice adds both up, and runs each controller twice.
func (u *upgrade) arguments() []string {
	args := u.copied.Args
	if len(args) == 0 {
		u.copied.Notes.Add("the CCM's Deployment is not in the copy: it runs with --controllers=service,nlb and without routes, unless arguments after -- say otherwise")
		args = []string{"--controllers=service,nlb", "--configure-cloud-routes=false"}
	}
	names := slices.Clone(replaced)
	for _, arg := range u.args {
		name, _, _ := strings.Cut(arg, "=")
		names = append(names, name)
	}
	var kept []string
	leaves := false // the value of a flag that was left out
	for _, arg := range args {
		if leaves && !strings.HasPrefix(arg, "-") {
			continue
		}
		flag, _, valued := strings.Cut(arg, "=")
		gone := slices.ContainsFunc(names, func(name string) bool {
			return flag == name || (name == "--leader-elect" || name == "--log") && strings.HasPrefix(flag, name)
		})
		if leaves = gone && !valued; !gone {
			kept = append(kept, arg)
		}
	}
	return append(kept, u.args...)
}

// environment leads a CCM to a copy.
func (u *upgrade) environment(copied *emulator.Emulator) *target.Remote {
	api, variables := "http://"+copied.Addr(), []string{"SSL_CERT_FILE=" + filepath.Join(u.dir, emulator.CAFile), "NO_PROXY=localhost,127.0.0.1," + copied.Addr()}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		variables = append(variables, name+"="+api)
	}
	return &target.Remote{API: api, Control: "http://" + copied.ControlAddr(), Products: products.All(), Environment: variables}
}

// helpTime limits how long a program may take to print its flags.
const helpTime = 10 * time.Second

// takesProfiles reports whether a CCM has a flag for the port of the profiles, which two CCMs can't
// share: only newer ones can be without it. The program runs next to the copy, as it does later.
func takesProfiles(ctx context.Context, environment *target.Remote, program string) (bool, error) {
	asked, err := environment.Start(ctx, scenarios.Program{Command: []string{program, "--help"}})
	if err != nil {
		return false, err
	}
	defer asked.Stop()
	_, err = asked.Wait(ctx, helpTime)
	return strings.Contains(asked.Output(), "--pprof-bind-addr"), err
}

// config returns the CCM's configuration: the cluster's own, with a key of the copy.
func (u *upgrade) config(copied *emulator.Emulator) (text []byte, err error) {
	if u.cloudConfig != "" {
		return readPath(u.cloudConfig)
	}
	id := u.clusterID
	if own, _ := u.copied.Config["clusterID"].(string); id == "" {
		id = own
	}
	var nodes []string
	for _, node := range u.copied.Nodes {
		if _, instance, ok := strings.Cut(node.Text("spec", "providerID"), "."); ok {
			nodes = append(nodes, instance)
		}
	}
	if text, err = target.CloudConfig(copied.Store().View(state.Owner{}), id, nodes...); err != nil {
		return nil, err
	}
	var config struct{ Global map[string]any }
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	if own, _ := u.copied.Config["region"].(string); own != "" && own != config.Global["region"] {
		return nil, fmt.Errorf("the cluster is in region %s, and the copy of the account is of %s", own, config.Global["region"])
	}
	maps.Copy(config.Global, u.copied.Config)
	return json.Marshal(config)
}
