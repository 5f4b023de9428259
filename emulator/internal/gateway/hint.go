package gateway

import (
	"regexp"
	"strings"
	"sync"
)

// maxHint bounds the command of a hint.
const maxHint = 1000

// hintUnsigned explains, for a call without any signature, how to sign it, or how to
// need no signature. No client of the cloud sends such a call.
func (s *Server) hintUnsigned(call *Call, p *Problem) *Problem {
	if call.sent.signature != "" || call.AccessKeyID != "" || call.request.Header.Get("Authorization") != "" {
		return p
	}
	command := "clbemu call " + quoted(call.ActionName)
	if call.ActionName == "" {
		command = "clbemu call DescribeLoadBalancers"
	}
	if product, ok := s.products[call.Version]; ok && product.Version != s.cfg.Products[0].Version {
		command += " --product " + product.Name
	}
	for _, param := range call.Params {
		command += " " + quoted(param.Name+"="+param.Value)
	}
	if len(command) > maxHint {
		command = "clbemu call"
	}
	hinted := *p
	hinted.hint = "Signatures are verified here. The call with one: " + command + " - or start the emulator without: clbemu serve --auth off"
	return &hinted
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z_./:=-]+$`) })

// quoted returns a word quoted for a shell.
func quoted(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
