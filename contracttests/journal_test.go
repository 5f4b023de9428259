package contracttests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/state"
)

// words matches what can be an id in a parameter or an answer.
var words = regexp.MustCompile(`[\w.-]+`)

// TestJournalFindsEveryResource makes the call of every case, and finds it in the journal by
// the id of each resource that its parameters have, at any depth, and that it made. The
// refused calls share a cloud, as they change nothing.
func TestJournalFindsEveryResource(t *testing.T) {
	var named, made atomic.Int64
	refusing := preparedCloud(t)
	t.Run("cases", func(t *testing.T) {
		for _, c := range apiCases() {
			if c.code != "" && c.before == nil {
				c.find(t, refusing, &named, &made)
				continue
			}
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				c.find(t, preparedCloud(t, c.before...), &named, &made)
			})
		}
	})
	if named.Load() < 500 || made.Load() < 30 {
		t.Errorf("the cases name %d resources and make %d, want more: does the test look at what they send?", named.Load(), made.Load())
	}
}

// find makes the call and looks for it.
func (c apiCase) find(t *testing.T, cloud *fixedCloud, named, made *atomic.Int64) {
	before := cloud.ids()
	last := cloud.started.Journal().Query(journal.Query{}).Last
	p := cloud.names.resolve(c.params)
	answer := cloud.send(c.product, c.action, "JSON", p).Body.String()
	after := before
	if c.code == "" {
		after = cloud.ids()
	}
	finds := func(field, id string) bool {
		return len(cloud.started.Journal().Query(journal.Query{Since: last, Fields: map[string]string{field: id}}).Entries) == 1
	}
	for name, value := range p {
		for _, id := range words.FindAllString(value, -1) {
			if name == "RegionId" || !before[id] {
				continue
			}
			named.Add(1)
			if !finds("resource", id) || finds("made", id) {
				t.Errorf("%s: the journal does not find it by resource=%s, or says that it made that", c, id)
			}
		}
	}
	for _, id := range words.FindAllString(answer, -1) {
		if before[id] || !after[id] {
			continue
		}
		made.Add(1)
		for _, field := range []string{"resource", "made", "text"} {
			if !finds(field, id) {
				t.Errorf("%s: the journal does not find it by %s=%s", c, field, id)
			}
		}
	}
}

// ids returns the ids of all resources.
func (c *fixedCloud) ids() map[string]bool {
	c.t.Helper()
	var export struct {
		Tables map[state.Kind][]struct{ ID any }
	}
	decoder := json.NewDecoder(strings.NewReader(resources(c.t, c)))
	decoder.UseNumber()
	if err := decoder.Decode(&export); err != nil {
		c.t.Fatal(err)
	}
	ids := make(map[string]bool)
	v := c.store.View(state.Owner{})
	for _, kind := range append(v.Schema().Kinds(), "ResourceGroup") {
		for _, row := range export.Tables[kind] {
			ids[fmt.Sprint(row.ID)] = true
		}
	}
	return ids
}
