package fidelity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/yamlfile"
)

// common declares what many actions have in common, from which statements follow: the parameters
// RegionId, ClientToken and DryRun, and the RequestId of the answer.
type common struct {
	Source string   `yaml:"source" required:"true"`
	Of     []string `yaml:"of" required:"true"`
	// Before and Call make the call succeed. By default they are those of the base, or of the first
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

// commons lists the subjects of common, each with its statements.
var commons = map[string]func(f *File, c *common) []*yaml.Node{
	"RegionId":       (*File).unknownRegion,
	"RegionRequired": (*File).withoutRegion,
	"ClientToken":    (*File).repeated,
	"TokenTwice":     (*File).twice,
	"DryRun":         (*File).tried,
	"RequestId":      (*File).requestID,
}

// Validate implements yamlfile.Validator.
func (c *common) Validate() error {
	for _, name := range c.Of {
		if commons[name] == nil {
			return fmt.Errorf("of: %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(commons)), ", "))
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
		list = append(list, commons[name](f, c)...)
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

func (f *File) unknownRegion(c *common) []*yaml.Node {
	call := with(c.line, f.like(c, "RegionId", "cn-nowhere"), "expect", refusal(c.line, "InvalidRegionId.NotFound"))
	return []*yaml.Node{f.commonly(c, "region-id-unknown", "parameter", "RegionId is that of a region.", call)}
}

func (f *File) withoutRegion(c *common) []*yaml.Node {
	call := with(c.line, f.like(c, "RegionId", ""), "expect", refusal(c.line, unpublished))
	node := with(c.line, f.commonly(c, "region-id-required", "parameter", "RegionId is required.", call), "code", scalar(c.line, unpublished))
	return []*yaml.Node{with(c.line, node, "differs", scalar(c.line, "The endpoint, a resource or the account says the region to clients that leave it out: NLB-0027."))}
}

// tried returns the cases of DryRun: a dry run that finds nothing wrong, and calls with DryRun
// false and without it.
func (f *File) tried(c *common) []*yaml.Node {
	call := with(c.line, f.like(c, "DryRun", "true"), "expect", refusal(c.line, "DryRunOperation"))
	performed, absent := with(c.line, f.like(c, "DryRun", "false"), "expect", withID(c.line)), with(c.line, f.like(c, "DryRun", ""), "expect", withID(c.line))
	return []*yaml.Node{
		f.commonly(c, "dry-run", "error", "DryRunOperation: a dry run finds nothing wrong.", call),
		f.commonly(c, "dry-run-false", "parameter", "DryRun takes false.", performed),
		f.commonly(c, "dry-run-default", "default", "DryRun is false if it is absent.", absent),
	}
}

// repeated returns the case of a call made twice with the same ClientToken: it is answered as the
// first time, with the same job.
func (f *File) repeated(c *common) []*yaml.Node {
	first := with(c.line, f.like(c, "ClientToken", "once"), "save", mapping(c.line, "first", scalar(c.line, "JobId")))
	again := with(c.line, f.like(c, "ClientToken", "once"), "expect", mapping(c.line, "fields", mapping(c.line, "JobId", scalar(c.line, "{{first}}"))))
	return []*yaml.Node{f.commonly(c, "client-token", "idempotence", "ClientToken: a call is answered as the earlier one with its token, with its JobId.", first, again)}
}

// twice returns the case of a call made twice with the same ClientToken, if no job shows that both
// are the same.
func (f *File) twice(c *common) []*yaml.Node {
	again := with(c.line, f.like(c, "ClientToken", "once"), "expect", withID(c.line))
	return []*yaml.Node{f.commonly(c, "client-token", "idempotence", "ClientToken: a call that is repeated with its token succeeds again.", f.like(c, "ClientToken", "once"), again)}
}

func (f *File) requestID(c *common) []*yaml.Node {
	call := with(c.line, f.like(c, "RegionId", ""), "expect", withID(c.line))
	return []*yaml.Node{f.commonly(c, "answers-request-id", "field", "It answers RequestId.", call)}
}

// withID returns what an answer has that is no refusal.
func withID(line int) *yaml.Node {
	return mapping(line, "fields", mapping(line, "RequestId", mapping(line, "matches", scalar(line, "^[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}$"))))
}

// commonly returns the node of a statement that many actions have alike.
func (f *File) commonly(c *common, id, class, says string, calls ...*yaml.Node) *yaml.Node {
	steps := copied(c.line, c.Before)
	for _, call := range calls {
		steps = append(steps, step(c.line, call))
	}
	return statement(c.line, id, class, says, c.Source, false, steps)
}
