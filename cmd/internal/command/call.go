package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
)

// callFlags are the settings of clbemu call.
type callFlags struct {
	clientFlags
	product, field string
}

func newCall() *cobra.Command {
	f := &callFlags{}
	cmd := &cobra.Command{
		Use:   "call ACTION [NAME=VALUE ...]",
		Short: "Sign and send a call of the cloud's API, and print its answer",
		Long: `Sign and send a call of the cloud's API to a running emulator, and print its
answer. The region is cn-hangzhou unless RegionId says otherwise. When the call
fails, clbemu also explains what caused the error and how to clear it, and exits
with 1.`,
		Example: `  clbemu call CreateLoadBalancer AddressType=internet LoadBalancerName=web
  clbemu call DescribeLoadBalancers Tags='[{"TagKey":"team","TagValue":"web"}]'
  clbemu call DescribeRegions --product Nlb
  clbemu call CreateLoadBalancer --field LoadBalancerId`,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.call(cmd, args) },
		ValidArgsFunction: f.complete,
	}
	flags := cmd.Flags()
	f.define(flags)
	flags.StringVar(&f.product, "product", "", "product, when several have the action (default: Slb)")
	flags.StringVar(&f.field, "field", "", "print this field of the answer alone, such as LoadBalancerId; nothing when the call is refused")
	return cmd
}

func (f *callFlags) call(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return usage(fmt.Errorf("call needs an action, such as DescribeLoadBalancers: `clbemu actions` lists them"))
	}
	action, err := f.action(args[0])
	if err != nil {
		return usage(err)
	}
	parameters, err := parametersOf(action, args[1:])
	if err != nil {
		return usage(err)
	}
	reply, err := f.send(cmd.Context(), action, parameters)
	if err != nil {
		return err
	}
	p := printing(cmd)
	if f.field != "" && reply.Status == http.StatusOK {
		var text string
		switch value := reply.Body[f.field].(type) {
		case string:
			text = value
		case float64:
			text = strconv.FormatFloat(value, 'f', -1, 64)
		case bool:
			text = strconv.FormatBool(value)
		}
		if text == "" {
			return failed(fmt.Errorf("the answer has no field %s with a single value: see it whole without --field", f.field))
		}
		terminal.New(p.out).Printf("%s\n", printable(text))
		return nil
	}
	// With --field, a shell takes the output for the value: of a refusal that is nothing.
	if f.field == "" {
		if err := p.show(reply.Body, func(*terminal.Screen) error { return encode(p.out, reply.Body, "  ") }); err != nil {
			return err
		}
	}
	return refusal(cmd, action, reply)
}

// send signs and sends a call. An error means that no answer of the cloud's API came.
func (f *clientFlags) send(ctx context.Context, action names.Action, parameters map[string]string) (reply apiclient.Reply, err error) {
	api, over, err := f.cloudAPI(ctx)
	if err != nil {
		return reply, err
	}
	client := &apiclient.Client{URL: api.String(), HTTP: over, UserAgent: programName, AccessKeyID: f.keyID(), AccessKeySecret: f.accessKeySecret}
	before := f.journalEnd(ctx)
	reply, err = client.CallContext(ctx, action.Version(), action.Name, parameters)
	if err != nil && len(reply.Faults) == 0 {
		reply.Faults = f.struckSince(ctx, before, action.Name)
	}
	if err != nil && len(reply.Faults) > 0 {
		if outer := (*url.Error)(nil); errors.As(err, &outer) {
			err = outer.Err
		}
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		return reply, failed(fmt.Errorf("%s got no answer that can be read, since the fault rule %s struck it (%w): `clbemu fault delete %s` ends that", action.Name, strings.Join(reply.Faults, ", "), err, strings.Join(reply.Faults, " ")))
	}
	if unreachable := (*url.Error)(nil); errors.As(err, &unreachable) {
		// Its own text has the whole signed call.
		return reply, cannot(fmt.Errorf("%s does not answer: %w: start an emulator with `clbemu serve`, or give the address of its API with --api", api, unreachable.Err))
	}
	if err != nil {
		return reply, cannot(err)
	}
	if reply.Text("error") != "" && reply.Text("Code") == "" { // of the control API
		return reply, usage(fmt.Errorf("%s is not the cloud's API: give its address to --api, and the control API's to --server", api))
	}
	return reply, nil
}

// journalEnd returns where the journal ends, or 0 if that is not known.
func (f *clientFlags) journalEnd(ctx context.Context) uint64 {
	if f.api != "" {
		return 0
	}
	c, err := f.client()
	if err != nil {
		return 0
	}
	page, err := c.Journal(ctx, url.Values{"limit": {"1"}})
	if err != nil {
		return 0
	}
	return page.Last
}

