package kinds

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/clbemu/clbemu/state"
)

// Account is a cloud account, the owner of resources.
type Account struct {
	ID                     string
	Name                   string `json:",omitempty"`
	DefaultResourceGroupID string `json:",omitempty"`
	// DefaultRegionID is the region of calls that name none.
	DefaultRegionID string `json:",omitempty"`
	// Incomplete accounts lack information about their holder, and Unpayable ones a way to pay.
	Incomplete bool `json:",omitempty"`
	Unpayable  bool `json:",omitempty"`
	// Balance is in CNY; a purchase needs MinimumBalance of it.
	Balance float64
	// ArrearsSince is the time at which the account went into arrears, zero when it is
	// not.
	ArrearsSince time.Time `json:",omitzero"`
	// GraceDays after that its Classic Load Balancers are locked, and ReleaseDays later
	// they are released. NLB is the same for Network Load Balancers, NLBArrears if nil.
	GraceDays   int
	ReleaseDays int
	NLB         *Arrears `json:",omitempty"`
	// LCUToSpec is the whitelist for changing PayByCLCU to PayBySpec.
	LCUToSpec bool `json:",omitempty"`
	// TagsCreators tags new load balancers with CreatedByTag.
	TagsCreators bool `json:",omitempty"`
	// RefusesExpiredCertificates and RefusesAttachedBackends choose between guesses about the
	// cloud: with a certificate that has expired, and with a server added to the default group
	// again.
	RefusesExpiredCertificates bool `json:",omitempty"`
	RefusesAttachedBackends    bool `json:",omitempty"`
	// RefusesQuotaApplications refuses applications for higher quotas.
	RefusesQuotaApplications bool `json:",omitempty"`
	// AbsentRoles are the service-linked roles that the account lacks, which has all others.
	AbsentRoles []string `json:",omitempty"`
	// OIDCProviders have unique names.
	OIDCProviders []OIDCProvider `json:",omitempty"`
}

// OIDCProvider is an identity provider whose tokens take roles of the account, such as a cluster
// with RRSA.
type OIDCProvider struct {
	Name, Issuer string
	// ClientIDs are the audiences of its tokens.
	ClientIDs []string
	// Keys are its public ones, as a JSON Web Key Set.
	Keys string
}

// OIDCAlgorithms lists the algorithms for signatures of a provider's tokens.
var OIDCAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512}

// PublicKeys reads the keys. It fails if a text is not a key, or if the key is private.
func (p *OIDCProvider) PublicKeys() (*jose.JSONWebKeySet, error) {
	var set jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(p.Keys), &set); err != nil {
		return nil, fmt.Errorf("it is no JSON Web Key Set: %w", err)
	}
	if len(set.Keys) == 0 || slices.ContainsFunc(set.Keys, func(k jose.JSONWebKey) bool { return !k.IsPublic() || k.KeyID == "" }) {
		return nil, errors.New("it needs public keys with a kid, and nothing else")
	}
	return &set, nil
}

// OIDCProvider finds a provider of the account.
func (a *Account) OIDCProvider(name string) (OIDCProvider, bool) {
	at := slices.IndexFunc(a.OIDCProviders, func(p OIDCProvider) bool { return p.Name == name })
	if at < 0 {
		return OIDCProvider{}, false
	}
	return a.OIDCProviders[at], true
}

// Arrears says when an account that owes loses load balancers: the days until they are
// locked, and those from then until they are released.
type Arrears struct{ GraceDays, ReleaseDays int }

// NLBArrears is the cloud's for Network Load Balancers: page "NLB overdue payments",
// 2024-08.
var NLBArrears = Arrears{GraceDays: 1, ReleaseDays: 15}

// OfNLB returns the days of Network Load Balancers.
func (a *Account) OfNLB() Arrears {
	if a.NLB == nil {
		return NLBArrears
	}
	return *a.NLB
}

// Accounts by id (the cloud's uid).
var Accounts = state.NewTable(Schema, "Account", func(a *Account) string { return a.ID }, state.Setting())

// CheckPayment refuses a purchase to an account that owes or has too little, in the
// caller's words.
func CheckPayment(v *state.View, owes, poor error) error {
	account, err := Accounts.Get(v, v.Scope().AccountID)
	switch {
	case err != nil:
		return err
	case !account.ArrearsSince.IsZero():
		return owes
	case account.Balance < MinimumBalance:
		return poor
	}
	return nil
}

// The service-linked roles that actions of CLB need.
const (
	RoleForLogs = "AliyunServiceRoleForSlbLogDelivery"
	RoleForEIPs = "AliyunServiceRoleForSlbEipAccess"
)

// LinkedRoles lists all of them.
var LinkedRoles = []string{RoleForLogs, RoleForEIPs}
