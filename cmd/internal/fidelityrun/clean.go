package fidelityrun

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
	"github.com/clbemu/clbemu/scenarios"
)

// settling is the time that the cloud may take to list something new.
const settling = time.Minute

// Cleaned is the result of a clean.
type Cleaned struct {
	Gone int `json:"gone"`
	// Left are the things that still may exist, with the reasons.
	Left []string `json:"left,omitempty"`
}

// Clean deletes what a ledger has and may exist, the newest first, and nothing else: a thing
// that only the file names must have the mark of its entry. It goes on after one that can't
// be deleted; an error ends it.
func (c *Cloud) Clean(ctx context.Context, l *Ledger) (cleaned Cleaned, err error) {
	for before := -1; before != cleaned.Gone; { // a group is free once nothing uses it
		before, cleaned.Left = cleaned.Gone, nil
		for _, e := range l.Left() {
			removed, reason, err := c.cleanEntry(ctx, l, e)
			if err != nil {
				for _, left := range l.Left() {
					cleaned.Left = append(cleaned.Left, left.String())
				}
				return cleaned, err
			}
			if removed {
				cleaned.Gone++
			}
			if reason != "" {
				cleaned.Left = append(cleaned.Left, e.String()+": "+reason)
			}
		}
	}
	return cleaned, l.failed
}

func (e *Entry) String() string {
	if e.ID == "" {
		return fmt.Sprintf("what %s %s may have made in %s", e.Product, e.Create, e.Region)
	}
	return fmt.Sprintf("%s of %s %s in %s", e.ID, e.Product, e.Create, e.Region)
}

// cleanEntry deletes what an entry is about.
func (c *Cloud) cleanEntry(ctx context.Context, l *Ledger, e *Entry) (removed bool, reason string, err error) {
	k := kindOf(e.Product, e.Create)
	if k == nil {
		return false, "this version of clbemu does not know how to delete it", nil
	}
	if e.Region != c.Region {
		return false, "it is in another region: give --region " + e.Region, nil
	}
	if e.ID != "" && !e.read {
		return c.removeEntry(ctx, l, k, e)
	}
	found, reason, err := c.find(ctx, k, e)
	if err != nil || reason != "" {
		return false, reason, err
	}
	if slices.Contains(found, e.ID) {
		return c.removeEntry(ctx, l, k, e)
	}
	found = slices.DeleteFunc(found, l.has)
	switch {
	case len(found) > 0:
		return c.adopt(ctx, l, k, e, found)
	case e.ID != "":
		return c.leaveAlone(ctx, l, k, e)
	}
	_ = l.set(e, refused, "") // Clean returns the error
	return false, "", nil
}

// removeEntry deletes what an entry has the id of.
func (c *Cloud) removeEntry(ctx context.Context, l *Ledger, k *kind, e *Entry) (removed bool, reason string, err error) {
	reason, err = c.remove(ctx, k, e.ID)
	if removed = err == nil && reason == ""; removed {
		_ = l.set(e, gone, "") // Clean returns the error
	}
	return removed, reason, err
}

// leaveAlone closes the entry of a thing without its mark if it is gone. One that exists is
// something else, or a case took its mark off.
func (c *Cloud) leaveAlone(ctx context.Context, l *Ledger, k *kind, e *Entry) (removed bool, reason string, err error) {
	answer, err := c.Do(ctx, k.product, k.look, map[string]string{k.lookFor: e.ID})
	switch {
	case err != nil:
		return false, "", err
	case strings.EqualFold(realcloud.CodeOf(answer), k.gone), answer.Lost == "" && answer.Status < 300 && !mentions(answer.Body, e.ID):
		_ = l.set(e, gone, "") // Clean returns the error
		return false, "", nil
	case answer.Lost != "" || answer.Status >= 300:
		return false, "it can't be looked for: " + describe(answer), nil
	}
	return false, fmt.Sprintf("it does not have the tag %s=%s, which marks what clbemu created, so it stays: delete it yourself if nothing uses it", markKey, e.Mark), nil
}

// mentions reports whether an answer has a text somewhere.
func mentions(part any, text string) bool {
	switch part := part.(type) {
	case string:
		return part == text
	case []any:
		return slices.ContainsFunc(part, func(element any) bool { return mentions(element, text) })
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(part)), func(element any) bool { return mentions(element, text) })
	}
	return false
}

// adopt writes the ids found for an entry, and deletes the things.
func (c *Cloud) adopt(ctx context.Context, l *Ledger, k *kind, e *Entry, found []string) (removed bool, reason string, err error) {
	for i, id := range found {
		entry := e
		if i == 0 {
			_ = l.set(e, made, id) // Clean returns the error
		} else {
			copied := *e
			copied.ID = id
			if entry, err = l.intend(copied); err != nil {
				return removed, "", err
			}
		}
		_, why, err := c.removeEntry(ctx, l, k, entry)
		if err != nil {
			return removed, "", err
		}
		removed, reason = removed || why == "", reason+why
	}
	return removed, reason, nil
}

