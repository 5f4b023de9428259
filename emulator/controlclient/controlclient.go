// Package controlclient calls the control API, of a running emulator or of a
// handler in this process. It owns the client's side of what controlapi describes;
// it must not know how calls are answered, or link the server.
package controlclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
)

// Client calls a control API.
type Client struct {
	// URL is the address of the control API, such as http://127.0.0.1:9601, or of a
	// cloud's, such as http://127.0.0.1:9601/clouds/team-a.
	URL string
	// Token is its token, if it wants one.
	Token string
	// HTTP is http.DefaultClient when nil.
	HTTP *http.Client
	// MaxAnswer limits the bytes read of an answer that is not a stream. If it is 0, the limit is
	// 256 MiB.
	MaxAnswer int64
}

const defaultMaxAnswer = 256 << 20

// Refused is an answer other than success.
type Refused struct {
	// Method is the HTTP method of the call.
	Method string
	Status int
	// Reason is the reason in the answer.
	Reason string

	url string
}

// Wrong reports whether the request is wrong or names something that does not exist:
// the same call would fail again.
func (e *Refused) Wrong() bool {
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// Error returns the reason. If the caller is not to blame, it also names the server and the status.
func (e *Refused) Error() string {
	if e.Wrong() || e.url == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s answers %d %s: %s", e.url, e.Status, http.StatusText(e.Status), e.Reason)
}

// Unreachable is the error when nothing answers.
type Unreachable struct {
	URL   string
	cause error
}

// Error returns the address and the problem.
func (e *Unreachable) Error() string {
	return fmt.Sprintf("nothing answers at %s: is clbemu running, with its control API there? (%v)", e.URL, e.cause)
}

// Unwrap returns the cause.
func (e *Unreachable) Unwrap() error { return e.cause }

// Elsewhere is the error of a call that something answered which is not a control API.
type Elsewhere struct{ URL, What string }

// Error names the program that answers.
func (e *Elsewhere) Error() string {
	return fmt.Sprintf("%s is not the control API: %s answers there", e.URL, e.What)
}

// httpToHTTPS is in what a server of HTTPS answers by HTTP.
const httpToHTTPS = "HTTP request to an HTTPS server"

// elsewhere describes the sender of an answer that is not from a control API.
func elsewhere(response *http.Response) string {
	if response.Header.Get("x-acs-request-id") != "" {
		return "the cloud's API"
	}
	return ""
}

// call holds the variable parts of a call: the name in its path, its query and its body.
type call struct {
	name  string
	query url.Values
	body  io.Reader
	// stream is an answer that may go on for ever, and is not kept.
	stream bool
}

// do makes a call and passes the body of a success to read.
func (c *Client) do(ctx context.Context, route *routes.Route, what call, read func(io.Reader) error) error {
	path := route.For(what.name)
	if len(what.query) > 0 {
		path += "?" + what.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, route.Method, strings.TrimSuffix(c.URL, "/")+path, what.body)
	if err != nil {
		return err
	}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if errors.Is(err, io.EOF) {
		return &Elsewhere{c.URL, "something that hangs up"}
	}
	if unreachable := (*url.Error)(nil); errors.As(err, &unreachable) {
		return &Unreachable{c.URL, unreachable.Err}
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if other := elsewhere(response); other != "" {
		return &Elsewhere{c.URL, other}
	}
	if response.StatusCode == http.StatusOK && what.stream {
		return read(response.Body)
	}
	if response.StatusCode == http.StatusOK {
		most := cmp.Or(c.MaxAnswer, defaultMaxAnswer)
		err := read(http.MaxBytesReader(nil, response.Body, most))
		if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
			return &Elsewhere{c.URL, fmt.Sprintf("something whose answer has more than %d bytes", most)}
		}
		return err
	}
	why := reason(response.Body)
	if strings.Contains(why, httpToHTTPS) {
		return &Elsewhere{c.URL, "something by HTTPS"}
	}
	refused := &Refused{Method: route.Method, Status: response.StatusCode, Reason: why}
	if _, local := client.Transport.(*inProcess); !local {
		refused.url = c.URL
	}
	return refused
}

// reason returns the reason that an answer gives for a failure.
func reason(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, 64<<10)) // report as much as arrived
	var refusal controlapi.Refusal
	if err := json.Unmarshal(text, &refusal); err != nil || refusal.Error == "" {
		return string(bytes.TrimSpace(text))
	}
	return refusal.Error
}

