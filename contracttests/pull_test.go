package contracttests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/state"
)

// callsTo returns what a pull calls a cloud by.
func callsTo(c *fixedCloud) func(context.Context, string, string, map[string]string) (int, map[string]any, error) {
	return func(_ context.Context, product, action string, p map[string]string) (int, map[string]any, error) {
		if p == nil {
			p = map[string]string{}
		}
		p["RegionId"] = "cn-hangzhou"
		var reply *httptest.ResponseRecorder = c.send(product, action, "JSON", p)
		var body map[string]any
		err := json.Unmarshal(reply.Body.Bytes(), &body)
		return reply.Code, body, err
	}
}

// copied is a copy of a cloud.
type copied struct {
	dir    string
	tables map[string][]map[string]any
	// unread are the fields that the report says are not in the copy, as Kind.Field.
	unread  []string
	leftOut []string
	refused []string
	counts  map[string]int
}

// pulled copies a cloud into a new folder.
func pulled(t *testing.T, c *fixedCloud) copied {
	t.Helper()
	dir := t.TempDir()
	p := emulator.StoppedConfig{DataDir: dir}.Puller()
	p.Region, p.Call, p.Pause = "cn-hangzhou", callsTo(c), func(string, string) time.Duration { return 0 }
	report, err := p.Pull(t.Context())
	if err != nil {
		t.Fatalf("pull: %v", err)
	}
	got := copied{dir: dir, counts: report.Resources}
	for _, u := range report.Unread {
		got.unread = append(got.unread, u.Kind+"."+u.Field)
	}
	for _, l := range report.LeftOut {
		got.leftOut = append(got.leftOut, fmt.Sprint(l))
	}
	for _, r := range report.Refused {
		got.refused = append(got.refused, fmt.Sprint(*r))
	}
	got.tables = tablesOf(t, got.serve(t).store)
	return got
}

// serve starts a cloud with the copy.
func (c copied) serve(t *testing.T) *fixedCloud {
	t.Helper()
	e, err := emulator.New(t.Context(), emulator.Config{Fork: c.dir, Clock: state.NewManualClock(start), Seed: 1})
	if err != nil {
		t.Fatalf("serve the copy: %v", err)
	}
	served := &fixedCloud{t: t, api: e.Handler(), store: e.Store(), names: make(names), started: e}
	t.Cleanup(served.close)
	return served
}

// tablesOf is a state as JSON has it.
func tablesOf(t *testing.T, s *state.Store) map[string][]map[string]any {
	t.Helper()
	export, err := s.Export()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := export.Write(&text); err != nil {
		t.Fatal(err)
	}
	var document struct {
		Tables map[string][]map[string]any
	}
	if err := json.Unmarshal(text.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	delete(document.Tables, "Sequence")
	return document.Tables
}

var aTime = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)

// timeless is a row without its times, and without some fields.
func timeless(t *testing.T, row map[string]any, without ...string) string {
	t.Helper()
	for _, path := range without {
		drop(row, strings.Split(path, "."))
	}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return aTime.ReplaceAllString(string(text), `"time"`)
}

// drop deletes a field under a path such as Servers[].Port.
func drop(from any, path []string) {
	object, ok := from.(map[string]any)
	if !ok {
		return
	}
	name, each := strings.CutSuffix(path[0], "[]")
	switch within := object[name]; {
	case len(path) == 1:
		delete(object, name)
	case each:
		list, _ := within.([]any)
		for _, e := range list {
			drop(e, path[1:])
		}
	default:
		drop(within, path[1:])
	}
}

// sorted are the rows of a table as texts.
func sorted(t *testing.T, rows []map[string]any, without ...string) (texts []string) {
	t.Helper()
	for _, row := range rows {
		texts = append(texts, timeless(t, row, without...))
	}
	slices.Sort(texts)
	return texts
}

// hiddenIn are fields that answers leave out of some resources: the report says so.
var hiddenIn = map[string][]string{"Region": {"ZonePairs"}, "ResourceGroup": {"Name", "DisplayName"}, "Account": {"NLB"}}

// hide deletes what answers leave out of a listener that redirects, and of a check that is off.
func hide(row map[string]any) {
	if row["ListenerForward"] == "on" {
		for _, name := range []string{"Bandwidth", "HealthCheck", "StickySession", "Gzip", "IdleTimeout", "RequestTimeout"} {
			delete(row, name)
		}
	}
	if check, ok := row["HealthCheck"].(map[string]any); ok && (check["Switch"] == "off" || check["Switch"] == "") {
		row["HealthCheck"] = map[string]any{}
	}
}

// A copy of a copy is the copy, but for times.
func TestPullTwice(t *testing.T) {
	first := pulled(t, preparedCloud(t))
	if len(first.leftOut)+len(first.refused) > 0 {
		t.Errorf("left out %v, refused %v", first.leftOut, first.refused)
	}
	second := pulled(t, first.serve(t))
	for kind, rows := range first.tables {
		if one, other := sorted(t, rows), sorted(t, second.tables[kind]); !slices.Equal(one, other) {
			t.Errorf("%s is\n%s\nand in the copy of the copy\n%s", kind, strings.Join(one, "\n"), strings.Join(other, "\n"))
		}
	}
	for kind := range second.tables {
		if first.tables[kind] == nil {
			t.Errorf("the copy of the copy has a %s", kind)
		}
	}
}

// A copy has what the account has, but for what its report lists.
func TestPull(t *testing.T) {
	account := preparedCloud(t)
	copy := pulled(t, account)
	of := tablesOf(t, account.store)
	for kind := range copy.counts {
		without := hiddenIn[kind]
		for _, u := range copy.unread {
			if field, ok := strings.CutPrefix(u, kind+"."); ok {
				without = append(without, field)
			}
		}
		var inRegion []map[string]any
		for _, row := range of[kind] {
			if row["RegionID"] == nil && kind != "Region" || row["RegionID"] == "cn-hangzhou" || row["ID"] == "cn-hangzhou" {
				hide(row)
				inRegion = append(inRegion, row)
			}
		}
		for _, row := range copy.tables[kind] {
			hide(row)
		}
		want, got := sorted(t, inRegion, without...), sorted(t, copy.tables[kind], without...)
		for _, row := range want {
			if !slices.Contains(got, row) {
				t.Errorf("%s: the copy lacks %s", kind, row)
			}
		}
		for _, row := range got {
			if !slices.Contains(want, row) {
				t.Errorf("%s: the copy has    %s", kind, row)
			}
		}
	}
}
