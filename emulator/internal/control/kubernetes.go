package control

import (
	"fmt"
	"io"
	"net/http"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/clusterimport"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/state"
)

func (a *api) importCluster(r *http.Request, body io.Reader) (done controlapi.Imported, err error) {
	of, err := routes.ImportCluster.ReadQuery(r)
	if err != nil {
		return done, err
	}
	cluster, err := clusterimport.Read(body)
	if err != nil {
		return done, &refusal{err, http.StatusBadRequest}
	}
	where := controlapi.Where(of)
	if err := a.Store.Update(state.Owner{}, func(tx *state.Tx) (err error) {
		done, err = cluster.Import(tx, where)
		return err
	}); err != nil {
		return done, a.ofChange("import a cluster", err)
	}
	a.changed(journal.KindWorld, "import a cluster", "account", where.AccountID,
		"instances", fmt.Sprint(done.Instances), "networkInterfaces", fmt.Sprint(done.NetworkInterfaces))
	return done, nil
}
