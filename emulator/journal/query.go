package journal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/glob"
)

// Query selects entries. An empty one selects all.
type Query struct {
	// Since is the sequence after which entries are wanted, and Before the one before which
	// they are, 0 for none.
	Since, Before uint64
	// Fields are conditions by name: an entry's field in its JSON spelling, fault
	// for one of its faults, or params.<Name>. Each is equal to the text; action,
	// fault and unread may be globs, several of them by commas, and the code of a
	// success is OK. resource is any id that the call names or made, made any that it made. text is in one of the entry's texts, in any case; refused is true or
	// false; from and to are times; the range includes from and not to.
	Fields map[string]string
	// Limit limits the entries returned to the newest ones. If it is 0, all are returned.
	Limit int
}

// Page is the answer to a Query.
type Page struct {
	Entries []*Entry `json:"entries"`
	// Counts counts all calls that the query matches, including those that its limit
	// leaves out.
	Counts []Count `json:"counts"`
	// First is the oldest sequence in memory, whatever the query, or 0 if there is none.
	First uint64 `json:"first"`
	// Last is the newest one.
	Last uint64 `json:"last"`
	// Missed counts the entries after Since that are gone.
	Missed uint64 `json:"missed"`
}

// Count is the number of calls of an action that got a code.
type Count struct {
	Action string `json:"action"`
	// Code is OK for a success.
	Code  string `json:"code"`
	Calls int    `json:"calls"`
}

// Success is the code of a call that was not refused, in queries and counts.
const Success = "OK"

// conditions say by name whether an entry is wanted.
var conditions = map[string]func(e *Entry, want string) bool{
	"kind":        func(e *Entry, want string) bool { return string(e.Kind) == want },
	"requestId":   func(e *Entry, want string) bool { return e.RequestID == want },
	"accessKeyId": func(e *Entry, want string) bool { return e.AccessKeyID == want },
	"userAgent":   func(e *Entry, want string) bool { return e.UserAgent == want },
	"product":     func(e *Entry, want string) bool { return e.Product == want },
	"region":      func(e *Entry, want string) bool { return e.Region == want },
	"resource": func(e *Entry, want string) bool {
		return e.named(want) || slices.Contains(e.Also, want) || e.made(want)
	},
	"made":     (*Entry).made,
	"sequence": func(e *Entry, want string) bool { return strconv.FormatUint(e.Sequence, 10) == want },
	"status":   func(e *Entry, want string) bool { return strconv.Itoa(e.Status) == want },
	"code":     func(e *Entry, want string) bool { return e.Kind == KindCall && cmp.Or(e.Code, Success) == want },
	"action":   func(e *Entry, want string) bool { return glob.Split(want).Match(e.Action) },
	"fault":    func(e *Entry, want string) bool { return glob.Split(want).Match(e.Faults...) },
	"unread":   func(e *Entry, want string) bool { return glob.Split(want).Match(e.Unread...) },
	"text":     func(e *Entry, want string) bool { return e.contains(strings.ToLower(want)) },
	"refused":  func(e *Entry, want string) bool { return e.Kind == KindCall && (e.Code != "") == (want == "true") },
	"from":     func(e *Entry, want string) bool { at, _ := instant(want); return !e.Time.Before(at) },
	"to":       func(e *Entry, want string) bool { at, _ := instant(want); return e.Time.Before(at) },
}

// named reports whether the call names the resource, alone or in a list with commas or in JSON:
// it need not exist.
func (e *Entry) named(id string) bool {
	between := func(r rune) bool { return strings.ContainsRune(`,[]" `, r) }
	return e.Resource == id || id != "" && strings.Contains(e.Resource, id) && slices.Contains(strings.FieldsFunc(e.Resource, between), id)
}

// made reports whether the call made the resource.
func (e *Entry) made(id string) bool { return e.Made == id || slices.Contains(e.AlsoMade, id) }

// contains reports whether a text in lower case is in one of the entry's.
func (e *Entry) contains(text string) bool {
	is := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	return is(e.Action) || is(e.Product) || is(e.Resource) || is(e.Made) || is(e.Code) || is(e.Region) || is(e.RequestID) || is(e.AccessKeyID) ||
		is(e.UserAgent) || slices.ContainsFunc(slices.Concat(e.Faults, e.Also, e.AlsoMade), is) ||
		slices.ContainsFunc(e.Parameters, func(p Parameter) bool { return is(p.Name) || is(p.Value) })
}

