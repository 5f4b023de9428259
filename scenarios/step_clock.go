package scenarios

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"
)

var clockKind = Kind{Name: "clock", About: "Move, freeze or scale the emulated time.", Value: reflect.TypeFor[Clock]()}

// Clock is a change of the emulated time.
type Clock struct {
	Advance Duration `yaml:"advance" doc:"Move the time forward, such as by 168h."`
	Freeze  bool     `yaml:"freeze" doc:"true: stop the time."`
	Scale   *float64 `yaml:"scale" doc:"Run the time this many times as fast."`
}

func (c *Clock) Validate() error {
	if c.Freeze && c.Scale != nil {
		return errors.New("give freeze or scale, not both")
	}
	if c.Advance == 0 && !c.Freeze && c.Scale == nil {
		return errors.New("give advance, freeze or scale")
	}
	return nil
}

func (c *Clock) title() string { return "clock " + c.String() }

func (c *Clock) String() string {
	var parts []string
	if c.Advance > 0 {
		parts = append(parts, "advance "+c.Advance.String())
	}
	if c.Freeze {
		parts = append(parts, "freeze")
	}
	if c.Scale != nil {
		parts = append(parts, fmt.Sprintf("scale %v", *c.Scale))
	}
	return strings.Join(parts, ", ")
}

func (c *Clock) do(ctx context.Context, p *play, _ *Step) error {
	scale := c.Scale
	if c.Freeze {
		scale = new(float64)
	}
	return p.Target.SetClock(ctx, time.Duration(c.Advance), scale)
}
