package control

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/clusterimport"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/state"
)

func (a *api) importCluster(w http.ResponseWriter, r *http.Request) {
	cluster, err := clusterimport.Read(http.MaxBytesReader(w, r.Body, a.MaxImport))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		fail(w, http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	var done controlapi.Imported
	where := where(r)
	if err := a.Store.Update(state.Owner{}, func(tx *state.Tx) (err error) {
		done, err = cluster.Import(tx, where)
		return err
	}); err != nil {
		a.failChange(w, "import a cluster", err)
		return
	}
	a.changed(journal.KindWorld, "import a cluster", "account", where.AccountID,
		"instances", fmt.Sprint(done.Instances), "networkInterfaces", fmt.Sprint(done.NetworkInterfaces))
	answer(w, http.StatusOK, done)
}
