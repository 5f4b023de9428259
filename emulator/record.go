package emulator

import (
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/metrics"
	"github.com/clbemu/clbemu/emulator/journal"
)

// observe measures calls and records them.
func (e *Emulator) observe(metrics *metrics.Metrics) func(*gateway.Call, gateway.Outcome) {
	return func(call *gateway.Call, outcome gateway.Outcome) {
		metrics.Observe(call, outcome)
		e.journal.Record(entryOf(call, outcome, e.store.Now()), call.Params...)
	}
}

// entryOf returns the journal's entry of a call, without its parameters; it keeps no
// secrets.
func entryOf(call *gateway.Call, outcome gateway.Outcome, now time.Time) journal.Entry {
	return journal.Entry{
		Time:         now,
		Kind:         journal.KindCall,
		RequestID:    call.RequestID,
		AccessKeyID:  call.AccessKeyID,
		UserAgent:    call.UserAgent,
		Product:      call.Product(),
		Action:       call.ActionName,
		Region:       call.Scope.RegionID,
		Resource:     call.Resource(),
		Made:         call.Made(),
		Status:       outcome.Status,
		Code:         outcome.Code,
		Answer:       journal.Answered(outcome.Answer),
		Milliseconds: float64(outcome.Duration.Microseconds()) / 1000,
		Faults:       call.Faults,
		Unread:       call.Unread(),
	}
}
