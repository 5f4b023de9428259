package conditions

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
)

func (c *change) throttle() kinds.Throttle {
	if t, ok := kinds.Throttles.Find(c.View, c.account.ID); ok {
		return *t
	}
	return kinds.Throttle{AccountID: c.account.ID, Profile: kinds.ThrottleOff}
}

func setThrottleProfile(c *change, _, value string) error {
	t := c.throttle()
	t.Profile = value
	kinds.Throttles.Put(c.tx, &t)
	return nil
}

func getThrottleProfile(c *change) string { return c.throttle().Profile }

func setRate(assign func(t *kinds.Throttle, named string, r *kinds.Rate)) func(*change, string, string) error {
	return func(c *change, named, value string) error {
		rate, err := parseRate(value)
		if err != nil {
			return err
		}
		t := c.throttle()
		assign(&t, named, rate)
		kinds.Throttles.Put(c.tx, &t)
		return nil
	}
}

func setActionRate(t *kinds.Throttle, action string, r *kinds.Rate) {
	actions := maps.Clone(t.Actions)
	if actions == nil {
		actions = make(map[string]kinds.Rate)
	}
	delete(actions, action)
	if r != nil {
		actions[action] = *r
	}
	t.Actions = actions
}

func parseRate(value string) (*kinds.Rate, error) {
	if value == "default" {
		return nil, nil
	}
	perSecond, burst, both := strings.Cut(value, "/")
	var rate kinds.Rate
	var err error
	if rate.PerSecond, err = strconv.ParseFloat(perSecond, 64); err != nil || !(rate.PerSecond > 0 && rate.PerSecond < 1e9) {
		return nil, errors.New("want calls a second, such as 10 or 10/20 with the burst, or default")
	}
	rate.Burst = max(int(rate.PerSecond), 1)
	if both {
		if rate.Burst, err = strconv.Atoi(burst); err != nil || rate.Burst < 1 {
			return nil, errors.New("want a burst of at least 1 behind the slash")
		}
	}
	return &rate, nil
}

func getThrottles(c *change) []Setting {
	t := c.throttle()
	var list []Setting
	for name, rate := range map[string]*kinds.Rate{"throttle.account": t.Account, "throttle.key": t.Key} {
		if rate != nil {
			list = append(list, Setting{Name: name, Value: formatRate(*rate)})
		}
	}
	for action, rate := range t.Actions {
		list = append(list, Setting{Name: "throttle.action." + action, Value: formatRate(rate)})
	}
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func formatRate(r kinds.Rate) string {
	return strconv.FormatFloat(r.PerSecond, 'f', -1, 64) + "/" + strconv.Itoa(r.Burst)
}
