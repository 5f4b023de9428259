package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

var setKind = kind[Settings](Kind{Name: "set", About: "Change conditions of the world by name."})

// Setting gives a condition of the world a value.
type Setting struct {
	Name, Value string
}

// Settings are conditions in the order of the file.
type Settings []Setting

var _ yamlfile.Reader = (*Settings)(nil)

// ReadYAML implements yamlfile.Reader.
func (s *Settings) ReadYAML(d *yamlfile.Decoder, node *yaml.Node, field string) {
	if node.Kind != yaml.MappingNode || len(node.Content) == 0 {
		d.Fail(node, field, "give conditions as name: value")
		return
	}
	for _, e := range d.Entries(node, field) {
		text := readAsText(d, e.Value, yamlfile.Join(field, e.Key.Value))
		*s = append(*s, Setting{e.Key.Value, text})
	}
}

// title hides the value of a key's secret, since results last and show it.
func (s Settings) title() string {
	texts := make([]string, len(s))
	for i, setting := range s {
		texts[i] = setting.Name
		if !strings.HasSuffix(setting.Name, ".secret") {
			texts[i] += "=" + setting.Value
		}
	}
	return "set " + cut(strings.Join(texts, " "))
}

func (s Settings) check(c *checker, at spot, in scope) {
	if c.names == nil {
		return
	}
	for _, setting := range s {
		value := setting.Value
		if template().MatchString(value) {
			value = ""
		}
		c.addErr(at.in(setting.Name), c.names.CheckCondition(setting.Name, value))
		if in.part != KubernetesPart && !template().MatchString(setting.Name) {
			c.addErr(at.in(setting.Name), c.names.CheckConditionID(setting.Name))
		}
	}
}

func (s Settings) do(ctx context.Context, p *play, _ *Step) error { return p.Target.Set(ctx, s) }

var clockKind = kind[Clock](Kind{Name: "clock", About: "Move, freeze or scale the emulated time."})

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
	if c.Scale != nil && *c.Scale <= 0 {
		return errors.New("scale is a number above 0, such as 60: freeze: true stops the time")
	}
	return nil
}

func (c *Clock) title() string {
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
	return "clock " + strings.Join(parts, ", ")
}

func (c *Clock) do(ctx context.Context, p *play, _ *Step) error {
	scale := c.Scale
	if c.Freeze {
		scale = new(float64)
	}
	return p.Target.SetClock(ctx, time.Duration(c.Advance), scale)
}

var restartKind = kind[restart](Kind{Name: "restart", About: "true: stop the server cleanly and start it again.", needs: restarts})

type restart bool

func (restart) do(ctx context.Context, p *play, _ *Step) error { return p.Target.Restart(ctx, false) }

var killKind = kind[kill](Kind{Name: "kill", About: "true: kill the server and start it again.", needs: restarts})

type kill bool

func (kill) do(ctx context.Context, p *play, _ *Step) error { return p.Target.Restart(ctx, true) }
