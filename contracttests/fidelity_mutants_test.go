package contracttests

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/scenarios"
)

// otherwise answers a call of an action with what its statement says that it does not
// answer: a success where it is refused, and else a refusal.
type otherwise struct {
	http.RoundTripper

	action  string
	succeed bool
	// bare leaves only a RequestId of a success.
	bare bool
}

var _ http.RoundTripper = (*otherwise)(nil)

// RoundTrip implements http.RoundTripper.
func (o *otherwise) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := o.RoundTripper.RoundTrip(request)
	if err != nil || request.URL.Query().Get("Action") != o.action || (response.StatusCode >= 400) != o.succeed {
		return response, err
	}
	body := `{"RequestId":"0A1B2C3D-0000"}`
	switch {
	case o.bare || o.succeed:
		response.StatusCode = http.StatusOK
	default:
		response.StatusCode, body = http.StatusBadRequest, `{"RequestId":"0A1B2C3D-0000","Code":"Other","Message":"other"}`
	}
	response.Body.Close()
	response.Body, response.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return response, nil
}

// TestFidelityMutants proves that each case fails where the cloud answers its action
// otherwise: a case that passes then asserts nothing.
func TestFidelityMutants(t *testing.T) {
	eachFidelity(t, func(t *testing.T, forks *private.Forks, f *fidelity.File) {
		for i := range f.Statements {
			s := &f.Statements[i]
			if s.Scenario() == nil || s.Verdict() != fidelity.Holds {
				continue
			}
			mutant := &otherwise{action: f.Action, succeed: refusesLast(s, f.Action), bare: s.Class == "field" && !strings.HasSuffix(s.ID, "request-id")}
			if playMutant(t, forks, s, mutant) == scenarios.Passed {
				t.Errorf("%s passes where %s is answered otherwise", f.Name(s), f.Action)
			}
		}
	})
}

// refusesLast reports whether the last call of an action in a case is refused.
func refusesLast(s *fidelity.Statement, action string) bool {
	for _, step := range slices.Backward(s.Case) {
		if call, isCall := step.Value.(*scenarios.CallStep); isCall && call.Action == action {
			return call.Expect != nil && (call.Expect.Status >= 400 || call.Expect.Code != nil)
		}
	}
	return false
}

func playMutant(t *testing.T, forks *private.Forks, s *fidelity.Statement, mutant *otherwise) scenarios.Status {
	t.Helper()
	fork, err := forks.Fork(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mutant.RoundTripper = fork.HTTP.Transport
	fork.HTTP.Transport = mutant
	result := scenarios.Play(t.Context(), s.Scenario(), scenarios.ClientPart, scenarios.Setup{Target: fork})
	if err := fork.Close(t.Context()); err != nil {
		t.Error(err)
	}
	return result.Status
}
