package dataplane

import (
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/clbemu/clbemu/emulator/internal/dataplane/forward"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/state"
)

// The bounds of what the plane records: entries a second, and entries at once. The journal
// holds calls too, which traffic must not push out.
const (
	recordRate  = 50
	recordBurst = 1000
)

// accessLog records what passes listeners.
type accessLog struct {
	store  *state.Store
	record func(journal.Entry, ...journal.Parameter)
	whole  bool // everything that passes, and not only what a fault strikes

	mu      sync.Mutex
	limiter *rate.Limiter
	omitted int // since the last entry
}

func newAccessLog(cfg *Config) *accessLog {
	return &accessLog{store: cfg.Store, record: cfg.Record, whole: cfg.AccessLog && cfg.Record != nil, limiter: rate.NewLimiter(recordRate, recordBurst)}
}

// admit reports whether there is room for an entry, and how many had none before it.
func (a *accessLog) admit() (omitted int, ok bool) {
	if a.record == nil {
		return 0, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.limiter.Allow() {
		a.omitted++
		return 0, false
	}
	omitted, a.omitted = a.omitted, 0
	return omitted, true
}

// add records an entry about a listener. It omits parameters without a value.
func (a *accessLog) add(l *listener, e journal.Entry, pairs ...string) {
	omitted, ok := a.admit()
	if !ok {
		return
	}
	e.Kind, e.Time, e.Resource = journal.KindTraffic, a.store.Now(), l.id
	if omitted > 0 {
		pairs = append(pairs, "omitted", strconv.Itoa(omitted))
	}
	var sent []journal.Parameter
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			sent = append(sent, journal.Parameter{Name: pairs[i], Value: pairs[i+1]})
		}
	}
	a.record(e, sent...)
}

// ended records what has passed.
func (a *accessLog) ended(l *listener, e *forward.Event) {
	took := float64(time.Since(e.Began).Microseconds()) / 1000
	a.add(l, journal.Entry{Action: string(e.Kind), Status: e.Status, Milliseconds: took, Faults: e.Faults}, append(logFields(e),
		"in", number(e.In), "out", number(e.Out), "reason", e.Reason)...)
}

// recordFault records what a fault rule strikes.
func (a *accessLog) recordFault(v faults.Verdict, l *listener, e *forward.Event) {
	a.add(l, journal.Entry{Action: string(v.Point), Faults: []string{v.Rule}}, logFields(e)...)
}

func (a *accessLog) recordCheckFault(v faults.Verdict, l *listener, server string) {
	a.add(l, journal.Entry{Action: string(v.Point), Faults: []string{v.Rule}}, "server", server)
}

func (a *accessLog) recordFilter(v faults.Verdict, l *listener, at netip.AddrPort) {
	a.add(l, journal.Entry{Action: string(v.Point), Faults: []string{v.Rule}}, "address", at.String())
}

// logFields lists the fields of an event.
func logFields(e *forward.Event) []string {
	request := e.Method
	if request != "" {
		request += " " + e.Host + e.Path
	}
	return []string{"client", e.Client.String(), "server", e.Member, "request", request}
}

// number returns a number as text, or "" for 0.
func number(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
