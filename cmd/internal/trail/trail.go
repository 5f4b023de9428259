// Package trail reads records of the cloud's answers: events of ActionTrail, journals of clbemu,
// and logs of the Cloud Controller Manager (CCM). It finds where clbemu would have answered
// differently. It owns the forms of those files, and must not keep their contents: only names and
// codes leave it, but for an Incident, which is the user's own.
package trail

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Event is a call with its answer, as far as the file has it.
type Event struct {
	Product, Action, Region string
	Params                  map[string]string
	// Code is the code of a refusal, or "" for a success. Status is 0 if the file does not have it.
	Code   string
	Status int
	// Answer is nil if the file does not have it.
	Answer map[string]any
	// Time and Who say when and by whom the call was made, and are zero if the file does not say
	// it.
	Time time.Time
	Who  string
}

// Read counts what a file has.
type Read struct {
	Events int `json:"events"`
	// Elsewhere counts events of other clouds and services, and events that are not calls. Unread
	// counts pieces that are not events, and Long those that are longer than maxEvent.
	Elsewhere int `json:"elsewhere"`
	Unread    int `json:"unread"`
	Long      int `json:"long"`
}

// reading is a file that is read.
type reading struct {
	Read
	pieces *pieces
	each   func(*Event) bool
}

// Each calls each, which reports whether the event is of a service here, with the events of a
// file, which may be compressed by gzip: a list, an object with a list of events, objects one
// after the other, or lines of a log. It holds one event at a time. An error says what is wrong;
// the events before it count.
func Each(r io.Reader, each func(*Event) bool) (Read, error) {
	file := bufio.NewReaderSize(r, longestLine)
	if magic, _ := file.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return Read{}, err
		}
		file = bufio.NewReaderSize(unzipped, longestLine)
	}
	begin, _ := file.Peek(len(byteOrderMark))
	switch {
	case string(begin) == byteOrderMark:
		_, _ = file.Discard(len(byteOrderMark)) // they have just been peeked at
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("\xfe\xff")):
		return Read{}, errors.New("it is UTF-16: convert it to UTF-8")
	}
	reading := reading{pieces: &pieces{Reader: file}, each: each}
	err := reading.all()
	switch {
	case err == nil && reading.Read == Read{}:
		err = errors.New("the file is empty")
	case err != nil && reading.Events+reading.Elsewhere > 0:
		err = fmt.Errorf("after %d events: %w", reading.Events+reading.Elsewhere, err)
	}
	return reading.Read, err
}

const (
	// maxValues limits the values of an answer: each takes more memory than its text.
	maxValues = 200_000
	// byteOrderMark begins files of some editors and of PowerShell.
	byteOrderMark = "\ufeff"
	// longestLine is the largest part of a log's line that is read, in bytes.
	longestLine = 64 << 10
)

// all reads values and lines, one after the other. What is neither is passed over up to the
// next line.
func (r *reading) all() error {
	for {
		begin, err := r.pieces.next(",]")
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return noEOF(err)
		case begin == '{' || begin == '[':
			err = r.pieces.value(begin, r.object, 0)
			if errors.Is(err, errBroken) {
				r.Unread++
				if _, err = r.pieces.line(); errors.Is(err, io.EOF) {
					return nil
				}
			}
			err = noEOF(err)
		default:
			err = r.line()
		}
		if err != nil {
			return err
		}
	}
}

