package control

import (
	"errors"
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// makeCall makes a call of the cloud's API for the console. What the cloud
// refuses is an answer too.
func (a *api) makeCall(r *http.Request, made controlapi.CloudCall) (controlapi.CloudAnswer, error) {
	if a.Call == nil {
		return controlapi.CloudAnswer{}, errors.New("no emulator runs that could take the call: start one with `clbemu serve`")
	}
	got, err := a.Call(r.Context(), made)
	if err != nil {
		err = &refusal{err, http.StatusUnprocessableEntity}
	}
	return got, err
}
