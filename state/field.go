package state

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// FieldNames returns the names, in order, of the fields that Field can find of a kind, or nil for
// an unknown kind.
func (s *Schema) FieldNames(kind Kind) []string {
	k, ok := s.kinds[kind]
	if !ok {
		return nil
	}
	return slices.Sorted(slices.Values(jsonNames(k.table.resource())))
}

// jsonNames returns the names of a struct's fields in JSON.
func jsonNames(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case !f.IsExported(), name == "-", f.Anonymous && name == "":
		case name != "":
			names = append(names, name)
		default:
			names = append(names, f.Name)
		}
	}
	return names
}

// Field returns a field of a resource as a text, by its name in any case: Status, address, vpcid.
func Field(v *View, kind Kind, id, name string) (string, bool) {
	k, ok := v.schema.kinds[kind]
	if !ok {
		return "", false
	}
	r, ok := k.table.find(v, id)
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

// AnyWith reports whether any resource that the view sees has the text in its field of
// that name. It looks at all of them.
func AnyWith(v *View, field, text string) bool {
	for _, k := range v.schema.kinds {
		f, ok := k.table.resource().FieldByName(field)
		if !ok || f.Type.Kind() != reflect.String {
			continue
		}
		found := false
		v.txn.eachRow(k.position, func(raw any) bool {
			found = v.sees(raw) && reflect.ValueOf(raw).Elem().FieldByIndex(f.Index).String() == text
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// OwnerOf returns the owner of the resource with the id, of whatever kind, as far as the view sees.
// It returns the zero Owner if there is no such resource, or if it has no owner.
func OwnerOf(v *View, id string) (owner Owner) {
	var of Kind
	for name, k := range v.schema.kinds {
		if of != "" && name > of {
			continue
		}
		if r, ok := k.table.find(v, id); ok {
			if r, ok := r.(owned); ok {
				owner, of = r.Belonging(), name
			}
		}
	}
	return owner
}
