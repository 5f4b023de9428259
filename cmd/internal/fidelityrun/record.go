package fidelityrun

import (
	"bytes"
	"fmt"
	"io"
	"maps"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/fidelity"
	"github.com/clbemu/clbemu/emulator/journal"
)

// Recording is the answers of a run, with placeholders for what is the account's. The source
// is in the form of a file of statements.
type Recording struct {
	Sources map[string]recordedSource `yaml:"sources"`
	Region  string                    `yaml:"region"`
	Answers []recorded                `yaml:"answers"`
}

type recordedSource struct {
	Title string `yaml:"title"`
	Date  string `yaml:"date"`
	Kind  string `yaml:"kind"`
}

// recorded is the calls of a statement.
type recorded struct {
	Statement string         `yaml:"statement"`
	Says      string         `yaml:"says"`
	There     string         `yaml:"there"`
	Calls     []recordedCall `yaml:"calls"`
}

type recordedCall struct {
	Product string            `yaml:"product"`
	Action  string            `yaml:"action"`
	Params  map[string]string `yaml:"params,omitempty"`
	Status  int               `yaml:"status,omitempty"`
	Lost    string            `yaml:"lost,omitempty"`
	Body    any               `yaml:"body,omitempty"`
}

// NewRecording returns a recording without answers.
func NewRecording(region, date string) *Recording {
	return &Recording{Region: region, Answers: []recorded{},
		Sources: map[string]recordedSource{"recording": {fmt.Sprintf("Recording of the cloud in %s, by clbemu fidelity run", region), date, fidelity.Kinds[0]}}}
}

// add adds the calls of a statement.
func (r *Recording) add(j Judged, exchanges []exchange, h *hider) {
	of := recorded{Statement: j.Statement, Says: j.Says, There: j.There}
	for _, e := range exchanges {
		params := maps.Clone(e.params)
		for name, value := range params {
			if params[name] = h.text(value); journal.IsSecret(name) {
				params[name] = "hidden"
			}
		}
		of.Calls = append(of.Calls, recordedCall{e.product, e.action, params, e.answer.Status, h.text(e.answer.Lost), h.hidden("", unmarked(any(e.answer.Body), none))})
	}
	r.Answers = append(r.Answers, of)
}

// none replaces nothing.
var none = Mapping{}.replacer(0, 1)

// Write writes the recording as YAML.
func (r *Recording) Write(w io.Writer) error {
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(text.Bytes())
	return err
}
