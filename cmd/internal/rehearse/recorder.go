package rehearse

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/products"
)

// recorder serves a copy of an account, one change at a time, and compares what load balancers do before
// and after each.
type recorder struct {
	api     http.Handler
	cloud   *emulator.Emulator
	control *controlclient.Client
	mutates map[string]bool // by product and action
	change  sync.Mutex      // held by a call
	before  *emulator.Emulator
	now     *view
	seen    uint64 // of the journal
	open    []*Felt
	traffic *traffic // nil without
	// at are the ids of network interfaces and instances by their addresses.
	at map[string][]string

	mu    sync.Mutex
	phase *Phase
	last  time.Time // of a call that shows that the CCM works
	calls int
	err   error
}

var _ http.Handler = (*recorder)(nil)

func newRecorder() *recorder {
	r := &recorder{mutates: make(map[string]bool), at: make(map[string][]string), phase: &Phase{}}
	for _, p := range products.All() {
		for _, a := range p.Actions {
			r.mutates[p.Name+" "+a.Name] = a.Mutates
		}
	}
	return r
}

// around stands before the API.
func (r *recorder) around(api http.Handler) http.Handler {
	r.api = api
	return r
}

// begins looks at the account before the first call.
func (r *recorder) begins(ctx context.Context, cloud *emulator.Emulator) error {
	r.cloud, r.control = cloud, controlclient.InProcess(cloud.ControlHandler())
	servers, err := r.control.Resources(ctx, controlclient.Wanted{Kind: "backend"})
	if err != nil {
		return err
	}
	for _, s := range servers.Resources {
		at := s.Fields["address"]
		if id := s.Fields["server"]; !slices.Contains(r.at[at], id) {
			r.at[at] = append(r.at[at], id)
		}
	}
	r.now = &view{}
	r.now, err = r.look(ctx)
	if err == nil && r.traffic != nil {
		r.now, err = r.look(ctx) // where the listeners answer now that the servers do
	}
	return errors.Join(err, r.fork(ctx))
}

// look returns the state of the account now or, with names, what happened to these since the last
// view.
func (r *recorder) look(ctx context.Context, names ...string) (*view, error) {
	if err := r.settled(ctx); err != nil {
		return nil, err
	}
	found, err := r.control.Resources(ctx, controlclient.Wanted{Kind: "lb,listener,rule,group,backend", Name: strings.Join(r.now.whole(names), ",")})
	if refused := (*controlclient.Refused)(nil); errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		err = nil // they are gone
	}
	next := r.now.with(found.Resources, names)
	if err != nil {
		return nil, err
	}
	if settings := r.traffic.reach(next); len(settings) > 0 {
		_, err = r.control.SetWorld(ctx, controlapi.Change{Settings: settings})
		return next, errors.Join(err, r.settled(ctx))
	}
	return next, nil
}

// settled waits until the listeners do what the account says.
func (r *recorder) settled(ctx context.Context) (err error) {
	if r.traffic != nil {
		_, err = r.control.Traffic(ctx, "")
	}
	return err
}

// ask lets all clients ask.
func (r *recorder) ask(ctx context.Context) {
	r.change.Lock()
	defer r.change.Unlock()
	r.traffic.ask(ctx, r.now, nil, true)
}

// fork keeps the account as it is before the next change.
func (r *recorder) fork(ctx context.Context) error {
	next, err := emulator.New(ctx, emulator.Config{ForkOf: r.cloud.Store(), Journal: journal.Config{Entries: -1}})
	if err != nil {
		return err
	}
	old := r.before
	if r.before = next; old != nil {
		return old.Close(ctx)
	}
	return nil
}

func (r *recorder) close(ctx context.Context) {
	r.traffic.close()
	if r.before != nil {
		_ = r.before.Close(ctx) // it is in memory
	}
}

// current returns the account as it is now.
func (r *recorder) current() *view {
	r.change.Lock()
	defer r.change.Unlock()
	return r.now
}

// begin begins a phase. It returns notes.
func (r *recorder) begin(ctx context.Context, p *Phase) (notes []string) {
	r.change.Lock()
	notes, asking := r.traffic.begin(ctx, r.now)
	r.change.Unlock()
	await(asking, nil)
	r.change.Lock()
	defer r.change.Unlock()
	notes = append(notes, r.traffic.silence()...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phase, r.last, r.calls = p, time.Now(), 0
	return notes
}

// worked notes that the CCM works.
func (r *recorder) worked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = time.Now()
	r.calls++
}

// idle returns for how long the CCM has done nothing, and how many calls it made in this phase.
func (r *recorder) idle() (time.Duration, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.last), r.calls, r.err
}

// ServeHTTP implements http.Handler: one call at a time. Clients ask before the call is answered, unless that
// takes long: others wait for none, and an SDK would take it for a timeout.
func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	await(r.serve(w, request), time.After(pause))
}

// serve makes a call, and returns what await waits for.
func (r *recorder) serve(w http.ResponseWriter, request *http.Request) []<-chan struct{} {
	r.change.Lock()
	defer r.change.Unlock()
	r.api.ServeHTTP(w, request)
	asking, err := r.record(context.WithoutCancel(request.Context()))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
	return asking
}

