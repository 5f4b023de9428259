package trail

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/scenarios"
)

// Caller makes calls of a cloud that begins with the default world.
type Caller interface {
	Call(ctx context.Context, call scenarios.APICall) (scenarios.Answer, error)
}

// Player plays the events of a file again, in order, as far as they need nothing that was
// there before.
type Player struct {
	caller   Caller
	findings *Findings
	ids      map[string]string // of the file's resources, in the cloud that plays
	// Played counts the played events, and Skipped those that need something that the file does not
	// make, or came after maxPlayed.
	Played, Skipped int
}

// maxPlayed limits the number of played events.
const maxPlayed = 10_000

// NewPlayer returns a player, which adds differing answers to findings.
func NewPlayer(caller Caller, findings *Findings) *Player {
	return &Player{caller: caller, findings: findings, ids: make(map[string]string)}
}

// resourceID is the form of the ids of resources.
var resourceID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b[a-z]{1,10}-[a-z0-9]{6,30}\b`) })

// read returns the parameters that the action reads, as they are in the cloud that plays, and
// whether that has all that they name. Judge has counted the others.
func (p *Player) read(e *Event, j *actionModel) (params map[string]string, known bool) {
	params, known = p.translated(e.Params)
	for name := range params {
		if !j.reads(name) {
			delete(params, name)
		}
	}
	return params, known
}

// Play plays an event.
func (p *Player) Play(ctx context.Context, e *Event) error {
	j := p.findings.of(e)
	params, ok := p.read(e, j)
	if !j.found || !j.action.Emulated || !ok || p.Played >= maxPlayed || e.Params == nil {
		p.Skipped++
		return nil
	}
	answer, err := p.caller.Call(ctx, scenarios.APICall{Product: j.action.Product, Action: j.action.Name, Params: params, UserAgent: scenarios.ClientAgent})
	if err != nil {
		return err
	}
	p.Played++
	code, _ := answer.Body["Code"].(string)
	if answer.Status == 200 {
		code = ""
	}
	if code != e.Code {
		p.findings.Add("answer", j.name(e), "there "+answered(e.Code)+", here "+answered(code))
	}
	if code == "" && e.Code == "" {
		p.learn(e.Answer, answer.Body)
		p.compare(e, j, "", e.Answer, answer.Body)
	}
	return nil
}

// compare finds the fields at a path that both answers have, or should have, with other values.
func (p *Player) compare(e *Event, j *actionModel, path string, theirs, ours any) {
	switch there := theirs.(type) {
	case map[string]any:
		here, _ := ours.(map[string]any)
		for name, value := range there {
			p.compare(e, j, strings.TrimPrefix(path+"."+name, "."), value, here[name])
		}
	case []any:
		here, _ := ours.([]any)
		for i := range min(len(there), len(here)) {
			p.compare(e, j, path, there[i], here[i])
		}
	default:
		if j.fields[path] && differ(path, theirs, ours) {
			p.findings.Add("value", j.name(e), path)
		}
	}
}

// word is the form of states and of other values that a cloud chooses from a list.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_]+$`) })

// differ reports whether two values of a field are not alike. Ids, addresses and times are
// each cloud's own.
func differ(path string, theirs, ours any) bool {
	there, here := fmt.Sprint(theirs), fmt.Sprint(ours)
	if theirs == nil || there == "" || strings.HasSuffix(path, "Id") || strings.EqualFold(there, here) {
		return false
	}
	_, text := theirs.(string)
	return ours == nil || !text || word().MatchString(there) && word().MatchString(here)
}

func answered(code string) string {
	if code == "" {
		return "success"
	}
	return shape(code)
}

// translated puts the ids of this cloud in place of the file's. It reports whether each is
// known.
func (p *Player) translated(params map[string]string) (map[string]string, bool) {
	own, known := maps.Clone(params), true
	for name, value := range own {
		own[name] = resourceID().ReplaceAllStringFunc(value, func(id string) string {
			here, ok := p.ids[id]
			known = known && (ok || !strings.ContainsAny(id, "0123456789") || !namesResource(name))
			if !ok {
				return id
			}
			return here
		})
	}
	return own, known
}

// namesResource reports whether the values of a parameter are ids: not a name, a token or
// a zone.
func namesResource(parameter string) bool {
	return !slices.ContainsFunc([]string{"Name", "Token", "Zone", "Tag", "Description", "Domain", "Cipher", "Spec", "Reason"}, func(part string) bool { return strings.Contains(parameter, part) })
}

// learn maps the ids in an answer to those at the same places in another.
func (p *Player) learn(theirs, ours any) {
	switch there := theirs.(type) {
	case map[string]any:
		if here, ok := ours.(map[string]any); ok {
			for name, value := range there {
				p.learn(value, here[name])
			}
		}
	case []any:
		here, _ := ours.([]any)
		for i := range min(len(there), len(here)) {
			p.learn(there[i], here[i])
		}
	case string:
		if here, ok := ours.(string); ok && resourceID().MatchString(there) && resourceID().MatchString(here) {
			p.ids[there] = here
		}
	}
}
