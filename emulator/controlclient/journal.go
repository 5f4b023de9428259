package controlclient

import (
	"context"
	"encoding/json"
	"io"
	"net/url"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/journal"
)

// Journal returns the entries of the journal that match a query.
func (c *Client) Journal(ctx context.Context, query url.Values) (journal.Page, error) {
	return ask(ctx, c, routes.GetJournal, call{query: query})
}

// ClearJournal empties the journal in memory.
func (c *Client) ClearJournal(ctx context.Context) error {
	return c.tell(ctx, routes.ClearJournal.Route, call{})
}

// Marks lists the marks.
func (c *Client) Marks(ctx context.Context) ([]journal.Mark, error) {
	got, err := ask(ctx, c, routes.GetMarks, call{})
	return got.Marks, err
}

// Mark names the present end of the journal.
func (c *Client) Mark(ctx context.Context, name string) error {
	_, err := send(ctx, c, routes.AddMark, "", controlapi.NewMark{Name: name})
	return err
}

// Follow shows the entries that match a query, and then the new ones, until ctx ends or
// show fails. It reports how many entries are missed.
func (c *Client) Follow(ctx context.Context, query url.Values, show func(*journal.Entry) error, missed func(uint64)) error {
	return c.do(ctx, routes.StreamJournal.Route, call{query: query, stream: true}, func(body io.Reader) error {
		return events(body, func(data []byte) error {
			var event struct {
				journal.Entry
				controlapi.Missed
			}
			if err := json.Unmarshal(data, &event); err != nil {
				return err
			}
			if event.Missed.Missed > 0 {
				missed(event.Missed.Missed)
				return nil
			}
			return show(&event.Entry)
		})
	})
}
