// Package kinds declares the resources of the emulated cloud, in the cloud's words: one
// file per kind, with all facts about the kind. It reports facts (a resource is
// missing, a limit reached), and must not know any wire format, error code or HTTP.
package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// Schema holds the kinds of the cloud. The other files of the package declare them.
var Schema = state.NewSchema()

// On and Off are the wire's and the state's word for switches.
const (
	On  = "on"
	Off = "off"
)

// day is a day of grace.
const day = 24 * time.Hour

// goneAfter removes a resource at the end of the stage of its deletion.
func goneAfter[T any, S ~string](t *state.Table[T], deleting S, status func(*T) S) state.Option {
	return state.On(string(deleting), func(tx *state.Tx, over *state.Transition) {
		if r, ok := t.Find(tx.View, over.ResourceID); ok && status(r) == deleting {
			t.Remove(tx, over.ResourceID)
		}
	})
}
