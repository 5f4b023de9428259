// Package conditions owns what can be changed of a world while it is served: a row for
// each condition, with its reader, its writer, its help and its scope. It must not know
// who asks.
package conditions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/world/resources"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// A Scope says of what a condition is one.
type Scope string

// The scopes.
const (
	OfAccount Scope = "account"
	OfRegion  Scope = "region"
	OfAll     Scope = "emulator"
)

// Names are what conditions can be named after that the store does not know.
type Names struct {
	Schema *state.Schema
	// Actions are those of the products.
	Actions []string
}

// Condition is a part of the world that can be changed while clients work: what the
// account owes, what is in stock, a quota, a policy. Its value is a text.
type Condition struct {
	// Name has dots in it, and <…> for what is named by who asks.
	Name string
	// Help is for people: what the value is, and does.
	Help  string
	Scope Scope
	// Secret conditions have values that nothing may tell but an export.
	Secret bool
	// Policy conditions have policy documents for values.
	Policy bool

	// named lists what may stand for <…>; nil where only a world knows.
	named func(Names) []string
	write func(c *change, named, value string) error
	// read lists the settings in force; nil for what can only be set, or is listed by
	// another row.
	read func(c *change) []controlapi.Setting
}

// Named lists what may stand for the <…> of the name, nil where only a world knows
// that.
func (c *Condition) Named(known Names) []string {
	if c.named == nil {
		return nil
	}
	return c.named(known)
}

// change is a transaction, or a view of it, with the account and region that a
// condition is about.
type change struct {
	*state.View
	tx      *state.Tx
	account *cloud.Account
	region  string
}

// Shown is the setting as it may be told: without its value if that is a secret.
func Shown(s controlapi.Setting) controlapi.Setting {
	if c, _, ok := Find(s.Name); ok && c.Secret {
		s.Value = "(hidden)"
	}
	return s
}

var conditions = []Condition{
	{Name: "account.balance", Help: "CNY; a purchase needs 100", Scope: OfAccount,
		write: setNumber(-resources.MaxBalance, resources.MaxBalance, func(a *cloud.Account, n int) { a.Balance = n }),
		read:  one("account.balance", func(c *change) string { return strconv.Itoa(c.account.Balance) })},
	{Name: "account.arrears", Help: "true: the account owes, buys nothing, and after its grace is locked", Scope: OfAccount,
		write: setArrears,
		read:  one("account.arrears", func(c *change) string { return strconv.FormatBool(!c.account.ArrearsSince.IsZero()) })},
	{Name: "account.graceDays", Help: "days from arrears to the lock of all load balancers", Scope: OfAccount,
		write: setNumber(0, resources.MaxDays, func(a *cloud.Account, n int) { a.GraceDays = n }),
		read:  one("account.graceDays", func(c *change) string { return strconv.Itoa(c.account.GraceDays) })},
	{Name: "account.releaseDays", Help: "days from the lock to the release of all load balancers", Scope: OfAccount,
		write: setNumber(0, resources.MaxDays, func(a *cloud.Account, n int) { a.ReleaseDays = n }),
		read:  one("account.releaseDays", func(c *change) string { return strconv.Itoa(c.account.ReleaseDays) })},
	{Name: "account.lcuToSpec", Help: "true: PayByCLCU may be changed to PayBySpec", Scope: OfAccount,
		write: setFlag(lcuToSpec), read: getFlag("account.lcuToSpec", lcuToSpec)},
	{Name: "account.refuseExpiredCertificates", Help: "true: a certificate that has expired can't be uploaded", Scope: OfAccount,
		write: setFlag(refusesExpired), read: getFlag("account.refuseExpiredCertificates", refusesExpired)},
	{Name: "account.refuseAttachedBackends", Help: "true: AddBackendServers refuses a server that is in the default group", Scope: OfAccount,
		write: setFlag(refusesAttached), read: getFlag("account.refuseAttachedBackends", refusesAttached)},
	{Name: "quota.<name>", Help: "a limit, or default", Scope: OfAccount, named: quotaNames, write: setQuota, read: getQuotas},
	{Name: "stock.shared", Help: "true: instances without a spec are sold", Scope: OfRegion, write: setShared, read: one("stock.shared", getShared)},
	{Name: "stock.ipv6", Help: "false: IPv6 instances are not sold", Scope: OfRegion, write: setIPv6, read: one("stock.ipv6", getIPv6)},
	{Name: "stock.<zone>", Help: "soldout or available; <zone>.internet and <zone>.intranet for one kind", Scope: OfRegion, write: setStock, read: getStock},
	{Name: "vswitch.<id>.freeAddresses", Help: "how many addresses are free, or all", Scope: OfRegion, write: setFreeAddresses, read: getFreeAddresses},
	{Name: "throttle.profile", Help: "off or realistic", Scope: OfAccount, write: setThrottleProfile, read: one("throttle.profile", getThrottleProfile)},
	{Name: "throttle.account", Help: "calls a second of the account, such as 10 or 10/20 with the burst, or default", Scope: OfAccount,
		write: setRate(func(t *cloud.Throttle, _ string, r *cloud.Rate) { t.Account = r }), read: getThrottles},
	{Name: "throttle.key", Help: "calls a second of an access key", Scope: OfAccount,
		write: setRate(func(t *cloud.Throttle, _ string, r *cloud.Rate) { t.Key = r })},
	{Name: "throttle.action.<action>", Help: "calls a second of an action", Scope: OfAccount,
		named: func(known Names) []string { return known.Actions }, write: setRate(setActionRate)},
	{Name: "key.<id>.status", Help: "active, inactive or deleted", Scope: OfAccount, write: setKey, read: getKeys},
	{Name: "key.<id>.secret", Help: "the secret of an access key, which is made if there is none", Scope: OfAccount, Secret: true, write: setSecret},
	{Name: "policy.key.<id>", Help: "what the RAM user of an access key may do: a policy document, or none", Scope: OfAccount, Policy: true,
		write: setPolicy(cloud.KeyPrincipal, hasKey), read: getPolicies},
	{Name: "policy.role.<name>", Help: "what a RAM role may do: a policy document, or none", Scope: OfAccount, Policy: true,
		write: setPolicy(cloud.RolePrincipal, hasRole)},
	{Name: "life.profile", Help: "instant or realistic", Scope: OfAll, write: setLifeProfile, read: one("life.profile", getLifeProfile)},
	{Name: "life.<stage>", Help: "how long a stage takes, such as 2s, or default", Scope: OfAll, named: stages, write: setLife, read: getLife},
}

