package vpc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/clbemu/clbemu/state"
)

// once runs create unless a call of the action with the same token succeeded
// before, and returns the id of what either made. A token that comes back with
// another request is refused. One whose resource is gone makes a new resource:
// evidence CLB-0302.
func once[T any](tx *state.Tx, action, token string, request any, table *state.Table[T], create func() (string, error)) (string, error) {
	if token == "" {
		return create()
	}
	digest, err := digestOf(request)
	if err != nil {
		return "", err
	}
	account := tx.Scope().AccountID
	if known, ok := state.ClientTokens.Find(tx.View, state.ClientTokenID(account, action, token)); ok {
		if known.Digest != digest {
			return "", state.Refuse(clientTokenReused, token)
		}
		if _, exists := table.Find(tx.View, known.ResourceID); exists {
			return known.ResourceID, nil
		}
	}
	id, err := create()
	if err != nil {
		return "", err
	}
	state.ClientTokens.Put(tx, &state.ClientToken{
		AccountID: account, Action: action, Token: token, Digest: digest, ResourceID: id, CreateTime: tx.Now(),
	})
	return id, nil
}

func digestOf(request any) (string, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("digest of a request: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
