package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// The profiles of throttling.
const (
	ThrottleOff       = "off"
	ThrottleRealistic = "realistic"
)

// Rate allows PerSecond calls on average, and Burst at once. The zero Rate is no
// limit.
type Rate struct {
	PerSecond float64
	Burst     int
	// Window, if set, is the time in which Burst calls pass and no more; the next window
	// begins with the first call after it.
	Window time.Duration `json:",omitempty"`
}

// Throttle is an account's call limits. Explicit limits override the profile's.
type Throttle struct {
	AccountID string
	Profile   string
	Account   *Rate           `json:",omitempty"` // all calls of the account
	Key       *Rate           `json:",omitempty"` // the calls of one access key
	Actions   map[string]Rate `json:",omitempty"` // the calls of one action
}

// Throttles by account.
var Throttles = state.NewTable(Schema, "Throttle", func(t *Throttle) string { return t.AccountID }, state.Setting())

// Limits returns the rates for a call: of the account, of its key, and of the action, which is the
// published one in the realistic profile.
func (t *Throttle) Limits(action string, published Rate) (account, key, api Rate) {
	if t.Profile == ThrottleRealistic {
		api = published
	}
	if t.Account != nil {
		account = *t.Account
	}
	if t.Key != nil {
		key = *t.Key
	}
	if r, ok := t.Actions[action]; ok {
		api = r
	}
	return account, key, api
}
