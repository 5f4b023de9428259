package gateway

import (
	"errors"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// authenticate finds out whose call it is. The order of its checks is the cloud
// gateway's: evidence CLB-0004.
func (s *Server) authenticate(call *Call) *Problem {
	if call.unsigned() { // nothing proves that the call has the key that it names
		call.AccessKeyID = ""
		return stranger(call)
	}
	if !s.cfg.StrictAuth {
		return s.identify(call)
	}
	sig, problem := call.readSignature()
	if problem != nil {
		return s.hintUnsigned(call, problem)
	}
	call.AccessKeyID = sig.accessKeyID
	key, known := kinds.AccessKeys.Find(call.view, sig.accessKeyID)
	switch {
	case !known:
		return problemUnknownKey
	case key.Status != kinds.AccessKeyActive:
		return problemInactiveKey
	}
	call.Scope.AccountID = key.AccountID
	timestamp, problem := readTimestamp(sig.timestamp, call.Received)
	if problem != nil {
		return problem
	}
	used := nonceOf(sig.accessKeyID, sig.nonce, timestamp)
	if problem := s.nonces.refuse(used); problem != nil {
		return problem
	}
	if problem := sig.verify(call, &sig, key.Secret); problem != nil {
		return problem
	}
	if problem := checkToken(call.view, key, sig.securityToken); problem != nil {
		return problem
	}
	// Only a call that was really signed may use up a nonce.
	return s.nonces.spend(used, call.Received)
}

// unsigned reports whether the action of the call needs no key.
func (c *Call) unsigned() bool {
	if c.product == nil {
		return false
	}
	action, ok := c.product.rows[c.ActionName]
	return ok && action.unsigned
}

func checkToken(v *state.View, key *kinds.AccessKey, token string) *Problem {
	switch {
	case key.SecurityToken == token && token == "":
		return nil
	case token == "":
		return Missing("SecurityToken")
	case key.SecurityToken != token:
		if isToken(v, token) {
			return problemTokenMismatch
		}
		return problemTokenMalformed
	case !v.Now().Before(key.Expiration):
		return problemTokenExpired
	}
	return nil
}

// isToken reports whether the token belongs to any key.
func isToken(v *state.View, token string) bool {
	for key := range kinds.AccessKeys.All(v) {
		if key.SecurityToken == token {
			return true
		}
	}
	return false
}

// identify finds the caller's account without proof.
func (s *Server) identify(call *Call) *Problem {
	if call.AccessKeyID == "" && (call.sent.signature != "" || call.underACS3) {
		sig, _ := call.readSignature()
		call.AccessKeyID = sig.accessKeyID
	}
	if key, ok := kinds.AccessKeys.Find(call.view, call.AccessKeyID); ok {
		call.Scope.AccountID = key.AccountID
		return nil
	}
	return stranger(call)
}

// stranger gives the call the first account.
func stranger(call *Call) *Problem {
	for account := range kinds.Accounts.All(call.view) {
		call.Scope.AccountID = account.ID
		return nil
	}
	return internalError(errors.New("the world has no account"))
}
