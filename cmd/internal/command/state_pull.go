package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/world"
)

// statePull is one run of the command.
type statePull struct {
	cloudFlags
	vpcs, tags, loadBalancers []string
	resume, anonymise, policy bool
	done, planned             atomic.Int64
}

// refusedFile is next to a copy, and lists the reads that the account refused.
const refusedFile = "refused.txt"

func newStatePull() *cobra.Command {
	p := &statePull{}
	cmd := &cobra.Command{
		Use:   "pull --region REGION OUT",
		Short: "Copy a real account's load balancers and what they use into a state folder",
		Long: `Copy a real account's load balancers and what they use into a state folder, which serve,
upgrade-check and explore take by --data-dir: load balancers with listeners, rules, groups
and members, certificates' descriptions, access control lists, tags, quotas, and the VPCs,
vSwitches, routes, EIPs, security groups, instances and network interfaces around them.
Ids, times and statuses are the account's.

It only reads, stays under half of the published call limits, and sends nothing to anyone
else. The report lists what no answer has, by kind and field: that is absent in the copy.
Private keys are never read: HTTPS listeners get certificates of clbemu's own that are
marked, with the names and dates of the real ones. Clients call the copy with the access
key of the default world, and it counts as that account's.

After Ctrl-C or with an expired token, the folder keeps what was read, also with --anonymise as
the account has it. serve rejects it until --resume has read the rest, which replaces and deletes that.

The credentials come from the environment: ` + keyVariables[0][0] + `,
` + keyVariables[0][1] + ` and ` + keyVariables[0][2] + `, or the
variables of Terraform or a CCM. --policy prints the least RAM policy that they need. Where a
permission is missing, the rest is copied, and the report says what is not.`,
		Example: `  clbemu state pull --region cn-hangzhou ./account
  clbemu state pull --region cn-hangzhou --vpc vpc-… --tag ack.aliyun.com=c123… ./account
  clbemu state pull --region cn-hangzhou --resume ./account
  clbemu state pull --policy`,
		Args: atMost(1, "the folder of the copy"),
		RunE: p.run,
	}
	p.define(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&p.vpcs, "vpc", nil, "copy what is in this VPC; may be repeated")
	flags.StringArrayVar(&p.tags, "tag", nil, "KEY=VALUE: copy load balancers with this tag; may be repeated, and all must fit")
	flags.StringArrayVar(&p.loadBalancers, "load-balancer", nil, "copy this load balancer; may be repeated")
	flags.BoolVar(&p.resume, "resume", false, "go on with a pull that was interrupted")
	flags.BoolVar(&p.anonymise, "anonymise", false, "replace names, addresses, domains and account ids")
	flags.BoolVar(&p.policy, "policy", false, "print the RAM policy that a pull needs, and end")
	return cmd
}

func (p *statePull) run(cmd *cobra.Command, args []string) error {
	puller := world.FromAccount(strings.Join(args, ""))
	if p.policy {
		return printing(cmd).show(map[string]string{"policy": puller.Policy()}, func(s *terminal.Screen) error {
			s.Printf("%s\n", puller.Policy())
			return nil
		})
	}
	if len(args) == 0 {
		return usage(errors.New("name the folder for the copy, such as ./account"))
	}
	tags := make(map[string]string)
	for _, tag := range p.tags {
		key, value, ok := strings.Cut(tag, "=")
		if !ok || key == "" {
			return usage(fmt.Errorf("--tag %s: give KEY=VALUE", tag))
		}
		tags[key] = value
	}
	cloud, err := p.client("pull")
	if err != nil {
		return usage(err)
	}
	screen := terminal.New(cmd.ErrOrStderr())
	puller.Region, puller.VPCs, puller.LoadBalancers, puller.Resume, puller.Anonymise = p.region, p.vpcs, p.loadBalancers, p.resume, p.anonymise
	if len(tags) > 0 {
		puller.Tags = tags
	}
	puller.Call = cloud.Read
	puller.Pause = realcloud.Pause
	puller.Progress = func(done, planned int) { p.done.Store(int64(done)); p.planned.Store(int64(planned)) }
	puller.Estimated = func(calls int, wait time.Duration) {
		screen.Printf("%s of details follow, which take about %s at half of the published limits\n", counted(calls, "call"), wait.Round(time.Second))
	}
	stop := screen.Live(func() string { return fmt.Sprintf("%d of %d calls", p.done.Load(), p.planned.Load()) })
	report, err := puller.Pull(cmd.Context())
	stop()
	if err != nil {
		return p.ended(args[0], puller.Unfinished(), err)
	}
	var refused strings.Builder
	for _, f := range report.Refused {
		fmt.Fprintln(&refused, f)
	}
	if refused.Len() > 0 {
		err = cannot(os.WriteFile(filepath.Join(args[0], refusedFile), []byte(refused.String()), 0o600))
	}
	return cmp.Or(err, printing(cmd).show(report, func(s *terminal.Screen) error {
		for _, line := range report.Lines() {
			s.Printf("%s", s.Fit(line+"\n", 8))
		}
		s.Printf("copied to %s: try clbemu serve --data-dir %s\n", args[0], args[0])
		return nil
	}))
}

// ended gives an error of a pull its exit code, and says how to go on.
func (p *statePull) ended(dir string, unfinished, err error) error {
	rejected, noHost := (*realcloud.Rejected)(nil), (*net.DNSError)(nil)
	again := fmt.Sprintf("what was read is in %s: go on with --resume", dir)
	if p.anonymise {
		again += ", or delete the folder, which has the account's own names and addresses until then"
	}
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return usage(err)
	case errors.As(err, &rejected) && rejected.Expired():
		return cannot(fmt.Errorf("%w: set new credentials of the same account; %s", err, again))
	case errors.As(err, &rejected):
		return cannot(err)
	case errors.As(err, &noHost):
		return cannot(fmt.Errorf("%w: is %s the right region?", err, p.region))
	case unfinished == nil:
		return cannot(err)
	case errors.Is(err, context.Canceled):
		return cannot(errors.New("interrupted: " + again))
	}
	return cannot(fmt.Errorf("%w; %s", err, again))
}
