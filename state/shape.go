package state

import (
	"iter"
	"maps"
	"reflect"
	"slices"
)

// A shape is a type as which readers see rows of several kinds, so that a reader
// needs to know none of the kinds.

// shapes are the kinds that show themselves as each shape.
type shapes map[reflect.Type]map[Kind]any

func (s shapes) clone() shapes {
	copied := make(shapes, len(s))
	for shape, kinds := range s {
		copied[shape] = maps.Clone(kinds)
	}
	return copied
}

// shapeReader reads a row of a kind as an X.
type shapeReader[X any] struct {
	table anyTable
	read  func(v *View, r any) (X, bool)
}

// Shows declares that rows of the kind can be read as an X. Read reports whether the
// row is one.
func Shows[T, X any](read func(v *View, r *T) (X, bool)) Option {
	return func(k *kind) {
		t := tableOf[T](k)
		shape := reflect.TypeFor[X]()
		if k.schema.shapes[shape] == nil {
			k.schema.shapes[shape] = make(map[Kind]any)
		}
		k.schema.shapes[shape][k.name] = shapeReader[X]{t, func(v *View, r any) (X, bool) { return read(v, r.(*T)) }}
	}
}

// Shown yields every row that the scope sees as an X, in order of kind and id.
func Shown[X any](v *View) iter.Seq[X] {
	return func(yield func(X) bool) {
		kinds := v.schema.shapes[reflect.TypeFor[X]()]
		for _, name := range slices.Sorted(maps.Keys(kinds)) {
			by := kinds[name].(shapeReader[X])
			for _, r := range by.table.all(v) {
				if x, ok := by.read(v, r); ok && !yield(x) {
					return
				}
			}
		}
	}
}

// FindShown reads the row with the id as an X, whatever its kind.
func FindShown[X any](v *View, id string) (x X, ok bool) {
	for _, by := range v.schema.shapes[reflect.TypeFor[X]()] {
		by := by.(shapeReader[X])
		if r, there := by.table.find(v, id); there {
			if x, ok = by.read(v, r); ok {
				return x, true
			}
		}
	}
	return x, false
}

// ShownBy reads a row as an X, for example one of a Change; ok is false where its kind or
// the row itself shows none.
func ShownBy[X any](v *View, k Kind, row any) (x X, ok bool) {
	by, shows := v.schema.shapes[reflect.TypeFor[X]()][k].(shapeReader[X])
	if !shows {
		return x, false
	}
	return by.read(v, row)
}
