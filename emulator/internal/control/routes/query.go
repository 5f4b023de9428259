package routes

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
)

// The queries of calls. A field is a parameter: the tag query names it, or header where it is
// a header, and help describes it. A map takes all parameters that no other field names.
type (
	// OfWorld selects a world. It converts to controlapi.Where, as OfOwner does.
	OfWorld struct {
		AccountID string `query:"account" help:"The account of the world; the first one by default."`
		RegionID  string `query:"region" help:"The region; the account's own by default."`
	}
	// OfOwner selects resources by their owner.
	OfOwner struct {
		AccountID string `query:"account" help:"Only resources of this account."`
		RegionID  string `query:"region" help:"Only resources in this region."`
	}
	// OfResources selects resources.
	OfResources struct {
		Kind string `query:"kind" help:"A kind of resource (lb, listener, rule, group, backend, acl, cert, vswitch, eip, bandwidthpackage, zone, instance, job, or an alias), or several separated by commas; all but jobs by default."`
		Name string `query:"name" help:"An id, a name, or a glob of either, of the resource or of the resource that it belongs to."`
		OfOwner
	}
	// OfTraffic selects listeners.
	OfTraffic struct {
		Name string `query:"name" help:"An id, a name, or a glob of either, of listeners or load balancers."`
	}
	// OfReset says what a reset deletes.
	OfReset struct {
		Faults bool `query:"faults" help:"Delete the fault rules too."`
	}
	// OfRules describes the text of fault rules.
	OfRules struct {
		File string `query:"file" help:"The name of the text in error messages."`
	}
	// OfScenario selects a scenario to play, and where.
	OfScenario struct {
		Name  string `query:"name" help:"A scenario of the library; without it, the scenario in the body runs."`
		Apart bool   `query:"apart" help:"Run it on an emulator of its own, in memory, and leave this one as it is."`
	}
	// OfLibrary selects scenarios of the library.
	OfLibrary struct {
		Text string `query:"text" help:"Only the scenarios that this text finds, and what it is about: words in English or Chinese, a code, an Event or an error."`
	}
	// OfJournal selects entries of the journal.
	OfJournal struct {
		OfEntries
		Before uint64 `query:"before" help:"Only entries before this sequence number, to page backwards."`
	}
	// OfStream selects the entries that a stream of the journal sends.
	OfStream struct {
		OfEntries
		LastEventID *uint64 `header:"Last-Event-ID" help:"The sequence number after which to continue."`
	}
	// OfEntries selects entries by their places and fields.
	OfEntries struct {
		Since     *uint64           `query:"since" help:"Only entries after this sequence number."`
		SinceMark *string           `query:"sinceMark" help:"Only entries after this mark."`
		Limit     int               `query:"limit" help:"The number of newest entries; 0 for all."`
		Fields    map[string]string `query:"fields" help:"Conditions, each a query parameter of its own: kind, sequence, requestId, accessKeyId, userAgent, product, action, region, resource, made, status, code (OK for a success), fault, unread, text (in any of an entry's texts), refused (true or false), from and to (times), or params.<Name>. action, fault and unread take globs, several by commas."`
	}
)

// Parameter is a parameter of a query, or a header.
type Parameter struct {
	Name string
	// Form says what its value is; "" is a text.
	Form Form
	Help string
	// Header is for a header of the request.
	Header bool

	field []int
}

// Form says what the value of a parameter is.
type Form string

// The forms of parameters. Fields stands for the fields of the journal, each a parameter of
// its own.
const (
	FormBoolean Form = "boolean"
	FormNumber  Form = "integer"
	FormFields  Form = "object"
)

// parameters lists the parameters of a query.
func parameters(query reflect.Type) (list []Parameter) {
	for _, f := range reflect.VisibleFields(query) {
		if f.Anonymous {
			continue
		}
		header := f.Tag.Get("header")
		p := Parameter{Name: cmp.Or(header, f.Tag.Get("query")), Help: f.Tag.Get("help"), Header: header != "", field: f.Index}
		of := f.Type
		if of.Kind() == reflect.Pointer { // which is nil if the parameter is absent
			of = of.Elem()
		}
		switch of.Kind() {
		case reflect.Bool:
			p.Form = FormBoolean
		case reflect.Int, reflect.Uint64:
			p.Form = FormNumber
		case reflect.Map:
			p.Form = FormFields
		}
		list = append(list, p)
	}
	return list
}

// ReadQuery reads the query of a request.
func (c Call[Query, Request, Answer]) ReadQuery(r *http.Request) (query Query, err error) {
	sent := r.URL.Query()
	for _, p := range c.Parameters {
		into, from := reflect.ValueOf(&query).Elem().FieldByIndex(p.field), map[string][]string(sent)
		name := p.Name
		if p.Header {
			name, from = http.CanonicalHeaderKey(name), r.Header
		}
		switch {
		case p.Form == FormFields:
			into.Set(reflect.ValueOf(c.others(sent)))
		case len(from[name]) == 0:
		default:
			if err := set(into, from[name][0]); err != nil {
				return query, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
	}
	return query, nil
}

// set sets a field to the value that a text has.
func set(into reflect.Value, text string) error {
	switch into.Kind() {
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return set(into.Elem(), text)
	case reflect.Bool:
		value, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%q is not true or false", text)
		}
		into.SetBool(value)
	case reflect.Int:
		value, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("want a number, from 0, not %q", text)
		}
		into.SetInt(int64(value))
	case reflect.Uint64:
		value, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return fmt.Errorf("want a sequence number of an entry, from 0, not %q", text)
		}
		into.SetUint(value)
	default:
		into.SetString(text)
	}
	return nil
}

// others returns the parameters that no field names.
func (r *Route) others(sent url.Values) map[string]string {
	others := make(map[string]string)
	for name := range sent {
		others[name] = sent.Get(name)
	}
	named, _ := r.Names()
	maps.DeleteFunc(others, func(name, _ string) bool { return slices.Contains(named, name) })
	return others
}

// Values returns a query as a URL has it, without its headers.
func (c Call[Query, Request, Answer]) Values(query Query) url.Values {
	values := make(url.Values)
	for _, p := range c.Parameters {
		value := reflect.ValueOf(query).FieldByIndex(p.field)
		switch {
		case p.Header || value.IsZero():
		case p.Form == FormFields:
			for name, text := range value.Interface().(map[string]string) {
				values.Set(name, text)
			}
		default:
			values.Set(p.Name, fmt.Sprint(reflect.Indirect(value)))
		}
	}
	return values
}
