package trail

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

// Write is a call of a trail that changed something, and what it did on the copy.
type Write struct {
	Time     time.Time `json:"time"`
	Who      string    `json:"who,omitempty"`
	Product  string    `json:"product"`
	Action   string    `json:"action"`
	Resource string    `json:"resource,omitempty"`
	// There and Here are the codes of the refusals in the account and on the copy, "" for success.
	There string `json:"there,omitempty"`
	Here  string `json:"here,omitempty"`
	// Skipped says why it was not made on the copy.
	Skipped string `json:"skipped,omitempty"`
}

// Differs reports whether the copy answered differently from the account.
func (w *Write) Differs() bool { return w.Skipped == "" && w.There != w.Here }

// Incident makes the writes of a trail again, in the order of their times, on a copy of the account
// as it was before.
type Incident struct {
	// Until is the time at which it stops, zero for the end.
	Until time.Time
	// Now moves the copy to a time.
	Now func(time.Time)

	player *Player
	events []Event
}

// NewIncident returns an incident without events.
func NewIncident(known *names.Names) *Incident {
	return &Incident{player: NewPlayer(nil, NewFindings(known))}
}

// Begin returns the time of the first event, or now if no event has a time.
func (i *Incident) Begin() time.Time {
	var first time.Time
	for n := range i.events {
		if at := i.events[n].Time; !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return time.Now()
	}
	return first
}

// Keep keeps an event that is a write, and reports whether it is about a service here.
func (i *Incident) Keep(e *Event) bool {
	j := i.player.findings.of(e)
	late := !i.Until.IsZero() && e.Time.After(i.Until)
	if j.found && j.action.Mutates && !late && len(i.events) < maxPlayed {
		kept := *e
		kept.Product = j.action.Product
		i.events = append(i.events, kept)
	}
	return j.service
}

// Replay makes the writes on a copy that the caller reaches. What the account refused changed nothing
// there, and is not made.
func (i *Incident) Replay(ctx context.Context, caller Caller) (writes []Write, err error) {
	i.player.caller = caller
	slices.SortStableFunc(i.events, func(a, b Event) int { return a.Time.Compare(b.Time) })
	for n := range i.events {
		e := &i.events[n]
		w := Write{Time: e.Time, Who: e.Who, Product: e.Product, Action: e.Action, Resource: resourceOf(e), There: e.Code}
		switch {
		case e.Code != "":
			w.Skipped = "refused in the account"
		case e.Params == nil:
			w.Skipped = "the trail does not have its parameters"
		case !i.player.findings.of(e).action.Emulated:
			w.Skipped = "clbemu does not emulate it"
		default:
			if !e.Time.IsZero() && i.Now != nil {
				i.Now(e.Time)
			}
			if w.Here, err = i.make(ctx, e); err != nil {
				return writes, err
			}
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// make makes a call on the copy, which has the account's resources by their ids; those that the
// trail creates have other ids there. It returns the code of the refusal.
func (i *Incident) make(ctx context.Context, e *Event) (code string, err error) {
	j := i.player.findings.of(e)
	params, _ := i.player.read(e, j)
	if e.Region != "" {
		params["RegionId"] = e.Region
	}
	answer, err := i.player.caller.Call(ctx, scenarios.APICall{Product: j.action.Product, Action: j.action.Name, Params: params})
	if err != nil {
		return "", err
	}
	if answer.Status == 200 {
		i.player.learn(e.Answer, answer.Body)
		return "", nil
	}
	code, _ = answer.Body["Code"].(string)
	return cmp.Or(code, answer.Lost, "no answer"), nil
}

// resourceOf returns what a call is about: the first id that it names, or that its answer has.
func resourceOf(e *Event) string {
	for _, name := range []string{"LoadBalancerId", "VServerGroupId", "ListenerId", "ServerGroupId", "AclId", "RuleIds", "ServerCertificateId",
		"AllocationId", "RouteTableId", "SecurityGroupId", "InstanceId", "ResourceId"} {
		if id := e.Params[name]; id != "" {
			return id
		}
		if id, _ := e.Answer[name].(string); id != "" {
			return id
		}
	}
	return ""
}
