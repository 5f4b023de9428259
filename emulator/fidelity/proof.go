package fidelity

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/scenarios"
)

// unproven returns why a case that passes proves nothing, or "" if it proves something.
func (s *Statement) unproven() string {
	bare := false
	for i := range s.Case {
		reply, _ := replyOf(&s.Case[i])
		if reply == nil {
			continue
		}
		for path, m := range reply.Fields {
			if anyText(m.Matches) {
				return fmt.Sprintf("%s: any text matches %q: say which value it has", path, m.Matches)
			}
		}
		bare = bare || reply.Status >= 400 && reply.Code == nil
	}
	switch {
	case bare && s.Code == "":
		return "expect the code of the refusal, or say code: unpublished"
	case !bare && s.Code != "":
		return "code: no refusal of the case lacks its code"
	case len(s.About) > 0 && s.refused() == nil:
		return "about: no call of the case is to be refused"
	case len(s.About) == 0 && (bare && s.parameter() == nil || s.refused() != nil && s.parameter() != nil && slices.Contains(articles, s.firstWord())):
		return "about: say of which words the refusal has one"
	}
	return ""
}

// anyText reports whether a pattern matches texts that have nothing in common.
func anyText(pattern string) bool {
	if pattern == "" || strings.Contains(pattern, "{{") {
		return false
	}
	p, err := regexp.Compile(pattern)
	return err == nil && !slices.ContainsFunc([]string{"", "-1.5e3", "A b", "\u4e2d/?"}, func(text string) bool { return !p.MatchString(text) })
}

// namedOtherwise are the words by which refusals name some parameters.
var namedOtherwise = map[string][]string{
	"EndPort":                   {"Port"},
	"HealthCheckSwitch":         {"HealthCheck", "HelathCheck"}, // the cloud's spelling
	"MasterSlaveBackendServers": {"BACKEND_SERVERS"},
	"RuleName":                  {"RuleList"},
	"ServerCertificateId":       {"ServerCertificates"},
	"ServerType":                {"SERVER_TYPE"},
	"TLSVersions":               {"TLS version"},
}

// Proven reports whether a case that passed was refused for the reason that its statement is about:
// the refusal names the parameter, or has a word of About. Other refusals have codes of their own.
// Refusal returns the code and the message of the last refusal of an action in the play, or "".
func (s *Statement) Proven(refusal func(action string) string) bool {
	words := s.About
	if len(words) == 0 {
		words = s.parameter()
	}
	call := s.refused()
	if call == nil || len(words) == 0 {
		return true
	}
	told := strings.ToLower(refusal(call.Action))
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(told, strings.ToLower(word)) })
}

// refused returns the last call of a case that is to be refused, or nil if there is none.
func (s *Statement) refused() *scenarios.CallStep {
	for i := range slices.Backward(s.Case) {
		reply, _ := replyOf(&s.Case[i])
		if call, ok := s.Case[i].Value.(*scenarios.CallStep); ok && reply != nil && (reply.Status >= 400 || reply.Code != nil) {
			return call
		}
	}
	return nil
}

// articles begin what says no parameter first.
var articles = []string{"A", "An", "It", "The"}

func (s *Statement) firstWord() string {
	word, _, _ := strings.Cut(s.Says, " ")
	return word
}

// parameter returns the words for the parameter that a statement is about.
func (s *Statement) parameter() []string {
	if s.Class != "parameter" && s.Class != "range" {
		return nil
	}
	name := strings.TrimSuffix(s.firstWord(), ".1")
	name = name[strings.LastIndexByte(name, '.')+1:]
	return append([]string{name}, namedOtherwise[name]...)
}
