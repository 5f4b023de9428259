package target

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// aside lists the fields that no two plays share.
var aside = []string{"ID", "Name", "AccountID", "RegionID", "OrderID", "MacAddress"}

// row is a resource as an export has it.
type row map[string]any

// State implements scenarios.Target.
func (r *Remote) State(ctx context.Context) ([]string, error) {
	var export struct{ Tables map[string][]row }
	err := r.control().ExportState(ctx, func(from io.Reader) error {
		d := json.NewDecoder(from)
		d.UseNumber()
		return d.Decode(&export)
	})
	if err != nil {
		return nil, err
	}
	return stateLines(export.Tables), nil
}

// stateLines writes a line for each resource, without ids, addresses and times.
func stateLines(tables map[string][]row) (lines []string) {
	var known []string // pairs for a strings.Replacer
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if kinds.Schema.Internal(state.Kind(table)) {
			continue
		}
		for i, r := range tables[table] {
			if id := r.text("ID"); len(id) > len("lb-") {
				known = append(known, id, labelOf(table, r, i))
			}
		}
	}
	for _, address := range tables["Address"] {
		if strings.HasSuffix(address.text("Holder"), "LoadBalancer") {
			known = append(known, `"`+address.text("IP")+`"`, `"address"`)
		}
	}
	names := strings.NewReplacer(known...)
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if kinds.Schema.Internal(state.Kind(table)) {
			continue
		}
		for _, r := range tables[table] {
			lines = append(lines, names.Replace(r.line(table)))
		}
	}
	slices.Sort(lines)
	return lines
}

// labelOf replaces the id of a resource.
func labelOf(table string, r row, i int) string {
	if name := r.text("Name"); name != "" {
		return name
	}
	return fmt.Sprintf("%s#%d", table, i+1)
}

func (r row) text(field string) string {
	text, _ := r[field].(string)
	return text
}

// line describes the resource by the fields that are set.
func (r row) line(table string) string {
	text := table
	if name := r.text("Name"); name != "" {
		text += " " + name
	}
	for _, field := range slices.Sorted(maps.Keys(r)) {
		if slices.Contains(aside, field) || strings.HasSuffix(field, "Time") {
			continue
		}
		if value := plain(r[field]); value != "" {
			text += " " + field + "=" + value
		}
	}
	return text
}

// maxPlain limits a value that a line shows; of a longer one, it shows the checksum.
const maxPlain = 400

// plain writes a value, or "" for a time and a value that is not set. It ignores the order of a
// list.
func plain(value any) string {
	if is, ok := value.(string); ok {
		if _, err := time.Parse(time.RFC3339Nano, is); err == nil || is == "" {
			return ""
		}
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(ordered(value)); err != nil {
		return fmt.Sprint(value)
	}
	is := strings.TrimSpace(text.String())
	switch {
	case is == "null" || is == "[]" || is == "{}":
		return ""
	case len(is) > maxPlain:
		return fmt.Sprintf("(%d letters, %08x)", len(is), crc32.ChecksumIEEE(text.Bytes()))
	}
	return is
}

// ordered sorts the lists in a value, and drops the times and the ids.
func ordered(value any) any {
	switch is := value.(type) {
	case []any:
		texts := make(map[string]any, len(is))
		sorted := make([]string, len(is))
		for i, v := range is {
			v = ordered(v)
			text, _ := json.Marshal(v) // it came as JSON
			sorted[i], texts[string(text)] = string(text), v
		}
		slices.Sort(sorted)
		list := make([]any, len(is))
		for i, text := range sorted {
			list[i] = texts[text]
		}
		return list
	case map[string]any:
		fields := make(map[string]any, len(is))
		for name, v := range is {
			if !strings.HasSuffix(name, "Time") && name != "RuleID" { // of a security group's rule
				fields[name] = ordered(v)
			}
		}
		return fields
	}
	return value
}
