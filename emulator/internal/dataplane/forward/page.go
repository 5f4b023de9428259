package forward

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// ReasonHeader is the header of replies that a server gives itself. It says why
// the reply is not a member's.
const ReasonHeader = "X-Clbemu-Reason"

const pageText = `<!DOCTYPE html>
<html>
<head><title>%[1]d %[2]s</title></head>
<body>
<h1>%[1]d %[2]s</h1>
<p>%[3]s</p>
<hr>clbemu
</body>
</html>
`

func page(status int, reason string) string {
	return fmt.Sprintf(pageText, status, http.StatusText(status), html.EscapeString(reason))
}

// oneLine makes text from elsewhere safe for a header.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

func writePage(w http.ResponseWriter, status int, reason string) {
	body := page(status, reason)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Server", serverName)
	h.Set(ReasonHeader, oneLine(reason))
	w.WriteHeader(status)
	io.WriteString(w, body)
}

// rawPage returns a page with its header, for a connection that net/http gives up.
func rawPage(status int, reason string) string {
	body := page(status, reason)
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\nServer: %s\r\n%s: %s\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), len(body), serverName, ReasonHeader, oneLine(reason), body)
}

// replacePage returns the page to write in place of what net/http writes on its own to a client
// that sent no request, or else p.
func replacePage(p []byte) []byte {
	if bytes.HasPrefix(p, []byte("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server")) {
		return []byte(rawPage(http.StatusBadRequest, "plain HTTP came to an HTTPS listener"))
	}
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		return p
	}
	line, rest, _ := bytes.Cut(p, []byte("\r\n"))
	if !bytes.HasPrefix(rest, []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")) {
		return p // an answer to a request, which has a date
	}
	switch {
	case bytes.HasPrefix(line, []byte("HTTP/1.1 431 ")):
		return []byte(rawPage(http.StatusBadRequest, longHeader))
	case bytes.HasPrefix(line, []byte("HTTP/1.1 501 ")):
		return []byte(rawPage(http.StatusNotImplemented, "the request has an unknown Transfer-Encoding"))
	}
	return []byte(rawPage(http.StatusBadRequest, "the request is malformed"))
}
