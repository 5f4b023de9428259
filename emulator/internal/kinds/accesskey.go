package kinds

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// AccessKeyStatus says whether callers may use a key.
type AccessKeyStatus string

// The states of a key.
const (
	AccessKeyActive   AccessKeyStatus = "Active"
	AccessKeyInactive AccessKeyStatus = "Inactive"
)

// AccessKey is a pair of id and secret. One with a SecurityToken is temporary
// (STS): the token must come along with it until it expires.
type AccessKey struct {
	ID            string
	Secret        string
	AccountID     string
	Status        AccessKeyStatus
	SecurityToken string    `json:",omitempty"`
	Expiration    time.Time `json:",omitzero"`
	RoleName      string    `json:",omitempty"`
	// SessionName distinguishes the sessions of a role.
	SessionName string `json:",omitempty"`
	// SessionPolicy, if set, must allow a call as well as what the role may do.
	SessionPolicy *PolicyDocument `json:",omitempty"`
}

// NewTemporaryKey creates a key of a role with this lifetime, and deletes the role's
// expired keys. It does not store the new key.
func NewTemporaryKey(tx *state.Tx, accountID, role, session string, life time.Duration) *AccessKey {
	now := tx.Now()
	for key := range AccessKeysByRole.List(tx.View, accountID, role) {
		if !now.Before(key.Expiration) {
			AccessKeys.Delete(tx, key.ID)
		}
	}
	return &AccessKey{
		ID:            tx.NewSecretID(AccessKeys.Kind(), "STS.", 24),
		Secret:        tx.NewSecret(32),
		AccountID:     accountID,
		Status:        AccessKeyActive,
		SecurityToken: "CAIS" + tx.NewSecret(40) + tx.NewSecret(40),
		Expiration:    now.Add(life),
		RoleName:      role,
		SessionName:   session,
	}
}

// AccessKeys by id.
var AccessKeys = state.NewTable(Schema, "AccessKey", func(k *AccessKey) string { return k.ID }, state.Setting())

// AccessKeysByRole finds the temporary keys of a RAM role: account, role.
var AccessKeysByRole = AccessKeys.Index("role", func(k *AccessKey) [][]string {
	if k.RoleName == "" {
		return nil
	}
	return state.Key(k.AccountID, k.RoleName)
})