// All lists the conditions.
func All() []Condition { return conditions }

func quotaNames(known Names) (list []string) {
	for _, q := range known.Schema.QuotaNames() {
		list = append(list, string(q))
	}
	return list
}

func stages(known Names) (list []string) {
	for stage := range known.Schema.Stages() {
		list = append(list, string(stage))
	}
	slices.Sort(list)
	return list
}

// Set changes conditions, in order and all or none of them.
func Set(tx *state.Tx, where controlapi.Where, settings []controlapi.Setting) error {
	for _, setting := range settings {
		s, err := changeIn(tx.In(state.Owner{}), where)
		if err != nil {
			return err
		}
		c, named, ok := Find(setting.Name)
		if !ok {
			return fmt.Errorf("there is no condition %s: `clbemu world set --help` lists them", setting.Name)
		}
		if err := c.write(s, named, setting.Value); err != nil {
			return fmt.Errorf("%s=%s: %w", setting.Name, Shown(setting).Value, err)
		}
	}
	return nil
}

// Get lists what is in force.
func Get(v *state.View, where controlapi.Where) ([]controlapi.Setting, error) {
	s, err := changeIn(&state.Tx{View: v.In(state.Owner{})}, where)
	if err != nil {
		return nil, err
	}
	var list []controlapi.Setting
	for _, c := range conditions {
		if c.read != nil {
			list = append(list, c.read(s)...)
		}
	}
	return list, nil
}

func changeIn(tx *state.Tx, where controlapi.Where) (*change, error) {
	owner, err := resources.Owner(tx.View, where)
	if err != nil {
		return nil, err
	}
	account, _ := cloud.Accounts.Find(tx.View, owner.AccountID)
	return &change{View: tx.View, tx: tx, account: account, region: owner.RegionID}, nil
}

// Find returns the condition of a name, and what stands for its <…>.
func Find(name string) (c *Condition, named string, ok bool) {
	for i := range conditions {
		before, rest, variable := strings.Cut(conditions[i].Name, "<")
		_, after, _ := strings.Cut(rest, ">")
		named, fits := strings.CutPrefix(name, before)
		if fits {
			named, fits = strings.CutSuffix(named, after)
		}
		if fits && (named != "") == variable {
			return &conditions[i], named, true
		}
	}
	return nil, "", false
}

func one(name string, value func(*change) string) func(*change) []controlapi.Setting {
	return func(c *change) []controlapi.Setting { return []controlapi.Setting{{Name: name, Value: value(c)}} }
}

