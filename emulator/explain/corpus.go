package explain

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/scenarios"
)

// Answer is what is known of an error, or of something else that a text is about.
type Answer struct {
	Code    string `json:"code,omitempty"`
	Status  int    `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	// Happened says what it means.
	Happened string   `json:"happened"`
	Cures    []string `json:"cures"`
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

// NewIndex collects the answers: errors about Services, causes of refusals, other refusals,
// what documents say, and the scenarios.
func NewIndex(known *names.Names) (*Index, error) {
	f, err := facts()
	if err != nil {
		return nil, fmt.Errorf("read what is known of refusals: %w", err)
	}
	c := &Index{known: known, codes: make(map[string]string), rarity: make(map[string]float64), actions: make(map[string]bool)}
	for _, action := range known.Actions() {
		c.actions[stem(strings.ToLower(action.Name))] = true
	}
	for _, code := range known.AllCodes() {
		c.codes[strings.ToLower(code)] = code
	}
	if err := c.addMessages(&f); err != nil {
		return nil, err
	}
	c.addRefusals(&f)
	if err := c.addStatements(); err != nil {
		return nil, err
	}
	c.addScenarios(f.Events)
	for _, a := range c.answers {
		title := &Answer{words: make(map[string]bool)}
		title.addTexts(slices.Concat(a.codes, []string{a.Code, a.Message})...)
		a.title = title.words
		a.addTexts(slices.Concat(a.codes, []string{a.Code, a.Message, a.Happened})...)
		a.addTexts(a.Cures...)
		for _, cause := range a.Causes {
			a.addTexts(cause.About, cause.Begin, cause.End, cause.Code, cause.Message)
		}
		for word := range a.words {
			c.rarity[word]++
		}
	}
	published := c.published()
	for _, a := range c.answers {
		a.complete()
		if action, ok := published[a.Code]; ok && len(a.Documented) == 0 {
			a.Documented = []string{"API reference, errors of " + action}
		}
	}
	for word, n := range c.rarity {
		c.rarity[word] = math.Log(1 + float64(len(c.answers))/n)
	}
	return c, nil
}

// rare is how much a word tells; one that no answer has tells most.
func (c *Index) rare(word string) float64 {
	if weak[word] {
		return 0.3
	}
	return cmp.Or(c.rarity[word], math.Log(1+float64(len(c.answers))))
}

func (c *Index) add(a *Answer, texts ...string) {
	a.words = make(map[string]bool)
	for _, text := range texts {
		p := patternOf(text)
		p.framed = a.beside != nil
		a.patterns = append(a.patterns, p)
	}
	a.addTexts(texts...)
	c.answers = append(c.answers, a)
}

// addMessages adds the errors about Services, with the causes of the same code or message.
func (c *Index) addMessages(f *Facts) error {
	all, err := messages()
	if err != nil {
		return err
	}
	documents, _, err := Statements()
	if err != nil {
		return err
	}
	for _, m := range all {
		a := &Answer{Message: m.Texts[0], Happened: m.Happened, Cures: m.Cures, PlayedBy: m.By, beside: m.Beside, known: true}
		if m.Scenario != "" {
			a.Scenarios = []string{m.Scenario}
		}
		for _, text := range m.Texts {
			a.codes = append(a.codes, c.codesIn(text)...)
		}
		c.add(a, m.Texts...)
		a.addTexts(m.Scenario)
		a.addCauses(f)
		if len(a.Causes) == 0 {
			a.Causes = []controlapi.Cause{{About: m.Happened, Begin: m.Begin, End: m.End}}
		} else {
			a.Code, a.Status, a.Message = a.Causes[0].Code, a.Causes[0].Status, a.Causes[0].Message
		}
		a.Documented = titles(documents, m.In)
	}
	return nil
}

// addCauses adds the causes of the answer's codes, and of its messages. A code that is of
// other messages too does not find the answer.
func (a *Answer) addCauses(f *Facts) {
	own := slices.Clone(a.codes)
	is := func(cause controlapi.Cause) bool {
		return slices.Contains(own, cause.Code) || a.says(index(wordsOf(cause.Message)))
	}
	for _, cause := range f.Causes {
		if !is(cause) {
			continue
		}
		a.Causes = append(a.Causes, cause)
		if !slices.ContainsFunc(f.Causes, func(other controlapi.Cause) bool { return other.Code == cause.Code && !is(other) }) {
			a.codes = append(a.codes, cause.Code)
		}
	}
	for _, cause := range a.Causes {
		a.patterns = append(a.patterns, patternOf(cause.Message))
	}
}

// titles returns the titles of documents by their ids.
func titles(documents []Document, ids []string) (list []string) {
	for _, d := range documents {
		if slices.Contains(ids, d.ID) {
			list = append(list, d.Title)
		}
	}
	return list
}

// says reports whether one of the answer's messages is in a text.
func (a *Answer) says(words indexed) bool {
	return slices.ContainsFunc(a.patterns, func(p pattern) bool { return words.has(p) > 0 })
}

// addRefusals adds the refusals that no message has: those with causes first, and those last
// that only the cloud answers.
func (c *Index) addRefusals(f *Facts) {
	byText, byCode := make(map[string]*Answer), make(map[string]bool)
	for _, a := range c.answers {
		for _, cause := range a.Causes {
			byText[cause.Code+" "+cause.Message] = a
		}
	}
	refusal := func(status int, code, message, evidence string) *Answer {
		a := byText[code+" "+message]
		if a == nil {
			a = &Answer{Code: code, Status: status, Message: message, codes: []string{code}}
			c.add(a, message)
			byText[code+" "+message] = a
		}
		if evidence != "" && !slices.Contains(a.Documented, evidence) {
			a.Documented = append(a.Documented, evidence)
		}
		byCode[code] = true
		return a
	}
	for _, cause := range f.Causes {
		a := refusal(cause.Status, cause.Code, cause.Message, "")
		if !slices.Contains(a.Causes, cause) {
			a.Causes = append(a.Causes, cause)
			a.Happened = cmp.Or(a.Happened, cause.About)
		}
	}
	for _, action := range c.known.Actions() {
		for row := range action.Errors() {
			if row.Code != "" && row.Message != "" {
				refusal(row.Status, row.Code, worded(row.Message), row.Evidence)
			}
		}
	}
	for _, action := range c.known.Actions() {
		for _, code := range action.Catalogued() {
			if byCode[code] {
				continue
			}
			if row, _, _ := action.Worded(code); row.Message != "" {
				refusal(row.Status, code, row.Message, "").byFault = true
			}
		}
	}
	for _, a := range c.answers {
		a.Happened = cmp.Or(a.Happened, a.Message)
	}
}

// published names an action whose page has a code, by the code.
func (c *Index) published() map[string]string {
	first := make(map[string]string)
	for _, action := range c.known.Actions() {
		for _, code := range action.Catalogued() {
			first[code] = cmp.Or(first[code], action.Product+" "+action.Name)
		}
	}
	return first
}

// addStatements adds what the documents say, but for the messages, which are there.
func (c *Index) addStatements() error {
	documents, all, err := Statements()
	for i := range all {
		words := index(wordsOf(all[i].Says))
		if slices.ContainsFunc(c.answers, func(a *Answer) bool { return a.known && a.says(words) }) {
			continue
		}
		a := &Answer{Happened: all[i].Says, Today: all[i].Today, Note: all[i].Note, Documented: titles(documents, all[i].In)}
		if name, _, ok := all[i].By.Scenario(); ok {
			a.Scenarios = []string{name}
		} else {
			a.PlayedBy = all[i].By.String()
		}
		c.add(a)
	}
	return err
}

// addScenarios adds the library: to the answers whose codes a scenario has, to the answers
// that are in the Events of its play, and as answers of their own.
func (c *Index) addScenarios(events []Event) {
	heads := scenarios.LibraryHeads()
	texts := sync.OnceValue(func() map[string]indexed {
		all := make(map[string]indexed)
		for _, h := range heads {
			all[h.Name] = index(wordsOf(h.Text))
		}
		return all
	})
	with := c.withCodes(heads)
	for _, e := range events {
		if found := c.byMessage(c.read(e.Text)); len(found) > 0 {
			found[0].answer.Scenarios = append(found[0].answer.Scenarios, e.Scenarios...)
		}
	}
	answers := make(map[string]int)
	for _, a := range c.answers {
		for _, code := range a.codes {
			answers[code]++
		}
	}
	for _, a := range c.answers {
		for _, code := range a.codes {
			for _, h := range heads {
				// Where several messages have the code, the scenario has to have this one.
				if slices.Contains(with[code], h.Name) && (answers[code] == 1 || a.known || a.says(texts()[h.Name])) {
					a.Scenarios = append(a.Scenarios, h.Name)
				}
			}
		}
		a.Scenarios = unique(a.Scenarios)
		a.cureBy(heads)
	}
	for _, h := range heads {
		a := &Answer{Happened: h.About, Cures: []string{h.Advice}, Scenarios: []string{h.Name}}
		c.add(a)
		a.addTexts(h.Name)
	}
}

// withCodes returns the scenarios that have a code in their text, by the code.
func (c *Index) withCodes(heads []scenarios.LibraryHead) map[string][]string {
	with := make(map[string][]string)
	for _, h := range heads {
		for _, token := range token().FindAllString(h.Text, -1) {
			if code := c.codes[strings.ToLower(strings.Trim(token, "."))]; code != "" && !slices.Contains(with[code], h.Name) {
				with[code] = append(with[code], h.Name)
			}
		}
	}
	return with
}

// cureBy takes the advice of the first scenario of a message that has no cure.
func (a *Answer) cureBy(heads []scenarios.LibraryHead) {
	if len(a.Scenarios) == 0 || len(a.Cures) > 0 || len(a.patterns) == 0 {
		return
	}
	for _, h := range heads {
		if h.Name == a.Scenarios[0] {
			a.Cures = []string{h.Advice}
		}
	}
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