// record compares the account before and after a call, and lets clients ask.
func (r *recorder) record(ctx context.Context) (asking []<-chan struct{}, err error) {
	page := r.cloud.Journal().Query(journal.Query{Since: r.seen, Fields: map[string]string{"kind": string(journal.KindCall)}})
	r.seen = page.Last
	for _, entry := range page.Entries {
		mutates := r.mutates[entry.Product+" "+entry.Action]
		if mutates || entry.Product == "Slb" || entry.Product == "Nlb" { // other reads may well come all the time
			r.worked()
		}
		if !mutates {
			continue
		}
		c := &Change{Change: upgradecheck.Of(entry, r.describe), Guess: entry.Evidence, product: entry.Product, Verdict: Verdict{Meant: len(entry.Faults) > 0}}
		if entry.Code != "" {
			c.Message = r.message(entry.Sequence)
		}
		about := r.now.about(slices.Concat([]string{entry.Resource, entry.Made}, entry.Also, entry.AlsoMade))
		next, err := r.look(ctx, about...)
		if err != nil {
			return nil, err
		}
		r.place(c, entry, next)
		r.now.moved(next, c)
		c.made = r.now.made(next)
		r.notice(c, next, about)
		r.add(c)
		r.worked()
		if entry.Code == "" {
			return r.traffic.ask(ctx, next, about, false), r.fork(ctx)
		}
	}
	return nil, nil
}

// add adds a change to the phase, and counts a refusal that came before.
func (r *recorder) add(c *Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Times = 1
	for _, o := range r.phase.Changes {
		if c.Code != "" && o.Code == c.Code && o.Action == c.Action && o.LoadBalancer == c.LoadBalancer && o.Item == c.Item && o.Meant == c.Meant {
			o.Times++
			return
		}
	}
	r.phase.Changes = append(r.phase.Changes, c)
}

// notice adds what clients notice of a change to some resources or all, and ends what they noticed before.
func (r *recorder) notice(c *Change, next *view, about []string) {
	at := time.Now()
	c.Felt = append(c.Felt, r.now.felt(next)...)
	r.open = slices.DeleteFunc(r.open, func(f *Felt) bool {
		over := (about == nil || slices.Contains(about, f.LoadBalancer)) && next.over(f)
		if over {
			f.Lasted = at.Sub(f.begun).Round(time.Millisecond).String()
		}
		return over
	})
	for _, f := range c.Felt {
		f.begun = at
		r.open = append(r.open, f)
	}
	r.now = next
}

// settle adds what changed after the calls, such as when a stage ended.
func (r *recorder) settle(ctx context.Context) error {
	asking, err := r.settleNow(ctx)
	await(asking, nil)
	r.change.Lock()
	defer r.change.Unlock()
	r.phase.Breaks = r.traffic.end()
	return err
}

func (r *recorder) settleNow(ctx context.Context) (asking []<-chan struct{}, err error) {
	r.change.Lock()
	defer r.change.Unlock()
	next, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	c := &Change{Change: upgradecheck.Change{Change: "what took the cloud some time"}}
	r.now.moved(next, c)
	r.notice(c, next, nil)
	switch n := len(r.phase.Changes); {
	case len(c.Felt) > 0 && n > 0:
		last := r.phase.Changes[n-1]
		last.Felt = append(last.Felt, c.Felt...)
	case len(c.Felt) > 0:
		r.phase.Changes = append(r.phase.Changes, c)
	}
	return r.traffic.ask(ctx, next, nil, false), r.fork(ctx)
}

// describe asks the account as it was before the call.
func (r *recorder) describe(caller *journal.Entry, action string, params map[string]string) map[string]any {
	params["RegionId"] = caller.Region
	client := apiclient.Client{URL: "http://localhost", HTTP: &http.Client{Transport: controlclient.Transport(r.before.Handler())}, AccessKeyID: caller.AccessKeyID}
	reply, err := client.CallContext(context.Background(), emulator.Version(caller.Product), action, params)
	if err != nil || reply.Status != http.StatusOK {
		return nil
	}
	return reply.Body
}

// message returns the message of a refused call.
func (r *recorder) message(sequence uint64) string {
	page := r.cloud.Journal().Query(journal.Query{Since: sequence - 1, Fields: map[string]string{"sequence": strconv.FormatUint(sequence, 10)}})
	var answer struct{ Message string }
	for _, entry := range page.Entries {
		_ = json.Unmarshal([]byte(entry.Answer), &answer) // a cut one has no message
	}
	return answer.Message
}

// place says which load balancer a change is about, and which of its parts.
func (r *recorder) place(c *Change, entry *journal.Entry, next *view) {
	get := entry.Parameters.Get
	c.LoadBalancer, c.Item = get("LoadBalancerId"), get("ListenerPort")
	c.names = []string{get("LoadBalancerName"), get("Tag.1.Value")}
	for _, id := range []string{entry.Made, get("ResourceId.1"), get("InstanceId")} {
		if c.LoadBalancer == "" && (r.now.balancers[id] != nil || next.balancers[id] != nil) {
			c.LoadBalancer = id
		}
	}
	for _, v := range []*view{r.now, next} {
		for _, id := range []string{get("ListenerId"), entry.Made, get("ResourceId.1")} {
			if l := v.listeners[id]; l != nil {
				c.LoadBalancer, c.Item = l.LoadBalancer, l.Fields["port"]
			}
		}
		for _, id := range []string{get("VServerGroupId"), get("ServerGroupId"), entry.Made, get("ResourceId.1")} {
			g := v.groups[id]
			if g == nil || c.Item != "" {
				continue
			}
			c.group, c.Item = id, g.Name
			if c.LoadBalancer == "" {
				c.LoadBalancer = g.LoadBalancer
			}
		}
		for _, l := range v.listeners {
			if c.LoadBalancer == "" && c.group != "" && l.Fields["group"] == c.group {
				c.LoadBalancer = l.LoadBalancer
			}
		}
	}
	if c.Item == "" && entry.Product == "Vpc" {
		c.Item = strings.TrimSpace(get("DestinationCidrBlock") + " " + get("RouteEntries.1.DstCidrBlock"))
	}
}
