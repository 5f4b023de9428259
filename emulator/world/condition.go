package world

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/cloud"
)

// A condition is a part of the world that can be changed while clients work:
// what the account owes, what is in stock, a quota, a policy. It has a name with
// dots, in which <…> stands for any text, and a value that is a text.

// scene is a transaction, or a view of it, with the account and region that a
// condition is about.
type scene struct {
	*state.View
	tx      *state.Tx
	account *cloud.Account
	region  string
}

// condition is a row of the table.
type condition struct {
	name  string // with <…> for what the caller names
	about string
	set   func(s *scene, named, value string) error
	// get lists the settings in force; nil for what can only be set.
	get func(s *scene) []controlapi.Setting
}

// secretCondition has values that nothing may tell but an export.
const secretCondition = "key.<id>.secret"

// Shown is the setting as it may be told: without its value if that is a secret.
func Shown(s controlapi.Setting) controlapi.Setting {
	if c, _, err := find(s.Name); err == nil && c.name == secretCondition {
		s.Value = "(hidden)"
	}
	return s
}

var conditions = []condition{
	{"account.balance", "CNY; a purchase needs 100", setNumber(-maxBalance, maxBalance, func(a *cloud.Account, n int) { a.Balance = n }),
		get1("account.balance", func(s *scene) string { return strconv.Itoa(s.account.Balance) })},
	{"account.arrears", "true: the account owes, buys nothing, and after its grace is locked", setArrears,
		get1("account.arrears", func(s *scene) string { return strconv.FormatBool(!s.account.ArrearsSince.IsZero()) })},
	{"account.graceDays", "days from arrears to the lock of all load balancers", setNumber(0, maxDays, func(a *cloud.Account, n int) { a.GraceDays = n }),
		get1("account.graceDays", func(s *scene) string { return strconv.Itoa(s.account.GraceDays) })},
	{"account.releaseDays", "days from the lock to the release of all load balancers", setNumber(0, maxDays, func(a *cloud.Account, n int) { a.ReleaseDays = n }),
		get1("account.releaseDays", func(s *scene) string { return strconv.Itoa(s.account.ReleaseDays) })},
	{"account.lcuToSpec", "true: PayByCLCU may be changed to PayBySpec", setFlag(lcuToSpec), getFlag("account.lcuToSpec", lcuToSpec)},
	{"account.refuseExpiredCertificates", "true: a certificate that has expired can't be uploaded", setFlag(refusesExpired), getFlag("account.refuseExpiredCertificates", refusesExpired)},
	{"account.refuseAttachedBackends", "true: AddBackendServers refuses a server that is in the default group", setFlag(refusesAttached), getFlag("account.refuseAttachedBackends", refusesAttached)},
	{"quota.<name>", "a limit, or default", setQuota, getQuotas},
	{"stock.shared", "true: instances without a spec are sold", setShared, get1("stock.shared", getShared)},
	{"stock.ipv6", "false: IPv6 instances are not sold", setIPv6, get1("stock.ipv6", getIPv6)},
	{"stock.<zone>", "soldout or available; <zone>.internet and <zone>.intranet for one kind", setStock, getStock},
	{"vswitch.<id>.freeAddresses", "how many addresses are free, or all", setFreeAddresses, getFreeAddresses},
	{"throttle.profile", "off or realistic", setThrottleProfile, get1("throttle.profile", getThrottleProfile)},
	{"throttle.account", "calls a second of the account, such as 10 or 10/20 with the burst, or default",
		setRate(func(t *cloud.Throttle, _ string, r *cloud.Rate) { t.Account = r }), getThrottles},
	{"throttle.key", "calls a second of an access key",
		setRate(func(t *cloud.Throttle, _ string, r *cloud.Rate) { t.Key = r }), nil},
	{"throttle.action.<action>", "calls a second of an action", setRate(setActionRate), nil},
	{"key.<id>.status", "active, inactive or deleted", setKey, getKeys},
	{secretCondition, "the secret of an access key, which is made if there is none", setSecret, nil},
	{"policy.key.<id>", "what the RAM user of an access key may do: a policy document, or none", setPolicy(cloud.KeyPrincipal, hasKey), getPolicies},
	{"policy.role.<name>", "what a RAM role may do: a policy document, or none", setPolicy(cloud.RolePrincipal, hasRole), nil},
	{"life.profile", "instant or realistic", setLifeProfile, get1("life.profile", getLifeProfile)},
	{"life.<stage>", "how long a stage takes, such as 2s, or default", setLife, getLife},
}

