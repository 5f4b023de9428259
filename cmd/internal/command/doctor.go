package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// finding says what doctor examined, and what to do about it.
type finding struct {
	Check string `json:"check"`
	Level string `json:"level"`
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"`
}

// The levels of a finding.
const (
	levelOK      = "ok"
	levelNote    = "note"
	levelProblem = "problem"
)

// The owners of the environment.
const (
	ofShell = "environment"
	ofCCM   = "CCM"
)

// doctor looks at what goes wrong with emulators and their clients.
type doctor struct {
	clientFlags
	dataDir string
	pid     int
	// judged names the environment that a named program runs in: without clbemu's variables in it,
	// the program calls the real cloud.
	judged string
	// nodePorts lists the node ports of the cluster's Services.
	nodePorts string
	list      []finding
}

func newDoctor() *cobra.Command {
	d := &doctor{}
	cmd := &cobra.Command{
		Use:   "doctor [-- CCM ARGUMENT...]",
		Short: "Find problems with the emulator and its clients",
		Long: `Find problems before they show: check that an emulator answers and its ports are free,
the data folder, the emulated clock, the clock skew that makes signatures fail, proxies
and client variables in the environment, where kubectl points, and whether NodePorts
overlap the local ports of this machine. Give the command
line of a Cloud Controller Manager after --, or its process with --pid, to check it
with its environment and cloud-config as well.

Exits with 1 when it finds a problem.`,
		Example: `  clbemu doctor
  clbemu doctor -- cloud-controller-manager --cloud-config cloud-config.json --controllers=service`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && cmd.ArgsLenAtDash() != 0 {
				return usage(fmt.Errorf("doctor takes the command line of a CCM after --, not %q", args[0]))
			}
			if _, _, ok := portRange(d.nodePorts); !ok {
				return usage(fmt.Errorf("--node-port-range: %q is not a range of ports, such as 30000-32767", d.nodePorts))
			}
			switch {
			case d.pid > 0:
				d.judged = ofCCM
			case len(args) > 0:
				d.judged = ofShell
			}
			d.run(cmd.Context(), args)
			return d.report(cmd)
		},
	}
	d.define(cmd.Flags())
	cmd.Flags().StringVar(&d.dataDir, "data-dir", defaultDataDir, "folder of the state, unless a running emulator names another")
	cmd.Flags().StringVar(&d.nodePorts, "node-port-range", "30000-32767", "the API server's --service-node-port-range")
	cmd.Flags().IntVar(&d.pid, "pid", 0, "process id of a running CCM to check (Linux)")
	return cmd
}

func (d *doctor) ok(check, format string, args ...any) {
	d.list = append(d.list, finding{Check: check, Level: levelOK, Says: fmt.Sprintf(format, args...)})
}

func (d *doctor) note(check, do, format string, args ...any) {
	d.list = append(d.list, finding{check, levelNote, fmt.Sprintf(format, args...), do})
}

func (d *doctor) problem(check, do, format string, args ...any) {
	d.list = append(d.list, finding{check, levelProblem, fmt.Sprintf(format, args...), do})
}

// findingColumn is the column in which a finding's text starts.
const findingColumn = 21