// instant reads a time as the journal writes it, or as a browser does, which names no zone:
// it is in UTC then.
func instant(text string) (at time.Time, err error) {
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err = time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return at, fmt.Errorf("want a time such as 2026-01-02T15:04:05Z, not %q", text)
}

// Fields lists the fields that conditions can be on.
func Fields() []string {
	return append(slices.Sorted(maps.Keys(conditions)), parameterPrefix+"<Name>")
}

// globs are the conditions that take patterns.
var globs = []string{"action", "fault", "unread"}

const parameterPrefix = "params."

// Patterns returns the patterns of a condition for a field: several separated by commas
// if it takes globs.
func Patterns(field, want string) []string {
	if !slices.Contains(globs, field) {
		return []string{want}
	}
	return glob.Split(want)
}

// Matches reports whether a name satisfies a condition of a field.
func Matches(field, want, name string) bool {
	if slices.Contains(globs, field) {
		return glob.Split(want).Match(name)
	}
	return want == name
}

// Validate rejects unknown conditions.
func (q Query) Validate() error {
	for name, want := range q.Fields {
		if rest, ok := strings.CutPrefix(name, parameterPrefix); ok && rest != "" {
			continue
		}
		if conditions[name] == nil {
			return fmt.Errorf("there is no field %s: choose from %s", name, strings.Join(Fields(), ", "))
		}
		if pattern, bad := glob.Split(want).Bad(); bad && slices.Contains(globs, name) {
			return fmt.Errorf("%s: %q is not a pattern", name, pattern)
		}
		if check := values[name]; check != nil {
			if err := check(want); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	if q.Limit < 0 {
		return fmt.Errorf("the limit is %d, want 0 for all or more", q.Limit)
	}
	return nil
}

// values check what a field can be asked for, where that is not any text.
var values = map[string]func(want string) error{
	"kind": func(want string) error {
		if !slices.Contains(kinds, Kind(want)) {
			return fmt.Errorf("there is no %s: choose from %s", want, joinKinds())
		}
		return nil
	},
	"status": func(want string) error {
		if n, err := strconv.Atoi(want); err != nil || n < 100 || n > 599 {
			return fmt.Errorf("%q is no HTTP status", want)
		}
		return nil
	},
	"refused": func(want string) error {
		if want != "true" && want != "false" {
			return fmt.Errorf("want true or false, not %q", want)
		}
		return nil
	},
	"sequence": func(want string) error {
		if _, err := strconv.ParseUint(want, 10, 64); err != nil {
			return fmt.Errorf("%q is not the number of an entry", want)
		}
		return nil
	},
	"from": isInstant, "to": isInstant,
}

func isInstant(want string) error {
	_, err := instant(want)
	return err
}

func joinKinds() string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

func (q Query) wants(e *Entry) bool {
	for name, want := range q.Fields {
		if parameter, ok := strings.CutPrefix(name, parameterPrefix); ok {
			if value, sent := e.Parameters.Find(parameter); !sent || value != want {
				return false
			}
		} else if !conditions[name](e, want) {
			return false
		}
	}
	return true
}

// Query returns the entries that a valid query wants, the oldest first. They must
// not be changed.
func (j *Journal) Query(q Query) Page {
	list, first, last, missed := j.after(q.Since)
	page := Page{Entries: []*Entry{}, First: first, Last: last, Missed: missed}
	for _, e := range list {
		if (q.Before == 0 || e.Sequence < q.Before) && q.wants(e) {
			page.Entries = append(page.Entries, e)
		}
	}
	page.Counts = count(page.Entries)
	if q.Limit > 0 {
		page.Entries = page.Entries[max(len(page.Entries)-q.Limit, 0):]
	}
	if len(page.Entries) == 1 && q.Fields["sequence"] != "" {
		page.Entries[0] = j.withAnswer(page.Entries[0])
	}
	return page
}

// withAnswer returns a copy of an entry with what is kept of its answer.
func (j *Journal) withAnswer(e *Entry) *Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	copied := *e
	copied.Answer = j.answers.of(e.Sequence)
	return &copied
}

// count adds up calls, in order of action and code.
func count(entries []*Entry) []Count {
	calls := make(map[Count]int)
	for _, e := range entries {
		if e.Kind == KindCall {
			calls[Count{Action: e.Action, Code: cmp.Or(e.Code, Success)}]++
		}
	}
	counts := make([]Count, 0, len(calls))
	for c, n := range calls {
		c.Calls = n
		counts = append(counts, c)
	}
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Action, b.Action), cmp.Compare(a.Code, b.Code))
	})
	return counts
}