// Set changes conditions, in order and all or none of them.
func Set(tx *state.Tx, where controlapi.Where, settings []controlapi.Setting) error {
	for _, setting := range settings {
		s, err := newScene(tx.In(state.Owner{}), where)
		if err != nil {
			return err
		}
		c, named, err := find(setting.Name)
		if err != nil {
			return err
		}
		if err := c.set(s, named, setting.Value); err != nil {
			return fmt.Errorf("%s=%s: %w", setting.Name, Shown(setting).Value, err)
		}
	}
	return nil
}

// Conditions lists what is in force.
func Conditions(v *state.View, where controlapi.Where) ([]controlapi.Setting, error) {
	s, err := newScene(&state.Tx{View: v.In(state.Owner{})}, where)
	if err != nil {
		return nil, err
	}
	var list []controlapi.Setting
	for _, c := range conditions {
		if c.get != nil {
			list = append(list, c.get(s)...)
		}
	}
	return list, nil
}

// Quotas lists the quotas of an account, with who uses them.
func Quotas(store *state.Store, where controlapi.Where) (list []state.QuotaUse, err error) {
	err = store.View(state.Owner{}, func(v *state.View) error {
		s, err := newScene(&state.Tx{View: v}, where)
		if err == nil {
			list = state.QuotaUses(v.In(state.Owner{AccountID: s.account.ID}))
		}
		return err
	})
	return list, err
}

// Documentation lists the names of the conditions with what they mean.
func Documentation() []controlapi.Setting {
	list := make([]controlapi.Setting, len(conditions))
	for i, c := range conditions {
		list[i] = controlapi.Setting{Name: c.name, Value: c.about}
	}
	return list
}

func newScene(tx *state.Tx, where controlapi.Where) (*scene, error) {
	s := &scene{View: tx.View, tx: tx, region: where.RegionID}
	if where.AccountID == "" {
		for account := range cloud.Accounts.All(tx.View) {
			s.account = account
			break
		}
	} else if account, ok := cloud.Accounts.Find(tx.View, where.AccountID); ok {
		s.account = account
	}
	if s.account == nil {
		return nil, fmt.Errorf("there is no account %s: there are %s", where.AccountID, idsOf(cloud.Accounts.All(tx.View), func(a *cloud.Account) string { return a.ID }))
	}
	if s.region == "" {
		s.region = s.account.DefaultRegionID
	}
	if _, ok := cloud.Regions.Find(tx.View, s.region); !ok {
		return nil, fmt.Errorf("there is no region %s: there are %s", s.region, idsOf(cloud.Regions.All(tx.View), func(r *cloud.Region) string { return r.ID }))
	}
	return s, nil
}

// idsOf lists the ids of what there is, for a refusal.
func idsOf[T any](all iter.Seq[T], id func(T) string) string {
	var ids []string
	for one := range all {
		ids = append(ids, id(one))
	}
	return strings.Join(ids, ", ")
}

// find returns the row for a name, and what stands for its <…>.
func find(name string) (*condition, string, error) {
	for i := range conditions {
		before, rest, variable := strings.Cut(conditions[i].name, "<")
		_, after, _ := strings.Cut(rest, ">")
		named, fits := strings.CutPrefix(name, before)
		if fits {
			named, fits = strings.CutSuffix(named, after)
		}
		if fits && (named != "") == variable {
			return &conditions[i], named, nil
		}
	}
	return nil, "", fmt.Errorf("there is no condition %s: `clbemu world set --help` lists them", name)
}

