package gateway

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The newest clients send parameters as a JSON object: CLB-0020. It says the same as
// a form: lists count from 1, and the fields of objects follow a dot.

func isJSON(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(contentType), "application/json")
}

const (
	// maxParamName is longer than any name: the names of deep objects grow with each
	// level.
	maxParamName = 200
	// maxDepth is deeper than any parameter is.
	maxDepth = 32
)

// appendJSON appends the parameters of a JSON object. It reads no further than to
// the first value too many.
func appendJSON(params Params, body []byte) (Params, *Problem) {
	r := jsonReader{
		text:   jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
		params: params,
	}
	if kind := r.text.PeekKind(); kind != '{' && kind != 'n' || !r.value("", 0) {
		return nil, problemUnreadable
	}
	if _, err := r.text.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, problemUnreadable
	}
	return r.params, nil
}

// jsonReader turns values into parameters.
type jsonReader struct {
	text   *jsontext.Decoder
	params Params
	values int // lists and objects among them
}

// value reads a value under its name. It reports whether parameters can be such.
// Null is a parameter that is not there.
func (r *jsonReader) value(name string, depth int) bool {
	r.values++
	if r.values > maxParams || len(name) > maxParamName || depth > maxDepth {
		return false
	}
	token, err := r.text.ReadToken()
	if err != nil {
		return false
	}
	switch token.Kind() {
	case '"', '0', 't', 'f':
		r.params = append(r.params, Param{name, token.String()})
	case '[':
		return r.list(name+".", depth)
	case '{':
		return r.object(name, depth)
	}
	return true
}

func (r *jsonReader) list(prefix string, depth int) bool {
	for n := 1; r.text.PeekKind() != ']'; n++ {
		if !r.value(prefix+strconv.Itoa(n), depth+1) {
			return false
		}
	}
	_, err := r.text.ReadToken()
	return err == nil
}

func (r *jsonReader) object(name string, depth int) bool {
	if depth > 0 {
		name += "."
	}
	for r.text.PeekKind() != '}' {
		field, err := r.text.ReadToken()
		if err != nil || !r.value(name+field.String(), depth+1) {
			return false
		}
	}
	_, err := r.text.ReadToken()
	return err == nil
}