func (c *change) editAccount(change func(*cloud.Account)) error {
	return cloud.Accounts.Edit(c.tx, c.account.ID, func(a *cloud.Account) error {
		change(a)
		return nil
	})
}

func setNumber(least, most int, assign func(*cloud.Account, int)) func(*change, string, string) error {
	return func(c *change, _, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a number from %d to %d", least, most)
		}
		return c.editAccount(func(a *cloud.Account) { assign(a, n) })
	}
}

func parseBool(value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return b, nil
}

func setArrears(c *change, _, value string) error {
	owing, err := parseBool(value)
	if err != nil {
		return err
	}
	return cloud.SetArrears(c.tx, c.account.ID, owing)
}

// The flags of an account.
func lcuToSpec(a *cloud.Account) *bool       { return &a.LCUToSpec }
func refusesExpired(a *cloud.Account) *bool  { return &a.RefusesExpiredCertificates }
func refusesAttached(a *cloud.Account) *bool { return &a.RefusesAttachedBackends }

func setFlag(flag func(*cloud.Account) *bool) func(*change, string, string) error {
	return func(c *change, _, value string) error {
		on, err := parseBool(value)
		if err != nil {
			return err
		}
		return c.editAccount(func(a *cloud.Account) { *flag(a) = on })
	}
}

func getFlag(name string, flag func(*cloud.Account) *bool) func(*change) []controlapi.Setting {
	return one(name, func(c *change) string { return strconv.FormatBool(*flag(c.account)) })
}

func setQuota(c *change, named, value string) error {
	name := state.QuotaName(named)
	if !slices.Contains(c.Schema().QuotaNames(), name) {
		return fmt.Errorf("there is no such quota: `clbemu quota` lists them")
	}
	if value == "default" {
		state.Quotas.Delete(c.tx, state.QuotaID(c.account.ID, name))
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("want a number that is not negative, or default")
	}
	state.Quotas.Put(c.tx, &state.Quota{AccountID: c.account.ID, Name: name, Limit: n})
	return nil
}

func getQuotas(c *change) []controlapi.Setting {
	var list []controlapi.Setting
	for _, name := range c.Schema().QuotaNames() {
		if q, ok := state.Quotas.Find(c.View, state.QuotaID(c.account.ID, name)); ok {
			list = append(list, controlapi.Setting{Name: "quota." + string(name), Value: strconv.Itoa(q.Limit)})
		}
	}
	return list
}

func (c *change) editRegion(change func(*cloud.Region) error) error {
	return cloud.Regions.Edit(c.tx, c.region, change)
}

func setShared(c *change, _, value string) error {
	sold, err := parseBool(value)
	if err != nil {
		return err
	}
	return c.editRegion(func(r *cloud.Region) error {
		r.SharedInstancesSold = sold
		return nil
	})
}

func getShared(c *change) string {
	r, _ := cloud.Regions.Find(c.View, c.region)
	return strconv.FormatBool(r.SharedInstancesSold)
}

func setIPv6(c *change, _, value string) error {
	sold, err := parseBool(value)
	if err != nil {
		return err
	}
	return c.editRegion(func(r *cloud.Region) error {
		if sold && r.PublicIPv6CIDRBlock == "" {
			return errors.New("the region has no IPv6 block")
		}
		r.IPv6Halted = !sold
		return nil
	})
}

func getIPv6(c *change) string {
	r, _ := cloud.Regions.Find(c.View, c.region)
	return strconv.FormatBool(r.SellsIPv6())
}

func setStock(c *change, named, value string) error {
	zone, kind, _ := strings.Cut(named, ".")
	stock := cloud.ZoneStock{ZoneID: zone, AddressType: cloud.AddressType(kind)}
	if kind != "" && stock.AddressType != cloud.AddressTypeInternet && stock.AddressType != cloud.AddressTypeIntranet {
		return errors.New("want internet or intranet behind the zone")
	}
	if value != "soldout" && value != "available" {
		return errors.New("want soldout or available")
	}
	return c.editRegion(func(r *cloud.Region) error {
		if !slices.ContainsFunc(r.Zones, func(z cloud.Zone) bool { return z.ID == zone }) {
			return fmt.Errorf("there is no zone %s in %s: there are %s", zone, r.ID, resources.List(slices.Values(r.Zones), func(z cloud.Zone) string { return z.ID }))
		}
		left := slices.DeleteFunc(slices.Clone(r.SoldOut), func(is cloud.ZoneStock) bool {
			return is == stock || kind == "" && is.ZoneID == zone
		})
		if value == "soldout" {
			left = append(left, stock)
		}
		r.SoldOut = left
		return nil
	})
}

