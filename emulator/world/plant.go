package world

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/state"
)

// planter puts resources into a state. After a problem it goes on with what it has, so that one run
// finds all problems.
type planter struct {
	tx       *state.Tx
	products func() []*products.Product
	problems problems
	// year is the year of the clouds: what they sell, unless a region says otherwise.
	year string
	// accounts lists the accounts of the file, in its order; the first is the default.
	accounts []string
	// last runs when all addresses that the file names are taken: what may have
	// any address must not get one of them.
	last []func()
}

// plant puts everything into tx, whose scope must be everything. References may
// lead forward in the file, as each kind is planted before those that refer to it.
func (c *apis) plant(tx *state.Tx, s *spec) problems {
	p := &planter{tx: tx, products: c.products}
	p.year = p.word(s.Clouds, kinds.Today, kinds.Year2021, kinds.Year2024)
	each(s.Regions, p.region)
	each(s.Accounts, p.account)
	each(s.VPCs, p.vpc)
	each(s.RouteTables, p.routeTable)
	each(s.VSwitches, p.vSwitch)
	each(s.SecurityGroups, p.securityGroup)
	each(s.Instances, p.instance)
	each(s.NetworkInterfaces, p.networkInterface)
	each(s.RouteEntries, p.routeEntry)
	each(s.EIPs, p.eip)
	each(s.ServerCertificates, p.serverCertificate)
	each(s.LoadBalancers, p.reserveAddress)
	each(s.NetworkLoadBalancers, p.reserveZoneAddresses)
	for _, give := range p.last {
		give()
	}
	if len(p.problems) > 0 { // the handlers expect what they find to be right
		return p.problems
	}
	p.bought(func() {
		each(s.LoadBalancers, p.loadBalancer)
		each(s.ServerGroups, p.serverGroup)
		each(s.NetworkLoadBalancers, p.networkLoadBalancer)
		each(s.Calls, p.made)
	})
	return p.problems
}

func each[T any](items []T, plant func(*T)) {
	for i := range items {
		plant(&items[i])
	}
}

func (p *planter) fail(at scalar, format string, args ...any) {
	p.problems = append(p.problems, problem{at.place, fmt.Sprintf(format, args...)})
}

// form is the spelling of ids. Its pattern is compiled when it is first used, and has
// no bounds, which would make that slow.
type form struct {
	pattern func() *regexp.Regexp
	most    int // characters
}

func newForm(pattern string, most int) form {
	return form{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) }), most}
}

func (f form) takes(id string) bool { return len(id) <= f.most && f.pattern().MatchString(id) }

func (f form) String() string { return fmt.Sprintf("%s of at most %d characters", f.pattern(), f.most) }

// The forms of ids. A resource's is a prefix and at least one letter or digit.
var (
	digits       = newForm(`^[0-9]+$`, 20)
	regionForm   = newForm(`^[a-z]{2,}(-[a-z0-9]+)+$`, 64)
	keyForm      = newForm(`^[A-Za-z0-9][A-Za-z0-9._-]*$`, 128)
	resourceForm = newForm(`^[a-z]{1,4}-[0-9a-z][0-9a-z-]*$`, 69)
	certForm     = newForm(`^[0-9A-Za-z_-]+$`, 128)
)

// isFree reports whether id is a usable id that nothing in the table has yet.
func isFree[T any](p *planter, table *state.Table[T], id scalar, form form, prefix string) bool {
	if id.text == "" {
		return false
	}
	if !form.takes(id.text) || !strings.HasPrefix(id.text, prefix) {
		p.fail(id, "%q is not a valid %s id, want the form %s", id.text, table.Kind(), cmp.Or(prefix+"…", form.String()))
		return false
	}
	if _, twice := table.Find(p.tx.View, id.text); twice {
		p.fail(id, "there is another %s %s", table.Kind(), id.text)
		return false
	}
	return true
}

// refer finds what id names; an empty id names nothing, which is no problem.
func refer[T any](p *planter, table *state.Table[T], id scalar) (*T, bool) {
	if id.text == "" {
		return nil, false
	}
	r, ok := table.Find(p.tx.View, id.text)
	if !ok {
		p.fail(id, "there is no %s %s", table.Kind(), id.text)
	}
	return r, ok
}

