package fidelityrun

import (
	"fmt"
	"slices"
	"strings"
)

// Mapping maps the things of clbemu's default world that cases name to things of the account. Calls
// use the account's; in answers, cases see the default world's.
type Mapping struct{ pairs [][2]string } // of the default world, of the account

// The things of the default world that cases name, by the flag that maps them.
var (
	vpcs           = []string{"vpc-bp1clbemu000000000001"}
	vSwitches      = []string{"vsw-bp1clbemu000000000001", "vsw-bp1clbemu000000000002"}
	zones          = []string{"cn-hangzhou-h", "cn-hangzhou-i"}
	instances      = []string{"i-bp1clbemu0000000001", "i-bp1clbemu0000000002", "i-bp1clbemu0000000003"}
	securityGroups = []string{"sg-bp1clbemu0000000001"}
)

// defaultRegion is the default world's.
const defaultRegion = "cn-hangzhou"

// Places names the things of an account that a user gives to a run.
type Places struct {
	VPC, VSwitches, Zones, Instances, SecurityGroups []string
}

// MakeMapping maps the default world to places of an account.
func MakeMapping(region string, p Places) (m Mapping, err error) {
	for _, of := range []struct {
		flag         string
		here, theirs []string
	}{{"vpc", vpcs, p.VPC}, {"vswitch", vSwitches, p.VSwitches}, {"zone", zones, p.Zones}, {"instance", instances, p.Instances}, {"security-group", securityGroups, p.SecurityGroups}} {
		if len(of.theirs) > len(of.here) {
			return m, fmt.Errorf("--%s is given %d times: cases name %d", of.flag, len(of.theirs), len(of.here))
		}
		for i, theirs := range of.theirs {
			if theirs == "" || slices.Contains(of.theirs[:i], theirs) {
				return m, fmt.Errorf("--%s %q: give another id each time", of.flag, theirs)
			}
			m.pairs = append(m.pairs, [2]string{of.here[i], theirs})
		}
	}
	// Zones come before the region that their names begin with.
	m.pairs = append(m.pairs, [2]string{defaultRegion, region})
	return m, nil
}

func (m Mapping) has(id string) bool {
	return slices.ContainsFunc(m.pairs, func(p [2]string) bool { return p[0] == id })
}

func (m Mapping) replacer(from, to int) *strings.Replacer {
	texts := make([]string, 0, 2*len(m.pairs))
	for _, p := range m.pairs {
		texts = append(texts, p[from], p[to])
	}
	return strings.NewReplacer(texts...)
}

// toAccount returns a text with the account's names.
func (m Mapping) toAccount(text string) string { return m.replacer(0, 1).Replace(text) }

// fromAccount returns a part of an answer with the default world's names, without the tags
// by which a run marks what it makes.
func (m Mapping) fromAccount(part any) any { return unmarked(part, m.replacer(1, 0)) }

func unmarked(part any, r *strings.Replacer) any {
	switch part := part.(type) {
	case string:
		return r.Replace(part)
	case []any:
		kept := make([]any, 0, len(part))
		for _, element := range part {
			if !isMark(element) {
				kept = append(kept, unmarked(element, r))
			}
		}
		return kept
	case map[string]any:
		copied := make(map[string]any, len(part))
		for name, value := range part {
			copied[name] = unmarked(value, r)
		}
		return copied
	}
	return part
}

// markKey is the key of the tag on everything that a run makes; its value is the case's own.
const markKey = "clbemu-fidelity"

func isMark(element any) bool {
	tag, is := element.(map[string]any)
	return is && (tag["TagKey"] == markKey || tag["Key"] == markKey)
}