func (d *doctor) report(cmd *cobra.Command) error {
	problems := 0
	for _, f := range d.list {
		if f.Level == levelProblem {
			problems++
		}
	}
	marks := map[string]terminal.Style{levelOK: terminal.Good, levelNote: terminal.Odd, levelProblem: terminal.Bad}
	if err := printing(cmd).show(list("findings", d.list), func(s *terminal.Screen) error {
		for _, f := range d.list {
			line := s.Fit(fmt.Sprintf("%-9s%-12s%s\n", f.Level, f.Check, f.Says), findingColumn)
			s.Printf("%s%s", marks[f.Level].Render(f.Level), strings.TrimPrefix(line, f.Level))
			if f.Do != "" {
				s.Printf("%s", s.Fit(fmt.Sprintf("%*s%s\n", findingColumn, "", "→ "+f.Do), findingColumn))
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if problems > 0 {
		return failed(fmt.Errorf("found %s", counted(problems, "problem")))
	}
	return nil
}

func (d *doctor) run(ctx context.Context, ccm []string) {
	c, err := d.client()
	if err != nil {
		d.problem("emulator", "", "%v", err)
		return
	}
	environment := os.Environ()
	server, err := c.Server(ctx)
	if err != nil {
		d.noEmulator(c, err)
		d.folder(d.dataDir)
	} else {
		if api, _, err := d.cloudAPI(ctx); err == nil {
			server.API = api.String() // as clients reach it
		}
		d.ok("emulator", "clbemu %s at %s, the cloud's API at %s", server.Version.Version, c.URL, server.API)
		d.time(ctx, c, &server)
		d.signed(ctx, &server)
		d.replicas(server.Replicas)
		d.unusual(&server)
		if server.DataDir != "" {
			d.folderInUse(server.DataDir)
		}
		d.clients(ofShell, environment, &server)
	}
	d.proxies(environment, server.API)
	d.cluster(ctx)
	d.localPorts()
	d.controller(ctx, c, &server, err == nil, ccm)
}

// unusual says why calls may fail that would not in a new emulator.
func (d *doctor) unusual(server *controlapi.Server) {
	if len(server.Unusual) > 0 {
		d.note("conditions", "see `clbemu world get`, and `clbemu world set NAME=default` ends one", "the cloud differs from the planted world: %s", strings.Join(server.Unusual, ", "))
	}
	if len(server.FaultRules) > 0 {
		d.note("fault rules", "see `clbemu fault list`, and `clbemu fault delete NAME` ends one", "calls fail by rules: %s", strings.Join(server.FaultRules, ", "))
	}
}

// staleAfter is the time by which a follower may be behind before something is wrong.
const staleAfter = time.Second

// replicas tells who leads, and how far the one that answers is behind.
func (d *doctor) replicas(r *controlapi.Replicas) {
	if r == nil {
		return
	}
	var names []string
	for _, replica := range r.All {
		names = append(names, replica.Name)
	}
	known := strings.Join(names, ", ")
	lag := time.Duration(r.LagSeconds * float64(time.Second)).Round(time.Millisecond)
	switch {
	case r.Problem != "" && r.Leader != "":
		d.problem("replicas", "", "%s runs, and %s leads, but %s", r.Self, r.Leader, r.Problem)
	case r.Problem != "":
		d.problem("replicas", "", "%s neither leads nor follows: %s", r.Self, r.Problem)
	case r.Leader == "":
		d.problem("replicas", "see that most members of etcd run, and that replicas reach them", "no replica leads, and calls wait")
	case r.Leads:
		d.ok("replicas", "%s leads %s", r.Self, known)
	case r.Leader == r.Self:
		d.problem("replicas", "see that most members of etcd run, and answer within a second", "%s is the leader, and not certain of it", r.Self)
	case lag > staleAfter:
		d.problem("replicas", "see that "+r.Self+" reaches etcd", "%s may be %s behind the leader %s", r.Self, lag, r.Leader)
	default:
		d.ok("replicas", "%s follows %s, %s behind at most; all are %s", r.Self, r.Leader, lag, known)
	}
}

// noEmulator reports why no emulator answers: none runs, or another program has its
// ports.
func (d *doctor) noEmulator(c *controlclient.Client, err error) {
	if elsewhere := (*controlclient.Elsewhere)(nil); errors.As(err, &elsewhere) {
		d.problem("emulator", "give the address of the control API with --server, such as "+defaultControl, "%v", err)
		return
	}
	if unreachable := (*controlclient.Unreachable)(nil); !errors.As(err, &unreachable) {
		d.problem("emulator", "give the token with --control-token or --control-token-file", "%v", err)
		return
	}
	d.problem("emulator", "start one with `clbemu serve`, or give its address with --server", "no emulator answers at %s", c.URL)
	for name, address := range map[string]string{"API": defaultListen, "control API": defaultControl} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			d.problem("ports", "stop the program that uses it, or choose another with --listen and --control-listen", "the %s's address is in use: %v", name, err)
			continue
		}
		_ = l.Close() // it was only to see
	}
}

// maxSkew limits how far a client's clock may be from the gateway's.
const maxSkew = 15 * time.Minute

func (d *doctor) time(ctx context.Context, c *controlclient.Client, server *controlapi.Server) {
	switch skew := time.Since(server.Time).Abs().Round(time.Second); {
	case skew > maxSkew:
		d.problem("time", "set the clock of this machine or of the emulator's machine", "this machine's clock is %s off from the emulator's: signatures are refused (InvalidTimeStamp.Expired)", skew)
	case skew > time.Minute:
		d.note("time", "", "this machine's clock is %s off from the emulator's; signatures fail from %s on", skew, maxSkew)
	default:
		d.ok("time", "the clocks of this machine and the emulator's agree")
	}
	clock, err := c.Clock(ctx)
	if err != nil {
		d.problem("clock", "", "%v", err)
		return
	}
	ahead := time.Until(clock.Now).Round(time.Second)
	switch {
	case clock.Scale == 0:
		d.problem("clock", "`clbemu clock resume`", "the emulated clock is frozen: listeners do not start and jobs do not end")
	case clock.Scale != 1 || ahead.Abs() > time.Minute:
		d.note("clock", "`clbemu clock resume` makes it run at real speed", "the emulated clock is %s from real time, and runs %s", ahead, clockPace(clock.Scale))
	default:
		d.ok("clock", "the emulated clock runs at real speed")
	}
}

// signed makes a call with the key that clients should use.
func (d *doctor) signed(ctx context.Context, server *controlapi.Server) {
	api, over, err := d.cloudAPI(ctx)
	if err != nil {
		d.problem("calls", "", "%v", err)
		return
	}
	client := &apiclient.Client{URL: api.String(), HTTP: over, AccessKeyID: d.keyID(), AccessKeySecret: d.accessKeySecret, UserAgent: programName}
	reply, err := client.CallContext(ctx, emulator.Version("Slb"), "DescribeRegions", nil)
	switch unreachable := (*url.Error)(nil); {
	case errors.As(err, &unreachable):
		d.problem("calls", "give the address that clients use with --api", "the API does not answer at %s: %v", api, unreachable.Err)
	case err != nil:
		d.problem("calls", "", "%v", err)
	case reply.Status != http.StatusOK:
		d.problem("calls", "`clbemu explain "+reply.Text("Code")+"`", "a call with the key %s is refused: %s: %s", d.accessKeyID, reply.Text("Code"), reply.Text("Message"))
	default:
		d.ok("calls", "a call with the key %s succeeds (signatures: %s)", d.accessKeyID, server.Auth)
	}
}

// folder looks at a data folder that no emulator has.
func (d *doctor) folder(dir string) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("data folder", "%s will be created", dir)
		return
	case err != nil:
		d.problem("data folder", "", "%v", err)
		return
	case !info.IsDir():
		d.problem("data folder", "choose another with --data-dir", "%s is not a folder", dir)
		return
	}
	probe, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		d.problem("data folder", "make it writable, or choose another with --data-dir", "%v", err)
		return
	}
	_ = errors.Join(probe.Close(), os.Remove(probe.Name())) // it was only to see
	if _, err := os.Stat(filepath.Join(dir, bolt.FileName)); err != nil {
		d.ok("data folder", "%s has no state yet", dir)
		return
	}
	e, err := bolt.OpenReadOnly(dir)
	if err != nil {
		d.problem("data folder", "stop the program that uses it, or choose another with --data-dir", "%v", err)
		return
	}
	_ = e.Close() // it was only read
	d.ok("data folder", "the state in %s can be read", dir)
}

func (d *doctor) folderInUse(dir string) { d.ok("data folder", "the running emulator uses %s", dir) }

// cluster reports which cluster kubectl uses, since a CCM would work there.
func (d *doctor) cluster(ctx context.Context) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		d.ok("kubectl", "kubectl is not on the PATH")
		return
	}
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(limited, kubectl, "config", "view", "--minify", "--output", `jsonpath={.current-context}{"\t"}{.clusters[0].cluster.server}`).Output()
	name, server, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	if err != nil || server == "" {
		d.ok("kubectl", "it has no current context")
		return
	}
	if u, err := url.Parse(server); err == nil && isLocalHost(u.Hostname()) {
		d.ok("kubectl", "the context %s is a cluster on this machine: %s", name, server)
		return
	}
	d.note("kubectl", "make sure that no CCM against this emulator uses it: it would treat that cluster's load balancers as lost", "the context %s is a cluster elsewhere: %s", name, server)
}

func isLocalHost(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}
