package explain

import (
	"cmp"
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

// symptom is one with the other names that people have for it, and with words that may stand
// near them.
type symptom struct {
	controlapi.Symptom `yaml:",inline"`

	Also, Near []string
}

var symptoms = sync.OnceValues(func() (all []symptom, err error) {
	if err := yaml.Unmarshal(symptomsText, &all); err != nil {
		return nil, fmt.Errorf("read the symptoms: %w", err)
	}
	return all, nil
})

// Symptoms returns what operators see, with its causes.
func Symptoms() (list []controlapi.Symptom, err error) {
	all, err := symptoms()
	for _, s := range all {
		list = append(list, s.Symptom)
	}
	return list, err
}

// SymptomOf returns the symptom that a text names, nil for none.
func SymptomOf(text string) (best *controlapi.Symptom, err error) {
	all, err := symptoms()
	said := telling(text)
	most := 0
	for i := range all {
		if fit := all[i].fit(said); fit > most {
			best, most = &all[i].Symptom, fit
		}
	}
	return best, err
}

// fit is how many words the longest name of the symptom has that words include whole, less
// those that the symptom does not know: it is above 0 where they name the symptom.
func (s *symptom) fit(said []string) int {
	known := telling(strings.Join(s.Near, " "))
	longest := 0
	for _, name := range append([]string{s.Name, s.Title}, s.Also...) {
		words := telling(name)
		known = append(known, words...)
		if !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(said, w) }) {
			longest = max(longest, len(words))
		}
	}
	for _, word := range said {
		if !slices.Contains(known, word) {
			longest--
		}
	}
	return longest
}

// negated gives phrases one word, as "not" alone says little, and statuses and what kubectl
// shows one that is a word.
var negated = strings.NewReplacer("<pending>", "pending", "502", "status50x", "503", "status50x", "504", "status50x", "400", "status400",
	"not created", "uncreated", "never created", "uncreated", "没有创建", " uncreated ", "未创建", " uncreated ", "创建不出来", " uncreated ", "创建不了", " uncreated ",
	"no external", "unassigned external", "没有外网", " unassigned external ",
	"not assigned", "unassigned", "never assigned", "unassigned", "没有分配", " unassigned ", "未分配", " unassigned ", "never gets", "unassigned", "gets no", "unassigned", "doesn't get", "unassigned",
	"not updated", "stale", "没有更新", " stale ", "未更新", " stale ",
	"not added", "missing", "没有加入", " missing ", "未加入", " missing ", "没有添加", " missing ", "没有节点", " missing node ", "没有后端", " missing backend ",
	"not applied", "not effective", "does nothing", "not effective", "没有生效", " not effective ", "没生效", " not effective ", "没有效果", " not effective ", "没效果", " not effective ",
	"not released", "left", "not removed", "left", "remains", "left", "remain", "left", "没有删除", " left ", "没有释放", " left ",
	"not balanced", "uneven", "all go to one", "uneven", "go to one", "uneven", "都打到一个", " uneven ", "都到一个", " uneven ", "不见了", " gone ", "消失", " gone ", "异常", " unhealthy ")

// senses gives words one word of the same sense: what people do to an application, how they
// ask a load balancer, and where.
var senses = func() map[string]string {
	all := make(map[string]string)
	for sense, words := range map[string]string{
		"update":    "deploy deployment redeploy rollout roll rolled rolling upgrade publish restart replace",
		"access":    "reach reachable unreachable curl connect call open timeout timed times ping telnet",
		"inside":    "within internally internal hairpin",
		"outside":   "externally",
		"uneven":    "unevenly unbalanced imbalance imbalanced unequal skewed",
		"unhealthy": "abnormal",
		"gone":      "disappear disappeared vanish vanished",
	} {
		for word := range strings.FieldsSeq(words) {
			all[stem(word)] = stem(sense)
		}
	}
	return all
}()

// telling returns the words of a text that say what it is about, each in its sense.
func telling(text string) []string {
	text = inEnglish().Replace(negated.Replace(strings.ToLower(text)))
	words := slices.DeleteFunc(wordsOf(text), func(word string) bool { return weak[word] })
	for i, word := range words {
		words[i] = cmp.Or(senses[word], word)
	}
	slices.Sort(words)
	return slices.Compact(words)
}
