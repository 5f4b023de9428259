package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// The states of an application for a higher quota.
const (
	ApplicationProcess  = "Process"
	ApplicationAgree    = "Agree"
	ApplicationDisagree = "Disagree"
)

// QuotaApplication asks for a higher limit of an account.
type QuotaApplication struct {
	AccountID string
	ID        string
	Quota     state.QuotaName
	Desired   int
	// Approved is the granted limit, or 0.
	Approved    int `json:",omitempty"`
	Reason      string
	AuditReason string `json:",omitempty"`
	Status      string
	NoticeType  int `json:",omitempty"`
	// RegionID is the region that the application names, if it names one.
	RegionID   string `json:",omitempty"`
	ApplyTime  time.Time
	ReviewTime time.Time `json:",omitzero"`
}

// Belonging returns the application's account. Quotas have no region.
func (a *QuotaApplication) Belonging() state.Owner { return state.Owner{AccountID: a.AccountID} }

// QuotaApplications by id, which is also the order of their creation.
var QuotaApplications = state.NewTable(Schema, "QuotaApplication", func(a *QuotaApplication) string { return a.ID }, state.Internal(),
	state.Belongs(Accounts, func(a *QuotaApplication) string { return a.AccountID }),
	state.Life(func(a *QuotaApplication) *string { return &a.Status }))

var _ = QuotaApplications.With(state.On(ApplicationProcess, review), state.Checks(func(c *state.Checker, a *QuotaApplication) {
	state.Among(c, QuotaApplications, a, "status", a.Status, ApplicationProcess, ApplicationAgree, ApplicationDisagree)
}))

// StageQuotaReview is while the review of an application lasts. How long that takes is chosen
// here: CLB-0415.
var StageQuotaReview = QuotaApplications.Stage("quota.review", ApplicationProcess, "", time.Minute)

// review grants an application, by the limit that it asks for, or refuses it where a
// condition has the account refuse.
func review(tx *state.Tx, t *state.Transition) {
	// What is gone needs no review.
	_ = QuotaApplications.Edit(tx, t.ResourceID, func(a *QuotaApplication) error {
		a.ReviewTime = tx.Now()
		if account, ok := Accounts.Find(tx.View, a.AccountID); ok && account.RefusesQuotaApplications {
			a.Status, a.AuditReason = ApplicationDisagree, "The application is refused."
			return nil
		}
		a.Status, a.Approved = ApplicationAgree, a.Desired
		if a.Desired > tx.In(a.Belonging()).Limit(a.Quota) { // another may have raised it meanwhile
			state.Quotas.Put(tx, &state.Quota{AccountID: a.AccountID, Name: a.Quota, Limit: a.Desired})
		}
		return nil
	})
}

// maxQuotaApplications bounds how many applications an account has: CLB-0415.
const maxQuotaApplications = 1000

// QuotaApplicationsByAccount finds the applications of an account.
var QuotaApplicationsByAccount = QuotaApplications.Index("account", func(a *QuotaApplication) [][]string {
	return state.Key(a.AccountID)
})

// ApplyForQuota stores an application and begins its review. The oldest is forgotten where
// there are too many.
func ApplyForQuota(tx *state.Tx, a *QuotaApplication) {
	if QuotaApplicationsByAccount.Count(tx.View, a.AccountID) >= maxQuotaApplications {
		if oldest, ok := QuotaApplicationsByAccount.First(tx.View, a.AccountID); ok {
			QuotaApplications.Remove(tx, oldest.ID)
		}
	}
	a.ID, a.Status, a.ApplyTime = state.NextUUID(tx, QuotaApplications), ApplicationProcess, tx.Now()
	QuotaApplications.Put(tx, a)
	state.Enter(tx, StageQuotaReview, a.ID)
}
