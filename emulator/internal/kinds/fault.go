package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// Fault is a fault rule with its counters, kept as the text that it is written
// as: what it means is not known here.
type Fault struct {
	Name     string
	Position int // in the order of the rules
	Rule     string
	Since    time.Time
	Seen     uint64
	Hits     uint64
}

// Faults by name.
var Faults = state.NewTable(Schema, "Fault", func(f *Fault) string { return f.Name }, state.Counter())
