package cloud

import (
	"time"

	"github.com/clbemu/clbemu/state"
)

// AccessKeyStatus is whether a key may be used.
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
