package controlclient

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/url"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/routes"
	"github.com/clbemu/clbemu/scenarios"
)

// Scenarios returns the running scenario and the last results.
func (c *Client) Scenarios(ctx context.Context) (got controlapi.Scenarios, err error) {
	err = c.do(ctx, call{route: routes.GetScenarios.Route}, into(&got))
	return got, err
}

// RunScenario plays a scenario of the library on the emulator, or text where name
// is "".
func (c *Client) RunScenario(ctx context.Context, name string, text []byte) (result scenarios.Result, err error) {
	err = c.do(ctx, play(routes.RunScenario.Route, name, text), into(&result))
	return result, err
}

func play(route *routes.Route, name string, text []byte) call {
	what := call{route: route, body: bytes.NewReader(text)}
	if name != "" {
		what.query = url.Values{"name": {name}}
	}
	return what
}

// StartScenario is RunScenario that does not wait for the end.
func (c *Client) StartScenario(ctx context.Context, name string, text []byte) (got controlapi.Playing, err error) {
	err = c.do(ctx, play(routes.StartScenario.Route, name, text), into(&got))
	return got, err
}

// StopScenario stops the current play.
func (c *Client) StopScenario(ctx context.Context) error {
	return c.do(ctx, call{route: routes.StopScenario.Route}, discard)
}

// WatchScenarios shows the events of the current or last play, and then the new ones,
// until ctx ends or show fails.
func (c *Client) WatchScenarios(ctx context.Context, show func(controlapi.ScenarioEvent) error) error {
	return c.do(ctx, call{route: routes.WatchScenarios.Route, stream: true}, func(body io.Reader) error {
		return events(body, func(data []byte) error {
			var event controlapi.ScenarioEvent
			if err := json.Unmarshal(data, &event); err != nil {
				return err
			}
			return show(event)
		})
	})
}

// Exploration reads the results of the last clbemu explore that sent some.
func (c *Client) Exploration(ctx context.Context, results any) error {
	return c.do(ctx, call{route: routes.GetExploration.Route}, into(results))
}

// PutExploration shows the results of clbemu explore in the console.
func (c *Client) PutExploration(ctx context.Context, results any) error {
	return c.send(ctx, routes.PutExploration.Route, results, discard)
}

// Library lists the scenarios of the library.
func (c *Client) Library(ctx context.Context) ([]controlapi.LibraryScenario, error) {
	var got controlapi.Library
	err := c.do(ctx, call{route: routes.GetLibrary.Route}, into(&got))
	return got.Scenarios, err
}

// LibraryScenario is the text of a scenario of the library.
func (c *Client) LibraryScenario(ctx context.Context, name string) (text []byte, err error) {
	err = c.do(ctx, call{route: routes.GetLibraryScenario.Route, path: routes.GetLibraryScenario.For(name)}, func(body io.Reader) error {
		text, err = io.ReadAll(body)
		return err
	})
	return text, err
}
