package scenarios

import (
	"context"
	"fmt"
	"reflect"
)

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
