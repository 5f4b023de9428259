package names

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/state"
)

// answersText has a line for each refusal of a product: the product, the refusal, and the
// actions from whose handlers it is reached, * for any. TestAnswers writes it from the
// source.
//
//go:embed answers.tsv
var answersText string

// answers lists the actions that reach a refusal of a product.
var answers = sync.OnceValue(func() map[string][]string {
	all := make(map[string][]string)
	for line := range strings.Lines(answersText) {
		product, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		fact, actions, _ := strings.Cut(rest, "\t")
		all[product+" "+fact] = strings.Fields(actions)
	}
	return all
})

// reaches reports whether calls of the action can be refused for a reason. Those that the
// state reports count for each action.
func (a Action) reaches(fact state.Fact) bool {
	actions, listed := answers()[a.Product+" "+string(fact)]
	return !listed || slices.Contains(actions, a.Name) || slices.Contains(actions, "*") || slices.Contains(a.TagRefusals(), fact) ||
		slices.ContainsFunc(a.Refuses(), func(r gateway.Refusal) bool { return r.Fact() == fact })
}
