package scenarios

import (
	"context"
	"maps"
)

var markKind = kind[mark](Kind{Name: "mark", About: "Name this moment for calls.since."})

type mark string

func (m mark) title() string { return "mark " + string(m) }

func (m mark) check(c *checker, at spot, in scope) {
	in.marks[string(m)] = true
	in.defined["the mark "+string(m)] = at
}

func (m mark) do(ctx context.Context, p *play, _ *Step) (err error) {
	if p.marks[string(m)], err = p.Target.Mark(ctx); err != nil {
		return err
	}
	return p.note(ctx, string(m))
}

// note lets expectations note what was there before a mark, or before the first step where
// the mark is "".
func (p *play) note(ctx context.Context, mark string) error {
	maps.DeleteFunc(p.earlier, func(m moment, _ map[string]string) bool { return m.mark == mark })
	for _, e := range p.scenario.Half(p.half).allExpectations() {
		if n, ok := e.Value.(noting); ok && n.since() == mark {
			if err := n.note(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// marked wants a mark of an earlier step, where one is named.
func (c *checker) marked(at spot, mark string, in scope) {
	if mark == "" {
		return
	}
	in.used["the mark "+mark] = true
	if !in.marks[mark] {
		c.missing(at, "no earlier step makes a mark called %s%s", mark, near(mark, in.marks))
	}
}
