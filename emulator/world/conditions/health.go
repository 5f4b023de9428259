package conditions

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/state"
)

// stagedHealth reads what a condition is about: <server>, <server>/<group> or
// <server>/<group>:<port>.
func stagedHealth(c *change, named, value string) (s kinds.StagedHealth, err error) {
	server, within, narrow := strings.Cut(named, "/")
	group, portText, hasPort := strings.Cut(within, ":")
	s = kinds.StagedHealth{Owner: state.Owner{AccountID: c.account.ID, RegionID: c.region}, ServerID: server, GroupID: group, Health: topology.Status(value)}
	if narrow && group == "" {
		return s, errors.New("want server.<id>.health, server.<id>/<group>.health or server.<id>/<group>:<port>.health")
	}
	if hasPort {
		if s.Port, err = strconv.Atoi(portText); err != nil || s.Port < 1 || s.Port > 65535 {
			return s, fmt.Errorf("%q is not a port", portText)
		}
	}
	return s, nil
}

// setHealth stages the health of a server.
func setHealth(c *change, named, value string) error {
	s, err := stagedHealth(c, named, value)
	if err != nil {
		return err
	}
	if value == "default" {
		kinds.StagedHealths.Delete(c.tx, s.ID())
		return nil
	}
	if !kinds.KnownServer(c.In(s.Owner), s.ServerID) {
		return fmt.Errorf("there is no server %s in %s", s.ServerID, c.region)
	}
	if s.GroupID != "" && !slices.ContainsFunc(slices.Collect(topology.Groups(c.In(s.Owner))), func(g topology.Group) bool { return g.ID == s.GroupID }) {
		return fmt.Errorf("there is no server group %s in %s", s.GroupID, c.region)
	}
	kinds.StagedHealths.Put(c.tx, &s)
	return nil
}

// idleHealth says why a staged health shows nowhere: only a check finds a server healthy or
// not.
func idleHealth(c *change, named, value string) string {
	s, err := stagedHealth(c, named, value)
	if err != nil || value == "default" {
		return ""
	}
	for g := range topology.Groups(c.In(s.Owner)) {
		if s.GroupID != "" && g.ID != s.GroupID {
			continue
		}
		for f := range g.Frontends {
			f := f.For(&g)
			is := func(m topology.Member) bool {
				return (m.ServerID == s.ServerID || m.Address == s.ServerID) && (s.Port == 0 || f.PortOf(&m) == s.Port)
			}
			if topology.Checked(f, &g) && slices.ContainsFunc(g.Members, is) {
				return ""
			}
		}
	}
	return fmt.Sprintf("no running listener checks the health of %s; switch a health check on", s.ServerID)
}

func getHealth(c *change) (list []Setting) {
	for s := range kinds.StagedHealths.All(c.In(state.Owner{AccountID: c.account.ID, RegionID: c.region})) {
		list = append(list, Setting{Name: "server." + s.ID() + ".health", Value: string(s.Health)})
	}
	return list
}
