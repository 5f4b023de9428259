package gateway

import (
	"fmt"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

// RateLimits are the published limits of calls that an account makes of an action in a
// region, each in a window of time: CLB-0171. The zero RateLimits has none.
type RateLimits struct {
	byAction      map[string]kinds.Rate
	reads, writes kinds.Rate
}

// ReadRateLimits reads a table with an action, a number of calls and the seconds for them
// in each line. The actions reads and writes stand for those without a line. A bad line is a
// programming error.
func ReadRateLimits(table string) RateLimits {
	limits := RateLimits{byAction: make(map[string]kinds.Rate)}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var action string
		var calls, seconds int
		if _, err := fmt.Sscanf(line, "%s %d %d", &action, &calls, &seconds); err != nil || calls < 1 || seconds < 1 {
			panic(fmt.Sprintf("gateway: rate limit %q: %v", line, err))
		}
		limits.byAction[action] = kinds.Rate{PerSecond: float64(calls) / float64(seconds), Burst: calls, Window: time.Duration(seconds) * time.Second}
	}
	limits.reads, limits.writes = limits.byAction["reads"], limits.byAction["writes"]
	return limits
}

// Of returns the limit of an action.
func (l RateLimits) Of(a *Action) kinds.Rate {
	rate, listed := l.byAction[a.Name]
	switch {
	case listed:
		return rate
	case a.Mutates:
		return l.writes
	}
	return l.reads
}
