package gateway

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Idle is a parameter that calls which change something may have though nothing reads
// it, because it changes nothing that a client can see. Any other that is not read is
// refused: what it asks for would not happen. CLB-0529.
type Idle struct {
	Parameter string   // as Action.Parameters writes it: DataDisk.N.KMSKeyId
	Of        []string // in place of Parameter: all that these actions read
	Actions   []string // those that it is idle in; nil for all
	Values    []string // those that ask for nothing; nil for any
	Why       string
}

// everywhereIdle are the parameters of all products.
var everywhereIdle = []Idle{
	{Parameter: "RegionId", Why: "the gateway reads it"},
	{Parameter: "ClientToken", Why: "a call that does not keep its token comes to the same end when it is repeated"},
	{Parameter: "DryRun", Values: []string{"false"}, Why: "the call is to be executed, and is"},
	{Parameter: "SourceIp", Why: "what the caller says of its own connection"},
	{Parameter: "SecureTransport", Why: "what the caller says of its own connection"},
}

// idle returns the entry that says why a parameter of an action is not read, or nil if there is
// none. The parameter has its name in calls.
func (p *Product) idle(action, parameter, value string) *Idle {
	numbered := unnumbered(parameter)
	for _, list := range [][]Idle{everywhereIdle, p.Idle} {
		for i := range list {
			e := &list[i]
			if (e.Actions == nil || slices.Contains(e.Actions, action)) && (e.Values == nil || slices.Contains(e.Values, value)) &&
				(e.Parameter == numbered || p.reads(e.Of, parameter)) {
				return e
			}
		}
	}
	return nil
}

// reads reports whether one of some actions reads a parameter.
func (p *Product) reads(actions []string, parameter string) bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool {
		return slices.Contains(actions, a.Name) && a.request().reads(parameter)
	})
}

// unnumbered writes N for the numbers in a parameter's name.
func unnumbered(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = "N"
		}
	}
	return strings.Join(parts, ".")
}

// refuseUnread refuses a call that would change something and has a parameter that
// nothing reads, unless that is idle. An empty value asks for nothing: CLB-0016.
func refuseUnread(call *Call) *Problem {
	if !call.action.Mutates {
		return nil
	}
	for _, name := range call.action.request().unread(call.Params) {
		if value := call.Params.Get(name); value != "" && call.product.idle(call.ActionName, name, value) == nil {
			return &Problem{Status: http.StatusBadRequest, Code: NotEmulatedCode,
				Message: "clbemu does not emulate the parameter " + name + " of " + call.ActionName + "; without it the call is executed."}
		}
	}
	return nil
}
