package scenarios

import (
	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// Problem is something wrong with a file, and where.
type Problem = yamlfile.Problem

// Problems is everything that is wrong with a file.
type Problems = yamlfile.Problems

// NewDecoder returns a decoder of scenarios and their parts. Where a text is still a template, what
// only a number or a pattern can be is not checked.
func NewDecoder(file string) *yamlfile.Decoder {
	return &yamlfile.Decoder{File: file, Unsettled: template().MatchString}
}