func getStock(c *change) []controlapi.Setting {
	r, _ := cloud.Regions.Find(c.View, c.region)
	var list []controlapi.Setting
	for _, is := range r.SoldOut {
		name := "stock." + is.ZoneID
		if is.AddressType != "" {
			name += "." + string(is.AddressType)
		}
		list = append(list, controlapi.Setting{Name: name, Value: "soldout"})
	}
	return list
}

func setFreeAddresses(c *change, named, value string) error {
	vSwitch, ok := cloud.VSwitches.Find(c.View, named)
	if !ok {
		return fmt.Errorf("there is no vSwitch %s", named)
	}
	if value == "all" {
		cloud.FreeAllAddresses(c.tx, vSwitch)
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return errors.New("want a number or all")
	}
	if err := cloud.SetFreeAddresses(c.tx, vSwitch, n); err != nil {
		return fmt.Errorf("the vSwitch has fewer free addresses than that")
	}
	return nil
}

func getFreeAddresses(c *change) []controlapi.Setting {
	var list []controlapi.Setting
	for vSwitch := range cloud.VSwitches.All(c.In(state.Owner{AccountID: c.account.ID, RegionID: c.region})) {
		list = append(list, controlapi.Setting{Name: "vswitch." + vSwitch.ID + ".freeAddresses", Value: strconv.Itoa(cloud.AvailableAddresses(c.View, vSwitch))})
	}
	return list
}

func (c *change) throttle() cloud.Throttle {
	if t, ok := cloud.Throttles.Find(c.View, c.account.ID); ok {
		return *t
	}
	return cloud.Throttle{AccountID: c.account.ID, Profile: cloud.ThrottleOff}
}

func setThrottleProfile(c *change, _, value string) error {
	if value != cloud.ThrottleOff && value != cloud.ThrottleRealistic {
		return errors.New("want off or realistic")
	}
	t := c.throttle()
	t.Profile = value
	cloud.Throttles.Put(c.tx, &t)
	return nil
}

func getThrottleProfile(c *change) string { return c.throttle().Profile }

func setRate(assign func(t *cloud.Throttle, named string, r *cloud.Rate)) func(*change, string, string) error {
	return func(c *change, named, value string) error {
		rate, err := parseRate(value)
		if err != nil {
			return err
		}
		t := c.throttle()
		assign(&t, named, rate)
		cloud.Throttles.Put(c.tx, &t)
		return nil
	}
}

func setActionRate(t *cloud.Throttle, action string, r *cloud.Rate) {
	actions := maps.Clone(t.Actions)
	if actions == nil {
		actions = make(map[string]cloud.Rate)
	}
	delete(actions, action)
	if r != nil {
		actions[action] = *r
	}
	t.Actions = actions
}

func parseRate(value string) (*cloud.Rate, error) {
	if value == "default" {
		return nil, nil
	}
	perSecond, burst, both := strings.Cut(value, "/")
	var rate cloud.Rate
	var err error
	if rate.PerSecond, err = strconv.ParseFloat(perSecond, 64); err != nil || !(rate.PerSecond > 0 && rate.PerSecond < 1e9) {
		return nil, errors.New("want calls a second, such as 10 or 10/20 with the burst, or default")
	}
	rate.Burst = max(int(rate.PerSecond), 1)
	if both {
		if rate.Burst, err = strconv.Atoi(burst); err != nil || rate.Burst < 1 {
			return nil, errors.New("want a burst of at least 1 behind the slash")
		}
	}
	return &rate, nil
}

