package routes

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// TestQueries sends each query with all its parameters and reads it again, for every call that
// has one.
func TestQueries(t *testing.T) {
	world := OfWorld{AccountID: "1", RegionID: "cn-beijing"}
	scenario := OfScenario{Name: "quota", Apart: true}
	of := OfResources{Kind: "lb,acl", Name: "web & co", OfOwner: OfOwner(world)}
	since, mark, last := uint64(0), "begun", uint64(9)
	entries := OfEntries{Since: &since, SinceMark: &mark, Limit: 10, Fields: map[string]string{"action": "Create*", "params.LoadBalancerId": "lb-1"}}
	tested := map[*Route]bool{}
	again(t, tested, ResetState, OfReset{Faults: true})
	again(t, tested, GetWorld, world)
	again(t, tested, SetWorld, world)
	again(t, tested, ImportCluster, world)
	again(t, tested, GetQuotas, world)
	again(t, tested, GetResources, of)
	again(t, tested, WatchResources, of)
	again(t, tested, GetLoadBalancer, of.OfOwner)
	again(t, tested, GetTraffic, OfTraffic{Name: "web"})
	again(t, tested, AddFaults, OfRules{File: "rules.yaml"})
	again(t, tested, GetJournal, OfJournal{entries, 1 << 63})
	again(t, tested, StreamJournal, OfStream{entries, &last})
	again(t, tested, RunScenario, scenario)
	again(t, tested, StartScenario, scenario)
	again(t, tested, GetLibrary, OfLibrary{Text: "quota exceeded"})
	for _, r := range All {
		if len(r.Parameters) > 0 && !tested[r] {
			t.Errorf("no query of %s %s is sent here", r.Method, r.Path)
		}
	}
}

// again reports a query that is read in another way than it was sent, or that leaves a parameter out.
func again[Query, Request, Answer any](t *testing.T, tested map[*Route]bool, row Call[Query, Request, Answer], sent Query) {
	t.Helper()
	tested[row.Route] = true
	r := httptest.NewRequest(http.MethodGet, "/?"+row.Values(sent).Encode(), nil)
	for _, p := range row.Parameters {
		value := reflect.ValueOf(sent).FieldByIndex(p.field)
		if value.IsZero() {
			t.Errorf("%s: no value for %s", row.Path, p.Name)
		}
		if p.Header {
			r.Header.Set(p.Name, "9")
		}
		if p.Name == "" || p.Help == "" {
			t.Errorf("%s: a parameter has the name %q and the description %q", row.Path, p.Name, p.Help)
		}
	}
	got, err := row.ReadQuery(r)
	if err != nil || !reflect.DeepEqual(got, sent) {
		t.Errorf("%s: read %+v, %v, want %+v", row.Path, got, err, sent)
	}
}

// TestWrongQueries reads values that a parameter can't have.
func TestWrongQueries(t *testing.T) {
	for _, c := range []struct {
		query, header, want string
		read                func(*http.Request) error
	}{
		{query: "faults=maybe", want: `faults: "maybe" is not true or false`, read: reads(ResetState)},
		{query: "faults=", want: `faults: "" is not true or false`, read: reads(ResetState)},
		{query: "since=-1", want: `since: want a sequence number of an entry, from 0, not "-1"`, read: reads(GetJournal)},
		{query: "before=18446744073709551616", want: `before: want a sequence number of an entry, from 0, not "18446744073709551616"`, read: reads(GetJournal)},
		{query: "limit=ten", want: `limit: want a number, from 0, not "ten"`, read: reads(GetJournal)},
		{query: "since=1", header: "last", want: `Last-Event-ID: want a sequence number of an entry, from 0, not "last"`, read: reads(StreamJournal)},
	} {
		r := httptest.NewRequest(http.MethodGet, "/?"+c.query, nil)
		if c.header != "" {
			r.Header.Set("Last-Event-ID", c.header)
		}
		if err := c.read(r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.query, c.header, err, c.want)
		}
	}
}

func reads[Query, Request, Answer any](row Call[Query, Request, Answer]) func(*http.Request) error {
	return func(r *http.Request) error {
		_, err := row.ReadQuery(r)
		return err
	}
}
