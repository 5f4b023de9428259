package explain

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// message is an error message about Services, with what it means and what cures it.
type message struct {
	// Texts are its wordings.
	Texts []string `yaml:"texts"`
	// Beside are words of which one stands near a message that other programs write too.
	Beside   []string `yaml:"beside"`
	Happened string   `yaml:"happened"`
	Cures    []string `yaml:"cures"`
	// Begin and End say what to do for a message that is no refusal of the cloud.
	Begin string `yaml:"begin"`
	End   string `yaml:"end"`
	// Scenario plays it, or By shows it; some are played by nothing.
	Scenario string `yaml:"scenario"`
	By       string `yaml:"by"`
	// In are the ids of the documents that have it.
	In []string `yaml:"in"`
}

//go:embed messages.yaml
var messagesText []byte

var messages = sync.OnceValues(func() (all []message, err error) {
	d := yaml.NewDecoder(bytes.NewReader(messagesText))
	d.KnownFields(true)
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("read the messages about Services: %w", err)
	}
	return all, nil
})

// TestChinese proves that what happened and every cure, of each symptom, question, finding, message
// and code, are whole sentences, and known in Chinese.
func TestChinese(t *testing.T) {
	all, err := topics()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i := range all {
		a := all[i].answer()
		texts = append(texts, a.Title, a.Happened)
		texts = append(texts, a.Cures...)
		for _, cause := range a.Look {
			if cause.Scenario == "" {
				texts = append(texts, cause.About)
			}
		}
	}
	said, err := messages()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range said {
		texts = append(append(texts, m.Happened), m.Cures...)
	}
	ofCodes, err := cures()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range ofCodes {
		texts = append(append(texts, c.Happened), c.Cures...)
	}
	for _, f := range families {
		texts = append(texts, f.happened, f.cure)
	}
	known, err := facts()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range known.Causes {
		texts = append(texts, c.About)
	}
	for _, text := range texts {
		if chineseTexts().say(text) == text && len(strings.Fields(text)) > 1 && !strings.HasPrefix(text, "CreateRouteFailed") {
			t.Errorf("zh/explain.yaml has no %q", text)
		}
	}
	whole := regexp.MustCompile("^[A-Z`].*[.?]$")
	var list []string
	for _, m := range said {
		list = append(list, m.Cures...)
	}
	for _, c := range ofCodes {
		list = append(list, c.Cures...)
	}
	for _, cure := range list {
		if !whole.MatchString(cure) {
			t.Errorf("%q is no sentence: a comma ends a text without quotes in a list", cure)
		}
	}
}
