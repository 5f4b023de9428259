package control

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
	"github.com/clbemu/clbemu/state"
)

// taking refuses a query parameter that a call does not take. Which fields the
// journal has, its query says.
func taking(route *routes.Route, next http.HandlerFunc) http.HandlerFunc {
	taken, all := route.Names()
	if !all {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
			if !slices.Contains(taken, name) {
				fail(w, http.StatusUnprocessableEntity, fmt.Sprintf("%s takes no parameter %s%s", r.URL.Path, name,
					names.DidYouMean(name, taken, "it takes "+orNone(taken))))
				return
			}
		}
		next(w, r)
	}
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func (a *api) explain(r *http.Request) (controlapi.Explanation, error) {
	explained, err := explain.Name(a.names(), mux.Vars(r)["name"])
	if err != nil {
		return explained, &refusal{err, http.StatusNotFound}
	}
	return explained, nil
}

// checkSettings rejects conditions with unknown names.
func (a *api) checkSettings(settings []controlapi.Setting) error {
	known := a.names()
	for _, s := range settings {
		if err := known.CheckCondition(s.Name, s.Value); err != nil {
			return err
		}
	}
	return nil
}

// checkQuery refuses a query for a name that nothing has. It accepts misspelt names
// that clients sent, such as parameters, since the journal has them, and, with follow,
// names of rules that may be set later.
func (a *api) checkQuery(q journal.Query, follow bool) error {
	for _, field := range slices.Sorted(maps.Keys(q.Fields)) {
		if parameter, ok := strings.CutPrefix(field, "params."); ok {
			if err := a.checkParameter(parameter); err != nil {
				return err
			}
			continue
		}
		known := a.namesOf(field)
		if known == nil || field == "fault" && follow {
			continue
		}
		for _, want := range journal.Patterns(field, q.Fields[field]) {
			if !slices.ContainsFunc(known, func(name string) bool { return journal.Matches(field, want, name) }) && !a.remembers(field, want) {
				return fmt.Errorf("%s: there is no %s%s", field, want, names.DidYouMean(want, known, "there are "+several(known)))
			}
		}
	}
	return nil
}

// several returns the first twelve of many names.
func several(list []string) string {
	const most = 12
	if len(list) > most {
		return strings.Join(list[:most], ", ") + " and others"
	}
	return orNone(list)
}

// namesOf lists what a field of the journal can be, nil where anything can be.
func (a *api) namesOf(field string) (list []string) {
	switch field {
	case "product":
		return a.names().ProductNames()
	case "action":
		for _, action := range a.names().Actions() {
			list = append(list, action.Name)
		}
	case "code":
		return append(a.names().AllCodes(), journal.Success)
	case "fault":
		list = []string{}
		for _, rule := range a.Faults.Injector.Rules() {
			list = append(list, rule.Rule.Name)
		}
	case "region":
		v := a.Store.View(state.Owner{})
		for region := range kinds.Regions.All(v) {
			list = append(list, region.ID)
		}
	}
	return list
}

// remembers reports whether the journal has an entry that a condition describes.
func (a *api) remembers(field, want string) bool {
	return len(a.Journal.Query(journal.Query{Fields: map[string]string{field: want}, Limit: 1}).Entries) > 0
}

func (a *api) checkParameter(name string) error {
	var known []string
	for _, action := range a.names().Actions() {
		if action.Reads(name) {
			return nil
		}
		for _, p := range action.Parameters() {
			known = append(known, p.Name)
		}
	}
	for _, e := range a.Journal.Query(journal.Query{}).Entries {
		if _, sent := e.Parameters.Find(name); sent {
			return nil
		}
	}
	return fmt.Errorf("params.%s: no action has it, and no call sent it%s", name, names.DidYouMean(name, known, "`clbemu actions` lists the actions"))
}
