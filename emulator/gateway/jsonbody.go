package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// The newest clients send parameters as a JSON object: CLB-0020. It says the same as
// a form: lists are counted from 1, and the fields of objects follow a dot.

func isJSON(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(contentType), "application/json")
}

// appendJSON appends the parameters of a JSON object.
func appendJSON(params Params, body []byte) (Params, *Problem) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return nil, problemUnreadable
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, problemUnreadable
	}
	if !params.appendFields("", fields) {
		return nil, problemUnreadable
	}
	return params, nil
}

// maxParamName is longer than any name is: those of deep objects grow with each
// level.
const maxParamName = 200

// appendFields tells whether all names are such that parameters can have.
func (p *Params) appendFields(prefix string, fields map[string]any) bool {
	for name, value := range fields {
		if !p.appendValue(prefix+name, value) {
			return false
		}
	}
	return true
}

// appendValue appends a value under its name. Null is a parameter that is not there.
func (p *Params) appendValue(name string, value any) bool {
	if len(name) > maxParamName {
		return false
	}
	switch value := value.(type) {
	case string:
		*p = append(*p, Param{name, value})
	case json.Number:
		*p = append(*p, Param{name, value.String()})
	case bool:
		*p = append(*p, Param{name, strconv.FormatBool(value)})
	case []any:
		for i, element := range value {
			if !p.appendValue(name+"."+strconv.Itoa(i+1), element) {
				return false
			}
		}
	case map[string]any:
		return p.appendFields(name+".", value)
	}
	return true
}
