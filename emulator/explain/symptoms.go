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

var symptoms = sync.OnceValues(func() (all []controlapi.Symptom, err error) {
	if err := yaml.Unmarshal(symptomsText, &all); err != nil {
		return nil, fmt.Errorf("read the symptoms: %w", err)
	}
	return all, nil
})

// Symptoms returns what operators see, with its causes.
func Symptoms() ([]controlapi.Symptom, error) {
	all, err := symptoms()
	return slices.Clone(all), err
}

// SymptomOf returns the symptom that a text names, nil for none.
func SymptomOf(text string) (*controlapi.Symptom, error) {
	all, err := symptoms()
	words := strings.Join(wordsOf(text), " ")
	for i := range all {
		if words == strings.Join(wordsOf(all[i].Name), " ") || words == strings.Join(wordsOf(all[i].Title), " ") {
			return &all[i], err
		}
	}
	return nil, err
}
