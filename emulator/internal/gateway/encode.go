package gateway

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// encoder writes a response struct as JSON or XML. The package builds it once, from the
// struct's tags, when the action table is.
type encoder struct {
	fields []encodeField
}

type encodeField struct {
	name      string
	wrapped   string // the element's name in "A>B", "" for a bare list or a scalar
	index     []int
	list      bool
	omitEmpty bool
	kind      reflect.Kind
	element   *encoder // of a struct or a list of structs
	jsonStart string   // what stands before the value, with a comma before it
}

func newEncoder(t reflect.Type) *encoder {
	e := &encoder{}
	for f := range fieldsOf(t) {
		if !f.tagged {
			panic(fmt.Sprintf("gateway: response field %s.%s has no tag", t.Name(), f.Name))
		}
		e.fields = append(e.fields, newEncodeField(f.StructField, f.tag, f.at))
	}
	return e
}

func newEncodeField(f reflect.StructField, tag string, index []int) encodeField {
	path, options, _ := strings.Cut(tag, ",")
	field := encodeField{index: index, omitEmpty: options == "omitempty"}
	field.name, field.wrapped, _ = strings.Cut(path, ">")
	field.jsonStart = `,"` + field.name + `":`
	if field.wrapped != "" {
		field.jsonStart += `{"` + field.wrapped + `":`
	}
	t := f.Type
	if t.Kind() == reflect.Slice {
		field.list, t = true, t.Elem()
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	field.kind = t.Kind()
	switch field.kind {
	case reflect.Struct:
		field.element = newEncoder(t)
	case reflect.String, reflect.Int, reflect.Int64, reflect.Bool:
	default:
		panic(fmt.Sprintf("gateway: response field %s has a type that the wire does not", f.Name))
	}
	return field
}

func (e *encoder) paths(prefix string) []string {
	var paths []string
	for _, f := range e.fields {
		path := prefix + f.name
		if f.wrapped != "" {
			path += "." + f.wrapped
		}
		if f.list {
			path += "[]"
		}
		if f.element == nil {
			paths = append(paths, path)
			continue
		}
		paths = append(paths, f.element.paths(path+".")...)
	}
	return paths
}

// present resolves a field, and reports whether to write it.
func (f *encodeField) present(v reflect.Value) (reflect.Value, bool) {
	field := v.FieldByIndex(f.index)
	if f.omitEmpty && (field.IsZero() || f.list && field.Len() == 0) {
		return field, false
	}
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			return field, false
		}
		return field.Elem(), true
	}
	return field, true
}

// text returns the string field with the name, or "" if there is none.
func (e *encoder) text(v reflect.Value, name string) string {
	for i := range e.fields {
		if f := &e.fields[i]; f.name == name && f.kind == reflect.String && !f.list {
			return v.FieldByIndex(f.index).String()
		}
	}
	return ""
}

// json appends the members of an object, each after a comma.
func (e *encoder) json(b []byte, v reflect.Value) []byte {
	for i := range e.fields {
		f := &e.fields[i]
		field, ok := f.present(v)
		if !ok {
			continue
		}
		b = append(b, f.jsonStart...)
		if !f.list {
			b = f.jsonValue(b, field)
			continue
		}
		b = f.jsonList(b, field)
		if f.wrapped != "" {
			b = append(b, '}')
		}
	}
	return b
}

func (f *encodeField) jsonList(b []byte, list reflect.Value) []byte {
	b = append(b, '[')
	for i := range list.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		b = f.jsonValue(b, list.Index(i))
	}
	return append(b, ']')
}

func (f *encodeField) jsonValue(b []byte, v reflect.Value) []byte {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch f.kind {
	case reflect.String:
		return appendJSONString(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool())
	case reflect.Struct:
		return appendJSONObject(b, func(b []byte) []byte { return f.element.json(b, v) })
	default:
		return strconv.AppendInt(b, v.Int(), 10)
	}
}

// appendJSONObject wraps members, each of which begins with a comma.
func appendJSONObject(b []byte, members func([]byte) []byte) []byte {
	start := len(b)
	b = members(append(b, '{'))
	if len(b) > start+1 {
		b = append(b[:start+1], b[start+2:]...) // the first comma
	}
	return append(b, '}')
}

