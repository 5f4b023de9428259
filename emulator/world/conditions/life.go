package conditions

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/state"
)

func setLifeProfile(c *change, _, value string) error {
	life := c.life()
	life.Profile = value
	state.LifeCycles.Put(c.tx, &life)
	return nil
}

func getLifeProfile(c *change) string { return c.life().Profile }

func (c *change) life() state.LifeCycle {
	if l, ok := state.LifeCycles.Find(c.View, state.LifeCycleID); ok {
		return *l
	}
	return state.LifeCycle{ID: state.LifeCycleID, Profile: state.LifeInstant}
}

func setLife(c *change, named, value string) error {
	stage := state.Stage(named)
	if _, ok := c.Schema().Stages()[stage]; !ok {
		return fmt.Errorf("there is no stage %s", named)
	}
	life := c.life()
	delays := maps.Clone(life.Delays)
	if delays == nil {
		delays = make(map[state.Stage]time.Duration)
	}
	delete(delays, stage)
	if value != "default" {
		d, err := time.ParseDuration(value)
		if err != nil {
			return err
		}
		delays[stage] = d
	}
	life.Delays = delays
	state.LifeCycles.Put(c.tx, &life)
	return nil
}

func getLife(c *change) []Setting {
	var list []Setting
	for stage := range c.Schema().Stages() {
		list = append(list, Setting{Name: "life." + string(stage), Value: c.Delay(stage).String()})
	}
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Name, b.Name) })
	return list
}
