package control

import (
	"errors"
	"io"
	"net/http"

	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/emulator/internal/resources"
	"github.com/clbemu/clbemu/emulator/inventory"
)

// handlers has the handler of each call.
type handlers map[*routes.Route]http.HandlerFunc

// on binds a call without query and body.
func on[Answer any](h handlers, row routes.Call[routes.None, routes.None, Answer], handle func(*http.Request) (Answer, error)) {
	h[row.Route] = func(w http.ResponseWriter, r *http.Request) {
		got, err := handle(r)
		respond(w, got, err)
	}
}

// onQuery binds a call with a query and without a body.
func onQuery[Query, Answer any](h handlers, row routes.Call[Query, routes.None, Answer], handle func(*http.Request, Query) (Answer, error)) {
	h[row.Route] = func(w http.ResponseWriter, r *http.Request) {
		query, err := row.ReadQuery(r)
		if err != nil {
			failed(w, err)
			return
		}
		got, err := handle(r, query)
		respond(w, got, err)
	}
}

// onBody binds a call with a small body in JSON.
func onBody[Query, Request, Answer any](h handlers, row routes.Call[Query, Request, Answer], handle func(*http.Request, Request) (Answer, error)) {
	h[row.Route] = func(w http.ResponseWriter, r *http.Request) {
		var body Request
		if err := read(w, r, &body); err != nil {
			failed(w, err)
			return
		}
		got, err := handle(r, body)
		respond(w, got, err)
	}
}

// onText binds a call whose handler reads the body, of at most so many bytes.
func onText[Query, Request, Answer any](h handlers, row routes.Call[Query, Request, Answer], most int64, handle func(*http.Request, io.Reader) (Answer, error)) {
	h[row.Route] = func(w http.ResponseWriter, r *http.Request) {
		got, err := handle(r, http.MaxBytesReader(w, r.Body, most))
		respond(w, got, ofBody(err))
	}
}

// ofBody gives an error its status if a body that is too large caused it.
func ofBody(err error) error {
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return &refusal{err, http.StatusRequestEntityTooLarge}
	}
	return err
}

func respond[Answer any](w http.ResponseWriter, got Answer, err error) {
	if err != nil {
		failed(w, err)
		return
	}
	answer(w, http.StatusOK, got)
}

// refusal is an error with the status of its answer.
type refusal struct {
	error
	status int
}

// Unwrap returns the error.
func (r *refusal) Unwrap() error { return r.error }

func refused(status int, reason string) error { return &refusal{errors.New(reason), status} }

// failed answers with an error. An error that is not a refusal means that the call is wrong, or
// names an unknown resource, account or region.
func failed(w http.ResponseWriter, err error) {
	status := http.StatusUnprocessableEntity
	with := (*refusal)(nil)
	unknown, stranger := (*inventory.Unknown)(nil), (*resources.Unknown)(nil)
	switch {
	case errors.As(err, &with):
		status = with.status
	case errors.As(err, &unknown), errors.As(err, &stranger):
		status = http.StatusNotFound
	}
	fail(w, status, err.Error())
}
