package gateway

import (
	"iter"
	"reflect"
	"slices"
)

// taggedField is a field of a request or a response, with what its rpc tag says and
// where it is; embedded structs share their fields.
type taggedField struct {
	reflect.StructField
	tag    string
	tagged bool
	at     []int
}

// fieldsOf yields the fields of a struct in order.
func fieldsOf(t reflect.Type) iter.Seq[taggedField] {
	return func(yield func(taggedField) bool) { eachField(t, nil, yield) }
}

func eachField(t reflect.Type, index []int, yield func(taggedField) bool) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(index), i)
		tag, tagged := f.Tag.Lookup("rpc")
		if f.Anonymous && !tagged {
			if !eachField(f.Type, at, yield) {
				return false
			}
		} else if !yield(taggedField{f, tag, tagged, at}) {
			return false
		}
	}
	return true
}
