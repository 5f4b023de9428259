package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/clbemu/clbemu/emulator/journal"
)

var start = time.Date(2026, time.January, 2, 3, 4, 5, 0, time.UTC)

func mustNew(t testing.TB, cfg journal.Config) *journal.Journal {
	t.Helper()
	j, err := journal.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func call(action string) journal.Entry {
	return journal.Entry{Kind: journal.KindCall, Time: start, Action: action}
}

// actions returns the actions of a page, in its order.
func actions(p journal.Page) string {
	var names []string
	for _, e := range p.Entries {
		names = append(names, e.Action)
	}
	return strings.Join(names, " ")
}

// TestRing proves that the newest entries stay, in order, that a query says which
// sequences there are, and that it counts what it came too late for.
func TestRing(t *testing.T) {
	for _, test := range []struct {
		name        string
		calls       int
		clearAfter  int // 0 is never
		since       uint64
		want        string
		first, last uint64
		missed      uint64
	}{
		{name: "empty"},
		{name: "not full", calls: 2, want: "1 2", first: 1, last: 2},
		{name: "full", calls: 3, want: "1 2 3", first: 1, last: 3},
		{name: "overwritten", calls: 5, want: "3 4 5", first: 3, last: 5, missed: 2},
		{name: "since in the ring", calls: 5, since: 4, want: "5", first: 3, last: 5},
		{name: "since before the ring", calls: 5, since: 1, want: "3 4 5", first: 3, last: 5, missed: 1},
		{name: "since the end", calls: 5, since: 5, first: 3, last: 5},
		{name: "since after the end", calls: 5, since: 99, first: 3, last: 5},
		{name: "cleared at the end", calls: 4, clearAfter: 4, last: 4},
		{name: "cleared before", calls: 6, clearAfter: 4, want: "5 6", first: 5, last: 6},
		{name: "overwritten since it was cleared", calls: 8, clearAfter: 4, want: "6 7 8", first: 6, last: 8, missed: 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := mustNew(t, journal.Config{Entries: 3})
			for i := range test.calls {
				j.Record(call(fmt.Sprint(i + 1)))
				if i+1 == test.clearAfter {
					j.Clear()
				}
			}
			p := j.Query(journal.Query{Since: test.since})
			if actions(p) != test.want || p.First != test.first || p.Last != test.last || p.Missed != test.missed {
				t.Errorf("Query = %q, first %d, last %d, missed %d, want %q, %d, %d, %d",
					actions(p), p.First, p.Last, p.Missed, test.want, test.first, test.last, test.missed)
			}
		})
	}
}

// TestOff proves that a journal that is off keeps nothing and takes no mark.
func TestOff(t *testing.T) {
	j := mustNew(t, journal.Config{Entries: -1})
	j.Record(call("a"))
	if p := j.Query(journal.Query{}); len(p.Entries) > 0 || p.Last != 0 {
		t.Errorf("Query = %+v, want nothing", p)
	}
	if _, err := j.Mark("m", start); !errors.Is(err, journal.ErrMark) {
		t.Errorf("Mark = %v, want a refusal", err)
	}
}

// TestQueryLists proves that a call about several resources is found by each.
func TestQueryLists(t *testing.T) {
	j := mustNew(t, journal.Config{})
	j.Record(journal.Entry{Time: start, Kind: journal.KindCall, Action: "DescribeMany", Resource: "lb-8, lb-9"})
	j.Record(journal.Entry{Time: start, Kind: journal.KindCall, Action: "DeleteRules", Resource: `["rule-1","rule-2"]`})
	for query, want := range map[string]string{"resource=lb-9": "DescribeMany", "resource=lb-8": "DescribeMany", "resource=rule-2": "DeleteRules", "resource=rule": "", "resource=lb-8, lb-9": "DescribeMany"} {
		if got := actions(j.Query(journal.Query{Fields: fields(query)})); got != want {
			t.Errorf("%s = %q, want %q", query, got, want)
		}
	}
}

