package pull

import (
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/cloud"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/state"
)

// notPulled are the kinds that no pull reads, each with the reason.
var notPulled = map[state.Kind]string{
	"AccessKey": "secrets are never read: a copy has the default world's key", "Policy": "permissions are not modelled by what they are in RAM",
	"Address": "it follows from the resources", "ClientToken": "calls of the past", "Fault": "clbemu's own", "LifeCycle": "clbemu's own",
	"NLBJob": "jobs of the past", "NLBLock": "lasts for a moment", "QuotaApplication": "applications of the past: their result is the limit",
	"ReachedAt": "clbemu's own", "Sequence": "clbemu's own", "StagedHealth": "clbemu's own", "Tag": "it comes with what it is on",
	"Throttle": "clbemu's own", "Transition": "it follows from the status", "ClockSetting": "clbemu's own",
}

// Each kind of the state is read or stands in notPulled, and each field of one that is read comes
// from an answer, or stands with its reason among those that can't be read.
func TestEveryFieldIsPulled(t *testing.T) {
	read := make(map[state.Kind]*kind)
	for _, k := range kinds() {
		read[k.name] = k
	}
	for _, name := range cloud.Schema.AllKinds() {
		k := read[name]
		if k == nil {
			if notPulled[name] == "" {
				t.Errorf("%s is not pulled: read it, or say why not", name)
			}
			continue
		}
		if notPulled[name] != "" {
			t.Errorf("%s is pulled, and is listed as not pulled", name)
		}
		holdFields(t, k)
	}
}

func holdFields(t *testing.T, k *kind) {
	t.Helper()
	said := make(map[string]bool)
	for _, f := range fieldsOf(k) {
		if said[f.name] {
			t.Errorf("%s.%s is in the table twice", k.name, f.name)
		}
		said[f.name] = true
		if len(f.paths) == 0 {
			t.Errorf("%s.%s has no path", k.name, f.name)
		}
	}
	for name, why := range k.unread {
		if said[name] || len(why) < 10 {
			t.Errorf("%s.%s is read, and has a reason why it is not: %q", k.name, name, why)
		}
		said[name] = true
	}
	for name := range leaves(k.rowOf, "") {
		if owned := (name == "AccountID" || name == "RegionID") && !said[name]; owned {
			continue
		}
		covered := said[name]
		for other, why := range k.unread { // a reason for a list is one for its fields
			covered = covered || why != "" && strings.HasPrefix(name, other+"[]")
		}
		if !covered {
			t.Errorf("%s.%s comes from no answer, and has no reason why", k.name, name)
		}
		delete(said, name)
	}
	for name := range said {
		if !strings.HasSuffix(name, "[]") && k.unread[name] == "" {
			t.Errorf("%s has no field %s", k.name, name)
		}
	}
}

// Each path is one that an answer of the kind's actions has.
func TestPathsAreAnswered(t *testing.T) {
	answered := make(map[string][]string)
	for _, p := range products.All() {
		for i := range p.Actions {
			answered[p.Name+" "+p.Actions[i].Name] = p.Actions[i].ResponseFields()
		}
	}
	for _, k := range kinds() {
		var known []string
		for _, r := range k.reads() {
			for _, path := range answered[r.product+" "+r.action] {
				known = append(known, plain(path))
			}
		}
		for _, f := range fieldsOf(k) {
			if !slices.ContainsFunc(f.paths, func(path string) bool {
				last := "." + path[strings.LastIndex(path, ".")+1:] + "."
				return path == "-" || strings.HasPrefix(path, parent) || slices.ContainsFunc(known, func(k string) bool { return strings.Contains(strings.ToLower("."+k+"."), strings.ToLower(last)) })
			}) {
				t.Errorf("%s.%s: no answer has %s", k.name, f.name, f.paths)
			}
		}
	}
}

func plain(path string) string { return strings.ReplaceAll(path, "[]", "") }

// A pull calls nothing that writes, and what it calls is emulated.
func TestOnlyReads(t *testing.T) {
	reads := make(map[string]bool)
	for _, p := range products.All() {
		for i := range p.Actions {
			a := &p.Actions[i]
			reads[p.Name+" "+a.Name] = a.Emulated && !a.Mutates
		}
	}
	for _, k := range kinds() {
		for _, r := range k.reads() {
			if !reads[r.product+" "+r.action] {
				t.Errorf("%s %s is no read", r.product, r.action)
			}
		}
	}
}
