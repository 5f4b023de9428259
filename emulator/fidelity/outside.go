package fidelity

import (
	"errors"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// outside are fields and codes that older publications list, and that lie outside the API that
// is published today: no client that follows it can read or cause them. They are no statements.
type outside struct {
	// Fields are in no answer of the newest SDK.
	Fields []string `yaml:"fields"`
	// Codes are about Parameter, which the newest SDK can't send.
	Parameter string   `yaml:"parameter"`
	Codes     []string `yaml:"codes"`
}

var _ yamlfile.Validator = (*outside)(nil)

// Validate implements yamlfile.Validator.
func (o *outside) Validate() error {
	if (o.Parameter == "") != (len(o.Codes) == 0) || (len(o.Fields) == 0) == (len(o.Codes) == 0) {
		return errors.New("give fields, or a parameter with the codes about it")
	}
	return nil
}
