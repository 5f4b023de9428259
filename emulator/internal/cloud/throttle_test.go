package cloud_test

import (
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
)

// An explicit limit overrides the profile's rate, each on its own; the account has no
// limit by default.
func TestThrottleLimits(t *testing.T) {
	none, published := cloud.Rate{}, cloud.Rate{PerSecond: 20, Burst: 40}
	own := cloud.Rate{PerSecond: 1, Burst: 2}
	actions := map[string]cloud.Rate{"CreateLoadBalancer": own}
	for _, c := range []struct {
		name                 string
		throttle             cloud.Throttle
		account, key, action cloud.Rate
	}{
		{"off", cloud.Throttle{Profile: cloud.ThrottleOff}, none, none, none},
		{"no profile", cloud.Throttle{}, none, none, none},
		{"realistic", cloud.Throttle{Profile: cloud.ThrottleRealistic}, none, none, published},
		{"account", cloud.Throttle{Profile: cloud.ThrottleRealistic, Account: &own}, own, none, published},
		{"key", cloud.Throttle{Profile: cloud.ThrottleRealistic, Key: &own}, none, own, published},
		{"no limit of keys", cloud.Throttle{Profile: cloud.ThrottleRealistic, Key: &none}, none, none, published},
		{"action", cloud.Throttle{Profile: cloud.ThrottleRealistic, Actions: actions}, none, none, own},
		{"action alone", cloud.Throttle{Profile: cloud.ThrottleOff, Actions: actions}, none, none, own},
		{"another action", cloud.Throttle{Actions: map[string]cloud.Rate{"DeleteLoadBalancer": own}}, none, none, none},
	} {
		account, key, action := c.throttle.Limits("CreateLoadBalancer", published)
		if account != c.account || key != c.key || action != c.action {
			t.Errorf("%s: Limits = %v, %v, %v; want %v, %v, %v", c.name, account, key, action, c.account, c.key, c.action)
		}
	}
}
