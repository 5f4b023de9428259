package explain

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/internal/console/zh"
)

// inChinese are the texts in Chinese by the English ones; those of scenarios by their names.
type inChinese struct {
	texts     map[string]string
	scenarios map[string]struct{ About, Advice string }
}

var chineseTexts = sync.OnceValue(func() (all inChinese) {
	var words struct{ Words map[string]string }
	for name, into := range map[string]any{"explain.yaml": &all.texts, "words.yaml": &words, "library.yaml": &all.scenarios} {
		text, err := zh.Files.ReadFile(name)
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			panic(name + ": " + err.Error()) // a part of the program
		}
	}
	for english, chinese := range words.Words {
		all.texts[english] = chinese
	}
	return all
})

func (c inChinese) say(text string) string {
	if dotted, ok := strings.CutSuffix(text, "."); ok && c.texts[text] == "" && c.texts[dotted] != "" {
		return c.texts[dotted] + "。"
	}
	return cmp.Or(c.texts[text], text)
}

// For returns the result in Chinese if the text searched for is Chinese or the locale, such as that
// of LANG, asks for it, and f itself otherwise.
func (f *Found) For(text, locale string) *Found {
	if !isChinese(text) && !strings.HasPrefix(locale, "zh") {
		return f
	}
	g := &Found{Best: f.Best.translated(), Others: []Answer{}}
	for i := range f.Others {
		g.Others = append(g.Others, f.Others[i].translated())
	}
	return g
}

// translated returns the answer in Chinese, as far as it has been translated.
func (a *Answer) translated() Answer {
	b, c := *a, chineseTexts()
	b.Title, b.Happened = c.say(a.Title), c.say(a.Happened)
	b.Cures, b.Look, b.Advice = []string{}, nil, nil
	for _, cure := range a.Cures {
		b.Cures = append(b.Cures, c.say(cure))
	}
	for _, cause := range a.Look {
		cause.About = cmp.Or(c.scenarios[cause.Scenario].About, c.say(cause.About))
		cause.Cure = c.say(cause.Cure)
		b.Look = append(b.Look, cause)
	}
	b.Causes = slices.Clone(a.Causes)
	for i := range b.Causes {
		b.Causes[i].About = c.say(b.Causes[i].About)
	}
	for _, advice := range a.Advice {
		if len(a.Scenarios) > 0 {
			advice = cmp.Or(c.scenarios[a.Scenarios[0]].Advice, advice)
		}
		b.Advice = append(b.Advice, advice)
	}
	return b
}
