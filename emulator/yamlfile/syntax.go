package yamlfile

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// syntaxError matches the YAML library's words for bad syntax.
var syntaxError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?`) })

// meaning explains an error of the library to whoever wrote the file.
type meaning struct {
	reason string
	// before says that the library counts the lines of this error from 0.
	before bool
}

// meanings are the errors that people make, by the library's words.
var meanings = map[string]meaning{
	"did not find expected ',' or '}'":                             {"a { is not closed, or a comma is missing between its entries", true},
	"did not find expected ',' or ']'":                             {"a [ is not closed, or a comma is missing between its elements", true},
	"did not find expected key":                                    {"this line or one below is not indented as the keys before it", true},
	"did not find expected '-' indicator":                          {"this line or one below is not indented as the list before it", true},
	"did not find expected node content":                           {"a value is missing, or a [ or { is not closed", true},
	"did not find expected <document start>":                       {"a line has no key or is not indented as those above: write key: value", true},
	"found character that cannot start any token":                  {"a text can't begin with this character: put it in quotes", false},
	"could not find expected ':'":                                  {"a key has no colon, or the text of a key goes over several lines: write key: value", false},
	"mapping values are not allowed in this context":               {"there is a second colon in a value: put the value in quotes, or begin a new line", false},
	"block sequence entries are not allowed in this context":       {"a list can't begin in this place: begin a new line before its -", false},
	"found unexpected end of stream":                               {"a quote is not closed", false},
	"found unknown escape character":                               {`a text in "quotes" has a backslash that escapes nothing: write \\ or use 'quotes'`, false},
	"found a tab character that violates indentation":              {aTab, false},
	"found a tab character where an indentation space is expected": {aTab, false},
	"control characters are not allowed":                           {"there is a control character: write it as an escape in \"quotes\"", false},
}

const aTab = "a line is indented by a tab: use spaces"

// syntax finds the line of an error of the library, and says what is wrong with it.
func syntax(text []byte, err error) (line int, reason string) {
	found := syntaxError().FindStringSubmatch(err.Error())
	words := strings.TrimPrefix(err.Error(), "yaml: ")
	if found != nil {
		words = strings.TrimPrefix(err.Error(), found[0])
		line, _ = strconv.Atoi(found[1]) // digits, or none on the first line
	}
	m, known := meanings[words]
	if !known {
		m.reason = "it is no YAML: " + words
	}
	if m.before {
		line++
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	line = min(max(line, 1), len(lines))
	for i := line - 1; i < len(lines) && (i == line-1 || m.reason == aTab); i++ {
		if tabbed(lines[i]) {
			return i + 1, aTab
		}
	}
	return line, m.reason
}

// tabbed reports whether a line is indented by a tab.
func tabbed(line string) bool {
	return strings.Contains(line[:len(line)-len(strings.TrimLeft(line, " \t"))], "\t")
}
