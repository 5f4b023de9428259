package controlclient

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/control/routes"
	"github.com/clbemu/clbemu/scenarios"
)

// Scenarios returns the running scenario and the last results.
func (c *Client) Scenarios(ctx context.Context) (controlapi.Scenarios, error) {
	return ask(ctx, c, routes.GetScenarios, call{})
}

// RunScenario plays a scenario of the library on the emulator, or text where name
// is "".
func (c *Client) RunScenario(ctx context.Context, name string, text []byte) (scenarios.Result, error) {
	return ask(ctx, c, routes.RunScenario, play(routes.OfScenario{Name: name}, text))
}

// RunScenarioApart is like RunScenario, on an emulator of the scenario's own, which leaves this one
// as it is. Any number may run at a time.
func (c *Client) RunScenarioApart(ctx context.Context, name string, text []byte) (scenarios.Result, error) {
	return ask(ctx, c, routes.RunScenario, play(routes.OfScenario{Name: name, Apart: true}, text))
}

func play(of routes.OfScenario, text []byte) call {
	return call{body: bytes.NewReader(text), query: routes.RunScenario.Values(of)}
}

// StartScenario is like RunScenario, but does not wait for the end.
func (c *Client) StartScenario(ctx context.Context, name string, text []byte) (controlapi.Playing, error) {
	return ask(ctx, c, routes.StartScenario, play(routes.OfScenario{Name: name}, text))
}

// StopScenario stops the current play.
func (c *Client) StopScenario(ctx context.Context) error {
	return c.tell(ctx, routes.StopScenario.Route, call{})
}

// WatchScenarios shows the events of the current or last play, and then the new ones,
// until ctx ends or show fails.
func (c *Client) WatchScenarios(ctx context.Context, show func(controlapi.ScenarioEvent) error) error {
	return watch(ctx, c, routes.WatchScenarios, routes.None{}, show)
}

// Exploration reads the results of the last clbemu explore that sent some.
func (c *Client) Exploration(ctx context.Context, results any) error {
	return c.do(ctx, routes.GetExploration.Route, call{}, func(body io.Reader) error { return json.NewDecoder(body).Decode(results) })
}

// PutExploration shows the results of clbemu explore in the console.
func (c *Client) PutExploration(ctx context.Context, results any) error {
	text, err := json.Marshal(results)
	if err != nil {
		return err
	}
	return c.tell(ctx, routes.PutExploration.Route, call{body: bytes.NewReader(text)})
}

// Library lists the scenarios of the library.
func (c *Client) Library(ctx context.Context) ([]controlapi.LibraryScenario, error) {
	got, err := ask(ctx, c, routes.GetLibrary, call{})
	return got.Scenarios, err
}

// LibraryScenario returns the text of a scenario of the library.
func (c *Client) LibraryScenario(ctx context.Context, name string) (text []byte, err error) {
	err = c.do(ctx, routes.GetLibraryScenario.Route, call{name: name}, func(body io.Reader) error {
		text, err = io.ReadAll(body)
		return err
	})
	return text, err
}
