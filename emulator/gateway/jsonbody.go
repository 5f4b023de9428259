package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// The newest clients send parameters as a JSON object: CLB-0020. It says the same as
// a form: lists are counted from 1, and the fields of objects follow a dot.

func isJSON(contentType string) bool {
	return strings.HasPrefix(strings.ToLower(contentType), "application/json")
}

// addJSON adds the parameters of a JSON object.
func addJSON(params url.Values, body []byte) *Problem {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil {
		return problemUnreadable
	}
	if _, err := decoder.Token(); err != io.EOF {
		return problemUnreadable
	}
	return addJSONFields(params, "", fields)
}

// maxParamName is longer than any name is: those of deep objects grow with each
// level.
const maxParamName = 200

func addJSONFields(params url.Values, prefix string, fields map[string]any) *Problem {
	for name, value := range fields {
		if problem := addJSONValue(params, prefix+name, value); problem != nil {
			return problem
		}
	}
	return nil
}

// addJSONValue adds a value under its name. Null is a parameter that is not there.
func addJSONValue(params url.Values, name string, value any) *Problem {
	if len(name) > maxParamName {
		return problemUnreadable
	}
	switch value := value.(type) {
	case string:
		params[name] = append(params[name], value)
	case json.Number:
		params[name] = append(params[name], value.String())
	case bool:
		params[name] = append(params[name], strconv.FormatBool(value))
	case []any:
		for i, element := range value {
			if problem := addJSONValue(params, name+"."+strconv.Itoa(i+1), element); problem != nil {
				return problem
			}
		}
	case map[string]any:
		return addJSONFields(params, name+".", value)
	}
	return nil
}
