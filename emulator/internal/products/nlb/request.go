package nlb

import (
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/state"
)

// listRequest holds the parameters that all lists of resources take.
type listRequest struct {
	gateway.Region
	listing.ByToken
	Tags []tagging.Tag `rpc:"Tag,max=20,invalid=Illegal"`
}

// fewTagsRequest is listRequest of the lists that take fewer tags.
type fewTagsRequest struct {
	gateway.Region
	listing.ByToken
	Tags []tagging.Tag `rpc:"Tag,max=10,invalid=Illegal"`
}

// removing returns work that removes a resource.
func removing[T any](tx *state.Tx, resourceType string, table *state.Table[T], id string) *changes.Work {
	return &changes.Work{ResourceType: resourceType, ResourceID: id, Do: func() error {
		table.Remove(tx, id)
		return nil
	}}
}

// formatTime writes a time, "" for none.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return gateway.Second(t)
}
