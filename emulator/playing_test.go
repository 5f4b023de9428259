package emulator_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
)

// TestCloseEndsPlaying proves that an emulator closed while a scenario is played
// ends that, and has ended it when it is closed.
func TestCloseEndsPlaying(t *testing.T) {
	const waits = "about: waits\nclient:\n  steps:\n" +
		"    - fault: {name: one, match: {action: DescribeZones}, effect: {reset: true}}\n" +
		"    - fault: {name: other, match: {action: DescribeZones}, effect: {reset: true}}\n" + // which it takes away in the end
		"    - wait: {within: 1h, every: 10ms, call: {action: DescribeLoadBalancers, expect: {fields: {TotalCount: 7}}}}\n"
	e, err := emulator.New(t.Context(), emulator.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	client := controlclient.InProcess(e.ControlHandler())
	if _, err := client.StartScenario(t.Context(), "", []byte(waits)); err != nil {
		t.Fatal(err)
	}
	begun := errors.New("begun")
	if err := client.WatchScenarios(t.Context(), func(event controlapi.ScenarioEvent) error {
		if event.Step != nil {
			return begun
		}
		return nil
	}); !errors.Is(err, begun) {
		t.Fatal(err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
	status, err := client.Scenarios(t.Context())
	if err != nil || status.Playing != nil || len(status.Results) != 1 || !strings.Contains(strings.Join(status.Results[0].Notes, " "), "it was stopped") {
		t.Errorf("after Close there is %+v, %v", status, err)
	}
}
