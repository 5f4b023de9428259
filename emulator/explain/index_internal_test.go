package explain

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/scenarios"
)

var update = flag.Bool("update", false, "write the index")

// TestIndex proves that the index has what is to be found: what the messages, the causes, the
// tables of errors, the documents and the library say. With -update it writes the index.
func TestIndex(t *testing.T) {
	const file = "index.jsonl"
	c, err := collect(names.Of(kinds.Schema, products.All()))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	write := func(line any) {
		if err := e.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	write(indexHead{Codes: slices.Sorted(maps.Values(c.codes)), Actions: slices.Sorted(maps.Keys(c.actions))})
	for _, a := range c.answers {
		line := indexLine{Answer: *a, Known: a.known, ByFault: a.byFault, Tested: a.tested, Codes: a.codes, Beside: a.beside,
			Words: strings.Join(a.words, " "), Title: strings.Join(a.title, " "), Phrases: a.phrases}
		for _, p := range a.patterns {
			line.Patterns = append(line.Patterns, indexedText{strings.Join(p.words, " "), p.gaps, p.framed})
		}
		write(line)
	}
	if *update {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(indexText, text.Bytes()) {
		t.Errorf("%s is not what is to be found: run make golden", file)
	}
}

// collect collects the answers.
func collect(known *names.Names) (*Index, error) {
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
		title := new(Answer)
		title.addTexts(slices.Concat(a.codes, []string{a.Code, a.Message})...)
		a.title = title.words
		a.addTexts(slices.Concat(a.codes, []string{a.Code, a.Message, a.Happened})...)
		a.addTexts(a.Cures...)
		for _, cause := range a.Causes {
			a.addTexts(cause.About, cause.Begin, cause.End, cause.Code, cause.Message)
		}
	}
	if _, err := cures(); err != nil {
		return nil, err
	}
	published := c.published()
	for _, a := range c.answers {
		a.cure()
		a.complete()
		if action, ok := published[a.Code]; ok && len(a.Documented) == 0 {
			a.Documented = []string{"API reference, errors of " + action}
		}
	}
	return c, nil
}

func (c *Index) add(a *Answer, texts ...string) {
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
	operators := operatorsCures()
	for _, h := range heads {
		a := &Answer{Happened: h.About, Cures: operators[h.Name], Advice: []string{h.Advice}, Scenarios: []string{h.Name}}
		if a.Cures == nil {
			a.Cures = []string{}
		}
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

// cureBy takes the advice of the first scenario of a message, for authors of controllers.
func (a *Answer) cureBy(heads []scenarios.LibraryHead) {
	if len(a.Scenarios) == 0 || len(a.patterns) == 0 {
		return
	}
	for _, h := range heads {
		if h.Name == a.Scenarios[0] {
			a.Advice = []string{h.Advice}
		}
	}
}

// operatorsCures returns what operators do about what a scenario plays, by its name.
func operatorsCures() map[string][]string {
	by := make(map[string][]string)
	all, _ := topics() // a test of its own reads them
	for _, t := range all {
		for _, cause := range t.Causes {
			if cause.Scenario != "" {
				by[cause.Scenario] = unique(append(by[cause.Scenario], cause.Cure))
			}
		}
	}
	return by
}

// TestOfCode proves that each code is explained alike by the part of the index that has it
// and by the whole, and one that the index does not have by a guess.
func TestOfCode(t *testing.T) {
	known := names.Of(kinds.Schema, products.All())
	whole, err := NewIndex(known)
	if err != nil {
		t.Fatal(err)
	}
	guesses, codes := 0, known.AllCodes()
	for i, code := range codes {
		if testing.Short() && i%8 != 0 {
			continue
		}
		got, err := OfCode(known, code)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := whole.Search(code)
		switch {
		case want.Best.Code != code:
			guesses++
			if f := familyOf(code, ""); got.Code != code || !got.Guess || got.Happened != f.happened || !slices.Equal(got.Cures, []string{f.cure}) {
				t.Errorf("%s is explained by %+v, want the guess %q", code, got, f.happened)
			}
		case render(t, got) != render(t, &want.Best):
			t.Errorf("%s is explained by\n%s\nwant\n%s", code, render(t, got), render(t, &want.Best))
		}
	}
	if guesses == 0 || guesses*20 > len(codes) {
		t.Errorf("%d of %d codes have a guess alone, want some few", guesses, len(codes))
	}
}

func render(t *testing.T, a *Answer) string {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
