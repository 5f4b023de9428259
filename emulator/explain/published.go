package explain

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/fidelity"
)

// publishedText holds what is published about refusals, one code a line. TestPublished writes it:
// reading the files of statements takes a hundred times as long.
//
//go:embed published.jsonl
var publishedText []byte

// published is a line of it.
type published struct {
	Code       string                 `json:"code"`
	Statements []controlapi.Statement `json:"statements"`
}

// statementsOf returns what is published about an action, or about refusals with a code.
func statementsOf(e *controlapi.Explanation) ([]controlapi.Statement, error) {
	if e.Action == nil {
		return statementsAbout(e.Name)
	}
	f, err := fidelity.Of(e.Action.Product, e.Name)
	if f == nil || err != nil {
		return []controlapi.Statement{}, err
	}
	list := make([]controlapi.Statement, len(f.Statements))
	for i := range f.Statements {
		list[i] = statementOf(f, &f.Statements[i])
	}
	return list, nil
}

func statementOf(f *fidelity.File, s *fidelity.Statement) controlapi.Statement {
	source := f.Source(s)
	return controlapi.Statement{Action: f.Product + "/" + f.Action, ID: s.ID, Class: s.Class, Says: s.Says,
		Source: source.Title + ", " + source.Date + " (" + source.Kind + ")", Verdict: string(s.Verdict()), Reason: s.Reason()}
}

func statementsAbout(code string) ([]controlapi.Statement, error) {
	begin, err := json.Marshal(code)
	if err != nil {
		return nil, err
	}
	begin = slices.Concat([]byte(`{"code":`), begin, []byte(","))
	for line := range bytes.Lines(publishedText) {
		if !bytes.HasPrefix(line, begin) {
			continue
		}
		var p published
		if err := json.Unmarshal(line, &p); err != nil {
			return nil, fmt.Errorf("read what is published of %s: %w", code, err)
		}
		return p.Statements, nil
	}
	return []controlapi.Statement{}, nil
}