// TestQuery proves each condition, and that conditions add up.
func TestQuery(t *testing.T) {
	j := mustNew(t, journal.Config{})
	j.Record(journal.Entry{
		Time: start, Kind: journal.KindCall, RequestID: "R1", AccessKeyID: "key", UserAgent: "ccm", Product: "Slb", Action: "CreateLoadBalancer",
		Region: "cn-hangzhou", Status: 200, Unread: []string{"Oops", "Other"},
	}, journal.Parameter{Name: "LoadBalancerName", Value: "n"})
	j.Record(journal.Entry{
		Time: start.Add(time.Minute), Kind: journal.KindCall, RequestID: "R2", AccessKeyID: "key2", Product: "Slb", Action: "DeleteLoadBalancer", Region: "cn-shanghai",
		Resource: "lb-1", Status: 400, Code: "Busy", Faults: []string{"busy", "slow"},
	})
	j.Record(journal.Entry{Time: start.Add(time.Hour), Kind: journal.KindClock, Action: "set"})
	for query, want := range map[string]string{
		"kind=clock":                "set",
		"requestId=R2":              "DeleteLoadBalancer",
		"accessKeyId=key":           "CreateLoadBalancer",
		"userAgent=ccm":             "CreateLoadBalancer",
		"product=Slb":               "CreateLoadBalancer DeleteLoadBalancer",
		"action=Create*":            "CreateLoadBalancer",
		"action=*Balancer":          "CreateLoadBalancer DeleteLoadBalancer",
		"action=Create*, s?t":       "CreateLoadBalancer set",
		"action=create*":            "",
		"region=cn-shanghai":        "DeleteLoadBalancer",
		"resource=lb-1":             "DeleteLoadBalancer",
		"status=400":                "DeleteLoadBalancer",
		"sequence=2":                "DeleteLoadBalancer",
		"code=Busy":                 "DeleteLoadBalancer",
		"code=OK":                   "CreateLoadBalancer",
		"fault=slow":                "DeleteLoadBalancer",
		"fault=*":                   "DeleteLoadBalancer",
		"unread=Oo*":                "CreateLoadBalancer",
		"params.LoadBalancerName=n": "CreateLoadBalancer",
		"params.LoadBalancerName=":  "",
		"params.Absent=":            "",
		"text=BALANCERname":         "CreateLoadBalancer",
		"text=lb-1":                 "DeleteLoadBalancer",
		"text=slow":                 "DeleteLoadBalancer",
		"text=nowhere":              "",
		"refused=true":              "DeleteLoadBalancer",
		"refused=false":             "CreateLoadBalancer",
		"from=2026-01-02T03:05:05Z": "DeleteLoadBalancer set",
		"to=2026-01-02T03:05:05Z":   "CreateLoadBalancer",
		"from=2026-01-02T03:05&to=2026-01-02T03:06:00": "DeleteLoadBalancer",
		"product=Slb&region=cn-hangzhou&code=OK":       "CreateLoadBalancer",
		"product=Slb&region=cn-hangzhou&code=X":        "",
	} {
		if got := actions(j.Query(journal.Query{Fields: fields(query)})); got != want {
			t.Errorf("%s = %q, want %q", query, got, want)
		}
	}
}

func fields(query string) map[string]string {
	all := make(map[string]string)
	for condition := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(condition, "=")
		all[name] = value
	}
	return all
}

// TestQueryRefusals proves that an unknown condition is refused with all names.
func TestQueryRefusals(t *testing.T) {
	for query, want := range map[string]string{
		"acton=x":      "choose from accessKeyId, action",
		"params.=x":    "no field params.",
		"action=[":     "not a pattern",
		"fault=a,[b":   "not a pattern",
		"region=[a":    "",
		"refused=yes":  "want true or false",
		"from=today":   "want a time such as",
		"action=a,b*":  "",
		"params.Tag=[": "",
	} {
		err := journal.Query{Fields: fields(query)}.Validate()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Validate(%s) = %v, want %q", query, err, want)
		}
	}
	if err := (journal.Query{Limit: -1}).Validate(); err == nil {
		t.Error("Validate of a negative limit = nil, want an error")
	}
}