func get1(name string, value func(*scene) string) func(*scene) []controlapi.Setting {
	return func(s *scene) []controlapi.Setting { return []controlapi.Setting{{Name: name, Value: value(s)}} }
}

func (s *scene) editAccount(change func(*cloud.Account)) error {
	return cloud.Accounts.Edit(s.tx, s.account.ID, func(a *cloud.Account) error {
		change(a)
		return nil
	})
}

// The bounds of what an account may have, also in the world file.
const (
	maxBalance = 1_000_000_000
	maxDays    = 365
)

func setNumber(least, most int, assign func(*cloud.Account, int)) func(*scene, string, string) error {
	return func(s *scene, _, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < least || n > most {
			return fmt.Errorf("want a number from %d to %d", least, most)
		}
		return s.editAccount(func(a *cloud.Account) { assign(a, n) })
	}
}

func parseBool(value string) (bool, error) {
	b, err := strconv.ParseBool(value)
	if err != nil {
		return false, errors.New("want true or false")
	}
	return b, nil
}

func setArrears(s *scene, _, value string) error {
	owing, err := parseBool(value)
	if err != nil {
		return err
	}
	return cloud.SetArrears(s.tx, s.account.ID, owing)
}

// The flags of an account.
func lcuToSpec(a *cloud.Account) *bool       { return &a.LCUToSpec }
func refusesExpired(a *cloud.Account) *bool  { return &a.RefusesExpiredCertificates }
func refusesAttached(a *cloud.Account) *bool { return &a.RefusesAttachedBackends }

func setFlag(flag func(*cloud.Account) *bool) func(*scene, string, string) error {
	return func(s *scene, _, value string) error {
		on, err := parseBool(value)
		if err != nil {
			return err
		}
		return s.editAccount(func(a *cloud.Account) { *flag(a) = on })
	}
}

func getFlag(name string, flag func(*cloud.Account) *bool) func(*scene) []controlapi.Setting {
	return get1(name, func(s *scene) string { return strconv.FormatBool(*flag(s.account)) })
}

func setQuota(s *scene, named, value string) error {
	name := state.QuotaName(named)
	if !slices.Contains(s.Schema().QuotaNames(), name) {
		return fmt.Errorf("there is no such quota: `clbemu quota` lists them")
	}
	if value == "default" {
		state.Quotas.Delete(s.tx, state.QuotaID(s.account.ID, name))
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return errors.New("want a number that is not negative, or default")
	}
	state.Quotas.Put(s.tx, &state.Quota{AccountID: s.account.ID, Name: name, Limit: n})
	return nil
}

func getQuotas(s *scene) []controlapi.Setting {
	var list []controlapi.Setting
	for _, name := range s.Schema().QuotaNames() {
		if q, ok := state.Quotas.Find(s.View, state.QuotaID(s.account.ID, name)); ok {
			list = append(list, controlapi.Setting{Name: "quota." + string(name), Value: strconv.Itoa(q.Limit)})
		}
	}
	return list
}

func (s *scene) editRegion(change func(*cloud.Region) error) error {
	return cloud.Regions.Edit(s.tx, s.region, change)
}

func setShared(s *scene, _, value string) error {
	sold, err := parseBool(value)
	if err != nil {
		return err
	}
	return s.editRegion(func(r *cloud.Region) error {
		r.SharedInstancesSold = sold
		return nil
	})
}

func getShared(s *scene) string {
	r, _ := cloud.Regions.Find(s.View, s.region)
	return strconv.FormatBool(r.SharedInstancesSold)
}

func setIPv6(s *scene, _, value string) error {
	sold, err := parseBool(value)
	if err != nil {
		return err
	}
	return s.editRegion(func(r *cloud.Region) error {
		if sold && r.PublicIPv6CIDRBlock == "" {
			return errors.New("the region has no IPv6 block")
		}
		r.IPv6Halted = !sold
		return nil
	})
}

