package metadata

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/clbemu/clbemu/emulator/internal/kinds"
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
	role := mux.Vars(r)["role"]
	var key *kinds.AccessKey
	v := s.cfg.Store.View(state.Owner{})
	instance, err := s.instanceOf(v, role)
	if err == nil {
		key = goodKey(v, instance)
	}
	if err == nil && key == nil {
		err = s.cfg.Store.Update(state.Owner{}, func(tx *state.Tx) error {
			instance, err := s.instanceOf(tx.View, role)
			if err == nil {
				key = freshKey(tx, instance)
			}
			return err
		})
	}
	if err != nil {
		s.refuse(w, err)
		return
	}
	body, err := json.MarshalIndent(credentialsOf(key), "", "  ")
	if err != nil {
		s.refuse(w, err)
		return
	}
	answer(w, string(body))
}

func credentialsOf(key *kinds.AccessKey) credentials {
	return credentials{
		AccessKeyID:     key.ID,
		AccessKeySecret: key.Secret,
		Expiration:      key.Expiration.Truncate(time.Second),
		SecurityToken:   key.SecurityToken,
		LastUpdated:     key.Expiration.Add(-credentialsLife).Truncate(time.Second),
		Code:            "Success",
	}
}

// instanceOf returns the instance whose metadata the service serves, if it has the role.
func (s *service) instanceOf(v *state.View, role string) (*kinds.Instance, error) {
	instance, err := s.findInstance(v)
	if err == nil && (role == "" || role != instance.RAMRoleName) {
		err = errAbsent
	}
	return instance, err
}

// sessionOf returns the session in which an instance has its role: CLB-0371.
func sessionOf(instance *kinds.Instance) string { return "vm-ram-" + instance.ID }

// goodKey returns a key of the instance's role that lives long enough, or nil if none does.
func goodKey(v *state.View, instance *kinds.Instance) *kinds.AccessKey {
	for key := range kinds.AccessKeysByRole.List(v, instance.AccountID, instance.RAMRoleName) {
		if key.SessionName == sessionOf(instance) && key.Status == kinds.AccessKeyActive && key.Expiration.Sub(v.Now()) > credentialsRest {
			return key
		}
	}
	return nil
}

// freshKey returns a good key, or mints one.
func freshKey(tx *state.Tx, instance *kinds.Instance) *kinds.AccessKey {
	if key := goodKey(tx.View, instance); key != nil {
		return key
	}
	key := kinds.NewTemporaryKey(tx, instance.AccountID, instance.RAMRoleName, sessionOf(instance), credentialsLife)
	kinds.AccessKeys.Put(tx, key)
	return key
}
