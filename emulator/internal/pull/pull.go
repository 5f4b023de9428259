// Package pull copies a real account into a state: it reads load balancers, their networks and
// their servers, and puts them with the ids, statuses and times of the account. It only reads, and
// makes nothing up: what no answer says is absent, and its report lists it.
package pull

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine/bolt"
)

// Puller copies one account.
type Puller struct {
	Region string
	// The choice: load balancers of these VPCs, with these ids, with all of these tags. Empty
	// ones choose all.
	VPCs, LoadBalancers []string
	Tags                map[string]string
	// Resume goes on with what an interrupted pull has read.
	Resume bool
	// Anonymise replaces names, addresses, domains and account ids.
	Anonymise bool
	// Call makes a call of the account. Its error ends the pull.
	Call func(ctx context.Context, product, action string, params map[string]string) (status int, answer map[string]any, err error)
	// Pause returns how long a call of an action waits for the one before it.
	Pause func(product, action string) time.Duration
	// Progress, if set, gets how many calls are done, and of how many.
	Progress func(done, planned int)
	// Estimated, if set, gets how many calls are left at least, and how long they take.
	Estimated func(calls int, wait time.Duration)

	dir           string
	answers       *answers
	account       string
	rows          map[state.Kind][]row
	ids           map[state.Kind]map[string]bool
	report        *Report
	done, planned int
	// asked counts the answers, including those that were known.
	asked int
}

// New returns what copies an account into a folder, where no state may be yet.
func New(dir string) *Puller { return &Puller{dir: dir} }

// store puts the copy into the folder.
func (p *Puller) store(ctx context.Context) error {
	e, err := bolt.Open(p.dir)
	if err != nil {
		return err
	}
	s, err := state.Open(ctx, state.Config{Schema: kinds.Schema, Engine: e, Requires: kinds.Requires})
	if err != nil {
		return err
	}
	var problems []string
	if err = s.Reset(p.build); err == nil {
		problems, err = s.Check(ctx)
	}
	if len(problems) > 0 {
		err = fmt.Errorf("the copy is inconsistent: %s", problems[0])
	}
	return errors.Join(err, s.Close())
}

// has reports whether a resource was read.
func (p *Puller) has(kind state.Kind, id string) bool { return p.ids[kind][id] }

// inVPC reports whether a row is in a chosen VPC, or no VPC is chosen.
func (p *Puller) inVPC(r row) bool { return p.inVPCAt(r, "VpcId") }

func (p *Puller) inVPCAt(r row, path string) bool {
	return len(p.VPCs) == 0 || slices.Contains(p.VPCs, r.text(path))
}

// wants reports whether a load balancer is chosen.
func (p *Puller) wants(r row) bool {
	if !p.inVPC(r) || len(p.LoadBalancers) > 0 && !slices.Contains(p.LoadBalancers, r.text("LoadBalancerId")) {
		return false
	}
	tags := make(map[string]string)
	for _, path := range []string{"Tags.Tag", "Tags"} {
		for _, t := range r.list(path) {
			key, value := tagOf(t)
			tags[key] = value
		}
	}
	for key, value := range p.Tags {
		if has, ok := tags[key]; !ok || has != value {
			return false
		}
	}
	return true
}

func tagOf(t row) (key, value string) {
	if key = t.text("TagKey"); key != "" {
		return key, t.text("TagValue")
	}
	return t.text("Key"), t.text("Value")
}

// ErrNothingRead is the error of a pull that may read nothing.
var ErrNothingRead = errors.New("the account lets these credentials read nothing")

// Pull copies the account, and reports what is in the copy and what is missing. Where it ends with
// an error, the folder keeps what was read, and Resume goes on with it.
func (p *Puller) Pull(ctx context.Context) (*Report, error) {
	identity, err := p.identify(ctx)
	if err != nil {
		return nil, err
	}
	p.account = identity
	p.rows, p.ids = make(map[state.Kind][]row), make(map[state.Kind]map[string]bool)
	p.report = newReport(p)
	p.answers, err = openAnswers(p.dir, p.scope(), p.Resume)
	if err != nil {
		return nil, errors.Join(err, p.answers.close(false))
	}
	done := false
	defer func() { _ = p.answers.close(done) }() // the copy is complete, or can be resumed
	if err := p.readAll(ctx); err != nil {
		return p.report, err
	}
	if err := p.store(ctx); err != nil {
		return p.report, err
	}
	done = true
	return p.report, nil
}

