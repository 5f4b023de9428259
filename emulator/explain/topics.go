package explain

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

//go:embed symptoms.yaml
var symptomsText []byte

//go:embed questions.yaml
var questionsText []byte

// topic is something that people ask about: a symptom with its causes, or a question, a
// finding of the upgrade check or the reason of an Event with its cures.
type topic struct {
	controlapi.Symptom `yaml:",inline"`

	// Texts lists whole texts about the topic, and Also names of a few words, of which any order
	// and form counts. Near lists words that may stand around them.
	Texts, Also, Near []string
	// Patterns are regular expressions of the text in lower case.
	Patterns []string
	// Reasons lists the reasons of its Events.
	Reasons  []string
	Happened string
	Cures    []string
	Scenario string
	By       string

	names [][]string
	known map[string]bool
	forms func() []*regexp.Regexp
	texts map[string]bool
}

// topics are the symptoms, and then the questions.
var topics = sync.OnceValues(func() (all []topic, err error) {
	for _, text := range [][]byte{symptomsText, questionsText} {
		var list []topic
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		if err := d.Decode(&list); err != nil {
			return nil, fmt.Errorf("read the symptoms and questions: %w", err)
		}
		all = append(all, list...)
	}
	for i := range all {
		all[i].prepare()
	}
	return all, nil
})

func (t *topic) prepare() {
	t.known, t.texts = make(map[string]bool), make(map[string]bool)
	names := t.Also
	if len(t.Also) > 0 && !strings.HasPrefix(t.Title, "Upgrade check:") {
		names = append([]string{t.Title}, names...)
	}
	if len(t.Also) > 0 && len(t.Causes) > 0 {
		names = append([]string{t.Name}, names...)
	}
	for _, text := range names {
		if words := telling(text); len(words) > 0 {
			t.names = append(t.names, words)
		}
	}
	for _, word := range append(telling(strings.Join(t.Near, " ")), slices.Concat(t.names...)...) {
		t.known[word] = true
	}
	for _, text := range t.Texts {
		t.texts[plain(text)] = true
	}
	t.forms = sync.OnceValue(func() (forms []*regexp.Regexp) {
		for _, form := range t.Patterns {
			forms = append(forms, regexp.MustCompile(form))
		}
		return forms
	})
}

// Symptoms returns what operators see, with its causes.
func Symptoms() (list []controlapi.Symptom, err error) {
	all, err := topics()
	for i := range all {
		if len(all[i].Causes) > 0 {
			list = append(list, all[i].Symptom)
		}
	}
	return list, err
}

// answer returns the topic as an answer.
func (t *topic) answer() *Answer {
	a := &Answer{Name: t.Name, Title: t.Title, Happened: t.Happened, Cures: some(t.Cures), Look: t.Causes, PlayedBy: t.By, Causes: []controlapi.Cause{}, Scenarios: []string{}, Documented: []string{}}
	if t.Scenario != "" {
		a.Scenarios = []string{t.Scenario}
	}
	for _, cause := range t.Causes {
		if len(t.Cures) == 0 {
			a.Cures = append(a.Cures, cause.Cure)
		}
		if cause.Scenario != "" {
			a.Scenarios = append(a.Scenarios, cause.Scenario)
		}
	}
	a.Happened = cmp.Or(a.Happened, t.Title+".")
	return a
}

// Shown returns the answer as a page shows it.
func (a *Answer) Shown() *controlapi.TextAnswer {
	shown := &controlapi.TextAnswer{Title: a.Title, Happened: a.Happened, Guess: a.Guess, Cures: some(a.Cures), Causes: some(a.Look), Scenarios: some(a.Scenarios)}
	if a.Code != "" || a.Message != "" {
		shown.Title = strings.TrimSpace(a.Code + " " + a.Message)
	}
	shown.Title = cmp.Or(shown.Title, a.Happened)
	return shown
}

// plain returns a text in lower case with single spaces and without the punctuation around it.
func plain(text string) string {
	return strings.Trim(strings.Join(strings.Fields(strings.ToLower(text)), " "), ` "'.,:;!?。，：“”`+"`")
}

// topicBy returns the first topic that fits, or nil for none.
func topicBy(fits func(*topic) bool) *topic {
	all, err := topics()
	if err != nil {
		return nil // a test reads them
	}
	if i := slices.IndexFunc(all, func(t topic) bool { return fits(&t) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// topicOfText returns the topic of which a text is, or a line of it behind a label.
func topicOfText(text string) *topic {
	lines := []string{plain(text)}
	if _, behind, ok := strings.Cut(text, ":"); ok {
		lines = append(lines, plain(behind))
	}
	if _, behind, ok := strings.Cut(text, "："); ok {
		lines = append(lines, plain(behind))
	}
	if t := topicBy(func(t *topic) bool {
		return slices.ContainsFunc(lines, func(line string) bool { return t.texts[line] })
	}); t != nil || !checked().MatchString(lines[0]) || len(lines[0]) > mostWords*16 {
		return t
	}
	return findingIn(lines[0])
}

// checked matches a text about the upgrade check.
var checked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`upgrade ?-?check|pre-?check|升级检查|升级检测|升级前检查|アップグレードチェック`)
})

