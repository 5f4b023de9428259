package control

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/internal/rules"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/faults"
)

func ruleOf(s faults.Status) controlapi.FaultRule {
	return controlapi.FaultRule{Name: s.Rule.Name, Rule: s.Text, At: string(s.Rule.Point()), Since: s.Since, Seen: s.Seen, Hits: s.Hits, Spent: s.Spent(), Disabled: s.Rule.Disabled}
}

func (a *api) faultRules() controlapi.FaultRules {
	list := []controlapi.FaultRule{}
	for _, s := range a.Faults.Injector.Rules() {
		list = append(list, ruleOf(s))
	}
	return controlapi.FaultRules{Faults: list, Skipped: a.Faults.Skipped()}
}

func (a *api) getFaults(*http.Request) (controlapi.FaultRules, error) {
	a.Faults.Follow()
	return a.faultRules(), nil
}

// addFaults takes rules as YAML, which includes JSON.
func (a *api) addFaults(r *http.Request, body io.Reader) (controlapi.FaultRules, error) {
	of, err := routes.AddFaults.ReadQuery(r)
	if err != nil {
		return controlapi.FaultRules{}, err
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return controlapi.FaultRules{}, refused(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must not exceed %d bytes", maxRequest))
	}
	rules, err := a.Faults.Add(of.File, text)
	if err != nil {
		return controlapi.FaultRules{}, a.ofChange("add fault rules", err)
	}
	var added []string
	for _, rule := range rules {
		added = append(added, rule.Name, rule.String())
	}
	a.changed(journal.KindFault, "add fault rules", added...)
	return a.faultRules(), nil
}

func (a *api) deleteFaults(r *http.Request) (controlapi.FaultRules, error) {
	var names []string
	if name := mux.Vars(r)["name"]; name != "" {
		names = []string{name}
	}
	switch err := a.Faults.Delete(names...); {
	case errors.Is(err, rules.ErrUnknown):
		return controlapi.FaultRules{}, &refusal{err, http.StatusNotFound}
	case err != nil:
		return controlapi.FaultRules{}, a.inside("delete fault rules", err)
	}
	a.changed(journal.KindFault, "delete fault rules", "name", cmp.Or(mux.Vars(r)["name"], "all"))
	return a.faultRules(), nil
}

func (a *api) resetFaults(*http.Request) (controlapi.FaultRules, error) {
	if err := a.Faults.ResetCounters(); err != nil {
		return controlapi.FaultRules{}, a.inside("restart the fault rules", err)
	}
	a.changed(journal.KindFault, "reset fault rules")
	return a.faultRules(), nil
}
