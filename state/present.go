package state

// projection is a durable state with the transitions that became due after it. The next transaction
// begins with it, so nothing depends on its being written.
type projection struct {
	of    *workingSet
	state *workingSet
}

// View returns the newest durable state, with what has become due since, as scope sees it. It
// stays as it is, whatever is written later.
func (s *Store) View(scope Owner) *View {
	durable := s.visible.Load()
	from := durable
	if p := s.projected.Load(); p != nil && p.of == durable {
		from = p.state
	}
	v := s.view(from.reading(), Owner{})
	if _, due := nextDue(v, v.now); !due {
		v.scope = scope
		return v
	}
	txn := from.writing()
	newTx(&View{txn: txn, schema: s.schema, now: v.now}).settle()
	ahead := txn.committed()
	s.projected.Store(&projection{of: durable, state: ahead})
	return &View{txn: ahead.reading(), schema: s.schema, scope: scope, now: v.now, attached: s.attached}
}