func discard(body io.Reader) error {
	_, err := io.Copy(io.Discard, body)
	return err
}

// tell makes a call that answers nothing but a refusal.
func (c *Client) tell(ctx context.Context, route *routes.Route, what call) error {
	return c.do(ctx, route, what, discard)
}

// ask makes a call and returns its answer.
func ask[Query, Request, Answer any](ctx context.Context, c *Client, row routes.Call[Query, Request, Answer], what call) (got Answer, err error) {
	err = c.do(ctx, row.Route, what, func(body io.Reader) error { return json.NewDecoder(body).Decode(&got) })
	return got, err
}

// send makes a call with a body in JSON and returns its answer.
func send[Query, Request, Answer any](ctx context.Context, c *Client, row routes.Call[Query, Request, Answer], name string, body Request) (got Answer, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return got, err
	}
	return ask(ctx, c, row, call{name: name, body: bytes.NewReader(text)})
}

// watch shows the data of each event of a stream, until ctx ends or show fails.
func watch[Query, Data any](ctx context.Context, c *Client, row routes.Call[Query, routes.None, routes.Events[Data]], query Query, show func(Data) error) error {
	return c.do(ctx, row.Route, call{query: row.Values(query), stream: true}, func(body io.Reader) error {
		return events(body, func(text []byte) error {
			var data Data
			if err := json.Unmarshal(text, &data); err != nil {
				return err
			}
			return show(data)
		})
	})
}

// Route is a call of the control API, for the page about them.
type Route struct {
	Method, Path, Summary string
	// Query names the parameters; Fields says that those of journal entries are others.
	Query  []string
	Fields bool
	// Open is a call that needs no token.
	Open bool
}

// Routes lists the calls of the control API.
func Routes() (list []Route) {
	for _, r := range routes.All {
		query, all := r.Names()
		list = append(list, Route{r.Method, r.Path, r.Summary, query, !all, r.Open})
	}
	return list
}

// Health returns nil if the process lives.
func (c *Client) Health(ctx context.Context) error {
	return c.tell(ctx, routes.Health.Route, call{})
}

// Ready returns nil if the emulator takes calls.
func (c *Client) Ready(ctx context.Context) error {
	return c.tell(ctx, routes.Ready.Route, call{})
}

// Metrics writes the metrics as Prometheus reads them.
func (c *Client) Metrics(ctx context.Context, w io.Writer) error {
	return c.do(ctx, routes.Metrics.Route, call{}, to(w))
}

// OpenAPI writes the document that describes the API.
func (c *Client) OpenAPI(ctx context.Context, w io.Writer) error {
	return c.do(ctx, routes.GetOpenAPI.Route, call{}, to(w))
}

func to(w io.Writer) func(io.Reader) error {
	return func(body io.Reader) error {
		_, err := io.Copy(w, body)
		return err
	}
}

// Version returns the emulator's version.
func (c *Client) Version(ctx context.Context) (controlapi.Version, error) {
	return ask(ctx, c, routes.GetVersion, call{})
}

// Server returns the addresses at which clients find the emulator.
func (c *Client) Server(ctx context.Context) (controlapi.Server, error) {
	return ask(ctx, c, routes.GetServer, call{})
}

// Actions lists the actions of the cloud's API.
func (c *Client) Actions(ctx context.Context) ([]controlapi.Action, error) {
	return ask(ctx, c, routes.GetActions, call{})
}
