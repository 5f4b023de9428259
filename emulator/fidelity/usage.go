package fidelity

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// usage counts what clients sent in plays: client, product, action, kind, name and count. The tests
// with the real CCM and with Terraform write it.
//
//go:embed usage.tsv
var usage string

// use is a name that a client sends or reads, how often, and whether a statement about it holds.
type use struct {
	client, name string
	count        int
	holds        bool
}

// sent are the rows of usage by product and action.
var sent = sync.OnceValue(func() map[string][][]string {
	rows := make(map[string][][]string)
	for line := range strings.Lines(usage) {
		if row := strings.Split(strings.TrimSpace(line), "\t"); len(row) == 6 {
			rows[row[1]+"/"+row[2]] = append(rows[row[1]+"/"+row[2]], row)
		}
	}
	return rows
})

// clientOf names the client of usage by the title of a source.
func clientOf(title string) string {
	if strings.HasPrefix(title, "Terraform") {
		return "terraform"
	}
	return "ccm"
}

// uses returns what clients send with the action, and read of its answers.
func (f *File) uses() (list []use) {
	calls := make(map[string]int)
	for _, row := range sent()[f.Product+"/"+f.Action] {
		count, _ := strconv.Atoi(row[5])
		if row[3] == "calls" {
			calls[row[0]] = count
			continue
		}
		list = append(list, use{row[0], row[4], count, f.states(row[4])})
	}
	for i := range f.Clients {
		c := &f.Clients[i]
		client := clientOf(f.Sources[c.Source].Title)
		each(c.Reads.Node, func(field, _ *yaml.Node) {
			if calls[client] > 0 {
				list = append(list, use{client, field.Value, calls[client], true}) // or the file could not be read
			}
		})
	}
	return list
}

// states reports whether a statement says something about a parameter, and holds.
func (f *File) states(parameter string) bool {
	about := func(s *Statement) bool {
		return parameter == "DryRun" && s.ID == "dry-run" ||
			slices.ContainsFunc(strings.FieldsFunc(s.Says, endsName), func(name string) bool { return strings.EqualFold(unindexed(name), parameter) })
	}
	return slices.ContainsFunc(f.Statements, func(s Statement) bool { return s.Class != "field" && s.Verdict() == Holds && about(&s) })
}

// endsName reports whether a letter can't be part of a parameter's name.
func endsName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.'
}

// unindexed returns a name without the numbers of elements: Tag.1.Key is Tag.Key.
func unindexed(name string) string {
	parts := slices.DeleteFunc(strings.Split(name, "."), func(part string) bool {
		_, err := strconv.Atoi(part)
		return err == nil || part == ""
	})
	return strings.Join(parts, ".")
}
