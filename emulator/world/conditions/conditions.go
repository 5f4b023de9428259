// Package conditions owns the conditions of a world, which can change while it is
// served: a row for each, with its reader, its writer, its help and its scope. It must
// not know who asks.
package conditions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/state"
)

// A Scope says of what a condition is one.
type Scope string

// The scopes.
const (
	ofAccount Scope = "account"
	OfRegion  Scope = "region"
	ofAll     Scope = "emulator"
)

// Names are names in conditions that the store does not know.
type Names struct {
	Schema *state.Schema
	// Actions lists the actions of the products.
	Actions []string
}

// Condition is a part of the world that can be changed while clients work: what the
// account owes, what is in stock, a quota, a policy. Its value is a text.
type Condition struct {
	// Name contains dots, and <…> for the part that the caller chooses.
	Name string
	// Help is for people: what the value is, and does.
	Help  string
	Scope Scope
	// Secret conditions have values that nothing may tell but an export.
	Secret bool
	// Policy conditions have policy documents for values.
	Policy bool
	// Lacking conditions have lists of actions and parameters of Slb for values.
	Lacking bool
	Value   Value

	// named lists what may stand for <…>; nil where only a world knows.
	named func(Names) []string
	write func(c *change, named, value string) error
	// read lists the settings in force; nil for what can only be set, or is listed by
	// another row.
	read func(c *change) []Setting
	// set lists the settings that were set, for a condition whose read measures. If nil, that is
	// all.
	set func(c *change) []Setting
	// idle says why a setting has no effect at present, or "" if it has one. It is nil if it always
	// has.
	idle func(c *change, named, value string) string
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
	account *kinds.Account
	region  string
}

// Setting gives a condition a value.
type Setting struct{ Name, Value string }

// Shown returns the setting as it may be shown: without its value if that is a secret.
func Shown(s Setting) Setting {
	if c, _, ok := Find(s.Name); ok && c.Secret {
		s.Value = "(hidden)"
	}
	return s
}

