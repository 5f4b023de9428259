package console

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/state"
)

var pictures = flag.String("pictures", "", "take pictures of the pages into this folder")

// pages are all, with what each shows when there is something.
var pages = []struct{ name, ready string }{
	{"topology", "document.querySelectorAll('#balancers tbody tr').length > 2 && document.querySelector('#detail h3')"},
	{"journal", "document.querySelectorAll('#entries tbody tr').length > 12 && document.querySelector('#detail table')"},
	{"faults", "document.querySelectorAll('#rules article').length === 3 && document.querySelector('#rule').value"},
	{"conditions", "document.querySelectorAll('#zones tr').length > 4 && document.querySelectorAll('#quotas tr').length > 4"},
	{"scenarios", "document.querySelector('.outcome')"},
	{"symptoms", "document.querySelectorAll('#detail article').length > 5"},
	{"clouds", "document.querySelectorAll('#clouds tbody tr').length > 2"},
	{"explore", "document.querySelectorAll('#cells tbody tr').length === 4 && document.querySelector('#detail table')"},
	{"resources", "document.querySelectorAll('#resources tbody tr').length > 3 && document.querySelector('#detail dl')"},
}

// scripted prepares what the pictures show.
func (b *tab) scripted() (paths map[string]string) {
	b.Helper()
	const played = "reply-lost-after-create"
	control := &controlclient.Client{URL: b.ControlURL()}
	for _, name := range []string{"team-a", "pull-request-1274"} {
		if _, err := control.CreateCloud(context.Background(), name, controlapi.NewCloud{Port: true}); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := control.RunScenario(context.Background(), played, nil); err != nil {
		b.Fatal(err)
	}
	lb, _ := b.web("frontend")
	b.web("shop")
	b.fast("postgres")
	b.balancer("empty")
	b.call(emulatortest.Slb, "CreateRules", "RequestId", "LoadBalancerId", lb, "ListenerPort", "80",
		"RuleList", `[{"RuleName":"api","Domain":"example.com","Url":"/api","VServerGroupId":"`+b.call(emulatortest.Slb, "CreateVServerGroup", "VServerGroupId", "LoadBalancerId", lb, "VServerGroupName", "api",
			"BackendServers", `[{"ServerId":"`+node1+`","Port":9090,"Weight":100}]`)+`"}]`)
	b.call(emulatortest.Slb, "TagResources", "RequestId", "ResourceType", "instance", "ResourceId.1", lb, "Tag.1.Key", "ack.aliyun.com", "Tag.1.Value", "c1")
	b.call(emulatortest.Ecs, "StopInstance", "RequestId", "InstanceId", node2, "ForceStop", "true")
	b.Fault(b.T, "{name: no-answer, match: {action: CreateVServerGroup}, when: {times: 1}, effect: {afterCommit: hang}}")
	b.Fault(b.T, "{name: busy, match: {action: 'Delete*'}, effect: {error: {code: ServiceUnavailable}}}")
	b.Fault(b.T, "{name: slow-reads, match: {action: 'Describe*'}, effect: {delay: {fixed: 1ms}}}")
	b.World(b.T, "account.arrears", "true")
	for _, action := range []string{"DescribeLoadBalancers", "DescribeRegions", "DeleteLoadBalancer", "CreateLoadBalancer", "DescribeZones"} {
		params := map[string]string{"LoadBalancerName": "api", "AddressType": "internet", "ClientToken": "a4c1"}
		if action != "CreateLoadBalancer" {
			params = map[string]string{"LoadBalancerId": lb}
		}
		if _, err := b.client.Call(emulatortest.Slb, action, params); err != nil {
			b.Fatal(err)
		}
	}
	b.World(b.T, "account.arrears", "false")
	b.World(b.T, "stock.cn-hangzhou-i", "soldout")
	b.World(b.T, "quota.slb_quota_instances_num", "3")
	b.World(b.T, "vswitch.vsw-bp1clbemu000000000002.freeAddresses", "0")
	b.explored()
	refused := b.Calls(b.T, "code=ORDER.ARREARAGE")[0].Sequence
	return map[string]string{"topology": "/?lb=" + lb, "journal": fmt.Sprint("/journal?entry=", refused), "faults": "/faults?rule=busy", "conditions": "/conditions?used=only", "scenarios": "/scenarios?name=" + played, "symptoms": "/symptoms?name=pending",
		"explore": "/explore?play=lost+at+CreateVServerGroup", "clouds": "/clouds", "resources": "/resources?kind=instance&id=" + node2}
}

// TestLook proves that all text of every page can be read, dark and light, in a wide
// window and in a narrow one, which it does not exceed. With -pictures it takes pictures.
func TestLook(t *testing.T) {
	b := open(t, emulatortest.WithClock(state.NewManualClock(time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC))))
	paths := b.scripted()
	for _, page := range pages {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{1280, 420} {
				b.colours(scheme)
				b.size(width, 860)
				b.visit(paths[page.name])
				b.until(page.ready)
				if over := value[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
					t.Errorf("%s is %d pixels wider than a window of %d", page.name, over, width)
				}
				for _, over := range value[[]string](b, overflows) {
					t.Errorf("%s, %d wide: what is in %s is wider than that", page.name, width, over)
				}
				for _, faint := range value[[]string](b, contrasts) {
					t.Errorf("%s, %s, %d wide: %s", page.name, scheme, width, faint)
				}
				if *pictures != "" {
					b.picture(page.name, scheme, width)
				}
			}
		}
	}
	b.colours("light")
	light := value[string](b, "getComputedStyle(document.body).backgroundColor")
	b.colours("dark")
	if dark := value[string](b, "getComputedStyle(document.body).backgroundColor"); dark == light {
		t.Errorf("the pages are %s, dark and light", dark)
	}
}