func getThrottles(c *change) []controlapi.Setting {
	t := c.throttle()
	var list []controlapi.Setting
	for name, rate := range map[string]*cloud.Rate{"throttle.account": t.Account, "throttle.key": t.Key} {
		if rate != nil {
			list = append(list, controlapi.Setting{Name: name, Value: formatRate(*rate)})
		}
	}
	for action, rate := range t.Actions {
		list = append(list, controlapi.Setting{Name: "throttle.action." + action, Value: formatRate(rate)})
	}
	slices.SortFunc(list, func(a, b controlapi.Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func formatRate(r cloud.Rate) string {
	return strconv.FormatFloat(r.PerSecond, 'f', -1, 64) + "/" + strconv.Itoa(r.Burst)
}

func hasKey(c *change, id string) error {
	if key, ok := cloud.AccessKeys.Find(c.View, id); !ok || key.AccountID != c.account.ID {
		return fmt.Errorf("the account has no access key %s", id)
	}
	return nil
}

func hasRole(c *change, name string) error {
	for instance := range cloud.Instances.All(c.View) {
		if instance.AccountID == c.account.ID && instance.RAMRoleName == name {
			return nil
		}
	}
	return fmt.Errorf("no instance of the account has the role %s", name)
}

func setKey(c *change, named, value string) error {
	key, ok := cloud.AccessKeys.Find(c.View, named)
	if !ok || key.AccountID != c.account.ID {
		return fmt.Errorf("the account has no access key %s", named)
	}
	changed := *key
	switch value {
	case "active":
		changed.Status = cloud.AccessKeyActive
	case "inactive":
		changed.Status = cloud.AccessKeyInactive
	case "deleted":
		cloud.AccessKeys.Delete(c.tx, named)
		return nil
	default:
		return errors.New("want active, inactive or deleted")
	}
	cloud.AccessKeys.Put(c.tx, &changed)
	return nil
}

// setSecret gives a key a secret; one that is new is active at once.
func setSecret(c *change, named, value string) error {
	key := cloud.AccessKey{ID: named, AccountID: c.account.ID, Status: cloud.AccessKeyActive}
	if old, ok := cloud.AccessKeys.Find(c.View, named); ok {
		if old.AccountID != c.account.ID || old.SecurityToken != "" {
			return errors.New("the key is another account's, or temporary")
		}
		key = *old
	}
	if value == "" {
		return errors.New("want a secret")
	}
	key.Secret = value
	cloud.AccessKeys.Put(c.tx, &key)
	return nil
}

func getKeys(c *change) []controlapi.Setting {
	var list []controlapi.Setting
	for key := range cloud.AccessKeys.All(c.View) {
		if key.AccountID == c.account.ID && key.SecurityToken == "" {
			list = append(list, controlapi.Setting{Name: "key." + key.ID + ".status", Value: strings.ToLower(string(key.Status))})
		}
	}
	return list
}

// setPolicy sets the policy of a principal that there must be: one of nobody would
// deny nothing.
func setPolicy(principal func(string) string, exists func(*change, string) error) func(*change, string, string) error {
	return func(c *change, named, value string) error {
		id := cloud.PolicyID(c.account.ID, principal(named))
		if _, there := cloud.Policies.Find(c.View, id); !there {
			if err := exists(c, named); err != nil {
				return err
			}
		}
		if value == "none" {
			cloud.Policies.Delete(c.tx, id)
			return nil
		}
		document, err := cloud.ParsePolicy(value)
		if err != nil {
			return err
		}
		cloud.Policies.Put(c.tx, &cloud.Policy{AccountID: c.account.ID, Principal: principal(named), Document: document})
		return nil
	}
}

func getPolicies(c *change) []controlapi.Setting {
	var list []controlapi.Setting
	for p := range cloud.Policies.All(c.View) {
		if p.AccountID == c.account.ID {
			list = append(list, controlapi.Setting{Name: "policy." + strings.Replace(p.Principal, "/", ".", 1), Value: p.Document.String()})
		}
	}
	return list
}

func setLifeProfile(c *change, _, value string) error {
	if value != state.LifeInstant && value != state.LifeRealistic {
		return errors.New("want instant or realistic")
	}
	life := c.life()
	life.Profile = value
	state.LifeCycles.Put(c.tx, &life)
	return nil
}

func getLifeProfile(c *change) string { return c.life().Profile }

func (c *change) life() state.LifeCycle {
	if l, ok := state.LifeCycles.Find(c.View, state.LifeCycleID); ok {
		return *l
	}
	return state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeInstant}
}

func setLife(c *change, named, value string) error {
	stage := state.Stage(named)
	if _, ok := c.Schema().Stages()[stage]; !ok {
		return fmt.Errorf("there is no stage %s", named)
	}
	life := c.life()
	delays := maps.Clone(life.Delays)
	if delays == nil {
		delays = make(map[state.Stage]time.Duration)
	}
	delete(delays, stage)
	if value != "default" {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return errors.New("want a duration, such as 2s, or default")
		}
		delays[stage] = d
	}
	life.Delays = delays
	state.LifeCycles.Put(c.tx, &life)
	return nil
}

func getLife(c *change) []controlapi.Setting {
	var list []controlapi.Setting
	for stage := range c.Schema().Stages() {
		list = append(list, controlapi.Setting{Name: "life." + string(stage), Value: c.Delay(stage).String()})
	}
	slices.SortFunc(list, func(a, b controlapi.Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}