// TestCounts proves that counts include all calls that match, whatever the limit,
// and that the limit keeps the newest.
func TestCounts(t *testing.T) {
	j := mustNew(t, journal.Config{})
	busy := call("b")
	busy.Code = "Busy"
	for _, e := range []journal.Entry{call("b"), busy, call("a"), busy, {Kind: journal.KindWorld, Action: "a"}} {
		j.Record(e)
	}
	if older := j.Query(journal.Query{Before: 4, Limit: 2}); actions(older) != "b a" || older.Entries[0].Sequence != 2 {
		t.Errorf("before the fourth are %q, want the second and the third", actions(older))
	}
	p := j.Query(journal.Query{Limit: 2})
	want := []journal.Count{{Action: "a", Code: "OK", Calls: 1}, {Action: "b", Code: "Busy", Calls: 2}, {Action: "b", Code: "OK", Calls: 1}}
	if !slices.Equal(p.Counts, want) || actions(p) != "b a" {
		t.Errorf("Query = %q with %v, want the newest two with %v", actions(p), p.Counts, want)
	}
}

// TestMarks proves that a mark is a position, that it is an entry itself, that
// setting it again moves it, and that clearing the journal leaves it.
func TestMarks(t *testing.T) {
	j := mustNew(t, journal.Config{})
	mark := func(name string) journal.Mark {
		t.Helper()
		m, err := j.Mark(name, start)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	j.Record(call("a"))
	first := mark("m")
	j.Record(call("b"))
	if p := j.Query(journal.Query{Since: first.Sequence}); actions(p) != "b" {
		t.Errorf("entries since the mark = %q, want b", actions(p))
	}
	if p := j.Query(journal.Query{Fields: map[string]string{"kind": "mark"}}); actions(p) != "m" {
		t.Errorf("entries of marks = %q, want m", actions(p))
	}
	other, moved := mark("other"), mark("m")
	j.Clear()
	if got := j.Marks(); !slices.Equal(got, []journal.Mark{other, moved}) || moved.Sequence <= first.Sequence {
		t.Errorf("Marks = %v, want %v in this order", got, []journal.Mark{other, moved})
	}
	if got, err := j.Marked("m"); err != nil || got != moved {
		t.Errorf("Marked(m) = %v, %v, want %v", got, err, moved)
	}
	if _, err := j.Marked("none"); !errors.Is(err, journal.ErrMark) {
		t.Errorf("Marked(none) = %v, want a refusal", err)
	}
	for _, name := range []string{"", "-a", "a b", "a/b", strings.Repeat("a", 81)} {
		if _, err := j.Mark(name, start); !errors.Is(err, journal.ErrMark) {
			t.Errorf("Mark(%q) = %v, want a refusal", name, err)
		}
	}
}

// TestAwait proves that a wait ends with an entry after the position, not with
// one before it, and with the journal and the context.
func TestAwait(t *testing.T) {
	j := mustNew(t, journal.Config{})
	j.Record(call("a"))
	if err := j.Await(context.Background(), 0); err != nil {
		t.Errorf("Await of an entry that is there = %v", err)
	}
	waits := make(chan error)
	go func() { waits <- j.Await(context.Background(), 2) }()
	j.Record(call("b"))
	select {
	case err := <-waits:
		t.Fatalf("Await(2) = %v at sequence 2", err)
	default:
	}
	j.Record(call("c"))
	if err := <-waits; err != nil {
		t.Errorf("Await = %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { waits <- j.Await(ctx, 99) }()
	cancel()
	if err := <-waits; !errors.Is(err, context.Canceled) {
		t.Errorf("Await with a context that ends = %v", err)
	}
	go func() { waits <- j.Await(context.Background(), 99) }()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Await of a closed journal = %v, want ErrClosed", err)
	}
	j.Record(call("d")) // by a call that was in flight
	if p := j.Query(journal.Query{Since: 3}); actions(p) != "d" {
		t.Errorf("entries after Close = %q, want d", actions(p))
	}
}

// TestBounds proves that an entry stays small whatever a call brings, says what
// it left out, and stays UTF-8.
func TestBounds(t *testing.T) {
	huge := strings.Repeat("é", 1<<18)
	e := call(huge)
	e.UserAgent, e.AccessKeyID, e.Code = huge, huge, huge
	sent := []journal.Parameter{{Name: "A" + huge, Value: huge}}
	for i := range 1000 {
		sent = append(sent, journal.Parameter{Name: fmt.Sprintf("Name.%04d", i), Value: huge})
		e.Unread = append(e.Unread, fmt.Sprintf("Name.%04d", i)+huge)
	}
	j := mustNew(t, journal.Config{})
	j.Record(e, sent...)
	kept := j.Query(journal.Query{}).Entries[0]
	size := 0
	for _, text := range append(slices.Clone(kept.Unread), kept.Action, kept.UserAgent, kept.AccessKeyID, kept.Code) {
		size += len(text)
		if !utf8.ValidString(text) || !strings.HasSuffix(text, "…") {
			t.Errorf("a text of %d bytes is kept as %q, want valid UTF-8 that says that it was cut", len(huge), text)
		}
	}
	for _, p := range kept.Parameters {
		size += len(p.Name) + len(p.Value)
	}
	if size > 20<<10 {
		t.Errorf("the entry has %d bytes, want some KiB", size)
	}
	if len(kept.Parameters) == 0 || kept.Omitted+len(kept.Parameters) != 1001 {
		t.Errorf("%d parameters are kept and %d omitted, want 1001 together", len(kept.Parameters), kept.Omitted)
	}
}

// TestConcurrency proves that entries have sequences without a gap, whoever
// records, and that a reader that follows sees each once or learns how many it missed.
func TestConcurrency(t *testing.T) {
	const workers, each = 8, 500
	j := mustNew(t, journal.Config{Entries: 64})
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range each {
				j.Record(call("a"))
			}
		})
	}
	seen := uint64(0)
	for since := uint64(0); seen < workers*each; {
		if err := j.Await(context.Background(), since); err != nil {
			t.Fatal(err)
		}
		p := j.Query(journal.Query{Since: since})
		if n := len(p.Entries); p.Entries[n-1].Sequence != p.Last || p.Entries[0].Sequence != p.Last-uint64(n)+1 {
			t.Fatalf("after %d: sequences %d to %d in %d entries", since, p.Entries[0].Sequence, p.Last, n)
		}
		seen += uint64(len(p.Entries)) + p.Missed
		since = p.Last
	}
	group.Wait()
	if seen != workers*each {
		t.Errorf("the reader knows of %d entries, want %d", seen, workers*each)
	}
}

