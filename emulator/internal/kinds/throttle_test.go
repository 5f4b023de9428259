package kinds_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// An explicit limit overrides the profile's rate, each on its own; the account has no
// limit by default.
func TestThrottleLimits(t *testing.T) {
	none, published := kinds.Rate{}, kinds.Rate{PerSecond: 20, Burst: 40}
	own := kinds.Rate{PerSecond: 1, Burst: 2}
	actions := map[string]kinds.Rate{"CreateLoadBalancer": own}
	for _, c := range []struct {
		name                 string
		throttle             kinds.Throttle
		account, key, action kinds.Rate
	}{
		{"off", kinds.Throttle{Profile: kinds.ThrottleOff}, none, none, none},
		{"no profile", kinds.Throttle{}, none, none, none},
		{"realistic", kinds.Throttle{Profile: kinds.ThrottleRealistic}, none, none, published},
		{"account", kinds.Throttle{Profile: kinds.ThrottleRealistic, Account: &own}, own, none, published},
		{"key", kinds.Throttle{Profile: kinds.ThrottleRealistic, Key: &own}, none, own, published},
		{"no limit of keys", kinds.Throttle{Profile: kinds.ThrottleRealistic, Key: &none}, none, none, published},
		{"action", kinds.Throttle{Profile: kinds.ThrottleRealistic, Actions: actions}, none, none, own},
		{"action alone", kinds.Throttle{Profile: kinds.ThrottleOff, Actions: actions}, none, none, own},
		{"another action", kinds.Throttle{Actions: map[string]kinds.Rate{"DeleteLoadBalancer": own}}, none, none, none},
	} {
		account, key, action := c.throttle.Limits("CreateLoadBalancer", published)
		if account != c.account || key != c.key || action != c.action {
			t.Errorf("%s: Limits = %v, %v, %v; want %v, %v, %v", c.name, account, key, action, c.account, c.key, c.action)
		}
	}
}
