package metadata

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/state"
)

// Credentials of a role live for six hours, and are answered again until the
// last half hour of their life; evidence CLB-0361.
const (
	credentialsLife = 6 * time.Hour
	credentialsRest = 30 * time.Minute
)

// credentials is the body of an answer, spelled as clients read it.
type credentials struct {
	AccessKeyID     string    `json:"AccessKeyId"`
	AccessKeySecret string    `json:"AccessKeySecret"`
	Expiration      time.Time `json:"Expiration"`
	SecurityToken   string    `json:"SecurityToken"`
	LastUpdated     time.Time `json:"LastUpdated"`
	Code            string    `json:"Code"`
}

// credentials answers a temporary access key of the instance's role, which the
// gateway takes as long as it lives.
func (s *service) credentials(w http.ResponseWriter, r *http.Request) {
	var key *state.AccessKey
	err := s.cfg.Store.Update(state.Owner{}, func(tx *state.Tx) error {
		instance, err := s.findInstance(tx.View)
		if err != nil {
			return err
		}
		if role := mux.Vars(r)["role"]; role == "" || role != instance.RAMRoleName {
			return errAbsent
		}
		key = freshKey(tx, instance)
		return nil
	})
	if err != nil {
		refuse(w, err)
		return
	}
	body, err := json.MarshalIndent(credentialsOf(key), "", "  ")
	if err != nil {
		refuse(w, err)
		return
	}
	answer(w, string(body))
}

func credentialsOf(key *state.AccessKey) credentials {
	return credentials{
		AccessKeyID:     key.ID,
		AccessKeySecret: key.Secret,
		Expiration:      key.Expiration.Truncate(time.Second),
		SecurityToken:   key.SecurityToken,
		LastUpdated:     key.Expiration.Add(-credentialsLife).Truncate(time.Second),
		Code:            "Success",
	}
}

// freshKey returns a key of the instance's role that lives long enough, or mints
// one and deletes those that are dead.
func freshKey(tx *state.Tx, instance *state.Instance) *state.AccessKey {
	now := tx.Now()
	var dead []string
	for key := range state.AccessKeysByRole.List(tx.View, instance.AccountID, instance.RAMRoleName) {
		if key.Status == state.AccessKeyActive && key.Expiration.Sub(now) > credentialsRest {
			return key
		}
		if !now.Before(key.Expiration) {
			dead = append(dead, key.ID)
		}
	}
	for _, id := range dead {
		state.AccessKeys.Delete(tx, id)
	}
	key := &state.AccessKey{
		ID:            "STS." + tx.NewSecret(24),
		Secret:        tx.NewSecret(32),
		AccountID:     instance.AccountID,
		Status:        state.AccessKeyActive,
		SecurityToken: "CAIS" + tx.NewSecret(40) + tx.NewSecret(40),
		Expiration:    now.Add(credentialsLife),
		RoleName:      instance.RAMRoleName,
	}
	state.AccessKeys.Put(tx, key)
	return key
}
