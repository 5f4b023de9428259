package pull

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
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
	for _, k := range allKinds() {
		read[k.name] = k
	}
	for _, name := range kinds.Schema.AllKinds() {
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

// Each field comes from a place that an answer of its kind has, and each place that answers have is where some
// field comes from, or stands in testdata/nottaken.tsv: by the kind (* is each) and the place in a row (which * may
// end), with the reason why no field does.
func TestAnswersArePulled(t *testing.T) {
	text, err := os.ReadFile("testdata/nottaken.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var excuses [][]string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 || len(cells[2]) < 10 {
			t.Fatalf("%q: want kind, place and why", line)
		}
		excuses = append(excuses, cells)
	}
	needed := make(map[int]bool)
	excused := func(kind, path string) bool {
		at := slices.IndexFunc(excuses, func(e []string) bool {
			begin, whole := strings.CutSuffix(e[1], "*")
			return (e[0] == kind || e[0] == "*") && (e[1] == path || whole && strings.HasPrefix(path, begin))
		})
		needed[at] = true
		return at >= 0
	}
	places := make(map[state.Kind]map[string]bool)
	for _, k := range allKinds() {
		places[k.name] = placesOf(k)
	}
	for _, k := range allKinds() {
		taken := make(map[string]bool)
		for _, path := range append([]string{k.id, k.tags}, k.used()...) {
			taken[place(path)] = true
		}
		for _, f := range fieldsOf(k) {
			found := false
			for _, path := range placesOfField(k, f) {
				under, of := strings.CutPrefix(path, "^.")
				has := places[k.name][path] || of && places[k.of][under] || strings.HasSuffix(f.name, "[]") && slices.ContainsFunc(slices.Collect(maps.Keys(places[k.name])), func(p string) bool { return strings.HasPrefix(p, path+".") })
				found, taken[path] = found || has || path == "-", true
			}
			if !found {
				t.Errorf("%s.%s: no answer has %s", k.name, f.name, f.paths)
			}
		}
		for _, path := range slices.Sorted(maps.Keys(places[k.name])) {
			isTaken := taken[path] || k.tags != "" && strings.HasPrefix(path, place(k.tags)+".")
			if !isTaken && !excused(string(k.name), path) {
				t.Errorf("%s: no field comes from %s, and nottaken.tsv does not say why", k.name, path)
			}
		}
	}
	for i, e := range excuses {
		if !needed[i] {
			t.Errorf("%s %s: nottaken.tsv says why no field comes from it, and one does, or no answer has it", e[0], e[1])
		}
	}
}

// used returns the places that a kind's reads and rows depend on.
func (k *kind) used() (paths []string) {
	for _, r := range k.reads() {
		for _, value := range r.params {
			if name, is := strings.CutPrefix(value, "="); is {
				paths = append(paths, name)
			}
		}
	}
	return append(paths, statusPaths...)
}

// place spells a path in one way: in small letters, without numbers of elements.
func place(path string) string {
	parts := slices.DeleteFunc(strings.Split(strings.ToLower(plain(path)), "."), func(part string) bool {
		_, err := strconv.Atoi(part)
		return err == nil || part == "*"
	})
	return strings.Join(parts, ".")
}

// placesOf returns the places of all that answers have in the rows of a kind, but for what contains
// others.
func placesOf(k *kind) map[string]bool {
	found := make(map[string]bool)
	add := func(r read, as, also string) {
		for _, p := range products.All() {
			for i := range p.Actions {
				if p.Name != r.product || p.Actions[i].Name != r.action {
					continue
				}
				all := p.Actions[i].ResponseFields()
				for _, path := range all {
					in := place(path)
					if r.list != "" && in != place(also) {
						rest, within := strings.CutPrefix(in, place(r.list)+".")
						if in = strings.TrimPrefix(place(as)+"."+rest, "."); !within {
							continue
						}
					}
					for _, spread := range k.spread {
						in = strings.TrimPrefix(in, place(spread)+".")
					}
					if in != "requestid" && !slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(plain(other), plain(path)+".") }) {
						found[in] = true
					}
				}
			}
		}
	}
	for _, r := range k.lists {
		add(r, "", "")
	}
	for _, d := range append(slices.Clone(k.joined), k.details...) {
		add(d.read, d.as, d.also)
	}
	return found
}

// placesOfField returns the places of a field, of the elements of a list those within its list.
func placesOfField(k *kind, f field) (places []string) {
	list, _, inList := strings.Cut(f.name, "[].")
	for _, path := range f.paths {
		if !inList || path == "-" {
			places = append(places, place(path))
			continue
		}
		for _, of := range fieldsOf(k) {
			if of.name == list+"[]" {
				for _, at := range of.paths {
					places = append(places, place(at+"."+path))
				}
			}
		}
	}
	return places
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
	for _, k := range allKinds() {
		for _, r := range k.reads() {
			if !reads[r.product+" "+r.action] {
				t.Errorf("%s %s is no read", r.product, r.action)
			}
		}
	}
}