// object counts the object that has been read, and calls each with the event that it is.
func (r *reading) object() {
	if r.pieces.long {
		r.Long++
		return
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(r.pieces.kept, &fields) // what is no object has no fields
	r.addEvent(fields)
}

// line reads a line of a log.
func (r *reading) line() error {
	_ = r.pieces.UnreadByte() // the one that has just been read
	line, err := r.pieces.line()
	if bytes.IndexByte(line, 0) >= 0 {
		return errors.New("it is neither JSON, gzip nor a log")
	}
	if found := logged().FindSubmatch(line); found != nil {
		r.addCall(found)
	} else {
		r.Unread++
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return noEOF(err)
}

// addEvent makes an event of an object's fields.
func (r *reading) addEvent(fields map[string]json.RawMessage) {
	fields = unwrapped(fields)
	text := func(name string) string { return textOf(fields[name]) }
	event := Event{Product: text("serviceName"), Action: text("eventName"), Region: text("acsRegion"), Code: text("errorCode")}
	params := fields["requestParameters"]
	if own := text("action"); event.Action == "" && own != "" { // the journal's
		event = Event{Product: text("product"), Action: own, Region: text("region"), Code: text("code")}
		_ = json.Unmarshal(fields["status"], &event.Status) // what is no number counts as absent
		params = fields["parameters"]
	}
	kind := text("eventType")
	switch {
	case event.Action == "":
		r.addLogged(fields)
		return
	case event.Product == "" || fields["eventSource"] != nil && !strings.Contains(text("eventSource"), "aliyuncs.com") || kind != "" && kind != "ApiCall":
		r.Elsewhere++
		return
	}
	event.Params = paramsOf(params, fields["requestParameterJson"])
	event.Time, event.Who = madeAt(fields), madeBy(fields)
	if answer := unquoted(fields["responseElements"]); bytes.Count(answer, []byte{','}) < maxValues {
		_ = json.Unmarshal(answer, &event.Answer) // an answer that is none counts as absent
	}
	r.add(&event)
}

// madeAt returns when a call was made, from a record of ActionTrail or the journal.
func madeAt(fields map[string]json.RawMessage) time.Time {
	for _, name := range []string{"eventTime", "time"} {
		if at, err := time.Parse(time.RFC3339, textOf(fields[name])); err == nil {
			return at
		}
	}
	return time.Time{}
}

// madeBy returns who made a call: the user, role or account, or the access key.
func madeBy(fields map[string]json.RawMessage) string {
	var who struct {
		Type        string `json:"type"`
		UserName    string `json:"userName"`
		PrincipalID string `json:"principalId"`
	}
	_ = json.Unmarshal(unquoted(fields["userIdentity"]), &who) // what is none has no name
	return cmp.Or(who.UserName, who.PrincipalID, who.Type, textOf(fields["accessKeyId"]))
}

// add counts an event.
func (r *reading) add(event *Event) {
	if r.each(event) {
		r.Events++
	} else {
		r.Elsewhere++
	}
}

// addLogged makes an event of a line of a log in JSON, as a container's runtime and the CCM
// itself write it.
func (r *reading) addLogged(fields map[string]json.RawMessage) {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if found := logged().FindSubmatch([]byte(textOf(fields[name]))); found != nil {
			r.addCall(found)
			return
		}
	}
	r.Unread++
}

// unwrapped returns the fields of the event that an entry of Simple Log Service or an event
// of EventBridge holds, or else these fields.
func unwrapped(fields map[string]json.RawMessage) map[string]json.RawMessage {
	for _, name := range []string{"event", "data"} {
		var inner map[string]json.RawMessage
		if json.Unmarshal(unquoted(fields[name]), &inner) == nil && inner["eventName"] != nil {
			return inner
		}
	}
	return fields
}

// textOf decodes a text. What is no text counts as absent.
func textOf(value json.RawMessage) (text string) {
	_ = json.Unmarshal(value, &text)
	return text
}

// unquoted returns the value that a text has, or else the value.
func unquoted(value json.RawMessage) json.RawMessage {
	if bytes.HasPrefix(value, []byte{'"'}) {
		return json.RawMessage(textOf(value))
	}
	return value
}

// paramsOf reads the parameters of a call from the first of two fields that has some, as an
// object or as its text.
func paramsOf(object, text json.RawMessage) map[string]string {
	var values map[string]json.RawMessage
	if json.Unmarshal(unquoted(object), &values) != nil || len(values) == 0 {
		if json.Unmarshal(unquoted(text), &values) != nil {
			return nil
		}
	}
	params := make(map[string]string, len(values))
	for name, value := range values {
		if !protocol(name) && string(value) != "null" {
			params[name] = string(unquoted(value))
		}
	}
	return params
}

// protocol reports whether ActionTrail adds a parameter that no client sent, or the gateway reads it.
func protocol(name string) bool {
	switch name {
	case "RequestId", "HostId", "https", "Region", "ApiVersion", "AcceptLanguage", "UserAgent", "SecurityToken", "RegionId",
		"AccessKeyId", "Action", "Version", "Format", "Timestamp", "SignatureMethod", "SignatureVersion", "SignatureNonce", "Signature", "SignatureType":
		return true
	}
	return strings.HasPrefix(name, "Acs") || strings.HasPrefix(name, "stsToken") || strings.Contains(name, "__") || strings.HasPrefix(name, "acs:")
}

// logged matches the lines of a CCM, at -v=5, about calls that succeeded, and its errors.
var logged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[SDKError\] API: (?:[a-z]+[:.])?(\w+),(?: StatusCode: (\d+),)? ErrorCode: ([\w.]+)|RequestId: [0-9A-Fa-f-]{36}, API: (\w+)`)
})

// labels maps the names that a CCM's log gives to some actions, and the CCM's calls of ENS and
// Lingjun. No action of a product here has such a name.
var labels = map[string]struct{ product, action string }{
	"CreateLoadbalancer":        {"Slb", "CreateLoadBalancer"},
	"DescribeLoadBalancer":      {"Slb", "DescribeLoadBalancerAttribute"},
	"DescribeAccessControlList": {"Slb", "DescribeAccessControlListAttribute"},
	"ListNLBListeners":          {"Nlb", "ListListeners"},
	"DeleteNLBListener":         {"Nlb", "DeleteListener"},
	"ListNLBServers":            {"Nlb", "ListServerGroupServers"},
	"UpdateNLBAddressType":      {"Nlb", "UpdateLoadBalancerAddressTypeConfig"},

	"AssociateEnsEipAddress": {}, "CreateEipInstance": {}, "DeleteEdgeLoadBalancerListener": {}, "DescribeEnsEipAddresses": {},
	"DescribeNetworks": {}, "DescribeNode": {}, "ModifyEnsEipAddressAttribute": {}, "ReleaseInstance": {}, "UnAssociateEnsEipAddress": {},
}

// addCall makes an event of what logged found.
func (r *reading) addCall(found [][]byte) {
	event := Event{Action: string(found[1]) + string(found[4]), Code: string(found[3])}
	event.Status, _ = strconv.Atoi(string(found[2])) // "" where the line has none
	if label, ok := labels[event.Action]; ok {
		event.Product, event.Action = label.product, label.action
	}
	if event.Action == "" {
		r.Elsewhere++
		return
	}
	r.add(&event)
}
