package gateway

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/clbemu/clbemu/state"
)

// Answer reads texts of a performed action's answer by their names.
type Answer func(name string) string

// Perform runs the handler of an action that writes, as a part of a transaction: as a call
// of the transaction's account and region, without signature, throttling and faults. A
// parameter that the action does not read is an error. An error is a *Problem; the
// transaction may then hold a part of the work, and must not commit.
func (p *Product) Perform(tx *state.Tx, action string, params Params) (Answer, error) {
	at := slices.IndexFunc(p.Actions, func(a Action) bool { return a.Name == action })
	if at < 0 || p.Actions[at].write == nil {
		panic(fmt.Sprintf("gateway: %s has no action %s that writes", p.Name, action))
	}
	row := &p.Actions[at]
	params = append(slices.Clone(params), Param{"RegionId", tx.Scope().RegionID})
	params.sort()
	if problem := params.check(); problem != nil {
		return nil, problem
	}
	for _, name := range row.request().unread(params) {
		if name != "RegionId" {
			return nil, unknownParameter(action, name)
		}
	}
	request, err := row.request().decode(params)
	if v, ok := request.(validator); ok && err == nil {
		err = v.Validate()
	}
	if err != nil {
		return nil, p.Errors.problem(action, err)
	}
	response, err := row.write(tx, request)
	if err != nil {
		return nil, p.Errors.problem(action, err)
	}
	return func(name string) string { return row.response().text(reflect.ValueOf(response).Elem(), name) }, nil
}

func unknownParameter(action, name string) *Problem {
	p := Invalid(name)
	p.Message = action + " has no parameter " + name + "; `clbemu explain " + action + "` lists them."
	return p
}
