// Package catalogue lists the errors that the cloud's APIs can return, whether or not
// clbemu returns them by itself: action, status, code and message. Fault rules are
// checked against it. It must not know how anything is emulated.
package catalogue

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// table is one error a line: product/action, or * for all, HTTP status, code and
// message, by tabs. It is from the API metadata of July 2024 and the
// documentation's common error table.
//
//go:embed errors.tsv
var table string

// Error is an error that an action can return.
type Error struct {
	Status  int
	Code    string
	Message string
}

// load reads the table once.
var load = sync.OnceValue(func() map[string][]Error {
	errors := make(map[string][]Error)
	for line := range strings.Lines(table) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		status, err := strconv.Atoi(fields[1])
		if err != nil {
			panic("catalogue: " + line) // the table is part of the program
		}
		errors[fields[0]] = append(errors[fields[0]], Error{status, fields[2], fields[3]})
	}
	return errors
})

// Find returns the error that an action with these parameters answers with a code:
// its own before one that all actions share, and that before one about a
// parameter.
func Find(product, action string, parameters []string, code string) (Error, bool) {
	for _, key := range []string{product + "/" + action, "*"} {
		list := load()[key]
		if i := slices.IndexFunc(list, func(e Error) bool { return e.Code == code }); i >= 0 {
			return list[i], true
		}
	}
	for prefix, message := range map[string]string{"Missing": "%s is mandatory for this action.", "Invalid": "Specified parameter %s is not valid."} {
		if parameter, ok := strings.CutPrefix(code, prefix); ok && slices.Contains(parameters, parameter) {
			return Error{400, code, strings.Replace(message, "%s", parameter, 1)}, true
		}
	}
	return Error{}, false
}

// Codes lists the codes that an action can answer, its own and the common ones.
func Codes(product, action string) []string {
	var codes []string
	for _, key := range []string{product + "/" + action, "*"} {
		for _, e := range load()[key] {
			codes = append(codes, e.Code)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}
