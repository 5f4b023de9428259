package explain

import (
	"cmp"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/scenarios"
)

// Found is the result of a search.
type Found struct {
	Best Answer `json:"best"`
	// Others are the next ones, up to three.
	Others []Answer `json:"others"`
}

const (
	// mostOthers is the most other answers of a search.
	mostOthers = 3
	// mostWords is the most words of a text taken for a search by words.
	mostWords = 40
	// enough is the share of a message that must be in a text, and the share of the words of
	// a text that an answer must have.
	enough = 0.8
)

// hit is an answer that a search found, and how well.
type hit struct {
	answer *Answer
	// code and message are set where a code or a message of the answer is in the text.
	code, message, words float64
}

func (h hit) certain() bool { return h.code+h.message > 0 }

func (h hit) compare(other hit) int {
	return -cmp.Or(cmp.Compare(h.code, other.code), cmp.Compare(h.message, other.message), cmp.Compare(h.words, other.words))
}

// searchText is a text as it is searched for.
type searchText struct {
	text, lower string
	words       indexed
	codes       []string
}

// about returns an answer with the causes first whose code or message the text has.
func (x searchText) about(a *Answer) Answer {
	b := *a
	b.Causes = some(a.Causes)
	slices.SortStableFunc(b.Causes, func(one, other controlapi.Cause) int {
		fits := func(cause controlapi.Cause) (fit float64) {
			if slices.Contains(x.codes, cause.Code) {
				fit = 1000
			}
			return fit + x.words.has(patternOf(cause.Message))
		}
		return cmp.Compare(fits(other), fits(one))
	})
	if b.Code != "" && len(b.Causes) > 0 {
		b.Code, b.Status, b.Message = b.Causes[0].Code, b.Causes[0].Status, b.Causes[0].Message
	}
	b.Cures, b.Scenarios, b.Documented = some(a.Cures), some(a.Scenarios), some(a.Documented)
	return b
}

// some returns a list that is in JSON where it is empty.
func some[T any](list []T) []T { return append([]T{}, list...) }

// Scenarios lists the scenarios that a text finds, by name: those that play what it is about,
// and those that have its words.
func (c *Index) Scenarios(text string) (list []string) {
	x := c.read(text)
	hits, _ := c.find(x)
	for _, h := range hits {
		list = append(list, h.answer.Scenarios...)
	}
	texts := make(map[string]*Answer)
	words := make(map[string]bool)
	for _, h := range scenarios.LibraryHeads() {
		a := new(Answer)
		a.addTexts(h.Name, h.Text)
		texts[h.Name] = a
		for _, word := range a.words {
			words[word] = true
		}
	}
	q := c.query(x.text, maps.Keys(words))
	for name, a := range texts {
		if _, ok := q.match(a); ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// certain lists the answers whose code or message is in a text, the best first.
func (c *Index) certain(x searchText) (hits []hit) {
	said := make(map[*Answer]float64)
	for _, h := range c.byMessage(x) {
		said[h.answer] = h.message
	}
	for _, a := range c.answers {
		if !a.near(x) {
			continue
		}
		h := hit{answer: a, message: said[a]}
		for i, code := range x.codes {
			if slices.Contains(a.codes, code) {
				h.code = max(h.code, float64(len(x.codes)-i))
			}
		}
		if h.certain() {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, hit.compare)
	return hits
}

// find lists what a text finds, the best first, and the nearest of what does not match enough.
func (c *Index) find(x searchText) (hits []hit, nearest *Answer) {
	q, near := c.query(x.text, maps.Keys(c.rarity)), 0.0
	hits = c.certain(x)
	for i := range hits {
		hits[i].words, _ = q.match(hits[i].answer)
	}
	certain := len(hits)
	for _, a := range c.answers {
		if !a.near(x) || slices.ContainsFunc(hits[:certain], func(h hit) bool { return h.answer == a }) {
			continue
		}
		share, ok := q.match(a)
		if ok {
			hits = append(hits, hit{answer: a, words: share})
		} else if share > near {
			near, nearest = share, a
		}
	}
	slices.SortStableFunc(hits, hit.compare)
	return hits, nearest
}

// ranked lists what the telling words of a sentence find, the best by all of its words first.
func (c *Index) ranked(told string, x searchText) []hit {
	hits, _ := c.find(c.read(told))
	q := c.query(x.text, maps.Keys(c.rarity))
	for i := range hits {
		hits[i].words, _ = q.match(hits[i].answer)
	}
	slices.SortStableFunc(hits, hit.compare)
	return hits
}

// token matches what may be a code.
var token = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(?:[._][A-Za-z0-9]+)*`) })

// name matches what looks like the name of an action or a code.
var name = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9]+([._][A-Za-z0-9]+)+$|^[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*$`)
})

