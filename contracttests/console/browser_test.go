package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// browserRequired is the variable that makes a missing browser a failure, as in CI.
const browserRequired = "CLBEMU_CHROMIUM"

// patience limits how long a page may take to show something; it takes a fraction.
const patience = 60 * time.Second

// rebound is a name that the browser resolves to this machine, as another owner's may be.
const rebound = "rebound.example"

// browser is the one of all tests.
var browser = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path),
		chromedp.Flag("host-resolver-rules", "MAP "+rebound+" 127.0.0.1"))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	if cache, err = os.MkdirTemp("", "clbemu-browser-"); err != nil {
		return nil, err
	}
	options = append(options, chromedp.Env("XDG_CACHE_HOME="+cache))            // in which it leaves a folder
	allocator, _ := chromedp.NewExecAllocator(context.Background(), options...) // TestMain ends it
	ctx, _ := chromedp.NewContext(allocator)
	return ctx, chromedp.Do(ctx)
})

var cache string // the browser's, which TestMain deletes

var required bool // before the settings of this environment are taken away

func TestMain(m *testing.M) {
	required = os.Getenv(browserRequired) != ""
	code := binary.Main(m)
	if ctx, err := browser(); err == nil {
		if err := chromedp.Cancel(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "end the browser:", err)
		}
		if err := os.RemoveAll(cache); err != nil {
			fmt.Fprintln(os.Stderr, "delete the browser's cache:", err)
		}
	}
	os.Exit(code)
}

// tab is a tab of the browser at an emulator of the test's own, or at the site.
type tab struct {
	*testing.T
	*emulatortest.Server
	origin string
	client *emulatortest.Client
	ctx    context.Context

	said   []string // by the control API, for inChinese
	mu     sync.Mutex
	events []string // what should not happen
}

// open starts an emulator and a tab, or skips the test and says so.
func open(t *testing.T, options ...emulatortest.Option) *tab {
	t.Helper()
	b := &tab{T: t, Server: emulatortest.Start(t, options...)}
	b.client, b.origin = b.Client(), b.ControlURL()
	b.start()
	return b
}

// start opens the tab, or skips the test. When that ends, the pages must have broken no
// rule of their own, and called only their origin.
func (b *tab) start() {
	t := b.T
	t.Helper()
	parent, err := browser()
	if err != nil {
		if required {
			t.Fatalf("%s is set, and there is no browser: %v", browserRequired, err)
		}
		t.Skipf("pages are not tried without a browser: %v", err)
	}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithListener(b.heard), chromedp.WithNewBrowserContext())
	b.ctx = ctx
	t.Cleanup(func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, event := range b.events {
			t.Errorf("the page should not have done that: %s", event)
		}
	})
	b.size(1280, 800)
	b.colours("light")
}

func withToken(token string) emulatortest.Option {
	return emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.ControlToken = token })
}

// heard notes what pages must never do.
func (b *tab) heard(event any) {
	said := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		said = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			said += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Source == log.EntrySourceSecurity || strings.Contains(e.Entry.Text, "Content Security Policy") {
			said = "log: " + e.Entry.Text
		}
	case *cdppage.EventJavascriptDialogOpening:
		said = "dialog: " + e.Message
	case *network.EventRequestWillBeSent:
		// The browser itself asks for the icon of a page that names none, at any time.
		if !strings.HasPrefix(e.Request.URL, b.origin+"/") && !strings.HasPrefix(e.Request.URL, "data:") && !strings.HasSuffix(e.Request.URL, "/favicon.ico") {
			said = "request: " + e.Request.URL
		}
	}
	if said != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.events = append(b.events, said)
	}
}

// expected takes away what the test wanted to happen, and fails if it did not.
func (b *tab) expected(part string) {
	b.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	left := []string{}
	for _, event := range b.events {
		if !strings.Contains(event, part) {
			left = append(left, event)
		}
	}
	if len(left) == len(b.events) {
		b.Errorf("nothing happened with %q in it: %q", part, b.events)
	}
	b.events = left
}

func (b *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if b.ctx != nil && chromedp.FromContext(b.ctx).Target == nil {
		ctx = b.ctx // the tab lives as long as the context of its first action
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatalf("%s: %v\n%s", what, err, b.text())
	}
}

// visit opens a page.
func (b *tab) visit(path string) {
	b.Helper()
	b.goTo(b.origin + path)
}

