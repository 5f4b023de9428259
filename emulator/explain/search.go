package explain

import (
	"fmt"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/glob"
	"github.com/clbemu/clbemu/emulator/names"
)

// Search finds codes by what people know of them: words of the message, of the cause or
// of the condition that brings it about. All words must be found, in any order; case does
// not count.
func Search(known *names.Names, words []string) ([]controlapi.Cause, error) {
	f, err := facts()
	if err != nil {
		return nil, fmt.Errorf("read what is known of refusals: %w", err)
	}
	var found []controlapi.Cause
	seen := make(map[string]bool)
	for _, c := range f.Causes {
		if glob.HasWords(words, c.About, c.Product, c.Action, c.Code, c.Message, c.Begin, c.End) {
			found = append(found, c)
			seen[c.Code+" "+c.Message] = true
		}
	}
	for _, a := range known.Actions() {
		if !a.Emulated {
			continue
		}
		for row := range a.Errors() {
			if row.Code == "" || seen[row.Code+" "+row.Message] || !glob.HasWords(words, row.Code, row.Message) {
				continue
			}
			seen[row.Code+" "+row.Message] = true
			found = append(found, controlapi.Cause{Product: a.Product, Action: a.Name, Status: row.Status, Code: row.Code, Message: worded(row.Message)})
		}
	}
	return found, nil
}
