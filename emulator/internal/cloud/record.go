package cloud

import (
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/journal"
)

// observe measures a call and records it.
func (c *Cloud) observe(call *gateway.Call, outcome gateway.Outcome) {
	c.answered.Add(1)
	c.metrics.Observe(call, outcome)
	e := entryOf(call, outcome, c.store.Now())
	c.trace(call, &e, outcome)
	c.journal.RecordCall(e, outcome.Answer, call.Params...)
}

// entryOf returns the journal's entry of a call, without its parameters and answer; it
// keeps no secrets.
func entryOf(call *gateway.Call, outcome gateway.Outcome, now time.Time) journal.Entry {
	e := journal.Entry{
		Time:         now,
		Kind:         journal.KindCall,
		RequestID:    call.RequestID,
		AccessKeyID:  call.AccessKeyID,
		UserAgent:    call.UserAgent,
		Product:      call.Product(),
		Action:       call.ActionName,
		Region:       call.Scope.RegionID,
		Resource:     call.Resource(),
		Status:       outcome.Status,
		Code:         outcome.Code,
		Evidence:     outcome.Evidence,
		Milliseconds: float64(outcome.Duration.Microseconds()) / 1000,
		Faults:       call.Faults,
		Received:     outcome.Received,
		Unread:       call.Unread(),
	}
	if len(call.Made) > 0 {
		e.Made, e.AlsoMade = call.Made[0], call.Made[1:]
	} else if e.Resource == "" && len(call.Named) > 0 {
		e.Resource = call.Named[0]
	}
	for _, id := range call.Named {
		if id != e.Resource {
			e.Also = append(e.Also, id)
		}
	}
	return e
}