func (b *tab) goTo(address string) {
	b.Helper()
	b.do("open "+address, chromedp.Navigate(address))
}

func (b *tab) size(width, height int64) {
	b.Helper()
	b.do("set the size", chromedp.EmulateViewport(width, height))
}

// colours sets what the user prefers, light or dark.
func (b *tab) colours(scheme string) {
	b.Helper()
	b.do("set the colours", func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			// Colours that fade in would be measured on their way.
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}})
		return none, err
	})
}

// first runs a script in each page before the page's own.
func (b *tab) first(script string) {
	b.Helper()
	b.do("add a script", func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, cdppage.AddScriptToEvaluateOnNewDocument, cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return none, err
	})
}

// value returns the value of an expression in the page.
func value[T any](b *tab, expression string) T {
	b.Helper()
	got, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return got
}

// until waits for an expression in the page to be true. It waits for a promise first, which
// would be true as such.
func (b *tab) until(expression string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		// A page that is being left has no answer, and the next one may have.
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("(async () => Boolean(await ("+expression+")))()", chromedp.EvalAwaitPromise))
		if is {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			b.Fatalf("it does not become so that %s (%v); the page shows:\n%s", expression, errors.Join(err, ctx.Err()), b.text())
		}
	}
}

// shows waits for a text in an element.
func (b *tab) shows(selector, text string) {
	b.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.checkVisibility() && e.innerText.includes(%q))", selector, text))
}

// hides waits for an element to be away, or out of sight.
func (b *tab) hides(selector string) {
	b.Helper()
	b.until(fmt.Sprintf("[...document.querySelectorAll(%q)].every((e) => !e.checkVisibility())", selector))
}

// text is all that the page shows.
func (b *tab) text() string {
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// click clicks on an element as soon as there is one. It looks again for one that is
// redrawn meanwhile.
func (b *tab) click(selector string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector)))
		if err == nil {
			return
		}
		if !strings.Contains(err.Error(), "node") || ctx.Err() != nil {
			b.Fatalf("click on %s: %v\n%s", selector, err, b.text())
		}
	}
}

// write replaces the text of a field, as soon as there is one.
func (b *tab) write(selector, text string) {
	b.Helper()
	b.until(fmt.Sprintf("document.querySelector(%q)", selector))
	b.until(fmt.Sprintf("(document.querySelector(%[1]q).focus(), document.querySelector(%[1]q).select(), true)", selector))
	b.typed(text)
}

// typed puts a text into whatever has the focus.
func (b *tab) typed(text string) {
	b.Helper()
	b.do("type "+text, func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, input.InsertText, input.InsertTextParams{Text: text})
		return none, err
	})
}

// choose chooses an option of a select, as a user does.
func choose(selector, option string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf("{ const s = document.querySelector(%q); s.value = %q; s.dispatchEvent(new Event('change', {bubbles: true})); undefined; }", selector, option))
}

// back is the browser's own way back.
var back = chromedp.Evaluate[chromedp.Void]("history.back()")

// press presses and releases a key, such as j or Escape. What a page takes as a command
// is then no text, as with a keyboard.
func (b *tab) press(key string) {
	b.Helper()
	text := key
	switch key {
	case "Escape":
		text = ""
	case "Enter":
		text = "\r"
	}
	b.do("press "+key, func(ctx context.Context, t *chromedp.Target) (none chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: text, WindowsVirtualKeyCode: codes[key]})
		if err == nil {
			_, err = cdp.Call(ctx, t, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key, WindowsVirtualKeyCode: codes[key]})
		}
		return none, err
	})
}

// codes holds the codes of keys that are no text.
var codes = map[string]int64{"Escape": 27, "Enter": 13}

// call makes a call of the cloud that must succeed, and returns a field of its answer.
func (b *tab) call(version, action, field string, pairs ...string) string {
	b.Helper()
	params := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		params[pairs[i]] = pairs[i+1]
	}
	reply, err := b.client.Call(version, action, params)
	if err != nil || reply.Status != 200 {
		b.Fatalf("%s = %v, %v", action, reply, err)
	}
	return reply.Text(field)
}

// balancer makes a load balancer.
func (b *tab) balancer(name string) string {
	b.Helper()
	return b.call(emulatortest.Slb, "CreateLoadBalancer", "LoadBalancerId", "AddressType", "internet", "LoadBalancerName", name)
}