// plainJSON are the bytes that stand for themselves in a JSON string.
var plainJSON = func() (plain [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// appendJSONString quotes s. Unlike encoding/json it leaves <, > and & as they
// are, as the cloud does.
func appendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainJSON[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		b = append(b, s[start:i]...)
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
		default:
			b = append(b, "\ufffd"...)
		}
		i++
		start = i
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// xml appends the elements of a struct: a wrapped list has one element around
// its items, a bare one repeats its own.
func (e *encoder) xml(b []byte, v reflect.Value) []byte {
	for i := range e.fields {
		f := &e.fields[i]
		field, ok := f.present(v)
		if !ok {
			continue
		}
		if !f.list {
			b = f.xmlValue(b, f.name, field)
			continue
		}
		item := f.name
		if f.wrapped != "" {
			item = f.wrapped
			b = appendXMLTag(b, "<", f.name)
		}
		for n := range field.Len() {
			b = f.xmlValue(b, item, field.Index(n))
		}
		if f.wrapped != "" {
			b = appendXMLTag(b, "</", f.name)
		}
	}
	return b
}

func appendXMLTag(b []byte, open, name string) []byte {
	b = append(b, open...)
	b = append(b, name...)
	return append(b, '>')
}

func (f *encodeField) xmlValue(b []byte, name string, v reflect.Value) []byte {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	b = appendXMLTag(b, "<", name)
	switch f.kind {
	case reflect.String:
		b = appendXMLText(b, v.String())
	case reflect.Bool:
		b = strconv.AppendBool(b, v.Bool())
	case reflect.Struct:
		b = f.element.xml(b, v)
	default:
		b = strconv.AppendInt(b, v.Int(), 10)
	}
	return appendXMLTag(b, "</", name)
}

func appendXMLText(b []byte, s string) []byte {
	var buf bytes.Buffer
	if err := xml.EscapeText(&buf, []byte(s)); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return append(b, buf.Bytes()...)
}

// reply is an answer on the wire.
type reply struct {
	status      int
	contentType string
	body        []byte
}

// describe sets the headers, all in one piece of memory. Their names are in the
// canonical form.
func (r reply) describe(h http.Header, call *Call) {
	values := [...]string{r.contentType, strconv.Itoa(len(r.body)), call.RequestID, call.traceID}
	h["Content-Type"] = values[0:1:1]
	h["Content-Length"] = values[1:2:2]
	h["X-Acs-Request-Id"] = values[2:3:3]
	h["X-Acs-Trace-Id"] = values[3:4:4]
}

// bodies holds the memory of sent answers for reuse. Most answers fit its first size; the
// memory of the longest is not kept.
var bodies = sync.Pool{New: func() any {
	b := make([]byte, 0, 2<<10)
	return &b
}}

// sent gives back the memory of the answer's body.
func (r reply) sent() {
	if cap(r.body) <= 64<<10 {
		body := r.body[:0]
		bodies.Put(&body)
	}
}

func (c *Call) success(response any) reply {
	v := reflect.ValueOf(response).Elem()
	if c.Format == XML {
		b := append([]byte(xml.Header), '<')
		b = append(append(b, c.ActionName...), "Response>"...)
		b = (&encodeField{kind: reflect.String}).xmlValue(b, "RequestId", reflect.ValueOf(c.RequestID))
		b = c.action.response().xml(b, v)
		b = appendXMLTag(b, "</", c.ActionName+"Response")
		return reply{status: 200, contentType: "text/xml;charset=utf-8", body: b}
	}
	b := append(*bodies.Get().(*[]byte), `{"RequestId":`...)
	b = appendJSONString(b, c.RequestID)
	b = c.action.response().json(b, v)
	return reply{status: 200, contentType: "application/json;charset=utf-8", body: append(b, '}')}
}

// errorBody is the error envelope.
type errorBody struct {
	RequestID string `rpc:"RequestId"`
	HostID    string `rpc:"HostId"`
	Code      string `rpc:"Code"`
	Message   string `rpc:"Message"`
	Recommend string `rpc:"Recommend"`

	AccessDeniedDetail *accessDeniedDetail `rpc:"AccessDeniedDetail"`

	// Hint is no field of the cloud's. No client of it gets one, as all of them sign.
	Hint string `rpc:"Hint,omitempty"`
}

// recommend returns the address of the cloud's page about an error: CLB-0013.
func recommend(code, product, requestID string) string {
	return "https://api.aliyun.com/troubleshoot?q=" + url.QueryEscape(code) + "&product=" + product + "&requestId=" + requestID
}

var errorEncoder = newEncoder(reflect.TypeFor[errorBody]())

func (c *Call) failure(p *Problem) reply {
	host, product := c.Host, ""
	if c.product != nil {
		product = c.product.Name
		if !strings.HasSuffix(host, ".aliyuncs.com") {
			host = c.product.HostID
		}
	}
	v := reflect.ValueOf(errorBody{
		RequestID: c.RequestID,
		HostID:    host,
		Code:      p.Code,
		Message:   p.Message,
		Recommend: recommend(p.Code, product, c.RequestID),

		AccessDeniedDetail: p.denied,
		Hint:               p.hint,
	})
	if c.Format == XML {
		b := append([]byte(xml.Header), "<Error>"...)
		b = append(errorEncoder.xml(b, v), "</Error>"...)
		return reply{status: p.Status, contentType: "text/xml;charset=utf-8", body: b}
	}
	b := appendJSONObject(nil, func(b []byte) []byte { return errorEncoder.json(b, v) })
	return reply{status: p.Status, contentType: "application/json;charset=utf-8", body: b}
}
