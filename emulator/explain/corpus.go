package explain

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/names"
)

// Answer holds what clbemu knows about the subject of a text, such as an error.
type Answer struct {
	// Name and Title belong to a symptom, a question, a finding or the reason of an Event.
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
	// PlayedBy names the play of a statement without a scenario; Today tells how today's cloud differs.
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
	words    wordSet // all that a search by words looks at
	title    wordSet // those of the code and the message
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
	p := pattern{words: begun(wordsOf(gap().ReplaceAllString(message, " "))), gaps: len(gap().FindAllString(message, -1))}
	return p.weighed()
}

// begun returns the words of a message from the first one that people repeat: a sentence begins
// with others, such as There are.
func begun(words []string) []string {
	for len(words) > 4 && openings[words[0]] {
		words = words[1:]
	}
	return words
}

var openings = map[string]bool{stem("there"): true, stem("are"): true, stem("is"): true, stem("the"): true, stem("this"): true}

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
		if phrase := " " + strings.Join(words, " ") + " "; len(words) > 0 && !slices.Contains(a.phrases, phrase) {
			a.phrases = append(a.phrases, phrase)
		}
		a.words = append(append(a.words, words...), humps(text)...)
	}
	slices.Sort(a.words)
	a.words = slices.Compact(a.words)
}

// wordSet has words in order, each once.
type wordSet []string

func (s wordSet) has(word string) bool {
	_, found := slices.BinarySearch(s, word)
	return found
}

// Index is everything that a search can find.
type Index struct {
	known   *names.Names
	answers []*Answer
	// codes are the codes of the cloud by their lower case.
	codes map[string]string
	// actions are the names of actions as words.
	actions map[string]bool
	// rarity says how much a word tells, by the number of answers that have it.
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
	Words    string        `json:"words,omitempty"`
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
var lines = sync.OnceValues(func() (indexHead, error) { return linesWith("") })

// linesWith decodes the answers of the index that have a text.
func linesWith(text string) (head indexHead, err error) {
	first, rest, _ := bytes.Cut(indexText, []byte("\n"))
	err = json.Unmarshal(first, &head)
	for line := range bytes.Lines(rest) {
		if !bytes.Contains(line, []byte(text)) {
			continue
		}
		var decoded indexLine
		err = cmp.Or(err, json.Unmarshal(line, &decoded))
		head.answers = append(head.answers, decoded)
	}
	if err != nil {
		return head, fmt.Errorf("read the index of explanations: %w", err)
	}
	return head, nil
}

// NewIndex returns the index of all answers: errors about Services, causes of refusals, other
// refusals, what documents say, and the scenarios.
func NewIndex(known *names.Names) (*Index, error) {
	head, err := lines()
	if err != nil {
		return nil, err
	}
	return head.index(known), nil
}

// OfCode returns what Search finds for a code alone, in a tenth of the time of a whole index.
// What nothing is known of has its family's guess.
func OfCode(known *names.Names, code string) (*Answer, error) {
	head, err := linesWith(code)
	if err != nil {
		return nil, err
	}
	found, _ := head.index(known).Search(code)
	if found.Best.Code != code {
		found.Best = Answer{Code: code}
		found.Best.complete()
	}
	return &found.Best, nil
}

func (head *indexHead) index(known *names.Names) *Index {
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
	return c
}

// answer returns the answer of a line.
func (l *indexLine) answer() *Answer {
	a := l.Answer
	a.known, a.byFault, a.tested, a.codes, a.beside, a.phrases = l.Known, l.ByFault, l.Tested, l.Codes, l.Beside, l.Phrases
	a.words, a.title = strings.Fields(l.Words), strings.Fields(l.Title)
	for _, p := range l.Patterns {
		q := pattern{words: strings.Fields(p.Words), gaps: p.Gaps, framed: p.Framed}
		a.patterns = append(a.patterns, q.weighed())
	}
	return &a
}

// weighWords finds how much each word tells.
func (c *Index) weighWords() {
	for _, a := range c.answers {
		for _, word := range a.words {
			c.rarity[word]++
		}
	}
	for word, n := range c.rarity {
		c.rarity[word] = math.Log(1 + float64(len(c.answers))/n)
	}
}

// rare returns how much a word says about an answer; a word that no answer has says most.
func (c *Index) rare(word string) float64 {
	if weak[word] {
		return 0.3
	}
	return cmp.Or(c.rarity[word], math.Log(1+float64(len(c.answers))))
}

// unique returns a list without repetitions.
func unique(list []string) (once []string) {
	seen := make(map[string]bool)
	for _, s := range list {
		if !seen[s] {
			seen[s], once = true, append(once, s)
		}
	}
	return once
}
