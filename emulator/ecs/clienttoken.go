package ecs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/clbemu/clbemu/state"
)

// once runs make unless a call of the action with the same token succeeded
// before, and returns the id of the security group that either was about. A token
// that comes back with another request is refused.
func once(tx *state.Tx, action, token string, request any, make func() (string, error)) (string, error) {
	if token == "" {
		return make()
	}
	text, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("digest of a request: %w", err)
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	account := tx.Scope().AccountID
	if known, ok := state.ClientTokens.Find(tx.View, state.ClientTokenID(account, action, token)); ok {
		if known.Digest != digest {
			return "", state.Refuse(clientTokenReused, token)
		}
		if _, exists := state.SecurityGroups.Find(tx.View, known.ResourceID); exists {
			return known.ResourceID, nil
		}
	}
	id, err := make()
	if err != nil {
		return "", err
	}
	state.ClientTokens.Put(tx, &state.ClientToken{
		AccountID: account, Action: action, Token: token, Digest: digest, ResourceID: id, CreateTime: tx.Now(),
	})
	return id, nil
}
