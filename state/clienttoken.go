package state

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Facts about client tokens.
const (
	// TokenConflict: the token came with another request before.
	TokenConflict Fact = "TokenConflict"
	// TokenProcessing: the token's first call counts as running.
	TokenProcessing Fact = "TokenProcessing"
)

// ClientToken remembers what a call with a token made, so that a repetition
// gets the same answer. A failed call leaves none.
type ClientToken struct {
	AccountID string
	Action    string
	Token     string
	// Digest is the digest of the request: the same token with another fails.
	Digest     string
	ResourceID string
	// About is a resource that the call left there, where ResourceID is only the job
	// that did: the token goes with either.
	About string `json:",omitempty"`
	// Activity is Busy while the first call counts as running.
	Activity   string `json:",omitempty"`
	CreateTime time.Time
}

// ClientTokenID returns the id of a ClientToken.
func ClientTokenID(accountID, action, token string) string {
	return accountID + "/" + action + "/" + token
}

// ClientTokens by ClientTokenID.
var ClientTokens = NewTable(kernel, "ClientToken", func(t *ClientToken) string {
	return ClientTokenID(t.AccountID, t.Action, t.Token)
}, Setting(), Life(func(t *ClientToken) *string { return &t.Activity }))

// StageClientTokenProcessing is while a token's first call counts as running. How
// long stages take is not published: CLB-0500.
var StageClientTokenProcessing = ClientTokens.Stage("clienttoken.processing", Busy, Idle, 2*time.Second)

var (
	clientTokensByAge = ClientTokens.Index("age", func(t *ClientToken) [][]string {
		return Key(timeKey(t.CreateTime))
	})
	clientTokensByResource = ClientTokens.Index("resource", func(t *ClientToken) [][]string {
		keys := Key(t.ResourceID)
		if t.About != "" {
			keys = append(keys, []string{t.About})
		}
		return keys
	})
)

// ClientTokenLifetime is the time for which the store keeps a token: CLB-0101.
const ClientTokenLifetime = 24 * time.Hour

// expiring bounds how many tokens a transaction looks at, so that none waits for
// the end of many. What it leaves counts as expired all the same.
const expiring = 64

// expireClientTokens forgets the oldest tokens whose time is over.
func (tx *Tx) expireClientTokens() {
	everywhere := tx.In(Owner{})
	for range expiring {
		oldest, ok := clientTokensByAge.First(everywhere.View)
		if !ok || !oldest.expired(tx.Now()) {
			return
		}
		ClientTokens.Delete(everywhere, ClientTokenID(oldest.AccountID, oldest.Action, oldest.Token))
	}
}

// forgetClientTokens forgets the tokens of what the transaction deleted: they
// count as new, CLB-0101.
func (tx *Tx) forgetClientTokens() {
	for _, c := range tx.log.changes { // without those that follow here, of tokens
		if c.kind != ClientTokens.kind && c.row == nil {
			tx.forgetTokensOf(c.id)
		}
	}
}

// forgetTokensOf forgets the tokens of a resource.
func (tx *Tx) forgetTokensOf(id string) {
	everywhere := tx.In(Owner{})
	for t := range clientTokensByResource.List(everywhere.View, id) {
		ClientTokens.Delete(everywhere, ClientTokenID(t.AccountID, t.Action, t.Token))
	}
}

func (t *ClientToken) expired(now time.Time) bool {
	return !now.Before(t.CreateTime.Add(ClientTokenLifetime))
}

// Once runs act unless a call of the action with the same token succeeded before,
// and returns the id of the resource that either was about. A token whose resource
// is gone since counts as new: CLB-0101. One that comes with another request is
// refused: CLB-0102.
func Once[T any](tx *Tx, action, token string, request any, table *Table[T], act func() (string, error)) (string, error) {
	return OnceFor(tx, action, token, request, table, func(*T) string { return "" }, act)
}

// OnceMade is like Once, but returns the resource instead of its id.
func OnceMade[T any](tx *Tx, action, token string, request any, table *Table[T], act func() (string, error)) (*T, error) {
	id, err := Once(tx, action, token, request, table, act)
	if err != nil {
		return nil, err
	}
	return table.Get(tx.View, id)
}

// EditOnce is like Once, for a change of one resource.
func EditOnce[T any](tx *Tx, action, token string, request any, table *Table[T], id string, change func(*T) error) error {
	_, err := Once(tx, action, token, request, table, func() (string, error) { return id, table.Edit(tx, id, change) })
	return err
}

// OnceFor is like Once for an act that returns a job; about returns the id of the resource that the
// job is for. Once the resource that a job put is gone, the token counts as new. Without a table
// the token depends on no resource, as for a deletion.
func OnceFor[T any](tx *Tx, action, token string, request any, table *Table[T], about func(*T) string, act func() (string, error)) (string, error) {
	if token == "" {
		return act()
	}
	digest, err := digestOf(request)
	if err != nil {
		return "", err
	}
	id := ClientTokenID(tx.scope.AccountID, action, token)
	if known, ok := ClientTokens.Find(tx.View, id); ok && !known.expired(tx.Now()) {
		if table == nil {
			return known.ResourceID, known.check(digest)
		}
		if _, exists := table.Find(tx.View, known.ResourceID); exists {
			return known.ResourceID, known.check(digest)
		}
	}
	resourceID, err := act()
	if err != nil {
		return "", err
	}
	made := &ClientToken{
		AccountID: tx.scope.AccountID, Action: action, Token: token,
		Digest: digest, ResourceID: resourceID, CreateTime: tx.Now(),
	}
	if table != nil {
		if r, ok := table.Find(tx.View, resourceID); ok && tx.log.put(about(r)) {
			made.About = about(r)
		}
	}
	ClientTokens.Put(tx, made)
	Enter(tx, StageClientTokenProcessing, id)
	return resourceID, nil
}

// check refuses a repetition that must not get the first call's answer.
func (t *ClientToken) check(digest string) error {
	switch {
	case t.Activity == Busy:
		return Refuse(TokenProcessing, t.Token)
	case t.Digest != digest:
		return Refuse(TokenConflict, t.Token)
	}
	return nil
}

func digestOf(request any) (string, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return "", fmt.Errorf("digest of a request: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
