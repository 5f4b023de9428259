package cloud

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// Account is a cloud account, the owner of resources.
type Account struct {
	ID                     string
	Name                   string `json:",omitempty"`
	DefaultResourceGroupID string `json:",omitempty"`
	// DefaultRegionID is the region of calls that name none.
	DefaultRegionID string `json:",omitempty"`
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
	// RefusesExpiredCertificates and RefusesAttachedBackends choose where it is not
	// known what the cloud does: with a certificate that has expired, and with a
	// server added to the default group again.
	RefusesExpiredCertificates bool `json:",omitempty"`
	RefusesAttachedBackends    bool `json:",omitempty"`
	// RefusesQuotaApplications refuses applications for higher quotas.
	RefusesQuotaApplications bool `json:",omitempty"`
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
