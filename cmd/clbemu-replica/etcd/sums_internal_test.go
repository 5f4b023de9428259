package etcd

import (
	"maps"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/state/engine"
)

// Checksums belong to a revision: a commit that does not follow on it makes the rows unknown, and
// what was read earlier does not replace what is known later.
func TestSums(t *testing.T) {
	row := func(id, value string) engine.ChangeSet {
		return engine.ChangeSet{{Table: "a", ID: id, Value: []byte(value)}}
	}
	var s sums
	known := func(what string, revision uint64, rows int) {
		t.Helper()
		if of := s.at(revision); of == nil && rows >= 0 || len(of) != max(rows, 0) {
			t.Errorf("%s: %d rows are known at revision %d (known at all: %v), want %d", what, len(of), revision, of != nil, rows)
		}
	}
	s.commit(0, 1, row("1", "x"))
	known("a commit to rows that were never read", 1, -1)
	s.set(1, make(map[uint64]uint64))
	s.commit(1, 3, row("1", "x"))
	s.commit(3, 4, append(row("2", "x"), row("3", "x")...))
	s.commit(4, 5, engine.ChangeSet{{Table: "a", ID: "2"}, {Table: "a", ID: "gone"}})
	known("commits", 5, 2)
	known("another revision", 4, -1)

	before := s.at(5)
	s.commit(5, 6, row("1", "y"))
	if after := s.at(6); len(before) != 2 || len(after) != 2 || maps.Equal(before, after) {
		t.Errorf("a changed value: %v, and before %v", after, before)
	}
	s.set(5, before)
	known("an earlier reading", 6, 2)
	s.commit(7, 8, row("9", "x"))
	known("a commit that is left out", 8, -1)
	s.set(8, before)
	known("a later reading", 8, 2)
	s.forget()
	known("a commit of unknown outcome", 8, -1)
}

// A reader compares while the leader commits.
func TestSumsOfReadersAndWriters(t *testing.T) {
	var s sums
	s.set(0, make(map[uint64]uint64))
	var running sync.WaitGroup
	running.Go(func() {
		for n := range uint64(1000) {
			s.commit(n, n+1, engine.ChangeSet{{Table: "a", ID: "1", Value: []byte{byte(n)}}})
		}
	})
	running.Go(func() {
		for n := range uint64(1000) {
			if of := s.at(n); len(of) > 1 {
				t.Errorf("%d rows at revision %d", len(of), n)
			}
			s.set(0, make(map[uint64]uint64)) // which it read before the first commit
		}
	})
	running.Wait()
	if of := s.at(1000); len(of) != 1 {
		t.Errorf("%d rows are known at the end, want 1", len(of))
	}
}

// BenchmarkSums measures what the checksum of a row costs in memory, and what each costs more while
// all are compared. The rows are those of 100,000 load balancers as a CCM makes them.
func BenchmarkSums(b *testing.B) {
	const many = 100_000
	tables := []string{"LoadBalancer", "Address", "ClientToken", "Listener", "Tag", "Tag", "VServerGroup"}
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for b.Loop() {
		before, rows := inUse(), many*len(tables)
		of := make(map[uint64]uint64) // as compare does for a process that knows nothing yet
		for n := range many {
			for i, table := range tables {
				of[placeSum(table, strconv.Itoa(n)+"/"+strconv.Itoa(i))] = uint64(n)
			}
		}
		var s sums
		s.set(1, of)
		kept := inUse()
		known := s.at(1)
		found := make(map[uint64]uint64, len(known))
		maps.Copy(found, known)
		compared := inUse()
		runtime.KeepAlive(found)
		runtime.KeepAlive(known)
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(float64(kept-before)/float64(rows), "B/row")
		b.ReportMetric(float64(compared-kept)/float64(rows), "B/row-compared")
		if len(s.of) != rows {
			b.Fatalf("%d rows, want %d", len(s.of), rows)
		}
	}
}
