package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/cmd/internal/trail"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/scenarios"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// rehearsal is one run of clbemu rehearse.
type rehearsal struct {
	dataDir, trail, until, out string

	upgrade upgrade
}

func newRehearse() *cobra.Command {
	r := &rehearsal{}
	u := &r.upgrade
	cmd := &cobra.Command{
		Use:   "rehearse --data-dir COPY {--ccm PROGRAM | --trail FILE}",
		Short: "Try an upgrade, a manifest or an incident on a copy of an account",
		Long: `Try an upgrade, a manifest or an incident on a copy of an account, such as clbemu state pull
makes. The copy's folder, the account and the cluster stay as they are: nothing leaves this machine.

--ccm names the program of a new version of a Cloud Controller Manager (CCM). clbemu copies the
cluster's Services, Nodes, EndpointSlices and the CCM's settings, by --kubeconfig or from the
files of --objects, into a kube-apiserver and an etcd of its own, and never a Secret. It starts the new
version, waits until it rests, and then lets happen what happens in every cluster: a node leaves,
a pod goes, a port changes, the CCM restarts, a call is throttled; undoes it; and deletes the
Services, of which some preserve or reuse their load balancers. The report has each call
that changes something and should not, by Service and in order, with what clients notice, what
was refused, and what is left behind. It writes uids, times and statuses as they are; the
API gives objects new resource versions.

With --old, the old version runs first: what it changes is drift, shown apart. It is then played
on copies of its own, and what it does too is no finding. Without --old, the
upgrade has the drift as well.

With --traffic, a client of each listener holds a connection and sends requests through the copy, at
least each second and after each change. One server of clbemu's stands for all servers and answers 200.
The report counts connections cut and refused, requests without an answer of a server, and seconds, by
Service and step. A listener that answers no client at first is named, and not watched.

--explore N then makes N plays of clbemu explore with the new version on the copies: it starts, each
Service is edited and a pod goes, while one call is refused, lost or answered late. It needs kubectl.

--apply applies a manifest to the copy in place of that, and shows what its Services get or break.

--trail has events of ActionTrail, in any form that clbemu fidelity check reads. clbemu makes
their writes again, in the order of their times, and shows who made each and whether the copy
answers as the account did. --until stops at a time, and --out writes the account of then into a
new folder: serve it, and look around. A write that the copy refuses shows that the copy is not of
before the incident, or that clbemu differs.

--ccm needs kube-apiserver and etcd, which KUBEBUILDER_ASSETS names as for envtest. Arguments after
-- are passed to the CCM, in place of the Deployment's of the same name. Exits with 1 when something
would change or break.`,
		Example: `  clbemu rehearse --data-dir ./account --kubeconfig ~/.kube/config --ccm ./ccm-new --old ./ccm-old --report upgrade.md
  clbemu rehearse --data-dir ./account --objects cluster.json --ccm ./ccm --apply service.yaml
  clbemu rehearse --data-dir ./account --trail events.json.gz --until 2026-11-28T03:12:00Z --out ./then`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 && u.ccm != "" {
				return nil
			}
			return noArgs(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if u.ccm == "" {
				return r.run(cmd)
			}
			u.dataDir, u.args = r.dataDir, args
			return u.run(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.dataDir, "data-dir", defaultDataDir, "folder of a stopped emulator's state")
	u.define(cmd)
	flags.StringVar(&r.trail, "trail", "", "file with the events; - is standard input")
	flags.StringVar(&r.until, "until", "", "stop at this time, such as 2026-11-28T03:12:00Z")
	flags.StringVar(&r.out, "out", "", "new folder for the account as it then is")
	cmd.MarkFlagsMutuallyExclusive("ccm", "trail")
	for _, flag := range []string{"until", "out"} {
		cmd.MarkFlagsMutuallyExclusive("ccm", flag)
	}
	for _, flag := range []string{"old", "kubeconfig", "objects", "apply", "traffic", "explore", "report", "cluster-id", "cloud-config"} {
		cmd.MarkFlagsMutuallyExclusive("trail", flag)
	}
	return cmd
}

func (r *rehearsal) run(cmd *cobra.Command) error {
	if r.trail == "" {
		return usage(errors.New("give the events by --trail, or a program by --ccm"))
	}
	until := time.Time{}
	if r.until != "" {
		var err error
		if until, err = time.Parse(time.RFC3339, r.until); err != nil {
			return usage(fmt.Errorf("--until %s: give a time such as 2026-11-28T03:12:00Z", r.until))
		}
	}
	if entries, err := os.ReadDir(r.out); r.out != "" && err == nil && len(entries) > 0 {
		return usage(fmt.Errorf("--out %s is not empty: name another folder", r.out))
	}
	incident := trail.NewIncident(knownNames())
	incident.Until = until
	if err := reading(cmd, r.trail, func(from io.Reader) error {
		_, err := trail.Each(from, incident.Keep)
		return err
	}); err != nil {
		return cannot(err)
	}
	ctx, clock := cmd.Context(), state.NewManualClock(incident.Begin())
	copied, err := emulator.New(ctx, emulator.Config{Fork: r.dataDir, Clock: clock, Version: version()})
	if errors.Is(err, fs.ErrNotExist) {
		return usage(fmt.Errorf("there is no state in %s: is it the right folder?", r.dataDir))
	}
	if err != nil {
		return cannot(err)
	}
	defer copied.Close(context.WithoutCancel(ctx)) //nolint:errcheck // it is in memory
	incident.Now = func(at time.Time) { clock.Advance(max(0, at.Sub(clock.Now()))) }
	client := apiclient.Client{URL: "http://localhost", HTTP: &http.Client{Transport: controlclient.Transport(copied.Handler())}}
	writes, err := incident.Replay(ctx, copyCaller{client})
	if err == nil && r.out != "" {
		err = r.keep(ctx, copied)
	}
	if err != nil {
		return cannot(err)
	}
	return r.show(cmd, writes)
}

// keep writes the copy into the new folder.
func (r *rehearsal) keep(ctx context.Context, copied *emulator.Emulator) error {
	if err := os.MkdirAll(r.out, 0o700); err != nil {
		return err
	}
	kept, err := bolt.Open(r.out)
	if err != nil {
		return err
	}
	return errors.Join(copied.Store().CopyTo(ctx, kept), kept.Close())
}

func (r *rehearsal) show(cmd *cobra.Command, writes []trail.Write) error {
	differ := 0
	var rows [][]string
	for i := range writes {
		w := &writes[i]
		outcome := "done"
		switch {
		case w.Skipped != "":
			outcome = w.Skipped
			if w.There != "" {
				outcome = w.There + ": " + outcome
			}
		case w.Differs():
			differ++
			outcome = "refused on the copy: " + w.Here
		}
		rows = append(rows, []string{w.Time.UTC().Format(time.RFC3339), w.Who, w.Action, w.Resource, outcome})
	}
	if err := printing(cmd).show(list("writes", writes), func(s *terminal.Screen) error {
		if len(rows) == 0 {
			s.Printf("no event changes anything\n")
			return nil
		}
		if err := s.Table([]string{"TIME", "WHO", "ACTION", "RESOURCE", "OUTCOME"}, rows); err != nil {
			return err
		}
		if r.out != "" {
			s.Printf("the account of then is in %s: try clbemu serve --data-dir %s\n", r.out, r.out)
		}
		return nil
	}); err != nil || differ == 0 {
		return err
	}
	return failed(fmt.Errorf("the copy refuses %s that the account took", counted(differ, "write")))
}

// copyCaller calls a copy in this process.
type copyCaller struct{ client apiclient.Client }

var _ trail.Caller = (*copyCaller)(nil)

// Call implements trail.Caller.
func (c copyCaller) Call(ctx context.Context, call scenarios.APICall) (scenarios.Answer, error) {
	reply, err := c.client.CallContext(ctx, emulator.Version(call.Product), call.Action, call.Params)
	return scenarios.Answer{Status: reply.Status, Body: reply.Body}, err
}
