package state_test

import (
	"testing"

	"github.com/clbemu/clbemu/state"
)

// What is set takes the place of the profile's rate, each by itself; the account
// has no limit unless it is given one.
func TestThrottleLimits(t *testing.T) {
	none, profileKey, profileAction := state.Rate{}, state.Rate{PerSecond: 50, Burst: 100}, state.Rate{PerSecond: 20, Burst: 40}
	own := state.Rate{PerSecond: 1, Burst: 2}
	actions := map[string]state.Rate{"CreateLoadBalancer": own}
	for _, c := range []struct {
		name                 string
		throttle             state.Throttle
		account, key, action state.Rate
	}{
		{"off", state.Throttle{Profile: state.ThrottleOff}, none, none, none},
		{"no profile", state.Throttle{}, none, none, none},
		{"realistic", state.Throttle{Profile: state.ThrottleRealistic}, none, profileKey, profileAction},
		{"account", state.Throttle{Profile: state.ThrottleRealistic, Account: &own}, own, profileKey, profileAction},
		{"key", state.Throttle{Profile: state.ThrottleRealistic, Key: &own}, none, own, profileAction},
		{"no limit of keys", state.Throttle{Profile: state.ThrottleRealistic, Key: &none}, none, none, profileAction},
		{"action", state.Throttle{Profile: state.ThrottleRealistic, Actions: actions}, none, profileKey, own},
		{"action alone", state.Throttle{Profile: state.ThrottleOff, Actions: actions}, none, none, own},
		{"another action", state.Throttle{Actions: map[string]state.Rate{"DeleteLoadBalancer": own}}, none, none, none},
	} {
		account, key, action := c.throttle.Limits("CreateLoadBalancer")
		if account != c.account || key != c.key || action != c.action {
			t.Errorf("%s: Limits = %v, %v, %v; want %v, %v, %v", c.name, account, key, action, c.account, c.key, c.action)
		}
	}
}
