package scenarios

import (
	"context"
	"maps"
)

var markKind = kind[mark](Kind{Name: "mark", About: "Name this moment for calls.since."})

// mark names a moment; "" is when the steps of the part begin.
type mark string

func (m mark) title() string { return "mark " + string(m) }

func (m mark) check(c *checker, at spot, in scope) {
	if in.marks[string(m)] {
		c.refuse(at, "an earlier step makes a mark called %s already", string(m))
	}
	in.marks[string(m)] = true
	in.defined["the mark "+string(m)] = at
}

// do marks the journal, and lets expectations note how things are.
func (m mark) do(ctx context.Context, p *play, _ *Step) (err error) {
	if p.marks[string(m)], err = p.Target.Mark(ctx); err != nil {
		return err
	}
	maps.DeleteFunc(p.earlier, func(at position, _ map[string]string) bool { return at.mark == string(m) })
	for _, e := range p.scenario.Part(p.part).allExpectations() {
		if n, ok := e.Value.(noting); ok && n.since() == string(m) && err == nil {
			err = n.note(ctx, p)
		}
	}
	return err
}

// marked wants a mark of an earlier step, if it has one.
func (c *checker) marked(at spot, mark string, in scope) {
	if mark == "" {
		return
	}
	in.used["the mark "+mark] = true
	if !in.marks[mark] {
		c.missing(at, "no earlier step makes a mark called %s%s", mark, near(mark, in.marks))
	}
}
