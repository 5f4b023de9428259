package explain

import (
	"fmt"
	"strings"

	"github.com/clbemu/clbemu/emulator/controlapi"
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
		if matches(words, c.About, c.Product, c.Action, c.Code, c.Message, c.Begin, c.End) {
			found = append(found, c)
			seen[c.Code+" "+c.Message] = true
		}
	}
	for _, a := range known.Actions() {
		if !a.Emulated {
			continue
		}
		for row := range a.Errors() {
			if row.Code == "" || seen[row.Code+" "+row.Message] || !matches(words, row.Code, row.Message) {
				continue
			}
			seen[row.Code+" "+row.Message] = true
			found = append(found, controlapi.Cause{Product: a.Product, Action: a.Name, Status: row.Status, Code: row.Code, Message: worded(row.Message)})
		}
	}
	return found, nil
}

// matches reports whether each word is in one of the texts.
func matches(words []string, texts ...string) bool {
	all := strings.ToLower(strings.Join(texts, "\n"))
	for _, word := range words {
		if !strings.Contains(all, strings.ToLower(word)) {
			return false
		}
	}
	return true
}
