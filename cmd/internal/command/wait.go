package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
)

// waitFlags choose what to wait for.
type waitFlags struct {
	wanted    string
	timeout   time.Duration
	sinceMark string
	// seen is the last observed state of the resource.
	seen string
}

func newWait() *cobra.Command {
	f := &waitFlags{}
	cmd := addRemote(&cobra.Command{
		Use:   "wait --for CONDITION",
		Short: "Wait until the emulator is ready, a call succeeds, or a resource has a status",
		Long: `Wait for one of these, and exit with 1 on a timeout:

  ready                  the emulator accepts calls
  call=ACTION            a call of the action succeeds, from now on or since a mark; the
                         action may be a glob
  name=NAME              the name resolves on this machine, such as a Network Load Balancer's
                         where a DNS server forwards to clbemu serve --dns-listen
  KIND=NAME|ID           the resource exists; KIND is a kind of clbemu get
  KIND=NAME|ID:STATUS    it has a status, such as listener=lb-bp1example_tcp_80:running`,
		Example: `  clbemu wait --for ready
  clbemu wait --for call=CreateLoadBalancer --timeout 2m
  clbemu wait --for listener=lb-bp1example_tcp_80:running`,
		Args: noArgs,
	}, func(cmd *cobra.Command, _ []string, c *controlclient.Client) error { return f.wait(cmd, c) })
	flags := cmd.Flags()
	flags.StringVar(&f.wanted, "for", "ready", "what to wait for")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait")
	flags.StringVar(&f.sinceMark, "since-mark", "", "for a call: also accept one since this mark of the journal")
	return cmd
}

// errArrived ends a wait.
var errArrived = errors.New("it came")

// waited is the JSON that wait prints.
type waited struct {
	For       string               `json:"for"`
	Addresses []string             `json:"addresses,omitempty"`
	Call      *journal.Entry       `json:"call,omitempty"`
	Resource  *controlapi.Resource `json:"resource,omitempty"`
}

func (f *waitFlags) wait(cmd *cobra.Command, c *controlclient.Client) error {
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	what, name, named := strings.Cut(f.wanted, "=")
	if !named && what != "ready" || named && name == "" {
		return usage(fmt.Errorf("--for is ready, call=ACTION, name=NAME, KIND=NAME or KIND=NAME:STATUS, not %q", f.wanted))
	}
	screen := terminal.New(cmd.ErrOrStderr())
	progress := screen.Transfer("waiting for "+f.wanted, 0)
	defer progress.Stop()
	got := waited{For: f.wanted}
	var err error
	switch what {
	case "ready":
		err = f.untilReady(ctx, c)
	case "call":
		got.Call, err = f.untilCall(ctx, c, name)
	case "name":
		got.Addresses, err = untilKnown(ctx, name)
	default:
		got.Resource, err = f.untilResource(ctx, c, what, name)
	}
	progress.Stop()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return failed(fmt.Errorf("%s did not come within %s%s", f.wanted, f.timeout, f.seen))
	}
	if err != nil {
		return err
	}
	return printing(cmd).show(got, func(s *terminal.Screen) error {
		switch {
		case got.Call != nil:
			s.Printf("%s\n", newEntryLines(s).text(got.Call))
		case got.Addresses != nil:
			s.Printf("%s is %s\n", name, strings.Join(got.Addresses, ", "))
		case got.Resource != nil:
			s.Printf("%s %s is %s\n", got.Resource.Kind, got.Resource.ID, got.Resource.Status)
		default:
			s.Printf("%s accepts calls\n", c.URL)
		}
		return nil
	})
}

// readyPause is the time between two attempts to reach a server or to resolve a name.
const readyPause = 100 * time.Millisecond

// untilReady waits for a server that may still be starting. If another program answers
// there, waiting does not help.
func (f *waitFlags) untilReady(ctx context.Context, c *controlclient.Client) error {
	for {
		err := c.Ready(ctx)
		if elsewhere := (*controlclient.Elsewhere)(nil); err == nil || errors.As(err, &elsewhere) {
			return err
		}
		select {
		case <-time.After(readyPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// untilKnown waits for a name to have addresses. That a DNS server is not there may be
// a matter of time as well.
func untilKnown(ctx context.Context, name string) ([]string, error) {
	for {
		addresses, err := net.DefaultResolver.LookupHost(ctx, name)
		if err == nil {
			return addresses, nil
		}
		select {
		case <-time.After(readyPause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (f *waitFlags) untilCall(ctx context.Context, c *controlclient.Client, action string) (got *journal.Entry, err error) {
	q := url.Values{"kind": {string(journal.KindCall)}, "action": {action}, "code": {journal.Success}}
	if f.sinceMark != "" {
		q.Set("sinceMark", f.sinceMark)
	} else {
		now, err := c.Journal(ctx, url.Values{"limit": {"1"}})
		if err != nil {
			return nil, err
		}
		q.Set("since", fmt.Sprint(now.Last))
	}
	err = c.Follow(ctx, q, func(e *journal.Entry) error { got = e; return errArrived }, func(uint64) {})
	if errors.Is(err, errArrived) {
		err = nil
	}
	return got, err
}

func (f *waitFlags) untilResource(ctx context.Context, c *controlclient.Client, kind, name string) (got *controlapi.Resource, err error) {
	name, status := cutStatus(name)
	f.seen = fmt.Sprintf(": there is no %s %s; list them with clbemu get %s", kind, name, kind)
	err = c.WatchResources(ctx, controlclient.Wanted{Kind: kind, Name: name}, func(change controlapi.ResourceChange) error {
		if r := change.Resource; r != nil && change.Change != controlapi.ResourceDeleted && (status == "" || strings.EqualFold(r.Status, status)) {
			got = r
			return errArrived
		} else if r != nil {
			f.seen = fmt.Sprintf(": %s %s is %s", r.Kind, r.ID, cmp.Or(r.Status, "without a status"))
			if change.Change == controlapi.ResourceDeleted {
				f.seen = fmt.Sprintf(": %s %s is deleted", r.Kind, r.ID)
			}
		}
		return nil
	})
	if errors.Is(err, errArrived) {
		err = nil
	}
	return got, err
}

// cutStatus takes the status off a name, which may have a port behind a colon itself.
func cutStatus(text string) (name, status string) {
	i := strings.LastIndex(text, ":")
	if i < 0 || strings.Trim(text[i+1:], "0123456789") == "" {
		return text, ""
	}
	return text[:i], text[i+1:]
}
