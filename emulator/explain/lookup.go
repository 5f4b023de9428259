package explain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// ofType matches the type of an Event in a line of kubectl.
var ofType = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)(Warning|Normal)\s`) })

// eventsOf returns the Events in a text that kubectl describe wrote, without those of type Normal
// if some are of type Warning. It returns a text of another kind whole.
func eventsOf(text string) string {
	if _, events, ok := strings.Cut(text, "\nEvents:"); ok {
		text = events
	}
	if !strings.Contains(text, "Normal") || !strings.Contains(text, "Warning") {
		return text
	}
	kept := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		found := ofType().FindStringSubmatch(line)
		return found != nil && found[1] == "Normal"
	})
	return strings.Join(kept, "\n")
}

// read reads a text searched for.
func (c *Index) read(text string) searchText {
	text = strings.ReplaceAll(strings.ReplaceAll(text, `\_`, "_"), `\"`, `"`)
	text = strings.TrimSpace(inEnglish().Replace(eventsOf(text)))
	return searchText{text, strings.ToLower(text), index(wordsOf(text)), c.codesIn(text)}
}

// Search finds the subject of a text, which may be an error as a client, a cluster or a log shows
// it, a code, a symptom, a question, or some words. It looks first at what says most. Earned
// reports whether enough of the text matches; if not, the best answer, if any, is only the nearest.
func (c *Index) Search(text string) (found Found, earned bool) {
	x := c.read(text)
	if x.foreign() {
		return found, false
	}
	if t := topicOfText(text); t != nil {
		return Found{Best: *t.answer(), Others: []Answer{}}, true
	}
	if hits := c.certain(x); len(hits) > 0 && !(hits[0].slight() && topicOfReason(x.text) != nil) {
		return c.certainly(x, hits), true
	}
	if a, ok := c.explained(x); ok {
		return Found{Best: *a, Others: []Answer{}}, true
	}
	if a, ok := c.unknown(x); ok {
		return Found{Best: *a, Others: []Answer{}}, true
	}
	t := topicOf(text, x)
	alone := asksOfKey(x.lower)
	if t != nil && !alone {
		return Found{Best: *t.answer(), Others: []Answer{}}, true
	}
	if !alone {
		found, earned = c.byWords(text, x)
	}
	if a, ok := annotationIn(x.lower, t); ok && !earned {
		return a, true
	}
	return found, earned
}

// topicOf returns the topic of a text without a code and without a known message: a call that
// did not reach the API, the reason of an Event, a symptom or a question in words, and what
// the terminal of a client shows.
func topicOf(text string, x searchText) *topic {
	if x.unreached() {
		return topicBy(func(t *topic) bool { return t.Name == "no answer of the API" })
	}
	if none().MatchString(text) {
		return topicBy(func(t *topic) bool { return t.Name == "no events" })
	}
	if t := topicOfReason(x.text); t != nil {
		return t
	}
	if t := topicOfWords(text); t != nil {
		return t
	}
	if x.ofAnother() {
		return nil
	}
	return topicOfForm(strings.ToLower(text))
}

// none matches what kubectl describe shows of a Service without Events.
var none = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^Events:\s+<none>\s*$`) })

// certainly returns what a code or a message in a text finds.
func (c *Index) certainly(x searchText, hits []hit) Found {
	best := hits[0]
	if !best.answer.known {
		if a, ok := c.unknown(x); ok && !best.answer.is(x.said()) {
			return Found{Best: *a, Others: []Answer{}}
		}
		if a, ok := c.general(x, hits); ok {
			return Found{Best: *a, Others: []Answer{}}
		}
	}
	found := Found{Best: x.about(best.answer), Others: []Answer{}}
	for _, h := range hits[1:] {
		if len(found.Others) < mostOthers {
			found.Others = append(found.Others, x.about(h.answer))
		}
	}
	return found
}

// is reports whether a text is one of the answer's messages as a whole.
func (a *Answer) is(text string) bool {
	words := begun(wordsOf(text))
	return slices.ContainsFunc(a.patterns, func(p pattern) bool { return p.gaps == 0 && slices.Equal(p.words, words) })
}

// slight reports whether only a message of a few words was found, which other errors have too.
func (h hit) slight() bool { return h.code == 0 && !h.answer.known && h.message < 2.5 }