// findingIn returns the finding of the upgrade check with the longest text that a text about the
// check has.
func findingIn(lower string) (found *topic) {
	all, err := topics()
	longest := 0
	for i := range all {
		for text := range all[i].texts {
			if err == nil && strings.HasPrefix(all[i].Name, "finding") && len(text) > longest && strings.Contains(lower, text) {
				longest, found = len(text), &all[i]
			}
		}
	}
	return found
}

// topicOfReason returns the topic of the reason of an Event that stands in a text.
func topicOfReason(text string) *topic {
	for _, word := range token().FindAllString(text, -1) {
		if t := topicBy(func(t *topic) bool { return slices.Contains(t.Reasons, word) }); t != nil {
			return t
		}
	}
	return nil
}

// topicOfForm returns the topic of which a client's terminal shows a text.
func topicOfForm(lower string) *topic {
	return topicBy(func(t *topic) bool {
		return slices.ContainsFunc(t.forms(), func(form *regexp.Regexp) bool { return form.MatchString(lower) })
	})
}

// topicOfWords returns the topic that the words of a text name.
func topicOfWords(text string) (best *topic) {
	if len(text) > mostWords*16 {
		return nil
	}
	all, err := topics()
	said := telling(text)
	if err != nil || len(said) == 0 || slices.ContainsFunc(said, func(word string) bool { return elsewhere[word] }) {
		return nil
	}
	most := 0.0
	for i := range all {
		if fit := all[i].fit(said); fit > most {
			best, most = &all[i], fit
		}
	}
	return best
}

// fit returns how well words name the topic: the length of its longest name whose words are all
// among them, less a part for each word that the topic does not know, or 0 if they do not name it.
// A name of one word counts only if the topic knows all words.
func (t *topic) fit(said []string) float64 {
	longest, unknown, alone := 0, 0, false
	for _, name := range t.names {
		if !slices.ContainsFunc(name, func(w string) bool { return !slices.Contains(said, w) }) {
			longest, alone = max(longest, len(name)), alone || len(name) == 1 && name[0] == renamed
		}
	}
	for _, word := range said {
		if !t.known[word] {
			unknown++
		}
	}
	if alone && 3*unknown <= len(said) {
		longest = max(longest, 2)
	}
	if longest == 0 || longest == 1 && unknown > 0 || 2*unknown > len(said) {
		return 0
	}
	return float64(longest) - 0.4*float64(unknown) + 0.01*float64(len(said)-unknown)
}

// renamed is a word that names its topic alone.
var renamed = senses[stem("renamed")]

// negated gives phrases one word, as "not" alone says little, and statuses and what kubectl
// shows one that is a word.
var negated = strings.NewReplacer(phrases(`
<pending>	pending
502	status50x
503	status50x
504	status50x
400	status400
cloud controller manager	ccm
cloud-controller-manager	ccm
external traffic policy	traffic policy
node port	nodeport
not created, never created, 没有创建, 未创建, 创建不出来, 创建不了	uncreated
not configured, not set up, 没有配置监听, 不创建监听, 没有监听	uncreated listener
no external, 没有外网	unassigned external
no listener	uncreated listener
how many	maximum number
internal load balancer, internal loadbalancer, internal lb, private load balancer, private loadbalancer, private lb, intranet load balancer, internal slb, internal clb, internal nlb, private slb, private clb, private nlb	intranetlb
not assigned, never assigned, 没有分配, 未分配, never gets, gets no, doesn't get	unassigned
not updated, not upgraded, not refreshed, never updated, n't update, out of date, 没有更新, 未更新, 不更新, 没更新	stale
not added, 没有加入, 未加入, 没有添加	missing
没有节点	missing node
没有后端	missing backend
not applied, not effective, does nothing, not take effect, n't take effect, not taking effect, no effect, 没有生效, 没生效, 未生效, 不生效, 不起作用, 没有效果, 没效果, 有効にならない, 反映されない, 効かない	not effective
not released, not removed, remains, remain, stays, not deleted, n't deleted, 没有删除, 没有释放, 仍然存在	left
not balanced, all go to one, go to one, 都打到一个, 都到一个	uneven
不见了, 消失	gone
异常	unhealthy
by mistake, by accident, mistakenly, 误删, 误操作	accidentally delete
不小心	accidentally
not visible, not collected, not displayed, not shown, no events, no event, can't see, cannot see, 看不到, 没有事件, 看不到事件, 无事件, 事件不显示	invisible event
inaccessible, not accessible, not reachable, can't be reached, cannot be reached, fails to access, fail to access, 无法访问, 访问不到	access
不一致, 不相同, 不同步, 不一样	inconsistent differ
`)...)

