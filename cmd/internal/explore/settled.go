package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// What the undisturbed play shows of a client at rest: the reads that it repeats there, and
// whether it rests or only waits for its next try.

// The facts of a client that polls.
const (
	// roundsOfRest is for how many rounds of polls a client does nothing else at rest.
	roundsOfRest = 2
	// pollsFrom is the number of repetitions from which a read counts as a poll.
	pollsFrom = 3
	// learning is the multiple of its quiet time for which an undisturbed client is watched at
	// rest.
	learning = 4
)

// asksOf returns what a call asks, which is equal for calls that repeat.
func asksOf(c scenarios.JournalCall) string {
	asks := c.Action
	for _, name := range sorted(c.Params) {
		asks += "\x00" + name + "=" + c.Params[name]
	}
	return asks
}

// forPolls makes a rest regard a client that polls. The undisturbed play takes each read that
// repeats for one, and goes on for a while.
func (c *composer) forPolls(rest *yaml.Node) {
	switch {
	case !c.subject.program:
	case c.judged && len(c.subject.polls) > 0:
		put(rest, "polls", listOf(c.subject.polls))
	case !c.judged && (c.Part == scenarios.ProgramPart || c.subject.restless):
		put(rest, "polls", listOf([]string{"*"}))
		put(rest, "after", scalar(min(time.Duration(c.subject.Late), learning*time.Duration(c.subject.Quiet)).String()))
	}
}

// pollsOf returns the actions of the reads that a client repeats at its end, and the longest
// time between two of them.
func pollsOf(o *observed) (actions []string, every time.Duration) {
	if o.ended {
		return nil, 0
	}
	tail := o.calls
	for i, c := range slices.Backward(tail) {
		if c.Write {
			tail = tail[i+1:]
			break
		}
	}
	times, last := make(map[string]int), make(map[string]time.Time)
	for _, c := range tail {
		if times[c.asks]++; times[c.asks] > 1 {
			every = max(every, c.at.Sub(last[c.asks]))
		}
		last[c.asks] = c.at
	}
	for _, c := range tail {
		if times[c.asks] >= pollsFrom && !slices.Contains(actions, c.Action) {
			actions = append(actions, c.Action)
		}
	}
	if actions == nil {
		return nil, 0
	}
	slices.Sort(actions)
	return actions, every
}

// withoutRounds leaves out of the calls of a client that polls all rounds at its end but the
// first: a refused poll is tried once.
func withoutRounds(calls []Call, polls []string) []Call {
	end := len(calls)
	for end > 0 && !calls[end-1].Write {
		end--
	}
	seen := make(map[string]bool)
	return append(slices.Clone(calls[:end]), slices.DeleteFunc(slices.Clone(calls[end:]), func(c Call) bool {
		repeats := seen[c.asks] && slices.Contains(polls, c.Action)
		seen[c.asks] = true
		return repeats
	})...)
}

// unsettled says why an undisturbed client does not rest though it makes no call for a while:
// the last call before a rest was refused.
func (o *observed) unsettled() string {
	for i, mark := range o.rests {
		from := uint64(0)
		if i > 0 {
			from = o.rests[i-1]
		}
		for _, c := range slices.Backward(o.calls) {
			if c.sequence > mark || c.sequence <= from {
				continue
			}
			if c.Code != "" {
				return fmt.Sprintf("its last call before rest %d, %s, was refused with %s", i+1, c.Action, c.Code)
			}
			break
		}
	}
	return ""
}

// failing returns the newest Event about a Service that is newer than a version, if it is of
// type Warning, and the newest version.
func (e *explorer) failing(ctx context.Context, cluster scenarios.Cluster, since uint64) (warning string, newest uint64, err error) {
	newest = since
	for _, namespace := range e.namespaces() {
		out, err := cluster.Kubectl(ctx, "", "get", "events", "--namespace", namespace, "--field-selector", "involvedObject.kind=Service", "--output", "json")
		if err != nil {
			return "", since, err
		}
		var list struct {
			Items []struct {
				Metadata       struct{ ResourceVersion string }
				InvolvedObject struct{ Name string }
				Type, Reason   string
				Message        string
			}
		}
		if err := json.Unmarshal(out, &list); err != nil {
			return "", since, err
		}
		latest := make(map[string]uint64) // by Service
		said := make(map[string]string)
		for _, is := range list.Items {
			version, _ := strconv.ParseUint(is.Metadata.ResourceVersion, 10, 64) // a cluster with other versions says nothing
			newest = max(newest, version)
			if name := is.InvolvedObject.Name; version > since && version > latest[name] {
				latest[name], said[name] = version, ""
				if is.Type == "Warning" {
					said[name] = fmt.Sprintf("the last Event of service/%s is %s: %s", name, is.Reason, strings.TrimSpace(is.Message))
				}
			}
		}
		for _, name := range sorted(said) {
			if warning == "" {
				warning = said[name]
			}
		}
	}
	return warning, newest, nil
}

// Unsettled is the error of a scenario whose undisturbed play ends in an error of the client.
type Unsettled struct{ Scenario, Why string }

func (e *Unsettled) Error() string {
	return fmt.Sprintf("the undisturbed play of %s ends in an error, and is no measure for disturbed ones: %s: leave out the step that leads to it, or give explore: {off: [ends]}", e.Scenario, e.Why)
}
