package command

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestGCPercent proves that a large heap gets less room beside it, that it keeps it
// until it is small again, and that it never gets more than usual.
func TestGCPercent(t *testing.T) {
	const usual = 100
	now := usual
	for i, step := range []struct {
		live uint64
		want int
	}{
		{0, usual},
		{largeHeap - 1, usual},
		{largeHeap, largeGCPercent},
		{largeHeap * 8, largeGCPercent},
		{largeHeap / 2, largeGCPercent},
		{largeHeap/2 - 1, usual},
		{largeHeap - 1, usual},
	} {
		if now = gcPercent(now, usual, step.live); now != step.want {
			t.Errorf("step %d: %d %% for a heap of %d MiB, want %d %%", i, now, step.live>>20, step.want)
		}
	}
	if got := gcPercent(20, 20, largeHeap); got != 20 {
		t.Errorf("%d %% for a large heap whose usual is 20 %%, want it kept", got)
	}
}

// TestLiveHeap proves that the heap in use counts what is kept: the runtime still has
// the metric by this name.
func TestLiveHeap(t *testing.T) {
	const size = 32 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection but this one
	kept := make([]byte, size)
	runtime.GC()
	if live := liveHeap(); live < size {
		t.Errorf("%d bytes in use with a block of %d", live, size)
	}
	runtime.KeepAlive(kept)
}

// TestFollowHeap proves that the collector's percentage follows the heap, and is set at
// a tick only.
func TestFollowHeap(t *testing.T) {
	const usual = 100
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	ctx, cancel := context.WithCancel(t.Context())
	ticks, done := make(chan time.Time), make(chan struct{})
	go func() { defer close(done); followHeap(ctx, ticks, usual) }()
	tick := func() {
		for range 2 { // the second is taken when the first was followed
			ticks <- time.Time{}
		}
	}
	wants := func(when string, want uint64) {
		t.Helper()
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		if metrics.Read(sample); sample[0].Value.Uint64() != want {
			t.Errorf("%s: %d %%, want %d %%", when, sample[0].Value.Uint64(), want)
		}
	}
	kept := make([]byte, largeHeap)
	runtime.GC()
	wants("before a tick", usual)
	tick()
	wants("with a large heap", largeGCPercent)
	runtime.KeepAlive(kept)
	kept = nil
	runtime.GC()
	tick()
	wants("with a small heap again", usual)
	cancel()
	<-done
}
