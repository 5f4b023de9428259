package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/glob"
)

// Explore says how clbemu explore disturbs and judges a scenario.
type Explore struct {
	Off     NameList         `yaml:"off" doc:"Rules that do not count."`
	Calls   float64          `yaml:"calls" counted:"true" doc:"How many times the calls of the undisturbed play a disturbed one may make; 5 if absent."`
	Tries   int              `yaml:"tries" counted:"true" doc:"How often a scripted client makes a call that failed, and a program is started again; 5 if absent."`
	Quiet   Duration         `yaml:"quiet" doc:"How long a client that keeps running makes no call when it is at rest, or, of a controller, once it was disturbed. Longer than its first back-off; 3s if absent, 8s for a controller."`
	Late    Duration         `yaml:"late" doc:"How long a client that keeps running is watched again at rest, after a disturbed write, for what its queue repeats late; 35s if absent, and twice its longest back-off."`
	Within  Duration         `yaml:"within" doc:"How long a client may take to come to rest; 1m if absent."`
	Timeout Duration         `yaml:"timeout" doc:"How long the client waits for an answer; 20s if absent."`
	Known   []knownViolation `yaml:"known" doc:"Violations that are known, and do not fail the exploration."`

	place
}

// knownViolation names a violation that stays.
type knownViolation struct {
	Rule        string `yaml:"rule" required:"true" doc:"The rule."`
	Call        string `yaml:"call" doc:"The action, or a glob; any if absent."`
	Disturbance string `yaml:"disturbance" doc:"The disturbance, or a glob; any if absent."`
	Why         string `yaml:"why" required:"true" doc:"Why it stays."`
}

// Rules lists the rules, each with what it demands.
var Rules = [][2]string{
	{"ends", "the client comes to its end, or to rest"},
	{"double", "no load balancer exists twice"},
	{"left", "nothing stays that the undisturbed client does not leave"},
	{"others", "what the client did not create stays as it is"},
	{"status", "the status of a Service has addresses of load balancers that exist, public or private as undisturbed"},
	{"replaced", "a load balancer that serves keeps its id and its addresses, and a client that starts again at rest deletes none, unless it does so undisturbed"},
	{"outage", "from the first moment on, a listener that serves has a ready backend, unless it loses them undisturbed"},
	{"backends", "no listener has fewer ready backends for a while than before and after"},
	{"runs", "what runs without the disturbance runs"},
	{"state", "the end state equals the undisturbed one, but for ids, addresses and times"},
	{"refused", "a refused write is made again, or an Event of the Service reports it"},
	{"calls", "the client makes at most 5 times the calls of the undisturbed play, unless calls says otherwise"},
	{"rest", "the client writes nothing once it is at rest"},
}

// disturbances lists the kinds of disturbances.
var disturbances = []string{"throttled", "unavailable", "refused", "lost", "unseen", "reset", "hang", "slow", "stale", "killed", "condition",
	"again", "deleted", "stopped", "renamed", "untagged", "emptied"}

// CheckDisturbances refuses the first pattern of a list that matches no kind of disturbances;
// behind a kind may stand what it is about.
func (e *Explore) CheckDisturbances(list string) error {
	for _, pattern := range glob.Split(list) {
		kind, _, _ := strings.Cut(pattern, " ")
		if !slices.ContainsFunc(disturbances, func(name string) bool { return glob.List{kind}.Match(name) }) {
			return fmt.Errorf("there is no disturbance %s%s", pattern, suggest(kind, disturbances, ""))
		}
	}
	return nil
}

// check refuses known violations of actions that there are not.
func (e *Explore) check(c *checker, at spot) {
	for i, k := range e.Known {
		if under := at.in("known").at(i).in("call"); c.names != nil && c.settled(under, k.Call) {
			c.globs(under, k.Call)
		}
	}
}

func (e *Explore) Validate() error {
	names := make([]string, len(Rules))
	for i, r := range Rules {
		names[i] = r[0]
	}
	unknown := func(rule string) bool { return !slices.Contains(names, rule) }
	if i := slices.IndexFunc(e.Off, unknown); i >= 0 {
		return fmt.Errorf("off: there is no rule %s: there are %s", e.Off[i], strings.Join(names, ", "))
	}
	for _, k := range e.Known {
		if err := e.CheckDisturbances(k.Disturbance); err != nil {
			return fmt.Errorf("known: %w", err)
		}
	}
	switch i := slices.IndexFunc(e.Known, func(k knownViolation) bool { return unknown(k.Rule) }); {
	case i >= 0:
		return fmt.Errorf("known: there is no rule %s: there are %s", e.Known[i].Rule, strings.Join(names, ", "))
	case e.Calls != 0 && e.Calls < 1:
		return fmt.Errorf("calls is 1 or more")
	case e.Tries < 0 || e.Tries > maxTries:
		return fmt.Errorf("tries is 1 to %d", maxTries)
	}
	return nil
}

// The defaults of quiet: a cluster's controller tries again after five seconds.
const (
	quietProgram    = Duration(3 * time.Second)
	quietController = Duration(8 * time.Second)
)

// lateAfter outlasts the usual times after which queues come back, but for those of minutes.
const lateAfter = Duration(35 * time.Second)

// WithDefaults fills in what is absent, for a part.
func (e Explore) WithDefaults(part string) Explore {
	if part == KubernetesPart {
		e.Quiet = cmp.Or(e.Quiet, quietController)
	}
	e.Calls = cmp.Or(e.Calls, 5)
	e.Tries = cmp.Or(e.Tries, 5)
	e.Quiet = cmp.Or(e.Quiet, quietProgram)
	e.Within = cmp.Or(e.Within, Duration(time.Minute))
	e.Late = cmp.Or(e.Late, lateAfter)
	e.Timeout = cmp.Or(e.Timeout, Duration(20*time.Second))
	return e
}
