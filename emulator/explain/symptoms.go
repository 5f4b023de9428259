package explain

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

//go:embed symptoms.yaml
var symptomsText []byte

// symptom is one with the other names that people have for it, and with words that may stand
// near them.
type symptom struct {
	controlapi.Symptom `yaml:",inline"`

	Also, Near []string
}

var symptoms = sync.OnceValues(func() (all []symptom, err error) {
	if err := yaml.Unmarshal(symptomsText, &all); err != nil {
		return nil, fmt.Errorf("read the symptoms: %w", err)
	}
	return all, nil
})

// Symptoms returns what operators see, with its causes.
func Symptoms() (list []controlapi.Symptom, err error) {
	all, err := symptoms()
	for _, s := range all {
		list = append(list, s.Symptom)
	}
	return list, err
}

// SymptomOf returns the symptom that a text names, nil for none.
func SymptomOf(text string) (*controlapi.Symptom, error) {
	all, err := symptoms()
	said := telling(inEnglish().Replace(text))
	for i := range all {
		if all[i].named(said) {
			return &all[i].Symptom, err
		}
	}
	return nil, err
}

// named reports whether words name the symptom: they include all words of one of its names,
// and each of them is in one of its names.
func (s *symptom) named(said []string) bool {
	known := telling(strings.Join(s.Near, " "))
	whole := false
	for _, name := range append([]string{s.Name, s.Title}, s.Also...) {
		words := telling(name)
		known = append(known, words...)
		whole = whole || !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(said, w) })
	}
	return whole && !slices.ContainsFunc(said, func(w string) bool { return !slices.Contains(known, w) })
}

// telling returns the words of a text that say what it is about, with the statuses of servers
// that fail as one.
func telling(text string) []string {
	text = strings.NewReplacer("502", "status50x", "503", "status50x", "504", "status50x").Replace(text)
	return slices.DeleteFunc(wordsOf(text), func(word string) bool { return weak[word] })
}
