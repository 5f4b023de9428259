package kinds_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/engine"
	"github.com/clbemu/clbemu/state/engine/bolt"
	"github.com/clbemu/clbemu/state/engine/memory"
)

// withTail is a state of version 0.1 with what this version no longer emulates of VPCs.
const withTail = "../../../cmd/clbemu/testdata/states/v0.1.0-vpc/"

// dropped are what a state with a tail loses.
var dropped = []string{"HAVIP havip-bp18za9m9780ejyx36o77", "HAVIP havip-bp1lqpi7taz2h5j61b4s9", "CIDRReservation vcr-bp1jn2exxy0dq2xii1rxd",
	"EIPSegment eipsg-bp18qfnjcj6k4sdkt1nm5", "IPv4Gateway ipv4gw-bp1qdva6tx8dj6qk5qwtc",
	"RouteTable vtb-bp128vdrin36dehn0lq37", "RouteTable vtb-bp1acev93tfpbebipbji5"}

// wantDropped wants a line for each.
func wantDropped(t *testing.T, lines, want []string) {
	t.Helper()
	var got []string
	for _, line := range lines {
		what, _, ok := strings.Cut(line, " is dropped: this version does not emulate it")
		if !ok {
			t.Errorf("%q says of nothing that it is dropped", line)
		}
		got = append(got, what)
	}
	want = slices.Sorted(slices.Values(want))
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("dropped are %q, want %q", got, want)
	}
}

// wantWhole wants a state without a fault, in which what is left of the tail is free.
func wantWhole(t *testing.T, s *state.Store) {
	t.Helper()
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("Check = %q, %v", problems, err)
	}
	view(t, s, state.Owner{}, func(v *state.View) {
		if n := kinds.EIPs.Len(v); n != 17 {
			t.Errorf("there are %d EIPs, want the one of the HAVIP and the 16 of the segment", n)
		}
		for e := range kinds.EIPs.All(v) {
			if e.Status != kinds.EIPAvailable || e.InstanceID != "" || e.SegmentID != "" {
				t.Errorf("%+v is not free", *e)
			}
		}
		if free := kinds.IsFree(v, "vsw-bp1clbemu000000000001", "192.168.0.0/24", "192.168.0.210"); !free {
			t.Error("the HAVIP's address is not free")
		}
		if _, ok := kinds.RouteEntries.Find(v, "rte-bp1h4kdo1gc4p64yiifju"); ok {
			t.Error("there is a route to the HAVIP")
		}
		if _, ok := kinds.RouteEntries.Find(v, "rte-bp10w0cphu5szq7uw8jfb"); !ok {
			t.Error("the route to an instance is gone")
		}
		if n := state.Transitions.Len(v) + state.ClientTokens.Len(v); n != 0 {
			t.Errorf("there are %d transitions and tokens, want none", n)
		}
	})
}

// openWithTail opens the folder with the state, and returns what it says.
func openWithTail(t *testing.T, e engine.Engine) (*state.Store, []string) {
	t.Helper()
	var said []string
	s, err := state.Open(t.Context(), state.Config{Schema: kinds.Schema, Engine: e, Warn: func(what string) { said = append(said, what) }})
	if err != nil {
		t.Fatal(err)
	}
	return s, said
}

// TestRetired proves that a state with resources that are no longer emulated opens without
// them, names each, and loses them on the disk with the first write.
func TestRetired(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, bolt.FileName), unpackedFrom(t, withTail+"clbemu.db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	opened := func(open func(string) (*bolt.Engine, error), want []string, do func(*state.Store)) {
		t.Helper()
		e, err := open(dir)
		if err != nil {
			t.Fatal(err)
		}
		s, said := openWithTail(t, e)
		wantDropped(t, said, want)
		wantWhole(t, s)
		do(s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	nothing := func(*state.Store) {}
	opened(bolt.OpenReadOnly, dropped, nothing)
	opened(bolt.Open, dropped, nothing)
	opened(bolt.Open, dropped, func(s *state.Store) {
		before := s.Revision()
		update(t, s, hangzhou, func(tx *state.Tx) error {
			state.SetTag(tx, kinds.TagVPC, vpcOfTail, "a", "b")
			return nil
		})
		if got := s.Revision() - before; got != 2 {
			t.Errorf("the first write made %d revisions, want one of its own and one of what goes", got)
		}
		wantWhole(t, s)
	})
	opened(bolt.Open, nil, nothing)
}

const vpcOfTail = "vpc-bp1clbemu000000000001"

// refusing is an engine that refuses some commits.
type refusing struct {
	*memory.Engine
	with error
}

func (e *refusing) Commit(ctx context.Context, sets []engine.ChangeSet) error {
	if err := e.with; err != nil {
		e.with = nil
		return err
	}
	return e.Engine.Commit(ctx, sets)
}

// TestRetiredAndRefused proves that a first write that fails leaves the state as good, and
// that the next one takes out what goes.
func TestRetiredAndRefused(t *testing.T) {
	for name, failure := range map[string]error{"too large": engine.ErrTooLarge, "unknown": errors.New("no disk")} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, bolt.FileName), unpackedFrom(t, withTail+"clbemu.db.gz"), 0o600); err != nil {
				t.Fatal(err)
			}
			old, err := bolt.OpenReadOnly(dir)
			if err != nil {
				t.Fatal(err)
			}
			kept := &memory.Engine{}
			if err := errors.Join(engine.CopyTo(t.Context(), old, kept), old.Close()); err != nil {
				t.Fatal(err)
			}
			s, _ := openWithTail(t, &refusing{kept, failure})
			tag := func(tx *state.Tx) error {
				state.SetTag(tx, kinds.TagVPC, vpcOfTail, "a", "b")
				return nil
			}
			if err := s.Update(hangzhou, tag); !errors.Is(err, state.ErrNotKept) {
				t.Errorf("Update = %v, want what the engine says", err)
			}
			wantWhole(t, s)
			update(t, s, hangzhou, tag)
			wantWhole(t, s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s, said := openWithTail(t, kept)
			wantDropped(t, said, nil)
			checkAndClose(t, s)
		})
	}
}

// TestImportOfRetired proves the same of an export.
func TestImportOfRetired(t *testing.T) {
	s := opened(t, &memory.Engine{})
	e, err := s.ReadExport(strings.NewReader(string(unpackedFrom(t, withTail+"state.json.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := s.Import(e)
	if err != nil {
		t.Fatal(err)
	}
	wantDropped(t, lines, dropped)
	wantWhole(t, s)
	for table, want := range map[string]string{`"HAVIP":[{"ID":""}]`: "HAVIP, entry 0: no ID", `"HAVIP":[7]`: "HAVIP, entry 0"} {
		if _, err := s.ReadExport(strings.NewReader(`{"SchemaVersion":2,"Tables":{` + table + `}}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadExport of %s = %v, want %q", table, err, want)
		}
	}
}
