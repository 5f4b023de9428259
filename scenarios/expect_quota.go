package scenarios

import (
	"context"
	"fmt"
	"reflect"
	"slices"
)

var quotaKind = Kind{Name: "quota", About: "The use of a quota.", Value: reflect.TypeFor[Quota]()}

// Quota expects a use of a quota.
type Quota struct {
	Name   string `yaml:"name" required:"true" doc:"The quota; clbemu quota lists them."`
	Holder string `yaml:"holder" doc:"The resource that uses it, such as a load balancer; the sum of all if absent."`
	Used   *int   `yaml:"used" doc:"The amount in use."`
	Free   *int   `yaml:"free" doc:"The amount left."`
}

func (q *Quota) Validate() error {
	return exactlyOne([]string{"used", "free"}, q.Used != nil, q.Free != nil)
}

func (q *Quota) title() string { return "quota " + q.Name }

func (q *Quota) check(c *checker, at spot, in scope) {
	c.id("Id", q.Holder, at.in("holder"), in)
	name := at.in("name")
	if c.names != nil && c.settled(name, q.Name) {
		c.listed(name, q.Name, c.names.Quotas(), "there is no quota %s", "clbemu quota lists them")
	}
	if q.Used != nil && *q.Used == 0 && q.Holder != "" {
		c.seen(at.in("holder"), q.Holder, "uses nothing either")
	}
}

func (q *Quota) look(ctx context.Context, p *play) error {
	list, err := p.Target.Quotas(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(is QuotaUse) bool { return is.Name == q.Name })
	if i < 0 {
		return fmt.Errorf("there is no quota %s: clbemu quota lists them", q.Name)
	}
	used := 0
	for holder, n := range list[i].Used {
		if q.Holder == "" || q.Holder == holder {
			used += n
		}
	}
	switch {
	case q.Used != nil && used != *q.Used:
		return &difference{expected: fmt.Sprintf("%d used of %s", *q.Used, q.Name), seen: fmt.Sprint(used)}
	case q.Free != nil && list[i].Limit-used != *q.Free:
		return &difference{expected: fmt.Sprintf("%d free of %s", *q.Free, q.Name), seen: fmt.Sprint(list[i].Limit - used)}
	}
	return nil
}

var addressesKind = Kind{Name: "addresses", About: "The free addresses of a vSwitch.", Value: reflect.TypeFor[Addresses]()}

// Addresses is a budget of addresses.
type Addresses struct {
	VSwitch string `yaml:"vSwitch" required:"true" doc:"The vSwitch."`
	Free    *int   `yaml:"free" required:"true" doc:"The number of free addresses."`
}

func (a *Addresses) title() string { return "addresses of " + a.VSwitch }

func (a *Addresses) check(c *checker, at spot, in scope) {
	c.id("VSwitchId", a.VSwitch, at.in("vSwitch"), in)
}

func (a *Addresses) look(ctx context.Context, p *play) error {
	free, err := p.Target.FreeAddresses(ctx, a.VSwitch)
	if err == nil && free != *a.Free {
		return &difference{expected: fmt.Sprintf("%d free addresses in %s", *a.Free, a.VSwitch), seen: fmt.Sprint(free)}
	}
	return err
}
