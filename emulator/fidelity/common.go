package fidelity

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// common are what many actions have alike, of which statements follow: the parameters
// RegionId, ClientToken and DryRun, and the RequestId of the answer.
type common struct {
	Source string   `yaml:"source" required:"true"`
	Of     []string `yaml:"of" required:"true"`
	// Before and Call make the call succeed; they are those of the base, or of the first
	// answers.
	Before []raw `yaml:"before"`
	Call   raw   `yaml:"call"`

	line int
}

var (
	_ yamlfile.Placed    = (*common)(nil)
	_ yamlfile.Validator = (*common)(nil)
)

// Place implements yamlfile.Placed.
func (c *common) Place(node *yaml.Node) { c.line = node.Line }

// commons are what common can be of, each with what follows from it.
var commons = map[string]func(f *File, c *common) *yaml.Node{
	"RegionId":    (*File).unknownRegion,
	"ClientToken": (*File).repeated,
	"DryRun":      (*File).tried,
	"RequestId":   (*File).requestID,
}

// Validate implements yamlfile.Validator.
func (c *common) Validate() error {
	for _, name := range c.Of {
		if commons[name] == nil {
			return fmt.Errorf("of: %q is none of ClientToken, DryRun, RegionId, RequestId", name)
		}
	}
	return nil
}

// commonStatements returns the nodes of what follows from common.
func (f *File) commonStatements() (list []*yaml.Node) {
	c := f.Common
	if c == nil {
		return nil
	}
	if c.Call.Node == nil {
		c.Before, c.Call = f.Base.Before, f.Base.Call
	}
	if c.Call.Node == nil && len(f.Answers) > 0 {
		c.Before, c.Call = f.Answers[0].Before, f.Answers[0].Call
	}
	for _, name := range c.Of {
		list = append(list, commons[name](f, c))
	}
	return list
}

// like returns the call of common with another parameter, and without what it saves.
func (f *File) like(c *common, name, value string) *yaml.Node {
	params := merged(c.line, child(c.Call.Node, "params"), nil, []string{name})
	if value != "" {
		params = with(c.line, params, name, scalar(c.line, value))
	}
	call := f.call(c.line, c.Call.Node, params)
	without(call, "save")
	return call
}

func (f *File) unknownRegion(c *common) *yaml.Node {
	call := with(c.line, f.like(c, "RegionId", "cn-nowhere"), "expect", refusal(c.line, "InvalidRegionId.NotFound"))
	return statement(c.line, "region-id-unknown", "parameter", "RegionId is that of a region.", c.Source, false, append(copied(c.line, c.Before), step(c.line, call)))
}

func (f *File) tried(c *common) *yaml.Node {
	call := with(c.line, f.like(c, "DryRun", "true"), "expect", refusal(c.line, "DryRunOperation"))
	return statement(c.line, "dry-run", "error", "DryRunOperation: a dry run finds nothing wrong.", c.Source, false, append(copied(c.line, c.Before), step(c.line, call)))
}

// repeated is the call once more with its ClientToken: it is answered as the first time,
// with the same job.
func (f *File) repeated(c *common) *yaml.Node {
	first := with(c.line, f.like(c, "ClientToken", "once"), "save", mapping(c.line, "first", scalar(c.line, "JobId")))
	again := with(c.line, f.like(c, "ClientToken", "once"), "expect", mapping(c.line, "fields", mapping(c.line, "JobId", scalar(c.line, "{{first}}"))))
	steps := slices.Concat(copied(c.line, c.Before), []*yaml.Node{step(c.line, first), step(c.line, again)})
	return statement(c.line, "client-token", "idempotence", "ClientToken: a call is answered as the earlier one with its token, with its JobId.", c.Source, false, steps)
}

func (f *File) requestID(c *common) *yaml.Node {
	want := mapping(c.line, "fields", mapping(c.line, "RequestId", mapping(c.line, "matches", scalar(c.line, "^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$"))))
	call := with(c.line, f.like(c, "RegionId", ""), "expect", want)
	return statement(c.line, "answers-request-id", "field", "It answers RequestId.", c.Source, false, append(copied(c.line, c.Before), step(c.line, call)))
}
