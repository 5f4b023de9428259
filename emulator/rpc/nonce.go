package rpc

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxNonces bounds the memory of one generation, some 12 MB when full. A client
// would have to send that many calls within the window to make the gateway
// forget the oldest early.
const maxNonces = 1 << 18

// nonceLife is how long a nonce must be remembered: a timestamp is good for the
// window before the server's time and for the window after it.
const nonceLife = 2 * timestampWindow

// nonces remembers which were used, in two generations: the older one is
// forgotten whole when the younger one is full or old enough.
type nonces struct {
	mu             sync.Mutex
	younger, older map[[16]byte]struct{}
	since          time.Time
}

func nonceKey(accessKeyID, nonce string) (key [16]byte) {
	sum := sha256.Sum256([]byte(accessKeyID + "\x00" + nonce))
	copy(key[:], sum[:])
	return key
}

// used tells whether the key has sent the nonce before.
func (n *nonces) used(accessKeyID, nonce string) bool {
	key := nonceKey(accessKeyID, nonce)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.knows(key)
}

func (n *nonces) knows(key [16]byte) bool {
	_, younger := n.younger[key]
	_, older := n.older[key]
	return younger || older
}

// spend remembers a nonce; false means that it was used before.
func (n *nonces) spend(accessKeyID, nonce string, now time.Time) bool {
	key := nonceKey(accessKeyID, nonce)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.knows(key) {
		return false
	}
	if n.younger == nil || len(n.younger) >= maxNonces || now.Sub(n.since) > nonceLife {
		n.older, n.younger, n.since = n.younger, make(map[[16]byte]struct{}), now
	}
	n.younger[key] = struct{}{}
	return true
}
