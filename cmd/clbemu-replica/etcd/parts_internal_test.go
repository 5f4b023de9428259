package etcd

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/state/engine"
)

// Parts of a commit hold all of it, in order, and none more than etcd takes.
func TestParts(t *testing.T) {
	var changes engine.ChangeSet
	for n := range 5000 {
		c := engine.Change{Table: "Table", ID: fmt.Sprintf("id/%05d", n)}
		if n%7 != 0 {
			c.Value = []byte(strings.Repeat("v", n%900))
		}
		changes = append(changes, c)
	}
	var got engine.ChangeSet
	parts := 0
	for rest := changes; len(rest) > 0; parts++ {
		var text []byte
		text, rest = packPart(rest)
		if len(text) > maxBytes {
			t.Errorf("part %d has %d bytes", parts, len(text))
		}
		unpacked, err := unpackPart(text)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, unpacked...)
	}
	if parts < 2 || !slices.EqualFunc(got, changes, func(a, b engine.Change) bool {
		return a.Table == b.Table && a.ID == b.ID && (a.Value == nil) == (b.Value == nil) && bytes.Equal(a.Value, b.Value)
	}) {
		t.Errorf("%d parts give %d of %d changes, or others", parts, len(got), len(changes))
	}
}

// Change sets go together as long as etcd takes them, and at least one does.
func TestTogether(t *testing.T) {
	set := func(n int, value string) (set engine.ChangeSet) {
		for i := range n {
			set = append(set, engine.Change{Table: "a", ID: fmt.Sprintf("%s%d", value[:1], i), Value: []byte(value)})
		}
		return set
	}
	for _, test := range []struct {
		name          string
		sets          []engine.ChangeSet
		sets1, places int
	}{
		{"one", []engine.ChangeSet{set(1, "x")}, 1, 1},
		{"the same places", []engine.ChangeSet{set(100, "x"), set(100, "x")}, 2, 100},
		{"other places", []engine.ChangeSet{set(100, "x"), set(100, "y")}, 1, 100},
		{"one that is too large", []engine.ChangeSet{set(500, "x"), set(1, "y")}, 1, 500},
		{"too many bytes", []engine.ChangeSet{set(1, strings.Repeat("x", maxBytes-1000)), set(2, strings.Repeat("y", 1000))}, 1, 1},
		{"an empty one", []engine.ChangeSet{{}}, 1, 0},
	} {
		if n, changes := mergeSets(test.sets); n != test.sets1 || len(changes) != test.places {
			t.Errorf("%s: %d sets with %d places, want %d and %d", test.name, n, len(changes), test.sets1, test.places)
		}
	}
}

// Whatever is kept as a part is read, or refused, and what is read packs to itself.
func FuzzPart(f *testing.F) {
	text, _ := packPart(engine.ChangeSet{{Table: "a", ID: "1", Value: []byte("x")}, {Table: "a", ID: "2"}})
	f.Add(text)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte{0, 0, 2})
	f.Fuzz(func(t *testing.T, text []byte) {
		changes, err := unpackPart(text)
		if err != nil || len(text) > maxBytes {
			return
		}
		var again engine.ChangeSet
		for rest := changes; len(rest) > 0; {
			var packed []byte
			packed, rest = packPart(rest)
			unpacked, err := unpackPart(packed)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, unpacked...)
		}
		if len(changes) != len(again) || len(changes) > 0 && !reflect.DeepEqual(changes, again) {
			t.Errorf("%v becomes %v", changes, again)
		}
	})
}