// TestWordsAreWhole proves that no word is broken, also in a window as narrow as a
// telephone's.
func TestWordsAreWhole(t *testing.T) {
	b := open(t, emulatortest.WithClock(state.NewManualClock(time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC))))
	paths := b.scripted()
	for _, page := range pages {
		for _, width := range []int64{400, 1280} {
			b.size(width, 860)
			for _, path := range []string{paths[page.name], "/" + strings.Replace(page.name, "topology", "", 1)} {
				b.visit(path)
				if path == paths[page.name] {
					b.until(page.ready)
				}
				for _, word := range value[[]string](b, brokenWords) {
					t.Errorf("%s, %d wide, breaks %s", path, width, word)
				}
			}
		}
	}
}

// brokenWords lists the words that are on two lines, and would have room on one.
const brokenWords = `(() => {
	const broken = new Set();
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node; node = walker.nextNode()) {
		if (!node.parentElement.checkVisibility() || node.parentElement.closest('option, .hidden, .skip')) continue;
		for (const word of node.textContent.matchAll(/[A-Za-z0-9]+/g)) {
			const range = document.createRange();
			range.setStart(node, word.index);
			range.setEnd(node, word.index + word[0].length);
			const lines = [...range.getClientRects()].filter((r) => r.width > 0);
			const width = lines.reduce((sum, r) => sum + r.width, 0);
			let block = node.parentElement;
			while (getComputedStyle(block).display.startsWith('inline')) block = block.parentElement;
			const style = getComputedStyle(block);
			const room = block.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
			if (new Set(lines.map((r) => Math.round(r.top))).size > 1 && (width <= room || block.matches('td, th'))) broken.add(word[0] + ' in ' + block.outerHTML.slice(0, 160));
		}
	}
	return [...broken];
})()`