func getIPv6(s *scene) string {
	r, _ := cloud.Regions.Find(s.View, s.region)
	return strconv.FormatBool(r.SellsIPv6())
}

func setStock(s *scene, named, value string) error {
	zone, kind, _ := strings.Cut(named, ".")
	stock := cloud.ZoneStock{ZoneID: zone, AddressType: cloud.AddressType(kind)}
	if kind != "" && stock.AddressType != cloud.AddressTypeInternet && stock.AddressType != cloud.AddressTypeIntranet {
		return errors.New("want internet or intranet behind the zone")
	}
	if value != "soldout" && value != "available" {
		return errors.New("want soldout or available")
	}
	return s.editRegion(func(r *cloud.Region) error {
		if !slices.ContainsFunc(r.Zones, func(z cloud.Zone) bool { return z.ID == zone }) {
			return fmt.Errorf("there is no zone %s in %s: there are %s", zone, r.ID, idsOf(slices.Values(r.Zones), func(z cloud.Zone) string { return z.ID }))
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

func getStock(s *scene) []controlapi.Setting {
	r, _ := cloud.Regions.Find(s.View, s.region)
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

func setFreeAddresses(s *scene, named, value string) error {
	vSwitch, ok := cloud.VSwitches.Find(s.View, named)
	if !ok {
		return fmt.Errorf("there is no vSwitch %s", named)
	}
	if value == "all" {
		cloud.FreeAllAddresses(s.tx, vSwitch)
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return errors.New("want a number or all")
	}
	if err := cloud.SetFreeAddresses(s.tx, vSwitch, n); err != nil {
		return fmt.Errorf("the vSwitch has fewer free addresses than that")
	}
	return nil
}

func getFreeAddresses(s *scene) []controlapi.Setting {
	var list []controlapi.Setting
	for vSwitch := range cloud.VSwitches.All(s.In(state.Owner{AccountID: s.account.ID, RegionID: s.region})) {
		list = append(list, controlapi.Setting{Name: "vswitch." + vSwitch.ID + ".freeAddresses", Value: strconv.Itoa(cloud.AvailableAddresses(s.View, vSwitch))})
	}
	return list
}

func (s *scene) throttle() cloud.Throttle {
	if t, ok := cloud.Throttles.Find(s.View, s.account.ID); ok {
		return *t
	}
	return cloud.Throttle{AccountID: s.account.ID, Profile: cloud.ThrottleOff}
}

func setThrottleProfile(s *scene, _, value string) error {
	if value != cloud.ThrottleOff && value != cloud.ThrottleRealistic {
		return errors.New("want off or realistic")
	}
	t := s.throttle()
	t.Profile = value
	cloud.Throttles.Put(s.tx, &t)
	return nil
}

func getThrottleProfile(s *scene) string { return s.throttle().Profile }

func setRate(assign func(t *cloud.Throttle, named string, r *cloud.Rate)) func(*scene, string, string) error {
	return func(s *scene, named, value string) error {
		rate, err := parseRate(value)
		if err != nil {
			return err
		}
		t := s.throttle()
		assign(&t, named, rate)
		cloud.Throttles.Put(s.tx, &t)
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

func getThrottles(s *scene) []controlapi.Setting {
	t := s.throttle()
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

func hasKey(s *scene, id string) error {
	if key, ok := cloud.AccessKeys.Find(s.View, id); !ok || key.AccountID != s.account.ID {
		return fmt.Errorf("the account has no access key %s", id)
	}
	return nil
}

func hasRole(s *scene, name string) error {
	for instance := range cloud.Instances.All(s.View) {
		if instance.AccountID == s.account.ID && instance.RAMRoleName == name {
			return nil
		}
	}
	return fmt.Errorf("no instance of the account has the role %s", name)
}

func setKey(s *scene, named, value string) error {
	key, ok := cloud.AccessKeys.Find(s.View, named)
	if !ok || key.AccountID != s.account.ID {
		return fmt.Errorf("the account has no access key %s", named)
	}
	changed := *key
	switch value {
	case "active":
		changed.Status = cloud.AccessKeyActive
	case "inactive":
		changed.Status = cloud.AccessKeyInactive
	case "deleted":
		cloud.AccessKeys.Delete(s.tx, named)
		return nil
	default:
		return errors.New("want active, inactive or deleted")
	}
	cloud.AccessKeys.Put(s.tx, &changed)
	return nil
}

// setSecret gives a key a secret; one that is new is active at once.
func setSecret(s *scene, named, value string) error {
	key := cloud.AccessKey{ID: named, AccountID: s.account.ID, Status: cloud.AccessKeyActive}
	if old, ok := cloud.AccessKeys.Find(s.View, named); ok {
		if old.AccountID != s.account.ID || old.SecurityToken != "" {
			return errors.New("the key is another account's, or temporary")
		}
		key = *old
	}
	if value == "" {
		return errors.New("want a secret")
	}
	key.Secret = value
	cloud.AccessKeys.Put(s.tx, &key)
	return nil
}

func getKeys(s *scene) []controlapi.Setting {
	var list []controlapi.Setting
	for key := range cloud.AccessKeys.All(s.View) {
		if key.AccountID == s.account.ID && key.SecurityToken == "" {
			list = append(list, controlapi.Setting{Name: "key." + key.ID + ".status", Value: strings.ToLower(string(key.Status))})
		}
	}
	return list
}

// setPolicy sets the policy of a principal that there must be: one of nobody would
// deny nothing.
func setPolicy(principal func(string) string, exists func(*scene, string) error) func(*scene, string, string) error {
	return func(s *scene, named, value string) error {
		id := cloud.PolicyID(s.account.ID, principal(named))
		if _, there := cloud.Policies.Find(s.View, id); !there {
			if err := exists(s, named); err != nil {
				return err
			}
		}
		if value == "none" {
			cloud.Policies.Delete(s.tx, id)
			return nil
		}
		document, err := cloud.ParsePolicy(value)
		if err != nil {
			return err
		}
		cloud.Policies.Put(s.tx, &cloud.Policy{AccountID: s.account.ID, Principal: principal(named), Document: document})
		return nil
	}
}

func getPolicies(s *scene) []controlapi.Setting {
	var list []controlapi.Setting
	for p := range cloud.Policies.All(s.View) {
		if p.AccountID == s.account.ID {
			list = append(list, controlapi.Setting{Name: "policy." + strings.Replace(p.Principal, "/", ".", 1), Value: p.Document.String()})
		}
	}
	return list
}

func setLifeProfile(s *scene, _, value string) error {
	if value != state.LifeInstant && value != state.LifeRealistic {
		return errors.New("want instant or realistic")
	}
	life := s.life()
	life.Profile = value
	state.LifeCycles.Put(s.tx, &life)
	return nil
}

func getLifeProfile(s *scene) string { return s.life().Profile }

func (s *scene) life() state.LifeCycle {
	if l, ok := state.LifeCycles.Find(s.View, state.LifeCycleID); ok {
		return *l
	}
	return state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeInstant}
}

func setLife(s *scene, named, value string) error {
	stage := state.Stage(named)
	if _, ok := s.Schema().Stages()[stage]; !ok {
		return fmt.Errorf("there is no stage %s", named)
	}
	life := s.life()
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
	state.LifeCycles.Put(s.tx, &life)
	return nil
}

func getLife(s *scene) []controlapi.Setting {
	var list []controlapi.Setting
	for stage := range s.Schema().Stages() {
		list = append(list, controlapi.Setting{Name: "life." + string(stage), Value: s.Delay(stage).String()})
	}
	slices.SortFunc(list, func(a, b controlapi.Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}