var conditions = []Condition{
	{Name: "account.balance", Value: balance, Help: "balance in CNY; a purchase needs 100", Scope: ofAccount,
		write: setBalance,
		read:  one("account.balance", func(c *change) string { return strconv.FormatFloat(c.account.Balance, 'f', -1, 64) })},
	{Name: "account.arrears", Value: flag, Help: "true: the account can't buy anything, and its load balancers are locked after the grace period", Scope: ofAccount,
		write: setArrears,
		read:  one("account.arrears", func(c *change) string { return strconv.FormatBool(!c.account.ArrearsSince.IsZero()) })},
	{Name: "account.incomplete", Value: flag, Help: "true: its information is incomplete, and it can't buy a Classic Load Balancer", Scope: ofAccount,
		write: setFlag(incomplete), read: getFlag("account.incomplete", incomplete)},
	{Name: "account.unpayable", Value: flag, Help: "true: it has no payment method, and can't buy a Classic Load Balancer", Scope: ofAccount,
		write: setFlag(unpayable), read: getFlag("account.unpayable", unpayable)},
	{Name: "account.graceDays", Value: number(0, resources.MaxDays), Help: "days from arrears until all Classic Load Balancers are locked", Scope: ofAccount,
		write: setNumber(func(a *kinds.Account, n int) { a.GraceDays = n }),
		read:  one("account.graceDays", func(c *change) string { return strconv.Itoa(c.account.GraceDays) })},
	{Name: "account.releaseDays", Value: number(0, resources.MaxDays), Help: "days from the lock until all Classic Load Balancers are released", Scope: ofAccount,
		write: setNumber(func(a *kinds.Account, n int) { a.ReleaseDays = n }),
		read:  one("account.releaseDays", func(c *change) string { return strconv.Itoa(c.account.ReleaseDays) })},
	{Name: "account.nlbGraceDays", Value: number(0, resources.MaxDays), Help: "days from arrears until all Network Load Balancers are locked", Scope: ofAccount,
		write: setNumber(func(a *kinds.Account, n int) {
			a.NLB = &kinds.Arrears{GraceDays: n, ReleaseDays: a.OfNLB().ReleaseDays}
		}),
		read: one("account.nlbGraceDays", func(c *change) string { return strconv.Itoa(c.account.OfNLB().GraceDays) })},
	{Name: "account.nlbReleaseDays", Value: number(0, resources.MaxDays), Help: "days from the lock until all Network Load Balancers are released", Scope: ofAccount,
		write: setNumber(func(a *kinds.Account, n int) { a.NLB = &kinds.Arrears{GraceDays: a.OfNLB().GraceDays, ReleaseDays: n} }),
		read:  one("account.nlbReleaseDays", func(c *change) string { return strconv.Itoa(c.account.OfNLB().ReleaseDays) })},
	{Name: "account.site", Value: oneOf(kinds.SiteMainland, kinds.SiteInternational), Help: "mainland or international: sets quota.slb_quota_instances_num to 60 or 30", Scope: ofAccount,
		write: setSite, read: getSite},
	{Name: "account.lcuToSpec", Value: flag, Help: "true: allow changes from PayByCLCU to PayBySpec", Scope: ofAccount,
		write: setFlag(lcuToSpec), read: getFlag("account.lcuToSpec", lcuToSpec)},
	{Name: "account.createdByTags", Value: flag, Help: "true: give new load balancers the system tag acs:tag:createdby", Scope: ofAccount,
		write: setFlag(tagsCreators), read: getFlag("account.createdByTags", tagsCreators)},
	{Name: "account.refuseExpiredCertificates", Value: flag, Help: "true: reject uploads of expired certificates", Scope: ofAccount,
		write: setFlag(refusesExpired), read: getFlag("account.refuseExpiredCertificates", refusesExpired)},
	{Name: "account.refuseAttachedBackends", Value: flag, Help: "true: AddBackendServers rejects a server that is already in the default group", Scope: ofAccount,
		write: setFlag(refusesAttached), read: getFlag("account.refuseAttachedBackends", refusesAttached)},
	{Name: "account.refuseQuotaApplications", Value: flag, Help: "true: refuse applications for higher quotas", Scope: ofAccount,
		write: setFlag(refusesApplications), read: getFlag("account.refuseQuotaApplications", refusesApplications)},
	{Name: "quota.<name>", Value: countOr("default"), Help: "a limit, or default", Scope: ofAccount, named: quotaNames, write: setQuota, read: getQuotas},
	{Name: "cloud.year", Value: oneOf(kinds.Year2021, kinds.Year2024, kinds.Today),
		Help:  "2021, 2024 or today: sell what the cloud sold then; sets stock.shared, stock.payBySpec and stock.subscriptions, and the account's quotas of ACLs",
		Scope: OfRegion, write: setYear, read: getYear},
	{Name: "stock.shared", Value: flag, Help: "true: sell instances without a spec", Scope: OfRegion, write: setSold(sharedSold), read: getSold("stock.shared", sharedSold)},
	{Name: "stock.payBySpec", Value: flag, Help: "true: sell instances that are paid by their spec", Scope: OfRegion,
		write: setSold(payBySpecSold), read: getSold("stock.payBySpec", payBySpecSold)},
	{Name: "stock.subscriptions", Value: flag, Help: "true: sell subscriptions", Scope: OfRegion,
		write: setSold(subscriptionsSold), read: getSold("stock.subscriptions", subscriptionsSold)},
	{Name: "stock.ipv6", Value: flag, Help: "false: don't sell IPv6 instances", Scope: OfRegion, write: setIPv6, read: one("stock.ipv6", getIPv6)},
	{Name: "stock.publicAddresses", Value: flag, Help: "false: don't sell public addresses of Classic Load Balancers", Scope: OfRegion,
		write: setAddressesSold, read: one("stock.publicAddresses", getAddressesSold)},
	{Name: "stock.<zone>", Value: oneOf("soldout", "available"), Help: "soldout or available; <zone>.internet and <zone>.intranet for one kind, <zone>.http and <zone>.https for listeners", Scope: OfRegion, write: setStock, read: getStock},
	{Name: "region.lacks", Lacking: true, Value: lacking, Help: "actions, parameters and values that it does not support, such as EnableHttp2,Scheduler=qch, or none", Scope: OfRegion,
		write: setLacks, read: getLacks},
	{Name: "zone.<zone>.lacks", Lacking: true, Value: lacking, Help: "what the zone does not support for load balancers with their master in it, or none", Scope: OfRegion, write: setLacks},
	{Name: "vswitch.<id>.freeAddresses", Value: countOr("all"), Help: "number of free addresses, or all", Scope: OfRegion, write: setFreeAddresses, read: getFreeAddresses(false), set: getFreeAddresses(true)},
	{Name: "nlb.<id>.lock", Value: oneOf(noLock, string(kinds.NLBRelatedLocked), string(kinds.NLBResidualLocked), string(kinds.NLBSecurityLocked)),
		Help:  "lock of a Network Load Balancer: none, RelatedResourceLocked (an EIP or a bandwidth package of it is locked), ResidualLocked (one is released) or SecurityLocked",
		Scope: OfRegion, write: setLock, read: getLocks},
	{Name: "server.<id>.health", Value: oneOf("normal", "abnormal", "unavailable", "default"),
		Help:  "result of health checks: normal, abnormal, unavailable, or default; <id>/<group> and <id>/<group>:<port> for one group",
		Scope: OfRegion, write: setHealth, read: getHealth, idle: idleHealth},
	{Name: "instance.<id>.reachAt", Value: address,
		Help:  "where this machine finds an instance, a network interface or an address, such as 127.0.0.1 or 127.0.0.1:8080, or default",
		Scope: OfRegion, write: setReachAt, read: getReachAt},
	{Name: "throttle.profile", Value: oneOf(kinds.ThrottleOff, kinds.ThrottleRealistic), Help: "off or realistic", Scope: ofAccount, write: setThrottleProfile, read: one("throttle.profile", getThrottleProfile)},
	{Name: "throttle.account", Value: rate, Help: "calls per second of the account, such as 10, or 10/20 with the burst, or default", Scope: ofAccount,
		write: setRate(func(t *kinds.Throttle, _ string, r *kinds.Rate) { t.Account = r }), read: getThrottles},
	{Name: "throttle.key", Value: rate, Help: "calls per second of an access key", Scope: ofAccount,
		write: setRate(func(t *kinds.Throttle, _ string, r *kinds.Rate) { t.Key = r })},
	{Name: "throttle.action.<action>", Value: rate, Help: "calls per second of an action", Scope: ofAccount,
		named: func(known Names) []string { return known.Actions }, write: setRate(setActionRate)},
	{Name: "key.<id>.status", Value: oneOf("active", "inactive", "deleted"), Help: "active, inactive or deleted", Scope: ofAccount, write: setKey, read: getKeys},
	{Name: "key.<id>.secret", Value: anything, Help: "the secret of an access key; creates the key if there is none", Scope: ofAccount, Secret: true, write: setSecret},
	{Name: "policy.key.<id>", Value: policy, Help: "permissions of the RAM user of an access key: a policy document, or none", Scope: ofAccount, Policy: true,
		write: setPolicy(kinds.KeyPrincipal, hasKey), read: getPolicies},
	{Name: "policy.role.<name>", Value: policy, Help: "permissions of a RAM role: a policy document, or none", Scope: ofAccount, Policy: true,
		write: setPolicy(kinds.RolePrincipal, hasRole)},
	{Name: "linkedRole.<name>", Value: oneOf("present", "absent"), Help: "absent: the next call that needs this service-linked role creates it, if its caller may; AliyunServiceRoleForSlbLogDelivery or AliyunServiceRoleForSlbEipAccess",
		Scope: ofAccount, named: func(Names) []string { return kinds.LinkedRoles }, write: setLinkedRole, read: getLinkedRoles},
	{Name: "life.profile", Value: oneOf(state.LifeInstant, state.LifeRealistic), Help: "instant or realistic", Scope: ofAll, write: setLifeProfile, read: one("life.profile", getLifeProfile)},
	{Name: "life.<stage>", Value: delay, Help: "how long a stage takes, such as 2s, or default", Scope: ofAll, named: stages, write: setLife, read: getLife},
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
func Set(tx *state.Tx, where state.Owner, settings []Setting) error {
	for _, setting := range settings {
		s, err := changeIn(tx.In(state.Owner{}), where)
		if err != nil {
			return err
		}
		c, named, ok := Find(setting.Name)
		if !ok {
			return fmt.Errorf("there is no condition %s: `clbemu world set --help` lists them", setting.Name)
		}
		err = c.Value.Check(setting.Value)
		if err == nil {
			err = c.write(s, named, setting.Value)
		}
		if err != nil {
			return fmt.Errorf("%s=%s: %w", setting.Name, Shown(setting).Value, err)
		}
	}
	return nil
}

// Idle says of each of the valid settings that has no effect as things are why.
func Idle(v *state.View, where state.Owner, settings []Setting) (reasons []string) {
	for _, setting := range settings {
		s, err := changeIn(&state.Tx{View: v.In(state.Owner{})}, where)
		c, named, ok := Find(setting.Name)
		if err != nil || !ok || c.idle == nil {
			continue
		}
		if why := c.idle(s, named, setting.Value); why != "" {
			reasons = append(reasons, fmt.Sprintf("%s=%s has no effect: %s", setting.Name, setting.Value, why))
		}
	}
	return reasons
}

// Get lists the conditions in force.
func Get(v *state.View, where state.Owner) ([]Setting, error) {
	s, err := changeIn(&state.Tx{View: v.In(state.Owner{})}, where)
	if err != nil {
		return nil, err
	}
	var list []Setting
	for _, c := range conditions {
		if c.read != nil {
			list = append(list, c.read(s)...)
		}
	}
	return list, nil
}

func changeIn(tx *state.Tx, where state.Owner) (*change, error) {
	owner, err := resources.Owner(tx.View, where)
	if err != nil {
		return nil, err
	}
	account, _ := kinds.Accounts.Find(tx.View, owner.AccountID)
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

func one(name string, value func(*change) string) func(*change) []Setting {
	return func(c *change) []Setting { return []Setting{{Name: name, Value: value(c)}} }
}
