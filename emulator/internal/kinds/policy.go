package kinds

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/state"
	"github.com/clbemu/clbemu/state/jsonstream"
)

// Policy holds the permissions of a RAM principal. A principal without one may do
// everything, like the account itself.
type Policy struct {
	AccountID string
	Principal string // see KeyPrincipal, RolePrincipal
	Document  PolicyDocument
}

// KeyPrincipal returns the principal of the RAM user that has an access key.
func KeyPrincipal(accessKeyID string) string { return "key/" + accessKeyID }

// RolePrincipal returns the principal of a RAM role.
func RolePrincipal(name string) string { return "role/" + name }

// Principal returns the RAM user or role whose policy applies to the key.
func (k *AccessKey) Principal() string {
	if k.RoleName != "" {
		return RolePrincipal(k.RoleName)
	}
	return KeyPrincipal(k.ID)
}

// May decides on an action by the policies of a key. Without any it may do everything.
func (k *AccessKey) May(v *state.View, action, resource string) Decision {
	decision := Allowed
	if policy, known := Policies.Find(v, PolicyID(k.AccountID, k.Principal())); known {
		decision = policy.Document.Decide(action, resource)
	}
	if decision == Allowed && k.SessionPolicy != nil {
		decision = k.SessionPolicy.Decide(action, resource)
	}
	return decision
}

// PolicyID returns the id of a Policy.
func PolicyID(accountID, principal string) string { return accountID + "/" + principal }

// Policies by PolicyID.
var Policies = state.NewTable(Schema, "Policy", func(p *Policy) string { return PolicyID(p.AccountID, p.Principal) }, state.Setting())

// PolicyDocument is a RAM policy: it allows an action when a statement allows
// it and none denies it.
type PolicyDocument struct {
	Version   string
	Statement []PolicyStatement
}

// PolicyStatement is about the actions and resources that match its patterns,
// in which * stands for any text and ? for one character.
type PolicyStatement struct {
	Effect   string // Allow or Deny
	Action   TextList
	Resource TextList
}

// TextList is a text or a list of texts.
type TextList []string

var _ json.Unmarshaler = (*TextList)(nil)

// UnmarshalJSON implements json.Unmarshaler.
func (l *TextList) UnmarshalJSON(text []byte) error {
	var single string
	if err := json.Unmarshal(text, &single); err == nil {
		*l = TextList{single}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(l))
}

// ParsePolicy reads a policy document. It refuses what it does not understand: to ignore a
// condition would allow too much.
func ParsePolicy(text string) (PolicyDocument, error) {
	var document PolicyDocument
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&document); err != nil {
		return document, fmt.Errorf("not a policy document: %w", jsonstream.InWords(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return document, errors.New("not a policy document: there is more behind it")
	}
	if len(document.Statement) == 0 {
		return document, errors.New("the policy has no Statement")
	}
	for i, s := range document.Statement {
		switch {
		case s.Effect != "Allow" && s.Effect != "Deny":
			return document, fmt.Errorf("statement %d: Effect is %q, want Allow or Deny", i+1, s.Effect)
		case len(s.Action) == 0 || len(s.Resource) == 0:
			return document, fmt.Errorf("statement %d: Action and Resource are mandatory", i+1)
		case slices.Contains(s.Action, "") || slices.Contains(s.Resource, ""):
			return document, fmt.Errorf("statement %d: an empty text in Action or Resource matches nothing", i+1)
		}
	}
	return document, nil
}

// String returns the document in the form that ParsePolicy reads.
func (d PolicyDocument) String() string {
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // a struct of texts
	}
	return string(text)
}

// Decision is the decision of a policy about a call.
type Decision string

// The decisions.
const (
	Allowed      Decision = "Allowed"
	ImplicitDeny Decision = "ImplicitDeny"
	ExplicitDeny Decision = "ExplicitDeny"
)

// Decide decides whether the action, such as slb:CreateLoadBalancer, is allowed on the
// resource, such as acs:slb:cn-hangzhou:1234:loadbalancer/lb-1.
func (d PolicyDocument) Decide(action, resource string) Decision {
	decision := ImplicitDeny
	for _, s := range d.Statement {
		if !matchesAny(s.Action, action) || !matchesAny(s.Resource, resource) {
			continue
		}
		if s.Effect == "Deny" {
			return ExplicitDeny
		}
		decision = Allowed
	}
	return decision
}

func matchesAny(patterns []string, text string) bool {
	for _, p := range patterns {
		if matches(strings.ToLower(p), strings.ToLower(text)) {
			return true
		}
	}
	return false
}

// matches compares with a pattern of * and ?, going back to the last * where the
// text after it does not fit.
func matches(pattern, text string) bool {
	p, t, star, from := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
