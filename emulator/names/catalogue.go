package names

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// errorsText has the errors that the cloud's APIs can return, whether or not clbemu
// returns them on its own, one a line: product/action, or * for all, HTTP status, code and
// message, by tabs. It is from the API metadata of July 2024 and the documentation's
// common error table.
//
//go:embed errors.tsv
var errorsText string

// cloudError is an error that an action of the cloud can return.
type cloudError struct {
	Status  int
	Code    string
	Message string
}

// cloudErrors lists the errors of the actions.
var cloudErrors = sync.OnceValue(func() map[string][]cloudError {
	errors := make(map[string][]cloudError)
	for line := range strings.Lines(errorsText) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 4)
		status, err := strconv.Atoi(fields[1])
		if err != nil {
			panic("errors.tsv: " + line) // the table is part of the program
		}
		errors[fields[0]] = append(errors[fields[0]], cloudError{status, fields[2], fields[3]})
	}
	return errors
})

// findError returns the error that an action with these parameters answers with a code:
// its own before one that all actions share, and that before one about a
// parameter.
func findError(product, action string, parameters []string, code string) (cloudError, bool) {
	for _, key := range []string{product + "/" + action, anyAction} {
		list := cloudErrors()[key]
		if i := slices.IndexFunc(list, func(e cloudError) bool { return e.Code == code }); i >= 0 {
			return list[i], true
		}
	}
	for prefix, message := range map[string]string{"Missing": "%s is mandatory for this action.", "Invalid": "Specified parameter %s is not valid."} {
		if parameter, ok := strings.CutPrefix(code, prefix); ok && slices.Contains(parameters, parameter) {
			return cloudError{400, code, strings.Replace(message, "%s", parameter, 1)}, true
		}
	}
	return cloudError{}, false
}

// errorCodes lists the codes that an action can answer, its own and the common ones.
func errorCodes(product, action string) []string {
	codes := append(codesUnder(product+"/"+action), codesUnder(anyAction)...)
	slices.Sort(codes)
	return slices.Compact(codes)
}

// anyAction is the key of the codes that every action can answer.
const anyAction = "*"

// codesUnder lists the codes of one key of the table.
func codesUnder(key string) (codes []string) {
	for _, e := range cloudErrors()[key] {
		codes = append(codes, e.Code)
	}
	return codes
}
