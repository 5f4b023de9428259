package control

import (
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// makeCall makes a call of the cloud's API for somebody at the console. What the cloud
// refuses is an answer too.
func (a *api) makeCall(w http.ResponseWriter, r *http.Request) {
	var made controlapi.CloudCall
	if !read(w, r, &made) {
		return
	}
	if a.Call == nil {
		fail(w, http.StatusUnprocessableEntity, "no emulator runs that could take the call: start one with `clbemu serve`")
		return
	}
	got, err := a.Call(r.Context(), made)
	if err != nil {
		fail(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	answer(w, http.StatusOK, got)
}
