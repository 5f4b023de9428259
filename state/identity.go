package state

import (
	"slices"
	"strings"
)

// Identified reports whether a resource, whosever it is, has the id, or a kind of
// resource spells its ids so.
func (v *View) Identified(id string) bool {
	return slices.ContainsFunc(v.schema.identifying(), func(k *kind) bool { return k.has(v.txn.workingSet, id) || k.form.spells(id) })
}

// Made reports whether the transaction created a resource with the id. A job is no
// resource.
func (tx *Tx) Made(id string) bool {
	return slices.ContainsFunc(tx.schema.identifying(), func(k *kind) bool {
		return (!k.setting || k.form != nil) && k.has(tx.txn.workingSet, id) && !k.has(tx.txn.base, id)
	})
}

// identifiers lists the kinds whose ids calls name: what users make, and what has a
// form of id or a life.
func (s *Schema) identifiers() []*kind {
	return slices.DeleteFunc(s.all(), func(k *kind) bool { return k.setting && k.form == nil && k.setStatus == nil })
}

// has reports whether there is a row with the id.
func (k *kind) has(in *workingSet, id string) bool {
	_, exists := in.rows[k.position].Get(id)
	return exists
}

// spells reports whether an id has the form.
func (f *idForm) spells(id string) bool {
	if f == nil || len(id) != len(f.prefix)+regionCodeLength+f.length {
		return false
	}
	rest, prefixed := strings.CutPrefix(id, f.prefix)
	return prefixed && strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
}
