package pull

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// anonymousAccount stands for the id of the account.
const anonymousAccount = "1000000000000001"

// hider replaces what identifies an account's owner. It replaces equal values by equal ones, so
// that references still match, and keeps addresses in their blocks. It keeps ids of resources.
type hider struct {
	account string
	key     []byte
	words   map[string]string
}

func newHider(account string) *hider {
	return &hider{account: account, key: []byte(rand.Text()), words: make(map[string]string)}
}

// The fields of answers whose values a user chose or that are digests of such values.
var (
	chosenField = form(`(?i)(name|alias|description|descritpion|comment|reason|cookie|project|store|serialnumber|sans|common|domain|uri|url|` +
		`healthcheckreq|healthcheckexp|tagvalue|^value|subjectalternativename|hostname)$`)
	publicField = form(`^(LocalName|QuotaName|OSName|OSNameEn|InstanceType)$`)
	digestField = form(`(?i)(fingerprint|macaddress|^mac)$`)
	keyField    = form(`^(Key|TagKey)$`)
	// ours begin the keys of tags that controllers and the cloud look for.
	ours = []string{"acs:", "ack.", "kubernetes", "k8s", "ingress", "service.", "node."}
)

// form returns an expression that compiles on first use.
func form(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// row replaces what a row has, and what is under it but for its parent.
func (h *hider) row(r map[string]any) {
	for name, value := range r {
		if name != parent {
			r[name] = h.value(name, value)
		}
	}
}

func (h *hider) value(name string, value any) any {
	switch value := value.(type) {
	case row:
		h.row(value)
		return value
	case map[string]any:
		h.row(value)
		return value
	case []any:
		for i := range value {
			value[i] = h.value(name, value[i])
		}
		return value
	case string:
		parts := strings.Split(value, ",")
		for i := range parts {
			parts[i] = h.text(name, parts[i])
		}
		return strings.Join(parts, ",")
	}
	return value
}

// text replaces one text of a field.
func (h *hider) text(name, text string) string {
	if address, ok := h.address(text); ok {
		return address
	}
	switch {
	case publicField().MatchString(name):
	case digestField().MatchString(name):
		return h.digest(text)
	case keyField().MatchString(name) && slices.ContainsFunc(ours, func(begin string) bool { return strings.HasPrefix(strings.ToLower(text), begin) }):
	case keyField().MatchString(name), chosenField().MatchString(name):
		return h.named(text)
	}
	return strings.ReplaceAll(text, h.account, anonymousAccount)
}

// kept are words that are no one's own.
var kept = strings.Fields("k8s tcp udp http https default kube system managed by ack kubernetes com cn net org www healthz v1 true false on off resource group second ip server")

// named replaces the words of a text, each by the same one everywhere.
func (h *hider) named(text string) string {
	var b strings.Builder
	word := func(w string) {
		if w == "" {
			return
		}
		if slices.Contains(kept, strings.ToLower(w)) || len(w) <= 5 && strings.Trim(w, "0123456789") == "" {
			b.WriteString(w)
			return
		}
		if h.words[w] == "" {
			h.words[w] = fmt.Sprintf("x%d", len(h.words)+1)
		}
		b.WriteString(h.words[w])
	}
	start := 0
	for i, c := range text {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			word(text[start:i])
			b.WriteRune(c)
			start = i + len(string(c))
		}
	}
	word(text[start:])
	return b.String()
}

func (h *hider) sum(text string) []byte {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// digest replaces pairs of hex digits by as many others.
func (h *hider) digest(text string) string {
	digits := hex.EncodeToString(h.sum(text))
	at := 0
	return strings.Map(func(c rune) rune {
		if c == ':' {
			return c
		}
		at++
		return rune(digits[(at-1)%len(digits)])
	}, text)
}

// keptBits says how many leading bits of an address stay, by block, so that a private address stays
// private.
var keptBits = []struct {
	block netip.Prefix
	bits  int
}{
	{netip.MustParsePrefix("172.16.0.0/12"), 12}, {netip.MustParsePrefix("192.168.0.0/16"), 16}, {netip.MustParsePrefix("100.64.0.0/10"), 10},
	{netip.MustParsePrefix("0.0.0.0/0"), 8}, {netip.MustParsePrefix("::/0"), 16},
}

// address replaces an address or a block, and reports whether the text is one. Two that share
// their first bits still share as many.
func (h *hider) address(text string) (string, bool) {
	if block, err := netip.ParsePrefix(text); err == nil {
		if block.Bits() == 0 || h.leaves(block) {
			return text, true
		}
		return netip.PrefixFrom(h.moved(block.Masked().Addr()), block.Bits()).Masked().String(), true
	}
	if ip, err := netip.ParseAddr(text); err == nil {
		if ip.IsUnspecified() {
			return text, true
		}
		return h.moved(ip).String(), true
	}
	return "", false
}

// leaves reports whether a block is one that every account has.
func (h *hider) leaves(block netip.Prefix) bool {
	for _, k := range keptBits {
		if k.block.Contains(block.Addr()) {
			return block.Bits() <= k.bits
		}
	}
	return false
}

func (h *hider) moved(ip netip.Addr) netip.Addr {
	keep := 0
	for _, k := range keptBits {
		if k.block.Contains(ip) {
			keep = k.bits
			break
		}
	}
	from, to := ip.AsSlice(), ip.AsSlice()
	for bit := keep; bit < len(from)*8; bit++ {
		prefix, err := ip.Prefix(bit)
		if err != nil {
			return ip
		}
		if h.sum(prefix.String())[0]&1 == 1 {
			to[bit/8] ^= 0x80 >> (bit % 8)
		}
	}
	moved, _ := netip.AddrFromSlice(to)
	return moved
}
