package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

const markup = `<img src=x onerror=alert(1)><script>alert(2)</script>`

// rename gives the load balancers of a name another one, which the API may refuse.
func (b *tab) rename(name, other string) {
	b.Helper()
	var text bytes.Buffer
	export, err := b.Store().Export()
	if err == nil {
		err = export.Write(&text)
	}
	escaped, _ := json.Marshal(other) // a string always has a text
	if err == nil {
		export, err = b.Store().ReadExport(strings.NewReader(strings.ReplaceAll(text.String(), `"Name":"`+name+`"`, `"Name":`+string(escaped))))
	}
	if err == nil {
		_, err = b.Store().Import(export)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// TestTextStaysText proves that markup from the state and from callers' parameters is
// shown as the text that it is, on every page that shows it.
func TestTextStaysText(t *testing.T) {
	b := open(t)
	lb, _ := b.web("web")
	b.rename("web", markup)
	b.visit("/?lb=" + lb)
	b.shows("#balancers a.row", markup)
	b.shows("#detail h2", markup)
	b.visit("/?q=" + url.QueryEscape(markup))
	b.shows("#count", "1")
	if _, err := b.client.Call(emulatortest.Slb, markup, map[string]string{markup: markup, "LoadBalancerId": markup}); err != nil {
		t.Fatal(err)
	}
	b.visit("/journal")
	b.shows("#entries a.row", markup)
	b.click("#entries a.row")
	b.shows("#detail pre", markup)
	b.Fault(t, "{name: f, match: {params.LoadBalancerName: '"+markup+"'}, effect: {reset: true}}")
	b.visit("/faults?action=" + url.QueryEscape(markup))
	b.shows("#rules pre", markup)
	if found := value[int](b, "document.querySelectorAll('main img, main script').length"); found != 0 {
		t.Errorf("%d elements were made of text", found)
	}
}

// TestToken proves that the pages ask for a token where one is set, refuse a wrong one,
// keep the right one for the tab and forget it when told, and that it gets into no
// address and no cookie.
func TestToken(t *testing.T) {
	b := open(t, withToken("s3cret"))
	b.balancer("web")
	b.visit("/")
	b.until("document.querySelector('#login').open")
	b.write("#token", "wrong")
	b.press("Enter")
	b.shows("#login-problem", "Wrong token")
	if shown := b.text(); strings.Contains(shown, "slb.lcu.elastic") || value[int](b, "document.querySelectorAll('a.row').length") != 0 {
		t.Errorf("the page shows something to who has no token: %s", shown)
	}
	b.write("#token", "s3cret")
	b.press("Enter")
	b.shows("a.row", "web")
	b.visit("/")
	b.shows("a.row", "web")
	if leak := value[string](b, "document.cookie + location.href + localStorage.length"); strings.Contains(leak, "s3cret") || !strings.HasSuffix(leak, "/0") {
		t.Errorf("the token is kept where it should not: %s", leak)
	}
	b.click("#leave")
	b.until("document.querySelector('#login').open")
}

// TestOtherOrigins proves that the pages of other sites can neither call the control API
// nor read it nor show the console in a frame, also not by a name that they made resolve
// to this machine.
func TestOtherOrigins(t *testing.T) {
	b := open(t)
	b.balancer("web")
	attacks := fmt.Sprintf(`<!doctype html><iframe src=%[1]q></iframe><script>
		const tries = [
			fetch(%[1]q + 'v1/state/reset', {method: 'POST', mode: 'no-cors'}),
			fetch(%[1]q + 'v1/state/reset', {method: 'POST', mode: 'no-cors', headers: {'Content-Type': 'text/plain'}, body: '{}'}),
			fetch(%[1]q + 'v1/resources').then((r) => r.text()).then((read) => { window.read = read; }),
			fetch(%[1]q + 'v1/journal', {method: 'DELETE'}),
		];
		Promise.allSettled(tries).then(() => { window.tried = true; });
		</script>`, b.ControlURL()+"/")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(attacks)) // the browser may be gone
	}))
	defer site.Close()
	journal := len(b.Calls(t))
	for _, address := range []string{site.URL, strings.Replace(site.URL, "127.0.0.1", rebound, 1)} {
		b.goTo(address + "/")
		b.until("window.tried")
		if read := value[string](b, "String(window.read)"); read != "undefined" {
			t.Errorf("a page of %s read %s", address, read)
		}
	}
	b.expected(site.URL)
	b.expected(rebound)
	b.expected("frame-ancestors")

	_, port, _ := strings.Cut(strings.TrimPrefix(b.ControlURL(), "http://"), ":")
	for _, path := range []string{"/", "/console/api.js", "/v1/resources"} {
		b.goTo("http://" + rebound + ":" + port + path)
		b.shows("body", "the Host of the call must be a loopback address")
	}
	b.expected(rebound)
	reply, err := b.client.Call(emulatortest.Slb, "DescribeLoadBalancers", nil)
	if err != nil || reply.Body["TotalCount"] != 1.0 || len(b.Calls(t)) <= journal {
		t.Errorf("after all that there are %v load balancers (%v) and %d calls in the journal", reply.Body["TotalCount"], err, len(b.Calls(t)))
	}
}

// TestTokenOfAddress proves that the address which serve prints opens the console, and
// that the token does not stay in it.
func TestTokenOfAddress(t *testing.T) {
	b := open(t, withToken("s3cret"))
	b.balancer("web")
	b.visit("/?q=web#token=s3cret")
	b.shows("#balancers", "web")
	if at := value[string](b, "location.href"); strings.Contains(at, "s3cret") || !strings.HasSuffix(at, "/?q=web") {
		t.Errorf("the address is %s", at)
	}
	b.visit("/journal")
	b.shows("#entries", "CreateLoadBalancer")
}
