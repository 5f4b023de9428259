package cloud

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/state"
)

// consoleAgent is the caller that the journal shows of calls that name none.
const consoleAgent = "console"

// consoleCall signs and makes a call like any other: faults, policies and throttling
// apply to it, and the journal records it.
func (c *Cloud) consoleCall(ctx context.Context, made controlapi.CloudCall) (controlapi.CloudAnswer, error) {
	at := slices.IndexFunc(c.products, func(p *gateway.Product) bool { return p.Name == made.Product })
	if at < 0 {
		var known []string
		for _, p := range c.products {
			known = append(known, p.Name)
		}
		return controlapi.CloudAnswer{}, fmt.Errorf("there is no product %q%s", made.Product, names.DidYouMean(made.Product, known, "choose from "+strings.Join(known, ", ")))
	}
	product := c.products[at]
	if made.ReadOnly && product.Changes(made.Action) {
		return controlapi.CloudAnswer{}, fmt.Errorf("%s changes the cloud, and this call may only read: for an agent, start clbemu mcp with --allow-changes", made.Action)
	}
	key, err := c.keyOf(made.Account)
	if err != nil {
		return controlapi.CloudAnswer{}, err
	}
	client := &apiclient.Client{URL: "http://localhost", HTTP: &http.Client{Transport: controlclient.Transport(http.HandlerFunc(c.ServeAPI))},
		AccessKeyID: key.ID, AccessKeySecret: key.Secret, UserAgent: callerOf(made)}
	reply, err := client.CallContext(ctx, product.Version, made.Action, made.Parameters)
	return controlapi.CloudAnswer{Status: reply.Status, Body: reply.Body}, err
}

// maxCaller bounds the length of a caller's name.
const maxCaller = 128

// callerOf returns the caller that the journal shows for a call.
func callerOf(made controlapi.CloudCall) string {
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, made.Caller)
	return cmp.Or(printable[:min(len(printable), maxCaller)], consoleAgent)
}

// keyOf returns the first access key of an account, or of the first account, that can sign without
// a token.
func (c *Cloud) keyOf(account string) (*kinds.AccessKey, error) {
	v := c.store.View(state.Owner{})
	for a := range kinds.Accounts.All(v) {
		if account == "" {
			account = a.ID
		}
		break
	}
	for k := range kinds.AccessKeys.All(v) {
		if k.AccountID == account && k.Status == kinds.AccessKeyActive && k.SecurityToken == "" {
			return k, nil
		}
	}
	return nil, fmt.Errorf("account %s has no active access key to sign the call with: `clbemu world set key.<id>.secret=…` creates one", account)
}
