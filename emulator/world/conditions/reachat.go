package conditions

import (
	"fmt"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/listen"
	"github.com/clbemu/clbemu/state"
)

// address is the value of a condition that says where this machine finds something.
var address = Value{[]string{"default"}, func(value string) error {
	_, err := kinds.ParseReachAt(value)
	return err
}}

func setReachAt(c *change, server, value string) error {
	owner := state.Owner{AccountID: c.account.ID, RegionID: c.region}
	if value == "default" {
		kinds.ReachedAts.Delete(c.tx, server)
		return nil
	}
	at, err := kinds.ParseReachAt(value)
	if err != nil {
		return err
	}
	if at.Port() != 0 {
		if err := (*listen.Service)(nil).Check("tcp", at); err != nil {
			return err
		}
	}
	if !kinds.KnownServer(c.In(owner), server) {
		return fmt.Errorf("there is no instance, network interface or member %s in %s", server, c.region)
	}
	kinds.ReachedAts.Put(c.tx, &kinds.ReachedAt{Owner: owner, ServerID: server, At: at})
	return nil
}

func getReachAt(c *change) (list []Setting) {
	for r := range kinds.ReachedAts.All(c.In(state.Owner{AccountID: c.account.ID, RegionID: c.region})) {
		at := r.At.String()
		if r.At.Port() == 0 {
			at = r.At.Addr().String()
		}
		list = append(list, Setting{Name: "instance." + r.ServerID + ".reachAt", Value: at})
	}
	return list
}
