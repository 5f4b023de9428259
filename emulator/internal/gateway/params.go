package gateway

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Param is a parameter of a call.
type Param = struct{ Name, Value string }

// Params are the parameters of a call, in order of name. A list and not a map: it
// serves one call, signs in this order, and is short.
type Params []Param

// Get returns the value of a parameter, or "" if it was not sent.
func (p Params) Get(name string) string {
	value, _ := p.Find(name)
	return value
}

// Find returns the value of a parameter, and reports whether the call has it.
func (p Params) Find(name string) (value string, sent bool) {
	at, sent := p.search(name)
	if !sent {
		return "", false
	}
	return p[at].Value, true
}

func (p Params) search(name string) (at int, found bool) {
	return slices.BinarySearchFunc(p, name, func(param Param, name string) int { return strings.Compare(param.Name, name) })
}

// element is an element of a list: the value of Name.N, or the fields Name.N.Field, under the names
// after its number.
type element struct {
	number int
	value  string
	fields Params
}

// maxElement bounds the numbers of list elements.
const maxElement = 10000

// elements returns what is sent of a list in order of the numbers, which may have
// gaps. The prefix is its name and a dot.
func (p Params) elements(prefix string) []element {
	var list []element
	var fields Params // of all of them, one after the other
	from := 0         // where those of the last begin
	at, _ := p.search(prefix)
	for _, param := range p[at:] {
		rest, ok := strings.CutPrefix(param.Name, prefix)
		if !ok {
			break
		}
		digits, field, nested := strings.Cut(rest, ".")
		n, err := strconv.Atoi(digits)
		if err != nil || n <= 0 || n > maxElement || strconv.Itoa(n) != digits {
			continue
		}
		if len(list) == 0 || list[len(list)-1].number != n {
			list, from = append(list, element{number: n}), len(fields)
		}
		last := &list[len(list)-1]
		if nested {
			fields = append(fields, Param{field, param.Value})
			last.fields = fields[from:]
		} else {
			last.value = param.Value
		}
	}
	slices.SortFunc(list, func(a, b element) int { return cmp.Compare(a.number, b.number) })
	return list
}

// sort sorts the parameters by name; equal names keep their order.
func (p Params) sort() {
	slices.SortStableFunc(p, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
}

// check rejects parameters that are sent twice, are not UTF-8, or have a zero byte. It
// reports the first by name.
func (p Params) check() *Problem {
	for i, param := range p {
		if !utf8.ValidString(param.Name) || strings.IndexByte(param.Name, 0) >= 0 {
			return problemUnreadable
		}
		twice := i+1 < len(p) && p[i+1].Name == param.Name
		if twice || !utf8.ValidString(param.Value) || strings.IndexByte(param.Value, 0) >= 0 {
			return Invalid(param.Name)
		}
	}
	return nil
}

// apart copies the values out of the request's line, which the rows that a write
// makes would keep in memory with them.
func (p Params) apart() Params {
	own := slices.Clone(p)
	for i := range own {
		own[i].Value = strings.Clone(own[i].Value)
	}
	return own
}

// protocol are the parameters that belong to the gateway, and not to the action.
type protocol struct {
	action, version, format, accessKeyID, securityToken string
	signature, signatureMethod, signatureVersion, nonce string
	timestamp, timeStamp                                string
	ignored                                             string // leftovers that the cloud takes too
}

// of returns where the value of a parameter goes, or nil for a parameter of the action.
func (p *protocol) of(name string) *string {
	switch name {
	case "Action":
		return &p.action
	case "Version":
		return &p.version
	case "Format":
		return &p.format
	case "AccessKeyId":
		return &p.accessKeyID
	case "SecurityToken":
		return &p.securityToken
	case "Signature":
		return &p.signature
	case "SignatureMethod":
		return &p.signatureMethod
	case "SignatureVersion":
		return &p.signatureVersion
	case "SignatureNonce":
		return &p.nonce
	case "Timestamp":
		return &p.timestamp
	case "TimeStamp":
		return &p.timeStamp
	case "SignatureType", "ResourceOwnerAccount", "ResourceOwnerId", "OwnerAccount", "OwnerId", "access_key_id":
		return &p.ignored
	}
	return nil
}

// split returns the protocol's parameters and the action's.
func (p Params) split() (sent protocol, own Params) {
	own = make(Params, 0, max(len(p)-protocolParamsSent, 0))
	for _, param := range p {
		if value := sent.of(param.Name); value != nil {
			*value = param.Value
		} else {
			own = append(own, param)
		}
	}
	return sent, own
}

// protocolParamsSent is the number of the protocol's own parameters that every call has.
const protocolParamsSent = 8

// appendQuery appends the parameters of a query or a form, as they come.
// url.ParseQuery reads the same.
func appendQuery(params Params, query string) (Params, error) {
	most := strings.Count(query, "&") + 1
	if most > maxParams {
		return nil, errors.New("too many parameters")
	}
	if strings.Contains(query, ";") {
		return nil, errors.New("invalid semicolon separator in query")
	}
	params = slices.Grow(params, min(most, usualParams))
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		escapedName, escapedValue, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(escapedName)
		if err != nil {
			return nil, err
		}
		value, err := url.QueryUnescape(escapedValue)
		if err != nil {
			return nil, err
		}
		params = append(params, Param{name, value})
	}
	return params, nil
}

const (
	// maxParams is also the limit of url.ParseQuery.
	maxParams = 10_000
	// usualParams bounds the memory for unread parameters.
	usualParams = 64
)
