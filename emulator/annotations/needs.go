package annotations

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

// The kinds of findings.
const (
	// effectless is about an annotation that takes no effect.
	effectless = "effect"
	// Breaks is about a Service that will not come up.
	Breaks = "breaks"
	// noted is about something that is as it is said, and may not be meant.
	noted = "note"
)

// need is a requirement of an annotation, for a product and versions of the CCM.
type need struct {
	// Names lists the annotations that have the need.
	Names    []string
	product  string
	from, to string
	// Finding says what follows if the need is missing.
	Finding string
	when    []term
	// either are alternatives, each of terms that must all hold.
	either [][]term
	// text replaces the usual words.
	text string
}

// term is a condition on a Service.
type term struct {
	not, listener bool
	name          string
	values        []string
}

//go:embed needs.tsv
var needsTable string

// Needs lists what annotations need, the first of an annotation before others.
var Needs = sync.OnceValue(func() (all []need) {
	for line := range strings.Lines(needsTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "")
		n := need{Names: strings.Split(columns[0], ","), product: columns[1], Finding: columns[3], when: terms(columns[4]), text: columns[6]}
		n.from, n.to, _ = strings.Cut(strings.TrimPrefix(columns[2], "-"), "..")
		for alternative := range strings.SplitSeq(columns[5], " | ") {
			n.either = append(n.either, terms(alternative))
		}
		all = append(all, n)
	}
	return all
})

func terms(text string) (all []term) {
	for _, field := range strings.Fields(strings.TrimPrefix(text, "-")) {
		var t term
		field, t.not = strings.CutPrefix(field, "!")
		field, t.listener = strings.CutPrefix(field, "on:")
		var values string
		if t.name, values, _ = strings.Cut(field, "="); t.listener {
			values = field
		}
		if values != "" {
			t.values = strings.Split(values, ",")
		}
		all = append(all, t)
	}
	return all
}

// Of reports whether the need is one of an annotation, for a product and a version of the CCM. An
// empty version is the newest.
func (n *need) Of(name, product, version string) bool {
	return slices.Contains(n.Names, name) && (n.product == product || n.product == "both") &&
		(n.from == "" || version == "" || !Before(version, n.from)) && (n.to == "" || version != "" && Before(version, n.to))
}

// listens reports whether the need is about listeners that the CCM makes.
func (n *need) listens() bool {
	on := func(t term) bool { return t.listener }
	return slices.ContainsFunc(n.when, on) || slices.ContainsFunc(n.either, func(all []term) bool { return slices.ContainsFunc(all, on) })
}

// holds reports whether a Service has what a term says.
func (t term) holds(s *Service) bool {
	if t.listener {
		return t.not != slices.ContainsFunc(t.values, func(p string) bool { return slices.Contains(s.protocols(), p) })
	}
	if t.name == "address" {
		return t.not != s.HasAddress
	}
	value, _ := s.get(t.name)
	has := value != "" && (t.values == nil || slices.ContainsFunc(t.values, func(v string) bool { return strings.EqualFold(v, value) }))
	return has != t.not
}

// Missing reports whether a Service lacks what is needed.
func (n *need) Missing(s *Service) bool {
	all := func(list []term) bool { return !slices.ContainsFunc(list, func(t term) bool { return !t.holds(s) }) }
	return all(n.when) && !slices.ContainsFunc(n.either, all)
}

// Words says what is needed. Of alternatives it names those that are nearest to what the Service
// has, or all if it has none of them.
func (n *need) Words(s *Service) string {
	var either []string
	for _, alternative := range n.either {
		var parts []string
		for _, t := range alternative {
			if s == nil || !t.holds(s) {
				parts = append(parts, t.words())
			}
		}
		either = append(either, strings.Join(parts, " and "))
	}
	return strings.Join(either, ", or ")
}

// Shown returns the need as rows of a table have it: when it counts, what is needed, and what
// follows if it is missing.
func (n *need) Shown() string {
	short := func(list []term) string {
		var parts []string
		for _, t := range list {
			text := t.name
			if t.values != nil {
				text = strings.Join(append([]string{t.name}, strings.Join(t.values, "/")), "=")
			}
			if t.listener {
				text = "listener of " + strings.ToUpper(strings.Join(t.values, "/"))
			}
			if t.not {
				text = "no " + text
			}
			parts = append(parts, text)
		}
		return strings.Join(parts, " and ")
	}
	var either []string
	for _, alternative := range n.either {
		either = append(either, short(alternative))
	}
	text := strings.Join(either, ", or ")
	if len(n.when) > 0 {
		text = "with " + short(n.when) + ": " + text
	}
	if n.Finding == Breaks {
		text += ", or fails"
	}
	return text
}

func (t term) words() string {
	if t.listener {
		upper := strings.ToUpper(strings.Join(t.values, ","))
		return "a listener of " + listed(strings.Split(upper, ",")) + ", by the annotation " + Prefixes[0] + "protocol-port"
	}
	key := (&Annotation{Name: t.name}).Key()
	if t.values != nil {
		key += `: "` + strings.Join(t.values, `" or "`) + `"`
	}
	if t.not {
		return "taking away " + key
	}
	return key
}
