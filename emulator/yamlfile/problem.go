// Package yamlfile decodes the YAML files that users write: worlds, scenarios and
// fault rules. It reports all errors at once, each with its file, line, field and a
// suggestion. It must not know the contents of a file.
//
// A struct names its fields in the tag yaml, like the YAML library, and marks required
// fields with required:"true", and those with counted:"true" in which a 0 would be taken for
// none. A type with its own syntax is a Reader.
package yamlfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/clbemu/clbemu/emulator/spelling"
)

// Problem is something wrong with a file, and where.
type Problem struct {
	File   string // "" for a text that is in no file
	Line   int
	Column int    // 0 where only the line is known
	Field  string // "" for the file as a whole
	Reason string
}

// String returns the problem on a line: file:line:column: field: reason.
func (p Problem) String() string {
	text := p.Reason
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	where := strconv.Itoa(p.Line)
	if p.Column > 0 {
		where += ":" + strconv.Itoa(p.Column)
	}
	if p.File == "" {
		return "line " + where + ": " + text
	}
	return p.File + ":" + where + ": " + text
}

// Problems is everything that is wrong with a file.
type Problems []Problem

// mostShown limits how many problems an error shows.
const mostShown = 100

// Error lists the first hundred problems, one a line, and how many more there are.
func (p Problems) Error() string {
	var lines []string
	for _, problem := range p[:min(len(p), mostShown)] {
		lines = append(lines, problem.String())
	}
	if more := len(p) - mostShown; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more problems", more))
	}
	return strings.Join(lines, "\n")
}

// Err returns all problems in the order of their lines, or nil if there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) })
	return slices.Compact(p)
}

// mostListed limits how many names a refusal lists.
const mostListed = 30

// suggestion ends the refusal of a name: with the name that was meant, or else with all
// known names.
func suggestion(name string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	all := ""
	if len(known) <= mostListed {
		all = "there are " + strings.Join(known, ", ")
	}
	return spelling.DidYouMean(name, known, all)
}

// Join returns the path of a field below a path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
