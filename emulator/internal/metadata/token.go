package metadata

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"time"
)

// maxTokens bounds the session tokens that are kept: a client that asks for ever
// more of them loses its oldest.
const maxTokens = 1024

// tokens are the session tokens that are good. They are kept in memory alone:
// after a restart clients ask for new ones, as they do when theirs expire.
type tokens struct {
	mu      sync.Mutex
	chance  *rand.ChaCha8
	expires map[string]time.Time
	order   []string // from the oldest
}

func newTokens(seed uint64) *tokens {
	if seed == 0 {
		seed = rand.Uint64()
	}
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	return &tokens{chance: rand.NewChaCha8(key), expires: make(map[string]time.Time)}
}

func (t *tokens) issue(now, expiry time.Time) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dropLocked(now)
	var secret [32]byte
	for i := 0; i < len(secret); i += 8 {
		binary.BigEndian.PutUint64(secret[i:], t.chance.Uint64())
	}
	token := base64.StdEncoding.EncodeToString(secret[:])
	t.expires[token] = expiry
	t.order = append(t.order, token)
	return token
}

// dropLocked makes room for one more: it drops the expired, and the oldest when
// that is not enough. The caller holds mu.
func (t *tokens) dropLocked(now time.Time) {
	if len(t.order) < maxTokens {
		return
	}
	var kept []string
	for _, token := range t.order {
		if now.Before(t.expires[token]) {
			kept = append(kept, token)
		} else {
			delete(t.expires, token)
		}
	}
	if len(kept) == maxTokens {
		delete(t.expires, kept[0])
		kept = kept[1:]
	}
	t.order = kept
}

func (t *tokens) valid(token string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	expiry, ok := t.expires[token]
	return ok && now.Before(expiry)
}
