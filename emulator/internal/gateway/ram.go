package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/state"
)

// accessDeniedDetail says why RAM refused a call.
type accessDeniedDetail struct {
	AuthAction               string `rpc:"AuthAction"`
	AuthPrincipalType        string `rpc:"AuthPrincipalType"`
	AuthPrincipalOwnerID     string `rpc:"AuthPrincipalOwnerId"`
	AuthPrincipalDisplayName string `rpc:"AuthPrincipalDisplayName"`
	PolicyType               string `rpc:"PolicyType"`
	NoPermissionType         string `rpc:"NoPermissionType"`
	EncodedDiagnosticMessage string `rpc:"EncodedDiagnosticMessage"`
}

// Resource says which parameter names the resource that a call is about, and how
// policies spell it: loadbalancer/<value>.
type Resource struct {
	Parameter string
	Type      string
	Kind      state.Kind // the table that it is in, if there is one
}

// authorize asks the policy of the key's user or role, and the policy of the session that
// took the role. Without them every action is allowed.
func (s *Server) authorize(call *Call) *Problem {
	key, ok := kinds.AccessKeys.Find(call.view, call.AccessKeyID)
	if !ok {
		return nil
	}
	action := call.product.PolicyName() + ":" + call.ActionName
	decision := key.May(call.view, action, call.policyResource())
	if decision == kinds.Allowed {
		return nil
	}
	principal, name := "SubUser", key.ID
	if key.RoleName != "" {
		principal, name = "AssumedRoleUser", key.RoleName
	}
	denial := call.product.Denial
	return &Problem{Status: denial.Status, Code: denial.Code, Message: denial.Message, denied: &accessDeniedDetail{
		AuthAction:               action,
		AuthPrincipalType:        principal,
		AuthPrincipalOwnerID:     key.AccountID,
		AuthPrincipalDisplayName: name,
		PolicyType:               "AccountLevelIdentityBasedPolicy",
		NoPermissionType:         string(decision),
		EncodedDiagnosticMessage: diagnosis(call.view.Now(), action+" "+key.ID),
	}}
}

// diagnosis returns a text in the form of the cloud's: two bytes, the time, and a part that only
// the cloud can read.
func diagnosis(now time.Time, of string) string {
	text := binary.BigEndian.AppendUint64([]byte{1, 1}, uint64(now.Unix()))
	sum := sha256.Sum256([]byte(of))
	return base64.StdEncoding.EncodeToString(append(text, sum[:]...))
}

// policyResource returns the resource of the call, as policies name it: by the first of the
// product's parameters that it has, else all resources of the first type. Evidence
// CLB-0173.
func (c *Call) policyResource() string {
	prefix := "acs:" + c.product.PolicyName() + ":" + c.Scope.RegionID + ":" + c.Scope.AccountID + ":"
	if r, id := c.about(); id != "" {
		return prefix + r.Type + "/" + id
	}
	if len(c.product.Resources) == 0 {
		return prefix + "*"
	}
	return prefix + c.product.Resources[0].Type + "/*"
}
