package console

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/inventory"
	"github.com/clbemu/clbemu/state"
)

// prefers sets the languages that the browser asks for.
func (b *tab) prefers(languages string) {
	b.Helper()
	b.do("set the language", func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": languages}})
		return none, err
	})
}

// TestLanguage proves that a page is in the language that the browser prefers, that its
// button switches to the other one for all pages, and what is shown stays.
func TestLanguage(t *testing.T) {
	b := open(t)
	b.web("web")
	b.prefers("zh-CN,zh;q=0.9,en;q=0.8")
	b.visit("/?q=web")
	b.shows("h1", "负载均衡实例")
	b.shows("#live", "实时")
	b.until("document.documentElement.lang === 'zh-CN' && document.title === '拓扑 · clbemu'")
	b.click("#language")
	b.shows("h1", "Load balancers")
	b.until("document.documentElement.lang === 'en' && location.search === '?q=web'")
	b.visit("/faults")
	b.shows("#none", "There are no fault rules")
	b.click("#language")
	b.shows("#none", "没有故障规则")
	b.prefers("en")
	b.visit("/clouds")
	b.shows("h1", "云")
}

// TestChineseEverywhere proves that no page has English where there is something and where
// there is nothing, but what is the cloud's, a client's, or code.
func TestChineseEverywhere(t *testing.T) {
	b := open(t, emulatortest.WithClock(state.NewManualClock(time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC))))
	b.prefers("zh-CN")
	for _, page := range pages {
		b.visit("/" + strings.Replace(page.name, "topology", "", 1))
		b.until("document.querySelector('#live').dataset.state === 'live'")
		b.inChinese(page.name + " where there is nothing")
	}
	for path, ready := range map[string]string{"/journal?entry=9999": "#detail p", "/journal?text=none": "#none p", "/explore?play=none": "#detail p", "/resources?kind=acl": "#none p",
		"/resources?id=none": "#detail p", "/conditions?set=life.profile": "#help-of", "/scenarios?name=none": "#said", "/scenarios?name=arrears": ".text li"} {
		b.visit(path)
		b.until("document.querySelector('" + ready + "')?.textContent")
		b.inChinese(path)
	}
	paths := b.scripted()
	for _, page := range pages {
		for _, width := range []int64{1280, 400} {
			b.size(width, 860)
			b.visit(paths[page.name])
			b.until(page.ready)
			b.inChinese(page.name)
			for _, over := range value[[]string](b, overflows) {
				t.Errorf("%s in Chinese, %d wide: what is in %s is wider than that", page.name, width, over)
			}
			if over := value[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("%s in Chinese is %d pixels wider than a window of %d", page.name, over, width)
			}
			if *pictures != "" {
				b.picture(page.name+"-zh", "light", width)
			}
		}
	}
	b.size(1280, 860)
	b.visit(paths["topology"])
	b.until(pages[0].ready)
	b.press("?")
	b.inChinese("the keys")
	b.press("Escape")
	b.press("x")
	b.write("#take [name=name]", "before")
	b.press("Enter")
	b.shows("#snapshots", "before")
	b.inChinese("the snapshots")
	for _, kind := range inventory.Kinds() {
		b.visit("/resources?kind=" + kind.Name)
		b.until("document.querySelectorAll('#resources thead th').length > 2 && (document.querySelector('#none').checkVisibility() || document.querySelector('#resources a.row'))")
		if value[bool](b, "Boolean(document.querySelector('#resources a.row'))") {
			b.click("#resources a.row")
			b.until("document.querySelector('#detail dl')")
		}
		b.inChinese("the resources of kind " + kind.Name)
	}
}

// english matches what a reader takes as an English word.
var english = regexp.MustCompile(`[A-Za-z]{2,}`)

var han = regexp.MustCompile(`\p{Han}`)

// names matches names of conditions and addresses.
var names = regexp.MustCompile(`\b[a-z]+(\.[\w-]+)+`)

// inChinese fails the test if the page shows a text that is not in Chinese, nor made of
// what the control API says.
func (b *tab) inChinese(where string) {
	b.Helper()
	foreign := slices.DeleteFunc(value[[]string](b, shownTexts), func(text string) bool { return isChinese(text, b.said) })
	if len(foreign) == 0 {
		return
	}
	b.said = b.data() // there may be more by now
	for _, text := range foreign {
		if !isChinese(text, b.said) {
			b.Errorf("%s: %q is not in Chinese", where, text)
		}
	}
}

// isChinese reports whether a text is in Chinese, or made of what is said elsewhere.
func isChinese(text string, said []string) bool {
	if han.MatchString(text) || slices.Contains(examples, text) {
		return true
	}
	rest := names.ReplaceAllString(text, "")
	for _, known := range said {
		if len(known) <= len(rest) && strings.Contains(rest, known) {
			if rest = strings.ReplaceAll(rest, known, ""); !english.MatchString(rest) {
				return true
			}
		}
	}
	return !english.MatchString(rest)
}

// shownTexts lists what the page says besides code.
const shownTexts = `(() => {
	const code = 'code, pre, kbd, textarea, .text, script, noscript, style, #language, datalist, [name=kind], #steps td';
	const all = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		const e = node.parentElement;
		if (!e.closest(code) && (e.checkVisibility() || e.matches('option'))) all.add((e.querySelector(':scope > wbr') ? e : node).textContent.trim());
	}
	for (const e of document.querySelectorAll('[placeholder], [title], [aria-label], [data-title]'))
		if (!e.closest(code) && e.checkVisibility()) for (const name of ['placeholder', 'title', 'aria-label', 'data-title']) all.add(e.getAttribute(name) ?? '');
	return [...all];
})()`

// examples are names that stay as they are, and what fields show as what may be written.
var examples = []string{"clbemu", "API", "ID", "URL", "UTC", "Service", "team-a", "before-upgrade", "36h", "lb-…", "Create*, Delete*", "OK, Throttling", "lost, quota, nlb", "listeners"}

// data lists all values of the control API, the longest first.
func (b *tab) data() []string {
	b.Helper()
	found := make(map[string]bool)
	var read func(value any)
	read = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, part := range v {
				found[name] = true
				read(part)
			}
		case []any:
			for _, part := range v {
				read(part)
			}
		case string:
			v = strings.TrimSpace(v)
			found[v], found[strings.ReplaceAll(v, ",", ", ")] = true, true
		}
	}
	for _, path := range []string{"resources", "resources?kind=job", "resources/kinds", "world", "quotas", "journal", "faults", "clouds", "snapshots", "scenarios", "scenarios/library", "exploration", "server", "conditions", "explanations/ORDER.ARREARAGE"} {
		reply, err := http.Get(b.ControlURL() + "/v1/" + path)
		if err != nil {
			b.Fatal(err)
		}
		var all any
		if err := json.NewDecoder(reply.Body).Decode(&all); err != nil {
			b.Fatal(path, err)
		}
		reply.Body.Close()
		read(all)
	}
	list := slices.Clone(examples)
	for text := range found {
		if english.MatchString(text) {
			list = append(list, text)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return list
}
