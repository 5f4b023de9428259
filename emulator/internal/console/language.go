package console

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/internal/console/zh"
)

// The languages of the pages. Texts stand in English in the pages and scripts, and are
// the keys of the others.
const (
	english = "en"
	chinese = "zh-CN"
)

// languageCookie is the cookie of what the user chose with the button of a page. It holds
// nothing secret.
const languageCookie = "clbemu-language"

// preferred returns the language that the user chose, or else the one that the browser
// prefers, or else English.
func preferred(r *http.Request) string {
	if chosen, err := r.Cookie(languageCookie); err == nil && (chosen.Value == english || chosen.Value == chinese) {
		return chosen.Value
	}
	best, most := english, 0.0
	for wanted := range strings.SplitSeq(strings.ToLower(r.Header.Get("Accept-Language")), ",") {
		tag, quality, _ := strings.Cut(strings.ReplaceAll(wanted, " ", ""), ";q=")
		weight, err := strconv.ParseFloat(cmp.Or(quality, "1"), 64)
		if err != nil || weight <= most {
			continue
		}
		switch primary, _, _ := strings.Cut(tag, "-"); primary {
		case "en":
			best, most = english, weight
		case "zh":
			best, most = chinese, weight
		}
	}
	return best
}

// translation holds the console's texts in another language.
type translation struct {
	// Words are keyed by the English text, in which {0}, {1} and so on stand for what a
	// script puts in.
	Words map[string]string `json:"words"`
	// Fields holds the names of resources' fields.
	Fields map[string]string `json:"fields"`
	// Explored holds the names of clbemu explore: its disturbances, rules and verdicts.
	Explored map[string]string `json:"explored"`
	// Scenarios holds the texts of the library.
	Scenarios map[string]struct {
		About  string `json:"about"`
		Advice string `json:"advice"`
	} `json:"scenarios" yaml:"-"`

	// explained are the answers to texts, keyed by the English ones.
	explained map[string]string
}

// inChinese reads the files of the folder zh.
func inChinese() (t translation) {
	for name, into := range map[string]any{"words.yaml": &t, "library.yaml": &t.Scenarios, "explain.yaml": &t.explained} {
		text, err := zh.Files.ReadFile(name)
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			panic(name + ": " + err.Error()) // a part of the program
		}
	}
	return t
}

// say returns the translation of a text, or the text if it has none.
func (t translation) say(text string) string { return cmp.Or(t.Words[text], text) }

// script returns the translation as the scripts import it.
func (t translation) script() []byte {
	t.Words = maps.Clone(t.Words)
	maps.Copy(t.Words, t.explained)
	all, err := json.Marshal(t)
	if err != nil {
		panic(err) // texts
	}
	return []byte("export const { words, fields, scenarios, explored } = " + string(all) + ";\n")
}

// readers match what people read of a page: the text between tags, with the code within
// it, and attributes.
var readers = sync.OnceValues(func() (between, attribute *regexp.Regexp) {
	return regexp.MustCompile(`>[^<>]+(?:<code>[^<>]*</code>[^<>]*)*`), regexp.MustCompile(` (?:placeholder|title|aria-label)="[^"]+"`)
})

// eachText replaces each text of a page with what say returns for it.
func eachText(page string, say func(text string) string) string {
	between, attribute := readers()
	page = between.ReplaceAllStringFunc(page, func(found string) string {
		text := strings.TrimSpace(found[1:])
		before, after, _ := strings.Cut(found, text)
		return before + say(text) + after
	})
	return attribute.ReplaceAllStringFunc(page, func(found string) string {
		name, text, _ := strings.Cut(strings.TrimSuffix(found, `"`), `"`)
		return name + `"` + say(text) + `"`
	})
}
