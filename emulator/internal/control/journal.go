package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/journal"
	"github.com/clbemu/clbemu/emulator/names"
)

// changed records what a call of the control API changed: names and values in turn; an
// empty value was not given.
func (a *api) changed(kind journal.Kind, what string, pairs ...string) {
	var sent []journal.Parameter
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			sent = append(sent, journal.Parameter{Name: pair[0], Value: pair[1]})
		}
	}
	slices.SortStableFunc(sent, func(a, b journal.Parameter) int { return strings.Compare(a.Name, b.Name) })
	names := make([]string, len(sent))
	for i, p := range sent {
		names[i] = p.Name
	}
	a.Journal.Record(journal.Entry{Time: a.Store.Now(), Kind: kind, Action: what}, sent...)
	a.Log.Info().Strs("names", names).Msg(what)
}

// queryOf returns the query of the journal that a call sent.
func (a *api) queryOf(of routes.OfEntries, before uint64, call *routes.Route) (journal.Query, error) {
	q := journal.Query{Before: before, Limit: of.Limit, Fields: of.Fields}
	for name := range of.Fields {
		if !slices.Contains(journal.Fields(), name) && !strings.HasPrefix(name, "params.") {
			parameters, _ := call.Names()
			taken := append(journal.Fields(), parameters...)
			return q, fmt.Errorf("there is no field %s%s", name, names.DidYouMean(name, taken, "choose from "+strings.Join(taken, ", ")))
		}
	}
	if of.Since != nil {
		q.Since = *of.Since
	}
	if of.SinceMark != nil {
		mark, err := a.Journal.Marked(*of.SinceMark)
		switch {
		case err != nil:
			return q, fmt.Errorf("sinceMark: there is no mark %q%s", *of.SinceMark, a.nearMark(*of.SinceMark))
		case of.Since != nil:
			return q, errors.New("give since or sinceMark, not both")
		}
		q.Since = mark.Sequence
	}
	return q, q.Validate()
}

// nearMark suggests a mark that the caller may have meant.
func (a *api) nearMark(name string) string {
	var marks []string
	for _, m := range a.Journal.Marks() {
		marks = append(marks, m.Name)
	}
	return names.DidYouMean(name, marks, "`clbemu journal marks` lists them")
}

func (a *api) getJournal(_ *http.Request, of routes.OfJournal) (page journal.Page, err error) {
	q, err := a.queryOf(of.OfEntries, of.Before, routes.GetJournal.Route)
	if err == nil {
		err = a.checkQuery(q, false)
	}
	if err != nil {
		return page, err
	}
	return a.Journal.Query(q), nil
}

func (a *api) clearJournal(*http.Request) (controlapi.Status, error) {
	a.Journal.Clear()
	return controlapi.Status{Status: "cleared"}, nil
}

func (a *api) getMarks(*http.Request) (controlapi.Marks, error) {
	return controlapi.Marks{Marks: a.Journal.Marks()}, nil
}

func (a *api) addMark(r *http.Request, mark controlapi.NewMark) (controlapi.Marks, error) {
	if _, err := a.Journal.Mark(mark.Name, a.Store.Now()); err != nil {
		return controlapi.Marks{}, err
	}
	return a.getMarks(r)
}

// streamJournal sends the entries that match a query, and then the new ones, as
// server-sent events. A client that reconnects sends its position in Last-Event-ID.
func (a *api) streamJournal(w http.ResponseWriter, r *http.Request) {
	of, err := routes.StreamJournal.ReadQuery(r)
	if err != nil {
		failed(w, err)
		return
	}
	q, err := a.queryOf(of.OfEntries, 0, routes.StreamJournal.Route)
	if of.LastEventID != nil {
		q.Since = *of.LastEventID
	}
	if err == nil {
		err = a.checkQuery(q, true)
	}
	if err != nil {
		failed(w, err)
		return
	}
	newStream(w).run(r.Context(), a.Journal, q)
}

// stream writes the answer of a stream. Libraries for server-sent events are brokers
// with their own queues; here the journal is the queue, and only the format remains.
type stream struct {
	http.ResponseWriter
	*http.ResponseController
}

// newStream begins the answer.
func newStream(w http.ResponseWriter) stream {
	s := stream{w, http.NewResponseController(w)}
	// The listener's limit is on the time that a request takes to come in.
	_ = s.SetReadDeadline(time.Time{}) // a recorder has none
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	return s
}

// run ends when the client leaves or the journal is closed. The limit is for what
// was there at first.
func (s stream) run(ctx context.Context, j *journal.Journal, q journal.Query) {
	for following := q.Since > 0; ; following = true {
		page := j.Query(q)
		if following && page.Missed > 0 && s.send("missed", 0, controlapi.Missed{Missed: page.Missed}) != nil {
			return
		}
		for _, e := range page.Entries {
			if s.send(string(e.Kind), e.Sequence, e) != nil {
				return
			}
		}
		q.Since, q.Limit = page.Last, 0
		if s.Flush() != nil || j.Await(ctx, q.Since) != nil {
			return
		}
	}
}

// send writes an event, with an id for those that have a sequence.
func (s stream) send(event string, sequence uint64, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	id := ""
	if sequence > 0 {
		id = fmt.Sprintf("id: %d\n", sequence)
	}
	_, err = fmt.Fprintf(s, "%sevent: %s\ndata: %s\n\n", id, event, text)
	return err
}
