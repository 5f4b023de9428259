// Package trail reads what users have of the cloud's answers: events of ActionTrail, journals
// of clbemu, and logs of the Cloud Controller Manager (CCM). It finds what clbemu would have
// done otherwise. It owns the forms of those files, and must not keep what is in them: names
// and codes alone leave it.
package trail

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Event is a call with its answer, as far as the file has it.
type Event struct {
	Product, Action, Region string
	Params                  map[string]string
	// Code is that of a refusal, "" for a success, and Status is 0 where the file does not have it.
	Code   string
	Status int
	// Answer is nil where the file does not have it.
	Answer map[string]any
}

// Read counts what a file has.
type Read struct {
	Events int `json:"events"`
	// Elsewhere counts events of other clouds and of services without actions, and Unread
	// what is no event.
	Elsewhere int `json:"elsewhere"`
	Unread    int `json:"unread"`
}

// maxEvent limits an event, in bytes.
const maxEvent = 4 << 20

var errLong = fmt.Errorf("an event is longer than %d MiB", maxEvent>>20)

// bounded fails after more bytes since the last mark than an event may have.
type bounded struct {
	io.Reader
	since int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.since > maxEvent {
		return 0, errLong
	}
	n, err := b.Reader.Read(p[:min(len(p), maxEvent+1-b.since)])
	b.since += n
	return n, err
}

// Each calls each with the events of a file, which may be compressed by gzip: a list, an
// object with the list Events, objects one after the other, or lines of a log. It holds one
// event at a time. An error says what is wrong; the events before it count.
func Each(r io.Reader, each func(*Event)) (Read, error) {
	var done Read
	file := bufio.NewReader(r)
	if magic, _ := file.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(file)
		if err != nil {
			return done, err
		}
		file = bufio.NewReader(unzipped)
	}
	limited := &bounded{Reader: file}
	text := bufio.NewReader(limited)
	if begin, _ := text.Peek(len(byteOrderMark)); string(begin) == byteOrderMark {
		_, _ = text.Discard(len(byteOrderMark)) // they have just been peeked at
	}
	first, err := firstByte(text)
	switch {
	case errors.Is(err, io.EOF):
		return done, errors.New("the file is empty")
	case err != nil:
		return done, err
	case first == '{' || first == '[':
		return done, eachJSON(text, limited, &done, each)
	}
	return done, eachLine(text, limited, &done, each)
}

// byteOrderMark begins files of some editors and of PowerShell.
const byteOrderMark = "\ufeff"

// firstByte returns the first byte that is no space, and leaves it unread.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b, r.UnreadByte()
		}
	}
}

// eachJSON reads values one after the other, and what is in lists piece by piece.
func eachJSON(text io.Reader, limit *bounded, done *Read, each func(*Event)) error {
	d := json.NewDecoder(text)
	for {
		limit.since = 0
		err := eachValue(d, limit, done, each, 0)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("the file ends in the middle of an event")
			}
			return fmt.Errorf("after %d events: %w", done.Events+done.Elsewhere, err)
		}
	}
}

// maxNested limits lists in lists.
const maxNested = 20

// eachValue reads a value, which is within so many lists and objects. It returns io.EOF at
// the end of the file, and nowhere else.
func eachValue(d *json.Decoder, limit *bounded, done *Read, each func(*Event), nested int) error {
	token, err := d.Token()
	switch {
	case err != nil && nested > 0:
		return noEOF(err)
	case err != nil:
		return err
	case nested > maxNested:
		return fmt.Errorf("it has more than %d lists within each other", maxNested)
	case token == json.Delim('['):
		return eachElement(d, limit, done, each, nested+1)
	case token != json.Delim('{'):
		done.Unread++
		return nil
	}
	fields, events := make(map[string]json.RawMessage), false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return noEOF(err)
		}
		if key == "Events" || key == "entries" {
			if events, err = true, eachValue(d, limit, done, each, nested+1); err != nil {
				return err
			}
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return noEOF(err)
		}
		fields[fmt.Sprint(key)] = value
	}
	if _, err := d.Token(); err != nil {
		return noEOF(err)
	}
	limit.since = 0
	if !events {
		done.addEvent(fields, each)
	}
	return nil
}

func eachElement(d *json.Decoder, limit *bounded, done *Read, each func(*Event), nested int) error {
	for d.More() {
		if err := eachValue(d, limit, done, each, nested); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return noEOF(err)
}

// noEOF is the error of a file that ends too early.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// addEvent makes an event of an object's fields.
func (r *Read) addEvent(fields map[string]json.RawMessage, each func(*Event)) {
	text := func(name string) (s string) {
		_ = json.Unmarshal(fields[name], &s) // what is no text counts as absent
		return s
	}
	event := Event{Product: text("serviceName"), Action: text("eventName"), Region: text("acsRegion"), Code: text("errorCode")}
	params := fields["requestParameters"]
	if own := text("action"); event.Action == "" && own != "" { // the journal's
		event = Event{Product: text("product"), Action: own, Region: text("region"), Code: text("code")}
		_ = json.Unmarshal(fields["status"], &event.Status) // what is no number counts as absent
		params = fields["parameters"]
	}
	switch {
	case event.Action == "":
		r.Unread++
		return
	case event.Product == "" || fields["eventSource"] != nil && !strings.Contains(text("eventSource"), "aliyuncs.com"):
		r.Elsewhere++
		return
	}
	event.Params = paramsOf(params, text("requestParameterJson"))
	_ = json.Unmarshal(fields["responseElements"], &event.Answer) // an answer that is none counts as absent
	r.Events++
	each(&event)
}

// paramsOf reads the parameters of a call, as an object or as its text.
func paramsOf(object json.RawMessage, text string) map[string]string {
	var values map[string]any
	if json.Unmarshal(object, &values) != nil || len(values) == 0 {
		if json.Unmarshal([]byte(text), &values) != nil {
			return nil
		}
	}
	params := make(map[string]string, len(values))
	for name, value := range values {
		if protocol(name) {
			continue
		}
		if s, ok := value.(string); ok {
			params[name] = s
			continue
		}
		if s, err := json.Marshal(value); err == nil {
			params[name] = string(s)
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

// labels are what a CCM's log calls some actions, and the CCM's calls of ENS and Lingjun. No
// action of a product here has such a name.
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

// addCall makes an event of a line about a call.
func (r *Read) addCall(name, status, code string, each func(*Event)) {
	event := Event{Action: name, Code: code}
	event.Status, _ = strconv.Atoi(status) // "" where the line has none
	if label, ok := labels[name]; ok {
		event.Product, event.Action = label.product, label.action
	}
	if event.Action == "" {
		r.Elsewhere++
		return
	}
	r.Events++
	each(&event)
}

// eachLine reads the lines of a log.
func eachLine(text *bufio.Reader, limit *bounded, done *Read, each func(*Event)) error {
	for {
		line, err := text.ReadSlice('\n')
		limit.since = 0
		if len(line) > 0 && !utf8.Valid(line) {
			return errors.New("it is neither JSON, gzip nor a log")
		}
		switch found := logged().FindSubmatch(line); {
		case found != nil:
			done.addCall(string(found[1])+string(found[4]), string(found[2]), string(found[3]), each)
		case len(bytes.TrimSpace(line)) > 0:
			done.Unread++
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			err = skipLine(text)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// skipLine leaves out the rest of a line that is longer than the buffer.
func skipLine(r *bufio.Reader) error {
	for {
		if _, err := r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
