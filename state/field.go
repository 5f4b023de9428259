package state

import (
	"encoding/json"
	"strings"
)

// Field is a field of a resource as a text, by its name in any case: Status,
// address, vpcid.
func Field(v *View, kind Kind, id, name string) (string, bool) {
	t, ok := tableByName[kind]
	if !ok {
		return "", false
	}
	r, ok := t.find(v, id)
	if !ok {
		return "", false
	}
	change, err := encode(kind, id, r)
	if err != nil {
		return "", false
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(change.Value, &fields); err != nil {
		return "", false
	}
	for field, value := range fields {
		if !strings.EqualFold(field, name) {
			continue
		}
		var text string
		if err := json.Unmarshal(value, &text); err == nil {
			return text, true
		}
		return string(value), true
	}
	return "", false
}