// word checks a value of a fixed set, whose first one is the default; it may be
// empty.
func (p *planter) word(s scalar, words ...string) string {
	if s.text == "" {
		return words[0]
	}
	if !slices.Contains(words, s.text) {
		p.fail(s, "%q is not one of %s", s.text, strings.TrimPrefix(strings.Join(words, ", "), ", "))
	}
	return s.text
}

// flag checks true or false, which has a fallback when the file has neither.
func (p *planter) flag(s scalar, fallback bool) bool {
	return p.word(s, strconv.FormatBool(fallback), strconv.FormatBool(!fallback)) == "true"
}

// number checks an integer, which has a fallback when the file has none.
func (p *planter) number(s scalar, fallback, lowest, highest int) int {
	if s.text == "" {
		return fallback
	}
	n, err := strconv.Atoi(s.text)
	if err != nil || n < lowest || n > highest {
		p.fail(s, "%q is not a number from %d to %d", s.text, lowest, highest)
	}
	return n
}

// family is IPv4 or IPv6, by the bits of an address.
type family int

const (
	ipv4 family = 32
	ipv6 family = 128
)

func (f family) String() string {
	if f == ipv6 {
		return "IPv6"
	}
	return "IPv4"
}

// cidr checks a block of addresses; an invalid one counts as absent from there
// on. longest is the longest prefix that it may have.
func (p *planter) cidr(s scalar, of family, longest int) (netip.Prefix, string) {
	if s.text == "" {
		return netip.Prefix{}, ""
	}
	prefix, err := netip.ParsePrefix(s.text)
	switch {
	case err != nil || prefix.Addr().BitLen() != int(of):
		p.fail(s, "%q is not a CIDR block of %s addresses", s.text, of)
	case prefix.Masked() != prefix:
		p.fail(s, "%s has bits set behind its prefix, write %s", s.text, prefix.Masked())
	case prefix.Bits() > longest:
		p.fail(s, "%s is too small a block, the prefix is at most /%d", s.text, longest)
	default:
		return prefix, prefix.String()
	}
	return netip.Prefix{}, ""
}

// home returns the owner that the account and region fields choose: by default the first account
// and its default region.
func (p *planter) home(account, region scalar) (owner state.Owner, ok bool) {
	if account.text == "" && len(p.accounts) > 0 {
		account.text = p.accounts[0]
	}
	a, ok := refer(p, kinds.Accounts, account)
	if !ok {
		return owner, false
	}
	if region.text == "" {
		region.text = a.DefaultRegionID
	}
	r, ok := refer(p, kinds.Regions, region)
	if !ok {
		return owner, false
	}
	return state.Owner{AccountID: a.ID, RegionID: r.ID}, true
}

// givenResourceGroup returns the group that id names, or "" for none: resources of ECS are in no
// group until they are put there. CLB-0337.
func (p *planter) givenResourceGroup(owner state.Owner, id scalar) string {
	if id.text == "" {
		return ""
	}
	return p.resourceGroup(owner, id)
}

// resourceGroup returns the group that id names, or the account's default.
func (p *planter) resourceGroup(owner state.Owner, id scalar) string {
	g, ok := refer(p, kinds.ResourceGroups, id)
	if ok && g.AccountID != owner.AccountID {
		p.fail(id, "%s is a resource group of account %s, not of %s", id.text, g.AccountID, owner.AccountID)
	}
	if ok {
		return g.ID
	}
	a, _ := kinds.Accounts.Find(p.tx.View, owner.AccountID)
	return a.DefaultResourceGroupID
}

func (p *planter) tag(owner state.Owner, t state.TagResourceType, id string, tags pairs) {
	tx := p.tx.In(owner)
	for _, tag := range tags {
		switch {
		case tag.key == "" || len([]rune(tag.key)) > 64 || strings.ContainsFunc(tag.key, isForbidden):
			p.fail(tag.value, "a tag key has 1 to 64 characters, none of them a control character")
		case len([]rune(tag.value.text)) > 128:
			p.fail(tag.value, "a tag value has at most 128 characters")
		default:
			state.SetTag(tx, t, id, tag.key, tag.value.text)
		}
	}
}
