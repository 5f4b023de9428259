package forward

import (
	"net/netip"
	"sync"
	"time"
)

// maxPersistent bounds how many sources a server remembers; further ones are
// scheduled each time.
const maxPersistent = 1 << 16

// A persistence remembers which member a source address has.
type persistence struct {
	mu      sync.Mutex
	entries map[netip.Addr]persistent
	swept   time.Time
}

type persistent struct {
	key     string
	expires time.Time
}

func (p *persistence) get(source netip.Addr, now time.Time) (key string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.entries[source]
	return e.key, ok && now.Before(e.expires)
}

func (p *persistence) put(source netip.Addr, key string, now, expires time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries == nil {
		p.entries = make(map[netip.Addr]persistent)
	}
	if _, known := p.entries[source]; !known && len(p.entries) >= maxPersistent {
		p.sweep(now)
		if len(p.entries) >= maxPersistent {
			return
		}
	}
	p.entries[source] = persistent{key, expires}
}

// sweep drops expired entries, at most once a second: a flood of sources must not
// cost a walk each.
func (p *persistence) sweep(now time.Time) {
	if now.Sub(p.swept) < time.Second {
		return
	}
	p.swept = now
	for source, e := range p.entries {
		if !now.Before(e.expires) {
			delete(p.entries, source)
		}
	}
}