// BenchmarkRecord measures what a call pays for the journal.
func BenchmarkRecord(b *testing.B) {
	j := mustNew(b, journal.Config{})
	e := call("DescribeLoadBalancerAttribute")
	e.RequestID, e.AccessKeyID, e.UserAgent = "4C2A6B8E-0000-4000-8000-000000000000", "testid", "AlibabaCloud (linux; amd64) Golang/1.26 Core/1.63"
	sent := []journal.Parameter{{Name: "ClientToken", Value: "t"}, {Name: "LoadBalancerId", Value: "lb-bp1000000000000000000"}, {Name: "RegionId", Value: "cn-hangzhou"}}
	b.ReportAllocs()
	for b.Loop() {
		j.Record(e, sent...)
	}
}

// TestMarksAreBounded proves that a program that makes up marks loses its oldest.
func TestMarksAreBounded(t *testing.T) {
	j := mustNew(t, journal.Config{})
	for n := range 3000 {
		if _, err := j.Mark(fmt.Sprint("mark-", n), start); err != nil {
			t.Fatal(err)
		}
	}
	marks := j.Marks()
	if len(marks) != 1024 || marks[0].Name != "mark-1976" {
		t.Errorf("%d marks from %s, want 1024 from mark-1976", len(marks), marks[0].Name)
	}
}