func (p *Puller) scope() scope {
	return scope{Account: p.account, Region: p.Region, VPCs: p.VPCs, LoadBalancers: p.LoadBalancers, Tags: p.Tags, Anonymised: p.Anonymise}
}

// identify returns the id of the account.
func (p *Puller) identify(ctx context.Context) (string, error) {
	status, answer, err := p.Call(ctx, "Sts", "GetCallerIdentity", nil)
	if err != nil {
		return "", err
	}
	id := row(answer).text("AccountId")
	if status >= 400 || id == "" {
		return "", fmt.Errorf("the cloud does not say whose credentials these are: GetCallerIdentity was answered with %d %s", status, row(answer).text("Code"))
	}
	return id, nil
}

// readAll reads the lists that are asked for once, estimates the rest, and reads that.
func (p *Puller) readAll(ctx context.Context) error {
	all := allKinds()
	p.plan(all)
	for _, k := range all {
		if k.of == "" {
			if err := p.readKind(ctx, k, row{}); err != nil {
				return err
			}
		}
	}
	if p.report.refusedAll(p.asked) {
		return fmt.Errorf("%w (%s): clbemu state pull --policy prints the policy that they need", ErrNothingRead, p.report.Refused[0].Code)
	}
	p.estimate(all)
	for _, k := range all {
		for _, owner := range p.owners(k) {
			if err := p.readKind(ctx, k, owner); err != nil {
				return err
			}
		}
		if err := p.readDetails(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// owners returns the rows for each of which a kind has a list.
func (p *Puller) owners(k *kind) (list []row) {
	for _, owner := range p.rows[k.of] {
		if k.of != "" && (k.when == nil || k.when(owner)) {
			list = append(list, owner)
		}
	}
	return list
}

// plan counts the lists that are asked for once.
func (p *Puller) plan(all []*kind) {
	for _, k := range all {
		if k.of == "" {
			p.planned += len(k.lists) + len(k.joined)
		}
	}
}

// estimate adds the calls that are certain once the lists are known.
func (p *Puller) estimate(all []*kind) {
	calls, wait := 0, time.Duration(0)
	count := func(r read, n int) {
		calls += n
		wait += time.Duration(n) * p.Pause(r.product, r.action)
	}
	for _, k := range all {
		if n := len(p.owners(k)); n > 0 {
			count(k.lists[0], n)
		}
		for _, d := range k.details {
			for _, r := range p.rows[k.name] {
				if d.when == nil || d.when(r) {
					count(d.read, 1)
				}
			}
		}
	}
	p.planned = p.done + calls
	if p.Estimated != nil {
		p.Estimated(calls, wait)
	}
}

// readKind reads the lists of a kind, of one owner or of the whole account.
func (p *Puller) readKind(ctx context.Context, k *kind, owner row) error {
	for _, list := range k.lists {
		rows, _, err := p.readList(ctx, list, owner)
		if refusal := (*refused)(nil); errors.As(err, &refusal) && refusal.missing() {
			continue // which is how some lists say that they are empty
		}
		if p.lacks(err, string(k.name), "", "") {
			continue
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			p.keep(k, r, owner)
		}
	}
	for _, j := range k.joined {
		entries, _, err := p.readList(ctx, j.read, row{})
		if !p.lacks(err, string(k.name), "", j.as) && err != nil {
			return err
		}
		for _, e := range entries {
			for _, r := range p.rows[k.name] {
				if k.identify(r) == k.identify(e) {
					r[j.as] = map[string]any(e)
				}
			}
		}
	}
	return nil
}

// keep keeps a row, if it is chosen and clbemu has such a thing.
func (p *Puller) keep(k *kind, r, owner row) {
	for _, name := range k.spread {
		if within, ok := r[name].(map[string]any); ok {
			delete(r, name)
			maps.Copy(r, within)
		}
	}
	r[parent] = owner
	id := k.identify(r)
	if k.chosen != nil && !k.chosen(p, r) || p.has(k.name, id) {
		return
	}
	if k.foreign != nil {
		if why := k.foreign(r); why != "" {
			p.report.leaveOut(string(k.name), id, why)
			return
		}
	}
	if p.ids[k.name] == nil {
		p.ids[k.name] = make(map[string]bool)
	}
	p.ids[k.name][id] = true
	p.rows[k.name] = append(p.rows[k.name], r)
}

// readDetails reads what lists do not say of the rows of a kind.
func (p *Puller) readDetails(ctx context.Context, k *kind) error {
	kept := p.rows[k.name][:0]
	for _, r := range p.rows[k.name] {
		whole, err := p.readDetailsOf(ctx, k, r)
		if err != nil {
			return err
		}
		if whole {
			kept = append(kept, r)
		} else {
			delete(p.ids[k.name], k.identify(r))
		}
	}
	p.rows[k.name] = kept
	return nil
}

// readDetailsOf adds the details of one row, and reports whether it has those that it needs.
func (p *Puller) readDetailsOf(ctx context.Context, k *kind, r row) (whole bool, err error) {
	for _, d := range k.details {
		if d.when != nil && !d.when(r) {
			continue
		}
		list, answer, err := p.readList(ctx, d.read, r)
		if refusal := (*refused)(nil); errors.As(err, &refusal) && refusal.missing() && d.needed {
			p.report.leaveOut(string(k.name), k.identify(r), "it went while the account was read")
			return false, nil
		}
		if p.lacks(err, string(k.name), k.identify(r), d.as) {
			if d.needed {
				p.report.leaveOut(string(k.name), k.identify(r), err.Error())
				return false, nil
			}
			continue
		}
		if err != nil {
			return false, err
		}
		if d.as == "" {
			maps.Copy(r, answer)
			continue
		}
		entries := make([]any, len(list))
		for i, e := range list {
			entries[i] = map[string]any(e)
		}
		r[d.as] = entries
		if d.also != "" {
			r[d.also] = answer[d.also]
		}
	}
	return true, nil
}

// lacks notes a refusal, which leaves something out, and reports whether the error is one.
func (p *Puller) lacks(err error, kind, id, what string) bool {
	refusal := (*refused)(nil)
	if !errors.As(err, &refusal) {
		return false
	}
	p.report.refuse(refusal, kind, id, what)
	return true
}

// mostPages bounds a list whose tokens have no end.
const mostPages = 100_000

// readList reads all pages of a list. Without a list, the answer is the one row.
func (p *Puller) readList(ctx context.Context, r read, about row) (rows []row, first row, err error) {
	params := map[string]string{}
	for name, value := range r.params {
		if len(value) > 0 && value[0] == '=' {
			value = about.text(value[1:])
		}
		params[name] = value
	}
	if r.pages.size != "" {
		params[r.pages.size] = strconv.Itoa(r.pages.most)
	}
	for page := 1; page < mostPages; page++ {
		if r.pages.number != "" {
			params[r.pages.number] = strconv.Itoa(page)
		}
		answer, err := p.ask(ctx, r.product, r.action, maps.Clone(params))
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = answer
		}
		if r.list == "" {
			return []row{answer}, answer, nil
		}
		part := answer.list(r.list)
		rows = append(rows, part...)
		switch next := answer.text(r.pages.token); {
		case r.pages.token != "" && next != "" && next != params[r.pages.token]:
			params[r.pages.token] = next
		case r.pages.number != "" && len(part) == r.pages.most && strconv.Itoa(len(rows)) != answer.text("TotalCount"):
		default:
			return rows, first, nil
		}
		p.planned++
	}
	return nil, nil, fmt.Errorf("%s has no last page", r.action)
}

// Unfinished returns an error if the folder is one that a pull was to fill and did not.
func (p *Puller) Unfinished() error { return Unfinished(p.dir) }

// Actions lists the actions that a pull calls, as policies name them.
func (p *Puller) Actions() (list []string) {
	seen := make(map[string]bool)
	for _, k := range allKinds() {
		for _, r := range k.reads() {
			seen[ramAction(r)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func ramAction(r read) string {
	for _, product := range products.All() {
		if product.Name == r.product {
			return product.PolicyName() + ":" + r.action
		}
	}
	return r.product + ":" + r.action
}

// Policy returns the least RAM policy with which a pull can read everything.
func (p *Puller) Policy() string {
	return kinds.PolicyDocument{Version: "1", Statement: []kinds.PolicyStatement{{Effect: "Allow", Action: p.Actions(), Resource: kinds.TextList{"*"}}}}.String()
}
