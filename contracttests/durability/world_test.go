package durability_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// version is a state of the whole cloud: for each writer the possible contents.
type version map[*writer][]contents

// worldChange is one call that affects the contents of all writers.
type worldChange struct {
	name         string
	method, path string
	body         []byte
	// become are the versions that may replace everything, none when it changes
	// nothing.
	become []version
	// rewinds reports whether ids created since will be created again, and
	// may belong to others in the new state.
	rewinds bool
	// answered reports whether it succeeded, and the writers' later changes were not
	// looked at.
	answered bool
	// done notes a success, or, with unsure, what may be one.
	done func(answer []byte, unsure bool)
}

func nothing([]byte, bool) {}

// spares reports whether a call means the same before and after the change: by ids
// of another time it would be about other resources.
func (c *worldChange) spares(w *writer, next call) bool {
	if c == nil || !c.rewinds {
		return true
	}
	for _, v := range c.become {
		for _, e := range v[w] {
			if e[next.once] != "" || !next.fits(e) {
				return false
			}
		}
	}
	return true
}

// export is a state read by GET /v1/state.
type export struct {
	text    []byte
	version version
}

// now is the version that a call got to see which ran next to the writers' calls.
func (c *cloud) now() version {
	v := make(version, len(c.writers))
	for _, w := range c.writers {
		v[w] = prefixes(w.contents, w.since)
	}
	return v
}

// empty returns the version of a cloud that was reset.
func (c *cloud) empty() version {
	v := make(version, len(c.writers))
	for _, w := range c.writers {
		v[w] = []contents{{}}
	}
	return v
}

// snapshotNames is which snapshots there are by their names: what may be in each, where nil
// is that it may not be there.
type snapshotNames map[string][]version

func (s snapshotNames) names() []string {
	var names []string
	for _, name := range []string{"a", "b", "c"} {
		if len(s[name]) > 0 {
			names = append(names, name)
		}
	}
	return names
}

// put notes what a name has now, or may have.
func (s snapshotNames) put(name string, v version, unsure bool) {
	if !unsure {
		s[name] = nil
	} else if len(s[name]) == 0 {
		s[name] = []version{nil}
	}
	s[name] = append(s[name], v)
}

// settle compares with the names that the server lists.
func (s snapshotNames) settle(listed []byte) error {
	var list struct{ Snapshots []struct{ Name string } }
	if err := json.Unmarshal(listed, &list); err != nil {
		return err
	}
	for _, name := range []string{"a", "b", "c"} {
		there := slices.ContainsFunc(list.Snapshots, func(s struct{ Name string }) bool { return s.Name == name })
		may := slices.DeleteFunc(s[name], func(v version) bool { return (v != nil) != there })
		if len(may) == 0 && (there || len(s[name]) > 0) {
			return fmt.Errorf("snapshot %s is there: %v, which no answer explains", name, there)
		}
		s[name] = may
		if !there {
			delete(s, name)
		}
	}
	return nil
}

// nextWorldChange chooses one that can succeed.
func (c *cloud) nextWorldChange() worldChange {
	names := c.snapshots.names()
	pick := func() string { return names[c.chance.IntN(len(names))] }
	choices := []func() worldChange{c.takeSnapshot, c.exportState}
	if len(names) > 0 {
		choices = append(choices, func() worldChange { return c.deleteSnapshot(pick()) })
	}
	if !c.keepsWorld {
		choices = append(choices, c.resetState)
	}
	if !c.keepsWorld && len(names) > 0 {
		choices = append(choices, func() worldChange { return c.restoreSnapshot(pick()) }, func() worldChange { return c.restoreSnapshot(pick()) })
	}
	if !c.keepsWorld && len(c.exports) > 0 {
		choices = append(choices, c.importState, c.importState)
	}
	return choices[c.chance.IntN(len(choices))]()
}

func (c *cloud) takeSnapshot() worldChange {
	name := []string{"a", "b", "c"}[c.chance.IntN(3)]
	return worldChange{
		name: "take snapshot " + name, method: http.MethodPut, path: "/v1/snapshots/" + name,
		done: func(_ []byte, unsure bool) { c.snapshots.put(name, c.now(), unsure) },
	}
}

func (c *cloud) restoreSnapshot(name string) worldChange {
	return worldChange{
		name: "restore snapshot " + name, method: http.MethodPost, path: "/v1/snapshots/" + name + "/restore",
		become: slices.DeleteFunc(slices.Clone(c.snapshots[name]), func(v version) bool { return v == nil }), rewinds: true, done: nothing,
	}
}

func (c *cloud) deleteSnapshot(name string) worldChange {
	return worldChange{
		name: "delete snapshot " + name, method: http.MethodDelete, path: "/v1/snapshots/" + name,
		done: func(_ []byte, unsure bool) {
			c.snapshots.put(name, nil, unsure)
			if !unsure {
				delete(c.snapshots, name)
			}
		},
	}
}

func (c *cloud) exportState() worldChange {
	return worldChange{
		name: "export", method: http.MethodGet, path: "/v1/state",
		done: func(answer []byte, unsure bool) {
			if !unsure {
				c.exports = append(c.exports[max(0, len(c.exports)-2):], export{answer, c.now()})
			}
		},
	}
}

func (c *cloud) importState() worldChange {
	chosen := c.exports[c.chance.IntN(len(c.exports))]
	return worldChange{
		name: "import", method: http.MethodPut, path: "/v1/state", body: chosen.text,
		become: []version{chosen.version}, rewinds: true, done: nothing,
	}
}

func (c *cloud) resetState() worldChange {
	return worldChange{
		name: "reset", method: http.MethodPost, path: "/v1/state/reset",
		become: []version{c.empty()}, done: nothing,
	}
}

// nodes returns the nodes of a cluster as kubectl prints them.
func nodes(count int) string {
	var items []string
	for i := range count {
		items = append(items, fmt.Sprintf(`{"kind": "Node", "metadata": {"name": "node-%d"}, "spec": {"providerID": "cn-hangzhou.i-node%[1]d"},
			"status": {"addresses": [{"type": "InternalIP", "address": "172.18.%d.%d"}]}}`, i, i/200, i%200+2))
	}
	return `{"kind": "List", "items": [` + strings.Join(items, ",") + `]}`
}