// labelled matches a code behind its label.
var labelled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)code"?(?::\s*|=)"?([a-z][a-z0-9]*(?:[._][a-z0-9]+)*)`)
})

// codesIn lists the codes of the cloud that stand in a text: those behind a label, and then
// those that are no common words.
func (c *Index) codesIn(text string) (codes []string) {
	for _, match := range labelled().FindAllStringSubmatch(text, -1) {
		short := strings.TrimRight(strings.ToLower(match[1]), "x")
		if code, ok := c.codes[strings.ToLower(match[1])]; ok {
			codes = append(codes, code)
		} else if short+"xxx" == strings.ToLower(match[1]) { // as in Throttlingxxx
			for _, lower := range slices.Sorted(maps.Keys(c.codes)) {
				if lower == short || strings.HasPrefix(lower, short+".") {
					codes = append(codes, c.codes[lower])
				}
			}
		}
	}
	for _, found := range token().FindAllString(text, -1) {
		code, ok := c.codes[strings.ToLower(found)]
		spelled := found == code || found == strings.ToLower(found) || found == strings.ToUpper(found)
		if ok && spelled && (found == text || strings.ContainsAny(code, "._") || len(humps(code)) > 2) {
			codes = append(codes, code)
		}
	}
	return unique(codes)
}

// explained answers for a code whose message holds the name of a parameter, or which only a
// fault rule returns.
func (c *Index) explained(x searchText) (*Answer, bool) {
	var candidates []string
	for _, match := range labelled().FindAllStringSubmatch(x.text, mostOthers) {
		candidates = append(candidates, match[1])
	}
	for _, code := range append(candidates, x.codes...) {
		e, err := Name(c.known, code)
		if err != nil || e.Action != nil || len(e.Answers) == 0 {
			continue
		}
		first := e.Answers[0]
		a := &Answer{Code: code, Status: first.Status, Message: first.Message, Happened: first.Message, Causes: e.Causes, Scenarios: []string{}, Documented: []string{}}
		a.complete()
		for _, known := range e.Evidence {
			a.Documented = append(a.Documented, known.ID)
		}
		return a, true
	}
	return nil, false
}

// indexed are the words of a text with their places.
type indexed struct {
	words []string
	at    map[string][]int
}

func index(words []string) indexed {
	x := indexed{words, make(map[string][]int)}
	for i, word := range words {
		if len(x.at[word]) < mostPlaces {
			x.at[word] = append(x.at[word], i)
		}
	}
	return x
}

// mostPlaces bounds how often a message is looked for around one of its words.
const mostPlaces = 64

// byMessage lists the answers whose messages are in a text, the longest message first.
func (c *Index) byMessage(x searchText) (hits []hit) {
	for _, a := range c.answers {
		if !a.near(x) {
			continue
		}
		best := 0.0
		for _, p := range a.patterns {
			best = max(best, x.words.has(p))
		}
		if best > 0 {
			hits = append(hits, hit{answer: a, message: best})
		}
	}
	slices.SortStableFunc(hits, hit.compare)
	return hits
}

// near reports whether a text has what must stand near the answer's message.
func (a *Answer) near(x searchText) bool {
	return a.beside == nil || slices.ContainsFunc(a.beside, func(word string) bool { return strings.Contains(x.lower, word) })
}

// has returns the weight of the words of a message that are in the text one after another,
// or 0 if there are too few. It looks around the two rarest words of the message. A message
// of few words must be there as a whole.
func (x indexed) has(p pattern) float64 {
	strong, slack, need := p.strong(), 1+3*p.gaps, enough*p.total
	if strong == 0 || strong == 1 && !p.framed {
		return 0
	}
	if strong <= 2 {
		need = p.total
	} else {
		slack += len(p.words) / 4
	}
	var anchors []int
	for i, word := range p.words {
		if !weak[word] && len(x.at[word]) > 0 {
			anchors = append(anchors, i)
		}
	}
	slices.SortStableFunc(anchors, func(a, b int) int { return len(x.at[p.words[a]]) - len(x.at[p.words[b]]) })
	best := 0.0
	for _, anchor := range anchors[:min(2, len(anchors))] {
		for _, place := range x.at[p.words[anchor]] {
			from, to := max(0, place-anchor-slack), min(len(x.words), place-anchor+len(p.words)+slack)
			best = max(best, inOrder(p.words, x.words[from:to]))
		}
	}
	if best < need-0.001 {
		return 0
	}
	return best * best / p.total
}

// inOrder returns the greatest weight of words that two lists have in the same order.
func inOrder(message, text []string) float64 {
	row := make([]float64, len(text)+1)
	for _, word := range message {
		before := 0.0
		for i, other := range text {
			here := row[i+1]
			if word == other {
				row[i+1] = max(row[i+1], before+weightOf(word))
			}
			row[i+1] = max(row[i+1], row[i])
			before = here
		}
	}
	return row[len(text)]
}

// query is a text searched for by its words.
type query struct {
	// forms are its words, as they stand and cut within names.
	forms  [2][]wanted
	phrase string
	name   bool // it may be a misspelt name, of which all must match
}

// wanted is a word of a query, with the words that begin with it.
type wanted struct {
	words  []string
	weight float64
	// optional is true for a common word, which an answer need not have.
	optional bool
}

func (w wanted) needed() bool { return !w.optional }

// in reports whether a text has the word.
func (w wanted) in(text wordSet) bool { return slices.ContainsFunc(w.words, text.has) }

// query reads a text searched for among texts with these words.
func (c *Index) query(text string, vocabulary iter.Seq[string]) query {
	if len(text) > mostWords*64 {
		return query{}
	}
	words := wordsOf(text)
	q := query{phrase: " " + strings.Join(words, " ") + " ", name: name().MatchString(text)}
	forms := [][]string{words, humps(text)}
	if q.name {
		forms = forms[:1]
	}
	if len(words) > mostWords {
		return q
	}
	for i, form := range forms {
		for _, word := range unique(form) {
			if weak[word] && !common[word] && !q.name {
				continue
			}
			w := wanted{[]string{word}, c.rare(word), !q.name && (common[word] || c.actions[word])}
			for known := range vocabulary {
				// The beginning of a word means nothing in Chinese.
				if len(word) > 3 && word[0] <= unicode.MaxASCII && known != word && strings.HasPrefix(known, word) {
					w.words = append(w.words, known)
				}
			}
			q.forms[i] = append(q.forms[i], w)
		}
		if !slices.ContainsFunc(q.forms[i], wanted.needed) {
			for j := range q.forms[i] {
				q.forms[i][j].optional = false
			}
		}
	}
	return q
}

// weigh returns the weight of the words that a text has, and of all.
func weigh(words []wanted, text wordSet) (has, all float64) {
	for _, w := range words {
		all += w.weight
		if w.in(text) {
			has += w.weight
		}
	}
	return has, all
}

// match returns how well an answer has the words of a query, and whether well enough: two
// words must both be there, and of more a part.
func (q query) match(a *Answer) (score float64, ok bool) {
	for _, form := range q.forms {
		has, all := weigh(form, a.words)
		if has == 0 {
			continue
		}
		needed := slices.DeleteFunc(slices.Clone(form), func(w wanted) bool { return w.optional })
		got, most := weigh(needed, a.words)
		title, _ := weigh(form, a.title)
		share := has / all
		ok = ok || got > 0.999*most || len(needed) > 2 && got >= enough*most && !q.name
		score = max(score, share+0.3*share*float64(len(form))/float64(max(len(form), len(a.words)))+0.3*title/all)
	}
	switch {
	case a.known:
		score *= 1.3
	case a.byFault:
		score *= 0.9
	case a.tested:
		score *= 1.15
	}
	if score > 0 && strings.Count(q.phrase, " ") > 2 && slices.ContainsFunc(a.phrases, func(p string) bool { return strings.Contains(p, q.phrase) }) {
		score += 0.5
		if q.name { // which stands there as it is
			score += 0.5
		}
	}
	return score, ok
}