// phrases reads pairs of a replacer: phrases, a tab and what replaces them, a line each.
func phrases(lines string) (pairs []string) {
	for line := range strings.Lines(strings.TrimSpace(lines)) {
		list, with, _ := strings.Cut(strings.TrimSpace(line), "\t")
		for phrase := range strings.SplitSeq(list, ", ") {
			pairs = append(pairs, phrase, " "+with+" ")
		}
	}
	return pairs
}

// senses gives words one word of the same sense: what people do to an application, how they
// ask a load balancer, and where.
var senses = func() map[string]string {
	all := make(map[string]string)
	for sense, words := range map[string]string{
		"update":        "deploy deployment redeploy rollout roll rolled rolling upgrade upgrading upgraded publish restart updates updated",
		"replace":       "replaced replacing replacement swap",
		"access":        "reach reachable unreachable curl connect connection-fail call open visit timeout timed times ping telnet accessed accessible",
		"inside":        "within internally internal hairpin in-cluster",
		"outside":       "externally internet",
		"uneven":        "unevenly unbalanced imbalance imbalanced unequal skewed",
		"unhealthy":     "abnormal",
		"gone":          "disappear disappeared vanish vanished",
		"change":        "modify modified modification alter altered edit edited changed changing",
		"overwrite":     "overwritten revert reverted override overridden",
		"configuration": "config configure configured configuring settings setting",
		"delete":        "deletion deleted deleting removal",
		"create":        "creation created creating",
		"accidentally":  "accidental accident unintentionally",
		"unexpectedly":  "unexpected suddenly spontaneously",
		"automatically": "automatic auto",
		"choose":        "choosing select pick decide prefer",
		"reuse":         "reused reusing reuses",
		"existing":      "exist exists preexisting",
		"query":         "list lists",
		"gracefully":    "graceful smoothly properly",
		"connection":    "connections",
		"drain":         "draining drained",
		"calculate":     "calculated calculation computes compute computed determined",
		"rename":        "renaming renamed renames",
		"purpose":       "purposes role usage",
		"permission":    "permissions privilege privileges authorization",
		"increase":      "raise raising lift",
		"inconsistent":  "inconsistency mismatch mismatched",
		"several":       "multiple many",
		"differ":        "different differs difference",
		"stale":         "outdated",
		"invisible":     "missing-event unseen hidden",
		"left":          "leftover orphan orphaned residual remaining",
		"servergroup":   "servergroups vservergroup vservergroups vgroup vgroups",
	} {
		for word := range strings.FieldsSeq(words) {
			all[stem(word)] = stem(sense)
		}
	}
	return all
}()

// fillers are words of questions that say nothing of what a text is about.
var fillers = func() map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(`faq about issue issues problem question handle happen happens happened need want try tried use used using see seem seems
me someone user users correctly correct specific own mean means reason cause because when while during after before always sometimes now again still just really already
am symptom solution solutions prerequisites note notes important description hello hi thanks anyone know idea way best it's i'm there's cannot can't won't doesn't isn't aren't don't wouldn't able unable via through my our production prod test environment today yesterday since
ensure make sure required require also only even aliyun alibaba ack k8s kubernete kubernetes server-load-balancer`) {
		all[stem(word)] = true
	}
	return all
}()

// elsewhere are words of other systems and of other parts of Kubernetes: a text with one is
// about those.
var elsewhere = func() map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(`aws elb alb-aws gke gcp azure aks eks docker helm mysql redis postgres database kafka mongodb etcd pvc persistentvolumeclaim persistentvolume volume disk cpu memory
imagepullbackoff crashloopbackoff image pull minikube metallb traefik cert-manager jenkins gitlab git github maven npm pip queue job cronjob daemonset hpa statefulset kernel
bread cake car train phone email browser-cache printer liveness oom evict evicted insufficient password login`) {
		all[stem(word)] = true
	}
	for _, word := range []string{"数据库", "镜像", "磁盘", "内存", "手机", "火车票", "信用卡"} {
		all[word] = true
	}
	return all
}()

// telling returns the words of a text that say what it is about, each in its sense.
func telling(text string) []string {
	text = apart(inEnglish().Replace(translated(negated.Replace(strings.ToLower(text)))))
	words := slices.DeleteFunc(wordsOf(text), func(word string) bool { return weak[word] || fillers[word] })
	for i, word := range words {
		words[i] = cmp.Or(senses[word], word)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// apart puts spaces between the letters of Chinese and of other languages.
func apart(text string) string {
	var b strings.Builder
	before := ' '
	for _, r := range text {
		if before < unicode.MaxASCII != (r < unicode.MaxASCII) && before != ' ' && r != ' ' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