// find looks for the resource with the mark of an entry. It looks again when the cloud
// has had the time to list it.
func (c *Cloud) find(ctx context.Context, k *kind, e *Entry) (ids []string, reason string, err error) {
	if e.Mark == "" { // the cloud would take that for any value
		return nil, "its entry has no mark", nil
	}
	for {
		late := c.Clock.Now().Sub(e.Time) >= settling
		answer, err := c.Do(ctx, k.product, "ListTagResources", map[string]string{"ResourceType": k.tagged, "Tag.1.Key": markKey, "Tag.1.Value": e.Mark})
		if err != nil {
			return nil, "", err
		}
		if answer.Lost != "" || answer.Status >= 300 {
			return nil, "it can't be looked for: " + describe(answer), nil
		}
		if ids = marked(answer.Body, e.Mark); len(ids) > 0 || late {
			return ids, "", nil
		}
		if err := c.Clock.Sleep(ctx, settling-c.Clock.Now().Sub(e.Time)); err != nil {
			return nil, "", err
		}
	}
}

// marked lists the resources of an answer of ListTagResources that have a mark.
func marked(part any, mark string) (ids []string) {
	switch part := part.(type) {
	case []any:
		for _, element := range part {
			ids = append(ids, marked(element, mark)...)
		}
	case map[string]any:
		if id, is := part["ResourceId"].(string); is && part["TagKey"] == markKey && part["TagValue"] == mark {
			return []string{id}
		}
		for _, name := range slices.Sorted(maps.Keys(part)) {
			ids = append(ids, marked(part[name], mark)...)
		}
	}
	return ids
}

// idsUnder lists the texts in fields of an answer with one of some names, each once.
func idsUnder(part any, names ...string) (ids []string) {
	switch part := part.(type) {
	case []any:
		for _, element := range part {
			ids = append(ids, idsUnder(element, names...)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(part)) {
			if id, is := part[name].(string); is && id != "" && slices.Contains(names, name) {
				ids = append(ids, id)
			} else {
				ids = append(ids, idsUnder(part[name], names...)...)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// mostRemovals is the number of tries of a deletion, with a pause of removalPause.
const (
	mostRemovals = 40
	removalPause = 2 * time.Second
)

// passing are parts of the codes of refusals that go away on their own.
var passing = []string{"Incorrect", "InConfiguring", "InCreating", "Conflict", "Configuring", "Busy", "Processing"}

// remove deletes a thing that the ledger has. The reason says why it could not.
func (c *Cloud) remove(ctx context.Context, k *kind, id string) (reason string, err error) {
	unprotected := false
	for try := 1; ; try++ {
		answer, err := c.Do(ctx, k.product, k.remove, map[string]string{k.parameter: id})
		if err != nil {
			return "", err
		}
		code := realcloud.CodeOf(answer)
		ended := answer.Lost == "" && answer.Status < 300 && !k.slow
		if ended || strings.EqualFold(code, k.gone) {
			return "", nil
		}
		if k.unprotect != "" && strings.Contains(code, "Protection") && !unprotected {
			unprotected = true
			if reason, err := c.unprotect(ctx, k, id); reason != "" || err != nil {
				return reason, err
			}
			continue
		}
		if !goesOn(answer) || try == mostRemovals {
			return describe(answer), nil
		}
		if err := c.Clock.Sleep(ctx, removalPause); err != nil {
			return "", err
		}
	}
}

// unprotect takes the protection from deletion off a thing. The reason says why it could not.
func (c *Cloud) unprotect(ctx context.Context, k *kind, id string) (reason string, err error) {
	params := map[string]string{k.parameter: id}
	maps.Copy(params, k.unprotectParams)
	answer, err := c.Do(ctx, k.product, k.unprotect, params)
	if err != nil {
		return "", err
	}
	if answer.Lost == "" && answer.Status >= 300 {
		return "its deletion protection can't be taken off: " + describe(answer), nil
	}
	return "", nil
}

// goesOn reports whether another try may get another answer.
func goesOn(a scenarios.Answer) bool {
	return a.Lost != "" || a.Status < 300 || a.Status >= 500 ||
		slices.ContainsFunc(passing, func(part string) bool { return strings.Contains(realcloud.CodeOf(a), part) })
}

// describe says in a few words what an answer is.
func describe(a scenarios.Answer) string {
	switch {
	case a.Lost != "":
		return "no answer: " + a.Lost
	case a.Status < 300:
		return "the cloud is still at work"
	}
	return fmt.Sprintf("%d %s: %v", a.Status, realcloud.CodeOf(a), a.Body["Message"])
}
