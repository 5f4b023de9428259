package command

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// evil is a name that clients can give, with what terminals act on.
const evil = "a\u009b31mred\u202e\u2066\u200fevil"

// acts finds what a terminal acts on.
func acts(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	})
}

// TestHostileNames proves that a name which a client gave reaches a terminal by no
// command and in no form, and that JSON and YAML have it all the same.
func TestHostileNames(t *testing.T) {
	server := served(t)
	if code, _, problems := executed(t, "call", "AllocateEipAddress", "Name="+evil, "--server", server); code != exitOK {
		t.Fatal(problems)
	}
	lines := map[string][]string{
		"get": {"get", "all"}, "journal": {"journal"}, "call": {"call", "DescribeEipAddresses"}, "export": {"state", "export"},
		"refused": {"call", "Evil" + evil},
	}
	for name, args := range lines {
		for _, form := range []string{formTable, formWide, formJSON, formYAML} {
			code, stdout, problems := executed(t, append(args, "--server", server, "-o", form)...)
			if (code == exitOK) != (name != "refused") {
				t.Errorf("%v -o %s = %d %s", args, form, code, problems)
			}
			if acts(stdout) || acts(problems) {
				t.Errorf("%v -o %s prints what a terminal acts on: %q %q", args, form, stdout, problems)
			}
			var value any
			var err error
			switch {
			case form == formJSON || name == "export":
				for d := json.NewDecoder(strings.NewReader(stdout)); err == nil; err = d.Decode(&value) {
				}
			case form == formYAML:
				for d := yaml.NewDecoder(strings.NewReader(stdout)); err == nil; err = d.Decode(&value) {
				}
			}
			if err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("%v -o %s: %v", args, form, err)
			}
			if text, _ := json.Marshal(value); name == "get" && value != nil && !strings.Contains(string(text), evil) {
				t.Errorf("%v -o %s does not have the name: %s", args, form, text)
			}
		}
	}
}

// TestHostileServer proves that a command reads no more of an answer than an answer
// has, and shows nothing of it that a terminal acts on.
func TestHostileServer(t *testing.T) {
	var sent atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		piece := []byte(strings.Repeat("\\u001b[31m", 100_000))
		_, _ = io.WriteString(w, `{"status":"`)
		for {
			n, err := w.Write(piece)
			sent.Add(int64(n))
			if err != nil {
				return
			}
		}
	}))
	defer server.Close()
	code, _, problems := executed(t, "get", "lb", "--server", server.URL)
	if code == exitOK || !strings.Contains(problems, "something whose answer has more than 268435456 bytes") {
		t.Errorf("an endless answer = %d %.300s", code, problems)
	}
	if n := sent.Load(); n > 300<<20 {
		t.Errorf("%d bytes were read", n)
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"error":"no \u001b[2J\u009b2J `+"\u202e"+`"}`)
	}))
	defer refusing.Close()
	for _, args := range [][]string{{"get", "lb"}, {"journal"}, {"quota"}, {"fault", "list"}, {"snapshot", "list"}, {"world", "get"}, {"doctor"}, {"state", "check"}, {"call", "DescribeRegions"}} {
		_, stdout, problems := executed(t, append(args, "--server", refusing.URL)...)
		if acts(stdout) || acts(problems) || !strings.Contains(stdout+problems, `\u001b[2J`) {
			t.Errorf("%v prints %q %q", args, stdout, problems)
		}
	}
}