// overflows lists what is wider than what it is in.
const overflows = `[...document.querySelectorAll('main table, main pre, main form, main dl, main .command')].filter((e) => e.checkVisibility())
	.filter((e) => getComputedStyle(e.parentElement).overflowX !== 'auto' && e.getBoundingClientRect().right > e.parentElement.getBoundingClientRect().right + 1).map((e) => e.parentElement.outerHTML.slice(0, 200))`

// contrasts lists the texts that stand out from what is behind them by less than 4.5,
// which WCAG asks of text.
const contrasts = `(() => {
	const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
	const solid = (colour) => (channels(colour)[3] ?? 1) === 1;
	const light = (colour) => channels(colour).slice(0, 3).map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
		.reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (solid(c)) return c; } return 'rgb(255, 255, 255)'; };
	const faint = [];
	for (const e of document.querySelectorAll('body *')) {
		if (!e.checkVisibility() || e.disabled || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
		const [text, back] = [getComputedStyle(e).color, behind(e)].map(light);
		const contrast = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
		if (contrast < 4.5) faint.push(e.tagName + ' ' + JSON.stringify(e.innerText.slice(0, 40)) + ' has a contrast of ' + contrast.toFixed(2));
	}
	return faint;
})()`

// picture keeps what the tab shows, in few colours. Those of narrow windows are for who
// looks at them now.
func (b *tab) picture(name, scheme string, width int64) {
	b.Helper()
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	shown, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		b.Fatal(err)
	}
	file := "console-" + name
	if scheme == "dark" {
		file += "-dark"
	}
	dir := *pictures
	if width < 1000 {
		file, dir = file+"-narrow", filepath.Join(dir, "narrow")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, fewColours(shown)); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, file+".png"), small.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
}

// fewColours returns a picture in its 256 most frequent colours, with the nearest of those for the
// others.
func fewColours(full image.Image) *image.Paletted {
	count := make(map[color.Color]int)
	bounds := full.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[full.At(x, y)]++
		}
	}
	palette := make(color.Palette, 0, len(count))
	for c := range count {
		palette = append(palette, c)
	}
	slices.SortFunc(palette, func(a, b color.Color) int { return count[b] - count[a] })
	palette = palette[:min(len(palette), 256)]
	few := image.NewPaletted(bounds, palette)
	index := make(map[color.Color]uint8)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := full.At(x, y)
			if _, known := index[c]; !known {
				index[c] = uint8(palette.Index(c))
			}
			few.SetColorIndex(x, y, index[c])
		}
	}
	return few
}

// TestKeys proves that the pages can be used by keyboard alone, as ? says.
func TestKeys(t *testing.T) {
	b := open(t)
	lb, _ := b.web("alpha")
	b.web("omega")
	b.visit("/")
	b.shows("#count", "2")
	b.press("?")
	b.shows("#help", "next row")
	b.press("Escape")
	b.hides("#help")
	b.press("j")
	b.until("document.activeElement.textContent === 'alpha'")
	b.press("j")
	b.until("document.activeElement.textContent === 'omega'")
	b.press("k")
	b.press("Enter")
	b.until("location.search === '?lb=" + lb + "'")
	b.shows("#detail h2", "alpha")
	b.press("Escape")
	b.hides("#detail")
	b.press("/")
	b.typed("omega")
	b.shows("#count", "1 of 2")
	b.press("Escape")
	b.until("document.activeElement === document.body")
	if missing := value[[]string](b, `[...document.querySelectorAll('input, select, textarea, button, a')].filter((e) => e.checkVisibility())
		.filter((e) => !(e.innerText || e.title || e.labels?.length || e.getAttribute('aria-label'))).map((e) => e.outerHTML)`); len(missing) > 0 {
		t.Errorf("nobody can tell what these are without seeing them: %q", missing)
	}
}

// TestBack proves that the browser's own way back leads to what was shown before.
func TestBack(t *testing.T) {
	b := open(t)
	b.web("a")
	b.visit("/")
	b.click("a.row")
	b.shows("#detail h2", "a")
	b.do("go back", back)
	b.hides("#detail")
}
