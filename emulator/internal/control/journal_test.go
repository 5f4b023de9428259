package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/journal"
)

// record puts calls of actions into the journal, each but the first refused.
func (f *fixture) record(actions ...string) {
	for i, action := range actions {
		e := journal.Entry{Time: f.store.Now(), Kind: journal.KindCall, Action: action, Status: 200}
		if i > 0 {
			e.Status, e.Code = 400, "Busy"
		}
		f.journal.Record(e)
	}
}

// entries returns the kinds and actions of a page.
func entries(p journal.Page) string {
	var all []string
	for _, e := range p.Entries {
		all = append(all, string(e.Kind)+" "+e.Action)
	}
	return strings.Join(all, ", ")
}

// TestJournal proves that a query chooses, that marks are positions, and that
// clearing empties it.
func TestJournal(t *testing.T) {
	f := newFixture(t, withCloud)
	f.record("CreateA", "CreateB")
	f.ask("POST", "/v1/journal/marks", `{"name":"m"}`, 200, nil)
	f.record("DeleteA", "DeleteB")
	for query, want := range map[string]string{
		"":                              "call CreateA, call CreateB, mark m, call DeleteA, call DeleteB",
		"action=Create*":                "call CreateA, call CreateB",
		"action=*A&code=OK&status=200":  "call CreateA, call DeleteA",
		"since=2":                       "mark m, call DeleteA, call DeleteB",
		"sinceMark=m":                   "call DeleteA, call DeleteB",
		"sinceMark=m&limit=1":           "call DeleteB",
		"limit=2&kind=call&code=Busy":   "call CreateB, call DeleteB",
		"since=99":                      "",
		"params.LoadBalancerId=lb-none": "",
	} {
		var page journal.Page
		f.ask("GET", "/v1/journal?"+query, "", 200, &page)
		if entries(page) != want || page.First != 1 || page.Last != 5 {
			t.Errorf("GET /v1/journal?%s = %s of %d to %d, want %s", query, entries(page), page.First, page.Last, want)
		}
	}
	var page journal.Page
	f.ask("GET", "/v1/journal?limit=1", "", 200, &page)
	if len(page.Counts) != 4 || page.Counts[1] != (journal.Count{Action: "CreateB", Code: "Busy", Calls: 1}) {
		t.Errorf("counts = %+v, want four actions", page.Counts)
	}
	f.ask("DELETE", "/v1/journal", "", 200, nil)
	f.ask("GET", "/v1/journal", "", 200, &page)
	var marks controlapi.Marks
	f.ask("GET", "/v1/journal/marks", "", 200, &marks)
	if len(page.Entries) != 0 || page.Last != 5 || len(marks.Marks) != 1 || marks.Marks[0].Sequence != 3 {
		t.Errorf("after DELETE: %+v and %+v, want no entries, the sequence and the mark", page, marks)
	}
}

// TestJournalRefusals proves that meaningless queries are rejected.
func TestJournalRefusals(t *testing.T) {
	f := newFixture(t, withCloud)
	for query, want := range map[string]string{
		"acton=x": "no field acton", "action=[": "not a pattern", "since=x": `since: want a sequence number of an entry, from 0, not "x"`, "since=-1": `not "-1"`,
		"since=99999999999999999999": "want a sequence number", "limit=-1": "limit", "limit=x": `limit: want a number, from 0, not "x"`, "sinceMark=none": `no mark "none"`, "sinceMark=": `no mark ""`, "since=1&sinceMark=none": "sinceMark",
		"kind=cal": "choose from call", "status=99": "no HTTP status", "sequence=first": "not the number of an entry", "product=Slbb": "do you mean Slb?",
		"action=Crate*": "action: there is no Crate*: do you mean Create*?", "action=Create*,DeleteLoadBalancr": "do you mean DeleteLoadBalancer?",
		"code=Trottling": "do you mean Throttling?", "region=cn-hangzou": "do you mean cn-hangzhou?",
		"params.LoadBalancerIdd=a": "do you mean LoadBalancerId?",
	} {
		f.mustRefuse("GET", "/v1/journal?"+query, "", 422, want)
		f.mustRefuse("GET", "/v1/journal/stream?"+query, "", 422, want)
	}
	f.ask("POST", "/v1/journal/marks", `{"name":"mark"}`, 200, nil)
	f.mustRefuse("GET", "/v1/journal?since=1&sinceMark=mark", "", 422, "not both")
	f.mustRefuse("GET", "/v1/journal?sinceMark=mrak", "", 422, "do you mean mark?")
	f.ask("POST", "/v1/faults", busy, 200, nil)
	f.mustRefuse("GET", "/v1/journal?fault=bsuy", "", 422, "do you mean busy?")
	f.ask("GET", "/v1/journal?fault=b*", "", 200, nil)
	// What a client sent misspelt can be asked for.
	f.journal.Record(journal.Entry{Kind: journal.KindCall, Action: "CreateLoadBalancr", Code: "Odd"}, journal.Parameter{Name: "LoadBalancerIdd", Value: "a"})
	f.ask("GET", "/v1/journal?action=CreateLoadBalancr&code=Odd&params.LoadBalancerIdd=a", "", 200, nil)
	f.mustRefuse("POST", "/v1/journal/marks", `{"name":"a b"}`, 422, "letters, digits")
	f.mustRefuse("POST", "/v1/journal/marks", `{"nam":"a"}`, 400, "nam")
}