// general answers for a code with several messages, none of which is in the text, so that the
// causes of one message do not stand for all.
func (c *Index) general(x searchText, hits []hit) (*Answer, bool) {
	if hits[0].code == 0 || hits[0].message > 0 {
		return nil, false
	}
	code := x.codes[0]
	var of []*Answer
	for _, h := range hits {
		if slices.Contains(h.answer.codes, code) {
			of = append(of, h.answer)
		}
	}
	said := x.said()
	if len(of) == 0 || len(of) == 1 && (said == "" || !several().MatchString(code)) || slices.ContainsFunc(of, func(a *Answer) bool { return a.known }) {
		return nil, false
	}
	a := &Answer{Code: code, Status: of[0].Status, Message: said, Scenarios: []string{}, Documented: some(of[0].Documented)}
	if said == "" {
		for _, one := range of {
			if one.tested {
				a.Causes = append(a.Causes, one.Causes...)
			}
		}
	}
	a.cure()
	a.complete()
	return a, true
}

// several matches the codes that the cloud gives with several messages.
var several = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(invalid|illegal)param|^invalid[a-z]*$|^(forbidden|operationdenied|notfound|missingparameter|operation\.failed)$`)
})

// byWords finds what the words of a text find, where they are more than one or two common
// ones of many.
func (c *Index) byWords(text string, x searchText) (found Found, earned bool) {
	hits, nearest := c.find(x)
	if within := x.within(); len(hits) == 0 && within != "" {
		hits, _ = c.find(c.read(within))
	}
	if told := told(text); len(hits) == 0 && told != "" {
		hits = c.ranked(told, x)
	} else if len(hits) > 0 && !c.earns(x, hits[0].answer) {
		hits = nil
	}
	if len(hits) == 0 {
		if nearest != nil {
			found.Best = *nearest
		}
		return found, false
	}
	found = Found{Best: x.about(hits[0].answer), Others: []Answer{}}
	for _, h := range hits[1:] {
		if len(found.Others) < mostOthers {
			found.Others = append(found.Others, x.about(h.answer))
		}
	}
	return found, true
}

// earns reports whether the words of a text say enough for an answer that a search by words found:
// a sentence needs three telling words, and a single one among others must belong to the answer's
// code or message.
func (c *Index) earns(x searchText, a *Answer) bool {
	telling := slices.DeleteFunc(unique(x.words.words), func(word string) bool { return weak[word] || fillers[word] || c.rarity[word] == 0 })
	fields := len(strings.Fields(x.text))
	if len(telling) == 1 && fields > 1 && fields < sentence {
		for _, word := range a.title {
			if strings.HasPrefix(word, telling[0]) {
				return true
			}
		}
		return false
	}
	return len(telling) > 2 || len(telling) > 0 && fields < sentence
}

// sentence is from how many words on a text is a sentence.
const sentence = 5

// dialled matches what a client's library says of a call that had no answer.
var dialled = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`dial (?:tcp|udp)|no such host|connection refused|i/o timeout|x509:|tls: |handshake timeout|no route to host|network is unreachable|could not resolve|name or service not known|unknownhost|connect timed out|connecttimeout|max retries exceeded|failed to establish a new connection|econnrefused|enotfound|getaddrinfo|proxyconnect|unreachable|": eof$`)
})

// calling matches a call of the cloud's API around an error.
var calling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`aliyuncs\.com|[?&]action=|sdk\.(?:client|server)error|sdkerror|teaexception|alicloud|alibaba|error (?:syncing|deleting) load balancer|syncloadbalancerfailed|cleanloadbalancerfailed|\b(?:post|get) "?https?://[^/" ]+/?(?:\?|"|:)`)
})

// unreached reports whether a text shows a call of the cloud's API without an answer.
func (x searchText) unreached() bool {
	return len(x.codes) == 0 && dialled().MatchString(x.lower) && calling().MatchString(x.lower) && !x.ofAnother()
}

// ofAnother reports whether a text is about Kubernetes itself or another server.
func (x searchText) ofAnother() bool { return another().MatchString(x.lower) }

var another = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/api/v1|/apis/|:(?:6443|10250|2379|5432|3306|6379|27017|9092)\b|kubelet|webhook|probe (?:failed|errored)|docker|registry|github|gitlab|unable to connect to the server|failed to pull|image|postgres|mysql|redis|mongo|smtp|(?:^|[^a-z])(?:aws|gke|gcp|azure|eks|aks)(?:$|[^a-z])|helm|etcd|database|数据库|镜像|データベース`)
})
