package control

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
)

func ruleOf(s faults.Status) controlapi.FaultRule {
	return controlapi.FaultRule{Name: s.Rule.Name, Rule: s.Text, At: string(s.Rule.Point()), Since: s.Since, Seen: s.Seen, Hits: s.Hits, Spent: s.Spent(), Disabled: s.Rule.Disabled}
}

func (a *api) answerFaults(w http.ResponseWriter) {
	list := []controlapi.FaultRule{}
	for _, s := range a.Faults.Injector.Rules() {
		list = append(list, ruleOf(s))
	}
	answer(w, http.StatusOK, controlapi.FaultRules{Faults: list, Skipped: a.Faults.Skipped()})
}

func (a *api) getFaults(w http.ResponseWriter, _ *http.Request) {
	a.Faults.Follow()
	a.answerFaults(w)
}

// addFaults takes rules as YAML, which includes JSON.
func (a *api) addFaults(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		fail(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must not exceed %d bytes", maxRequest))
		return
	}
	rules, err := a.Faults.Add(r.URL.Query().Get("file"), text)
	if err != nil {
		a.failChange(w, "add fault rules", err)
		return
	}
	var added []string
	for _, rule := range rules {
		added = append(added, rule.Name, rule.String())
	}
	a.changed(journal.KindFault, "add fault rules", added...)
	a.answerFaults(w)
}

func (a *api) deleteFaults(w http.ResponseWriter, r *http.Request) {
	var names []string
	if name := mux.Vars(r)["name"]; name != "" {
		names = []string{name}
	}
	switch err := a.Faults.Delete(names...); {
	case errors.Is(err, rules.ErrUnknown):
		fail(w, http.StatusNotFound, err.Error())
	case err != nil:
		a.failInside(w, "delete fault rules", err)
	default:
		a.changed(journal.KindFault, "delete fault rules", "name", cmp.Or(mux.Vars(r)["name"], "all"))
		a.answerFaults(w)
	}
}

func (a *api) restartFaults(w http.ResponseWriter, _ *http.Request) {
	if err := a.Faults.Restart(); err != nil {
		a.failInside(w, "restart the fault rules", err)
		return
	}
	a.changed(journal.KindFault, "reset fault rules")
	a.answerFaults(w)
}
