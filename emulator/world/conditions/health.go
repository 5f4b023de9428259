package conditions

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// setHealth stages the health of a server: <server>, <server>/<group> or
// <server>/<group>:<port>.
func setHealth(c *change, named, value string) error {
	server, within, narrow := strings.Cut(named, "/")
	group, portText, hasPort := strings.Cut(within, ":")
	s := cloud.StagedHealth{Owner: state.Owner{AccountID: c.account.ID, RegionID: c.region}, ServerID: server, GroupID: group, Health: topology.Status(value)}
	if narrow && group == "" {
		return errors.New("want server.<id>.health, server.<id>/<group>.health or server.<id>/<group>:<port>.health")
	}
	if hasPort {
		port, err := strconv.Atoi(portText)
		if err != nil || port < 1 || port > 65535 {
			return fmt.Errorf("%q is not a port", portText)
		}
		s.Port = port
	}
	if value == "default" {
		cloud.StagedHealths.Delete(c.tx, s.ID())
		return nil
	}
	if !cloud.KnownServer(c.In(s.Owner), server) {
		return fmt.Errorf("there is no server %s in %s", server, c.region)
	}
	if group != "" && !slices.ContainsFunc(slices.Collect(topology.Groups(c.In(s.Owner))), func(g topology.Group) bool { return g.ID == group }) {
		return fmt.Errorf("there is no server group %s in %s", group, c.region)
	}
	cloud.StagedHealths.Put(c.tx, &s)
	return nil
}

func getHealth(c *change) (list []Setting) {
	for s := range cloud.StagedHealths.All(c.In(state.Owner{AccountID: c.account.ID, RegionID: c.region})) {
		list = append(list, Setting{Name: "server." + s.ID() + ".health", Value: string(s.Health)})
	}
	return list
}
