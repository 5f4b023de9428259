package forward

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// insertedCookie is the name of the cookie that the cloud inserts.
const insertedCookie = "SERVERID"

// stickyValue stands for a member in cookies: it names no address.
func stickyValue(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16])
}

// stickyValues maps the values of the pools' available members to their keys.
func stickyValues(pools []*pool) map[string]string {
	values := make(map[string]string)
	for _, p := range pools {
		for _, t := range p.targets {
			values[stickyValue(t.Key)] = t.Key
		}
	}
	return values
}

// An inserted cookie is a member's value with the times of the client's last and
// first request, in seconds since 1970 (CLB-0606).
type inserted struct {
	value       string
	last, first int64
}

func (c inserted) String() string {
	return c.value + "|" + strconv.FormatInt(c.last, 10) + "|" + strconv.FormatInt(c.first, 10)
}

// parseInserted reads what String writes.
func parseInserted(text string) (c inserted, ok bool) {
	value, times, _ := strings.Cut(text, "|")
	last, first, _ := strings.Cut(times, "|")
	var errLast, errFirst error
	c.value = value
	c.last, errLast = strconv.ParseInt(last, 10, 64)
	c.first, errFirst = strconv.ParseInt(first, 10, 64)
	return c, errLast == nil && errFirst == nil && c.last >= 0 && c.first >= 0
}

// bound returns the member that the request's cookie names, and nil where it
// names none that is available. first is when the client got its cookie.
func (t *table) bound(s *Sticky, p *pool, r *http.Request, now time.Time) (chosen *target, first int64) {
	first = now.Unix()
	switch s.Mode {
	case StickyInsert:
		cookie, err := r.Cookie(insertedCookie)
		if err != nil {
			return nil, first
		}
		c, ok := parseInserted(cookie.Value)
		if !ok || s.Timeout > 0 && now.Sub(time.Unix(c.last, 0)) > s.Timeout {
			return nil, first
		}
		return p.target(t.cookies[c.value]), c.first
	case StickyServer:
		if cookie, err := r.Cookie(s.Cookie); err == nil {
			return p.target(t.cookies[cookie.Value]), first
		}
	}
	return nil, first
}

// bind makes the reply's cookie name the member. Replies of status 4xx get none.
func (s *Sticky) bind(resp *http.Response, t *target, first int64, now time.Time) {
	if resp.StatusCode >= 400 && resp.StatusCode < 500 {
		return
	}
	switch s.Mode {
	case StickyInsert:
		c := inserted{stickyValue(t.Key), now.Unix(), first}
		resp.Header.Add("Set-Cookie", insertedCookie+"="+c.String()+";Path=/")
	case StickyServer:
		rewriteCookie(resp.Header["Set-Cookie"], s.Cookie, stickyValue(t.Key))
	}
}

// rewriteCookie replaces the value of the named cookie and keeps its attributes.
func rewriteCookie(lines []string, name, value string) {
	for i, line := range lines {
		pair, attributes, more := strings.Cut(line, ";")
		if n, _, ok := strings.Cut(pair, "="); ok && strings.TrimSpace(n) == name {
			lines[i] = name + "=" + value
			if more {
				lines[i] += ";" + attributes
			}
		}
	}
}
