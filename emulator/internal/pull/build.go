package pull

import (
	"net/netip"
	"reflect"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// builder puts what was read into a transaction.
type builder struct {
	p    *Puller
	tx   *state.Tx
	rows map[state.Kind][]row
	// limits are the usual ones of quotas.
	limits map[state.QuotaName]int
}

func (b *builder) has(kind state.Kind, id string) bool { return b.p.has(kind, id) }

// The access key with which clients call the copy: the default world's.
const (
	keyID     = "testid"
	keySecret = "testsecret"
)

// build puts the copy into an empty state.
func (p *Puller) build(everything *state.Tx) error {
	if p.Anonymise {
		h := newHider(p.account)
		for _, rows := range p.rows {
			for _, r := range rows {
				h.row(r)
			}
		}
		p.account = anonymousAccount
	}
	owner := state.Owner{AccountID: p.account, RegionID: p.Region}
	b := &builder{p: p, tx: everything.In(owner), rows: p.rows, limits: make(map[state.QuotaName]int)}
	for _, use := range state.QuotaUses(b.tx.View) {
		b.limits[use.Name] = use.Default
	}
	b.plantAccount()
	for _, k := range allKinds() {
		for _, r := range p.rows[k.name] {
			if err := b.putRow(k, r); err != nil {
				p.report.leaveOut(string(k.name), k.identify(r), err.Error())
			}
		}
	}
	if _, ok := kinds.Regions.Find(b.tx.View, p.Region); !ok {
		kinds.Regions.Put(b.tx, &kinds.Region{ID: p.Region, PublicCIDRBlock: "198.18.0.0/16", PublicIPv6CIDRBlock: "2001:db8:1::/64"})
	}
	everything.DropUnsound(func(kind state.Kind, id, reason string) {
		if !everything.Schema().Internal(kind) {
			p.report.leaveOut(string(kind), id, reason)
		}
	})
	b.withholdAddresses()
	b.goOn()
	p.report.finish(everything.View, p.done)
	return nil
}

// plantAccount puts the account, with the default world's key.
func (b *builder) plantAccount() {
	a := &kinds.Account{ID: b.p.account, DefaultRegionID: b.p.Region, Balance: 100 * kinds.MinimumBalance, GraceDays: 15, ReleaseDays: 15}
	for _, group := range b.rows[kinds.ResourceGroups.Kind()] {
		if group.text("Name") == "default" || group.text("DisplayName") == "default resource group" {
			a.DefaultResourceGroupID = group.text("Id")
		}
	}
	kinds.Accounts.Put(b.tx, a)
	kinds.AccessKeys.Put(b.tx, &kinds.AccessKey{ID: keyID, Secret: keySecret, AccountID: a.ID, Status: kinds.AccessKeyActive})
}

// putRow puts a resource with its tags.
func (b *builder) putRow(k *kind, r row) error {
	id, err := k.put(b, r)
	if err != nil || k.tags == "" {
		return err
	}
	for _, t := range r.list(k.tags) {
		if key, value := tagOf(t); key != "" {
			tx := b.tx
			if _, ok := k.rowOf.FieldByName("RegionID"); !ok {
				tx = tx.In(state.Owner{AccountID: b.p.account})
			}
			state.SetTag(tx, k.tag, id, key, value)
		}
	}
	return nil
}

// own makes the account and the region the owner of a resource.
func (b *builder) own(of reflect.Value) {
	if account := of.FieldByName("AccountID"); account.IsValid() {
		account.SetString(b.p.account)
	}
	if owner := of.FieldByName("Owner"); owner.IsValid() {
		owner.Set(reflect.ValueOf(b.tx.Scope()))
	}
}

// take gives a resource its addresses: each out of the one of its vSwitches in whose blocks it is,
// or else out of the public ones.
func (b *builder) take(kind state.Kind, id string, of reflect.Value) {
	ids := vSwitchesIn(of)
	kinds.HoldAddresses(b.tx, kind, id, func(ip string) string {
		for _, id := range ids {
			if s, ok := kinds.VSwitches.Find(b.tx.View, id); ok && (within(s.CIDRBlock, ip) || within(s.IPv6CIDRBlock, ip)) {
				return s.ID
			}
		}
		return kinds.PublicPool(b.p.Region)
	})
}

func within(block, ip string) bool {
	prefix, err := netip.ParsePrefix(block)
	address, wrong := netip.ParseAddr(ip)
	return err == nil && wrong == nil && prefix.Contains(address)
}

// vSwitchesIn lists the vSwitches that a resource names.
func vSwitchesIn(of reflect.Value) (ids []string) {
	if own := of.FieldByName("VSwitchID"); own.IsValid() {
		ids = append(ids, own.String())
	}
	if zones := of.FieldByName("ZoneMappings"); zones.IsValid() {
		for i := range zones.Len() {
			ids = append(ids, zones.Index(i).FieldByName("VSwitchID").String())
		}
	}
	return ids
}

// withholdAddresses leaves each vSwitch as many free addresses as the account says: what clbemu
// does not know holds the others.
func (b *builder) withholdAddresses() {
	for _, r := range b.rows[kinds.VSwitches.Kind()] {
		s, ok := kinds.VSwitches.Find(b.tx.View, r.text("VSwitchId"))
		free := field{name: "Free", paths: []string{"AvailableIpAddressCount"}}
		var said struct{ Free int }
		said.Free = -1
		if !ok || free.set(reflect.ValueOf(&said).Elem(), r) != nil || said.Free < 0 {
			continue
		}
		if said.Free < kinds.AvailableAddresses(b.tx.View, s) {
			_ = kinds.SetFreeAddresses(b.tx, s, said.Free) // it has more
		}
	}
}

// statusPaths lists the places of a status in rows.
var statusPaths = []string{"Status", "LoadBalancerStatus", "ListenerStatus", "ServerGroupStatus"}

// configured are the statuses after stages that have several.
var configured = map[state.Stage][]string{
	kinds.StageListenerConfiguring:    {string(kinds.ListenerRunning)},
	kinds.StageNLBListenerConfiguring: {kinds.NLBListenerRunning},
}

// goOn lets what the account is at work on come to its end.
func (b *builder) goOn() {
	for _, k := range allKinds() {
		stages, present := make(map[string]state.Stage), make(map[string]bool)
		for stage, status := range b.tx.Schema().StagesOf(k.name) {
			if status == state.Busy {
				status = "configuring"
			}
			stages[status] = stage
		}
		for _, id := range b.tx.IDs(k.name) {
			present[id] = true
		}
		for _, r := range b.rows[k.name] {
			id := k.identify(r)
			for _, path := range statusPaths {
				if stage, underway := stages[r.text(path)]; underway && present[id] {
					state.Enter(b.tx.Paced(b.tx.Schema().Stages()), stage, id, configured[stage]...)
				}
			}
		}
	}
}
