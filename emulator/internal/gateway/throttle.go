package gateway

import (
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// The refusals of call limits, in the order of the checks: of the
// access key, of the action, of the account. Evidence CLB-0172.
var (
	problemThrottledKey = &Problem{Status: http.StatusBadRequest, Code: "Throttling.User",
		Message: "Request was denied due to user flow control."}
	problemThrottledAction = &Problem{Status: http.StatusBadRequest, Code: "Throttling.Api",
		Message: "Request was denied due to api flow control."}
	problemThrottledAccount = &Problem{Status: http.StatusBadRequest, Code: "Throttling",
		Message: "Request was denied due to request throttling."}
)

// buckets count the calls that the gateway takes, on the emulated time. They are
// not kept over a restart, as little as the cloud's.
type buckets struct {
	mu   sync.Mutex
	byID map[string]bucket
}

// bucket belongs to one setting of the limits, which is another row each time: its own time
// may be ahead of a state that was reset or restored.
type bucket struct {
	limiter
	of *kinds.Throttle
}

type limiter interface {
	// AllowN reports whether n calls may pass now, and counts them then.
	AllowN(now time.Time, n int) bool
}

func newLimiter(r kinds.Rate) limiter {
	if r.Window > 0 {
		return &window{Rate: r}
	}
	return rate.NewLimiter(rate.Limit(r.PerSecond), max(r.Burst, 1))
}

// window lets calls pass up to a number in a time, which begins with the first.
type window struct {
	kinds.Rate
	began time.Time
	calls int
}

var _ limiter = (*window)(nil)

// AllowN implements limiter.
func (w *window) AllowN(now time.Time, n int) bool {
	if now.Sub(w.began) >= w.Window {
		w.began, w.calls = now, 0
	}
	if w.calls+n > w.Burst {
		return false
	}
	w.calls += n
	return true
}

// maxBuckets bounds the memory for callers that make up a key for each call,
// where keys are not checked. Who comes after them starts with a full bucket.
const maxBuckets = 1 << 14

// take counts one call in a bucket; false means that it is one too many. A bucket
// starts full, also after a change of the limits.
func (b *buckets) take(id string, of *kinds.Throttle, limits kinds.Rate, now time.Time) bool {
	if limits == (kinds.Rate{}) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID == nil {
		b.byID = make(map[string]bucket)
	}
	if len(b.byID) >= maxBuckets {
		clear(b.byID)
	}
	current, ok := b.byID[id]
	if !ok || current.of != of {
		current = bucket{newLimiter(limits), of}
		b.byID[id] = current
	}
	return current.AllowN(now, 1)
}

// throttle enforces the account's call limits, if it has any.
func (s *Server) throttle(call *Call) *Problem {
	v := call.view
	limits, ok := kinds.Throttles.Find(v, call.Scope.AccountID)
	if !ok {
		return nil
	}
	account, key, action := limits.Limits(call.ActionName, call.product.RateLimits.Of(call.action))
	switch id := call.Scope.AccountID; {
	case !s.buckets.take("key/"+call.AccessKeyID, limits, key, v.Now()):
		return problemThrottledKey
	case !s.buckets.take("action/"+id+"/"+call.Scope.RegionID+"/"+call.product.Name+"/"+call.ActionName, limits, action, v.Now()):
		return problemThrottledAction
	case !s.buckets.take("account/"+id, limits, account, v.Now()):
		return problemThrottledAccount
	}
	return nil
}
