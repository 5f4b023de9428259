package forward_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
)

// setting returns a member that sets a cookie and answers with its key; the path is the status.
func setting(t *testing.T, key string) forward.Member {
	return webMember(t, key, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Set-Cookie", "JSESSIONID="+key+"; Path=/; HttpOnly")
		if strings.HasSuffix(r.URL.Path, "404") {
			w.WriteHeader(404)
		}
		w.Write([]byte(key))
	})
}

// cookie returns the last one of the name that the reply sets.
func cookie(r reply, name string) string {
	value := ""
	for _, c := range r.Cookies() {
		if c.Name == name {
			value = c.Value
		}
	}
	return value
}

func TestInsertedCookie(t *testing.T) {
	clock := newClock()
	a, b := setting(t, "a"), setting(t, "b")
	plan := forward.Plan{Protocol: forward.HTTP, Group: group(a, b), Sticky: forward.Sticky{Mode: forward.StickyInsert, Timeout: time.Minute}}
	s, url := startHTTP(t, plan, forward.Config{Clock: clock})
	c := httpClient(t)
	if got := cookie(get(t, c, url+"/404"), "SERVERID"); got != "" {
		t.Errorf("a reply of status 404 sets %q", got)
	}
	first := get(t, c, url)
	id := cookie(first, "SERVERID")
	if !strings.HasSuffix(id, "|1000000000|1000000000") {
		t.Fatalf("the cookie is %q, want two times in it", id)
	}
	for range 3 {
		if got := get(t, c, url, "Cookie", "other=1; SERVERID="+id); got.text != first.text {
			t.Errorf("the cookie of %s leads to %s", first.text, got.text)
		}
	}
	clock.advance(30 * time.Second)
	if id = cookie(get(t, c, url, "Cookie", "SERVERID="+id), "SERVERID"); !strings.HasSuffix(id, "|1000000030|1000000000") {
		t.Errorf("the cookie becomes %q, want the new time in it", id)
	}
	for name, ask := range map[string]string{"Garbage": "garbage", "Unknown": "0000|1000000030|1000000000"} {
		if first, second := get(t, c, url, "Cookie", "SERVERID="+ask), get(t, c, url, "Cookie", "SERVERID="+ask); first.text == second.text {
			t.Errorf("%s: the cookie binds to %s", name, first.text)
		}
	}
	clock.advance(61 * time.Second)
	if first, second := get(t, c, url, "Cookie", "SERVERID="+id), get(t, c, url, "Cookie", "SERVERID="+id); first.text == second.text {
		t.Errorf("an old cookie binds to %s", first.text)
	}
	// The member of the cookie fails.
	a.Down = first.text == "a"
	b.Down = first.text == "b"
	plan.Group = group(a, b)
	apply(t, s, plan)
	if got := get(t, c, url, "Cookie", "SERVERID="+cookie(first, "SERVERID")); got.text == first.text {
		t.Error("the cookie leads to a member that is down")
	}
}

func TestRewrittenCookie(t *testing.T) {
	plan := forward.Plan{Group: group(setting(t, "a"), setting(t, "b")), Sticky: forward.Sticky{Mode: forward.StickyServer, Cookie: "JSESSIONID"}}
	_, url := startHTTP(t, plan, forward.Config{})
	c := httpClient(t)
	first := get(t, c, url)
	id := cookie(first, "JSESSIONID")
	if id == first.text || !strings.HasSuffix(first.Header.Get("Set-Cookie"), "; Path=/; HttpOnly") {
		t.Errorf("the cookie is %q, want another value and the same attributes", first.Header.Get("Set-Cookie"))
	}
	for range 3 {
		if got := get(t, c, url, "Cookie", "JSESSIONID="+id); got.text != first.text {
			t.Errorf("the cookie of %s leads to %s", first.text, got.text)
		}
	}
	if got := get(t, c, url+"/404"); cookie(got, "JSESSIONID") != got.text {
		t.Errorf("a reply of status 404 sets %q, want the member's cookie", cookie(got, "JSESSIONID"))
	}
}
