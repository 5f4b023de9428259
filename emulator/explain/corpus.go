package explain

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/names"
)

// Answer is what is known of an error, or of something else that a text is about.
type Answer struct {
	// Name and Title are those of a symptom, a question, a finding or the reason of an Event.
	Name    string `json:"name,omitempty"`
	Title   string `json:"title,omitempty"`
	Code    string `json:"code,omitempty"`
	Status  int    `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	// Happened says what it means.
	Happened string `json:"happened"`
	// Guess is true where what happened and the cures follow from the name of the code alone.
	Guess bool `json:"guess,omitempty"`
	// Cures are for who operates a cluster, and Advice is for the author of a controller.
	Cures  []string `json:"cures"`
	Advice []string `json:"advice,omitempty"`
	// Look are the causes of a symptom, in the order in which to look for them.
	Look []controlapi.SymptomCause `json:"look,omitempty"`
	// Causes say how the error begins here, and how it ends.
	Causes []controlapi.Cause `json:"causes"`
	// Scenarios play it.
	Scenarios []string `json:"scenarios"`
	// PlayedBy is what plays a statement without a scenario; Today is what differs from it.
	PlayedBy string `json:"playedBy,omitempty"`
	Today    string `json:"today,omitempty"`
	Note     string `json:"note,omitempty"`
	// Documented lists documents, and evidence of the cloud.
	Documented []string `json:"documented"`

	known    bool // its cures are
	byFault  bool // only a fault rule returns it
	tested   bool // a test has its causes
	patterns []pattern
	codes    []string
	beside   []string
	words    map[string]bool // all that a search by words looks at
	title    map[string]bool // those of the code and the message
	phrases  []string
}

// pattern is a message without what differs from one to the next.
type pattern struct {
	words []string
	gaps  int     // places where anything may stand
	total float64 // weight of the words
	// framed is true where something must stand beside the message, which may then be short.
	framed bool
}

// gap matches the places of a message where anything may stand.
var gap = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[[^\[\]\s]*\]|<\w+>|%[sdv]|…|x{3,}|x\.x\.x\.x`)
})

func patternOf(message string) pattern {
	p := pattern{words: wordsOf(gap().ReplaceAllString(message, " ")), gaps: len(gap().FindAllString(message, -1))}
	return p.weighed()
}

// weighed returns the pattern with the weight of its words.
func (p pattern) weighed() pattern {
	p.total = 0
	for _, word := range p.words {
		p.total += weightOf(word)
	}
	return p
}

// strong counts the words that say what a message is about.
func (p pattern) strong() (n int) {
	for _, word := range p.words {
		if !weak[word] {
			n++
		}
	}
	return n
}

// addTexts lets a search find an answer by texts.
func (a *Answer) addTexts(texts ...string) {
	for _, text := range texts {
		words := wordsOf(text)
		a.phrases = append(a.phrases, " "+strings.Join(words, " ")+" ")
		for _, word := range append(words, humps(text)...) {
			a.words[word] = true
		}
	}
}

// Index is everything that a search can find.
type Index struct {
	known   *names.Names
	answers []*Answer
	// codes are the codes of the cloud by their lower case.
	codes map[string]string
	// actions are the names of actions as words.
	actions map[string]bool
	// rarity is how much a word tells, by how many answers have it.
	rarity map[string]float64
}

//go:embed index.jsonl
var indexText []byte

// indexHead is the first line of the index; the others are those of answers.
type indexHead struct {
	Codes   []string `json:"codes"`
	Actions []string `json:"actions"` // as words

	answers []indexLine
}

// indexLine is a line of the index: an answer, with what finds it.
type indexLine struct {
	Answer

	Known    bool          `json:"known,omitempty"`
	ByFault  bool          `json:"byFault,omitempty"`
	Tested   bool          `json:"tested,omitempty"`
	Patterns []indexedText `json:"patterns,omitempty"`
	Codes    []string      `json:"codes,omitempty"`
	Beside   []string      `json:"beside,omitempty"`
	Words    string        `json:"words,omitempty"` // but for those of the phrases
	Title    string        `json:"title"`
	Phrases  []string      `json:"phrases"`
}

// indexedText is a message without what differs from one to the next.
type indexedText struct {
	Words  string `json:"words"`
	Gaps   int    `json:"gaps,omitempty"`
	Framed bool   `json:"framed,omitempty"`
}

// lines decodes the index, which its tests write: to collect it at each start takes the time of
// a hundred searches.
var lines = sync.OnceValues(func() (head indexHead, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(indexText))
	err = json.UnmarshalDecode(d, &head)
	for err == nil && d.PeekKind() != 0 {
		var line indexLine
		err = json.UnmarshalDecode(d, &line)
		head.answers = append(head.answers, line)
	}
	if err != nil {
		return head, fmt.Errorf("read the index of explanations: %w", err)
	}
	return head, nil
})

// NewIndex returns the index of all answers: errors about Services, causes of refusals, other
// refusals, what documents say, and the scenarios.
func NewIndex(known *names.Names) (*Index, error) {
	head, err := lines()
	if err != nil {
		return nil, err
	}
	c := &Index{known: known, codes: make(map[string]string), rarity: make(map[string]float64), actions: make(map[string]bool)}
	for _, code := range head.Codes {
		c.codes[strings.ToLower(code)] = code
	}
	for _, action := range head.Actions {
		c.actions[action] = true
	}
	for i := range head.answers {
		c.answers = append(c.answers, head.answers[i].answer())
	}
	c.weighWords()
	return c, nil
}

// answer returns the answer of a line.
func (l *indexLine) answer() *Answer {
	a := l.Answer
	a.known, a.byFault, a.tested, a.codes, a.beside, a.phrases = l.Known, l.ByFault, l.Tested, l.Codes, l.Beside, l.Phrases
	a.words, a.title = setOf(append(l.Phrases, l.Words)...), setOf(l.Title)
	for _, p := range l.Patterns {
		q := pattern{words: strings.Fields(p.Words), gaps: p.Gaps, framed: p.Framed}
		a.patterns = append(a.patterns, q.weighed())
	}
	return &a
}

func setOf(texts ...string) map[string]bool {
	set := make(map[string]bool)
	for _, text := range texts {
		for word := range strings.FieldsSeq(text) {
			set[word] = true
		}
	}
	return set
}

// weighWords finds how much each word tells.
func (c *Index) weighWords() {
	for _, a := range c.answers {
		for word := range a.words {
			c.rarity[word]++
		}
	}
	for word, n := range c.rarity {
		c.rarity[word] = math.Log(1 + float64(len(c.answers))/n)
	}
}

// rare is how much a word tells; one that no answer has tells most.
func (c *Index) rare(word string) float64 {
	if weak[word] {
		return 0.3
	}
	return cmp.Or(c.rarity[word], math.Log(1+float64(len(c.answers))))
}

// unique returns a list without what is in it a second time.
func unique(list []string) (once []string) {
	seen := make(map[string]bool)
	for _, s := range list {
		if !seen[s] {
			seen[s], once = true, append(once, s)
		}
	}
	return once
}