// TestChangesAreJournalled proves that every change that the control API makes
// is an entry with what was done, and a refused one is not.
func TestChangesAreJournalled(t *testing.T) {
	f := newFixture(t, withCloud)
	export := f.send("GET", "/v1/state", "", nil).Body.String()
	since := uint64(0)
	for _, test := range []struct{ call, body, want string }{
		{"PATCH /v1/world", `{"account":"1234567890123456","settings":[{"name":"account.arrears","value":"true"}]}`,
			"world set conditions map[account:1234567890123456 account.arrears:true]"},
		{"POST /v1/clock", `{"advance":"1h","scale":0}`, "clock set the clock map[advance:1h scale:0]"},
		{"POST /v1/clock", `{"scale":2.5}`, "clock set the clock map[scale:2.5]"},
		{"POST /v1/faults", "{name: a, effect: {reset: true}}", "fault add fault rules map[a:name: a\neffect:\n  reset: true\n]"},
		{"POST /v1/faults", "{name: b, match: {action: UploadServerCertificate, params.PrivateKey: 5ecr3t}, effect: {reset: true}}", "fault add fault rules map[b:(hidden)]"},
		{"POST /v1/faults/reset", "", "fault reset fault rules map[]"},
		{"DELETE /v1/faults/a", "", "fault delete fault rules map[name:a]"},
		{"DELETE /v1/faults", "", "fault delete fault rules map[name:all]"},
		{"PUT /v1/snapshots/s", "", "state take snapshot map[name:s]"},
		{"POST /v1/snapshots/s/restore", "", "state restore snapshot map[name:s]"},
		{"DELETE /v1/snapshots/s", "", "state delete snapshot map[name:s]"},
		{"PUT /v1/state", export, "state import the state map[]"},
		{"POST /v1/state/reset", "", "state reset the state map[]"},
	} {
		method, path, _ := strings.Cut(test.call, " ")
		f.ask(method, path, test.body, 200, nil)
		page := f.journal.Query(journal.Query{Since: since})
		since = page.Last
		var got []string
		for _, e := range page.Entries {
			got = append(got, fmt.Sprintf("%s %s %v", e.Kind, e.Action, e.Parameters.Map()))
			if e.Time.IsZero() {
				t.Errorf("%s is at no time", test.call)
			}
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s is journalled as %q, want %q", test.call, got, test.want)
		}
	}
	f.send("PATCH", "/v1/world", `{"settings":[{"name":"x","value":"y"}]}`, nil)
	f.send("POST", "/v1/clock", `{"scale":-1}`, nil)
	f.send("POST", "/v1/faults", "x", nil)
	f.send("DELETE", "/v1/faults/none", "", nil)
	f.send("POST", "/v1/snapshots/none/restore", "", nil)
	if page := f.journal.Query(journal.Query{Since: since}); len(page.Entries) != 0 {
		t.Errorf("refused changes are journalled: %s", entries(page))
	}
}

// events reads a stream of the journal event by event.
type events struct {
	t     *testing.T
	lines *bufio.Scanner
	close func()
}

// stream follows the journal of a server until the test ends.
func stream(t *testing.T, server *httptest.Server, query string, header ...string) *events {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/v1/journal/stream?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got := response.Header.Get("Content-Type"); response.StatusCode != 200 || got != "text/event-stream" {
		t.Fatalf("GET /v1/journal/stream = %s with %s", response.Status, got)
	}
	e := &events{t, bufio.NewScanner(response.Body), func() { cancel(); response.Body.Close() }}
	t.Cleanup(e.close)
	return e
}

// next returns the next event with its id and the action of its data, or "" at the end.
func (e *events) next() string {
	e.t.Helper()
	var name, id, action string
	for e.lines.Scan() {
		field, value, _ := strings.Cut(e.lines.Text(), ": ")
		switch field {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			var entry struct {
				Action string
				Missed uint64
			}
			if err := json.Unmarshal([]byte(value), &entry); err != nil {
				e.t.Fatalf("data: %s: %v", value, err)
			}
			action = entry.Action
			if entry.Missed > 0 {
				action = fmt.Sprint(entry.Missed)
			}
		case "":
			return strings.TrimSpace(id + " " + name + " " + action)
		}
	}
	return ""
}

func (e *events) want(all ...string) {
	e.t.Helper()
	for _, want := range all {
		if got := e.next(); got != want {
			e.t.Fatalf("event = %q, want %q", got, want)
		}
	}
}

// TestStream proves that a stream sends the existing entries and then new ones, that
// its query chooses, and that a client can go on where it was.
func TestStream(t *testing.T) {
	f := newFixture(t, withCloud)
	server := httptest.NewServer(f.handler)
	defer server.Close()
	f.record("a", "b", "c")
	all := stream(t, server, "limit=2")
	all.want("2 call b", "3 call c")
	chosen := stream(t, server, "action=DeleteVpc&since=1")
	again := stream(t, server, "", "Last-Event-ID: 2")
	again.want("3 call c")
	f.record("DeleteVpc", "e")
	all.want("4 call DeleteVpc", "5 call e")
	again.want("4 call DeleteVpc", "5 call e")
	f.record("DeleteVpc")
	chosen.want("4 call DeleteVpc", "6 call DeleteVpc")
	f.ask("POST", "/v1/clock", `{"scale":0}`, 200, nil)
	all.want("6 call DeleteVpc", "7 clock set the clock")
	if err := f.journal.Close(); err != nil {
		t.Fatal(err)
	}
	all.want("") // and server.Close returns, as no stream is open
}

// slow is a client whose first write waits.
type slow struct {
	*httptest.ResponseRecorder
	began, goOn chan struct{}
	first       sync.Once
}

func (w *slow) Write(p []byte) (int, error) {
	w.first.Do(func() {
		close(w.began)
		<-w.goOn
	})
	return w.ResponseRecorder.Write(p)
}