// struckWithin limits the wait for a call that a fault held: the journal has it once the emulator
// sees that its client has left.
const struckWithin = 10 * time.Second

// struckSince returns the fault rules that struck a call of an action behind a place in the
// journal, also of a call that the user interrupted.
func (f *clientFlags) struckSince(ctx context.Context, since uint64, action string) []string {
	c, err := f.client()
	if err != nil || f.api != "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), struckWithin)
	defer cancel()
	query := url.Values{"limit": {"1"}, "since": {strconv.FormatUint(since, 10)}, "action": {action}, "userAgent": {programName}}
	for {
		page, err := c.Journal(ctx, query)
		switch {
		case err != nil:
			return nil
		case len(page.Entries) > 0:
			return page.Entries[0].Faults
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// refusal returns the error of a refused call, after printing advice for people, or nil if the call
// succeeded.
func refusal(cmd *cobra.Command, action names.Action, reply apiclient.Reply) error {
	screen := terminal.New(cmd.ErrOrStderr())
	if len(reply.Faults) > 0 && !printing(cmd).forPrograms() {
		screen.Printf("%s", screen.Fit(labelled("because", "the fault rule "+strings.Join(reply.Faults, ", ")+" struck the call; nothing else is the cause")+
			labelled("ends by", "clbemu fault delete "+strings.Join(reply.Faults, " ")), labelWidth))
	}
	if reply.Status == http.StatusOK {
		return nil
	}
	if len(reply.Faults) == 0 && !printing(cmd).forPrograms() {
		screen.Printf("%s", screen.Fit(hint(reply.Text("Code"), reply.Text("Message"), action), labelWidth))
	}
	return failed(fmt.Errorf("%s was refused with %d %s: %s", action.Name, reply.Status, reply.Text("Code"), reply.Text("Message")))
}

// action finds an action by its name.
func (f *callFlags) action(name string) (names.Action, error) {
	if f.product != "" {
		f.product = spelled(f.product)
	}
	if products := productNames(); f.product != "" && !slices.Contains(products, f.product) {
		return names.Action{}, fmt.Errorf("--product: unknown product %s%s", f.product, names.DidYouMean(f.product, products, "there are "+strings.Join(products, ", ")))
	}
	var known []string
	var other string // product that has the action
	for _, a := range knownNames().Actions() {
		switch chosen := f.product == "" || f.product == a.Product; {
		case chosen && a.Name == name:
			return a, nil
		case chosen:
			known = append(known, a.Name)
		case a.Name == name:
			other = a.Product
		}
	}
	if other != "" {
		return names.Action{}, fmt.Errorf("%s is an action of %s: leave --product out, or use --product %s", name, other, other)
	}
	return names.Action{}, fmt.Errorf("clbemu knows no action %s%s", name, names.DidYouMean(name, known, "`clbemu actions` lists them"))
}

// parametersOf reads NAME=VALUE; the action must read each name. What is not
// emulated goes out as it is, and fails.
func parametersOf(action names.Action, args []string) (map[string]string, error) {
	parameters := make(map[string]string, len(args))
	for _, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%q is not a parameter: write it as NAME=VALUE", arg)
		}
		if _, twice := parameters[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		if action.Emulated && name != "RegionId" && !action.Reads(name) {
			return nil, fmt.Errorf("%s has no parameter %s%s", action.Name, name,
				names.DidYouMean(name, action.ParameterNames(), "it reads "+strings.Join(action.ParameterNames(), ", ")))
		}
		parameters[name] = value
	}
	return parameters, new(apiclient.Client).Check(parameters)
}

// complete offers actions, and then the names of the parameters.
func (f *callFlags) complete(cmd *cobra.Command, args []string, word string) (offers []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		return emulatedNames(runningActions(cmd), f.product), cobra.ShellCompDirectiveNoFileComp
	}
	action, err := f.action(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if name, _, typed := strings.Cut(word, "="); typed {
		return completeValue(cmd, action, name), cobra.ShellCompDirectiveNoFileComp
	}
	for _, p := range action.Parameters() {
		offers = append(offers, typedName(p.Name)+"=")
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// typedName returns the name of a parameter as users type it: with the first of a list's elements.
func typedName(name string) string { return strings.ReplaceAll(name, ".N", ".1") }

// spelled returns the name of a product as the cloud spells it: clb is Slb.
func spelled(product string) string {
	if strings.EqualFold(product, "clb") {
		return "Slb"
	}
	for _, name := range productNames() {
		if strings.EqualFold(name, product) {
			return name
		}
	}
	return product
}

func productNames() (list []string) {
	for _, p := range products.All() {
		list = append(list, p.Name)
	}
	return list
}
