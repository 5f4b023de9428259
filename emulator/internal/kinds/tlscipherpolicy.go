package kinds

import (
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/state"
)

// TLSCipherPolicy is an account's own choice of TLS versions and ciphers, for
// HTTPS listeners. The cloud's own are not in the table: see BuiltInTLSCipherPolicies.
type TLSCipherPolicy struct {
	state.Owner
	ID          string
	Name        string
	TLSVersions []string
	Ciphers     []string
	// Activity is Busy while a change takes effect.
	Activity   string `json:",omitempty"`
	CreateTime time.Time
}

// tlsCipherPolicyPrefix begins the ids of an account's own policies.
const tlsCipherPolicyPrefix = "tls-"

// TLSCipherPolicies by id.
var TLSCipherPolicies = state.NewTable(Schema, "TLSCipherPolicy", func(p *TLSCipherPolicy) string { return p.ID },
	state.IDForm(tlsCipherPolicyPrefix, 18),
	state.Life(func(p *TLSCipherPolicy) *string { return &p.Activity }))

// BuiltInTLSCipherPolicies are the cloud's own.
var BuiltInTLSCipherPolicies = []string{
	"tls_cipher_policy_1_0", "tls_cipher_policy_1_1", "tls_cipher_policy_1_2",
	"tls_cipher_policy_1_2_strict", "tls_cipher_policy_1_2_strict_with_1_3",
}

// TLSCiphers are the ciphers that a version of TLS has: CLB-0182.
var TLSCiphers = func() map[string][]string {
	old := []string{
		"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA",
		"AES128-SHA", "AES256-SHA", "DES-CBC3-SHA",
	}
	return map[string][]string{
		"TLSv1.0": old,
		"TLSv1.1": old,
		"TLSv1.2": slices.Concat(old, []string{
			"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA384",
			"ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA384",
			"AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA256", "AES256-SHA256",
		}),
		"TLSv1.3": {
			"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256",
		},
	}
}()

// UnknownCipher returns the first cipher that none of the versions has, or "" if there is none.
func UnknownCipher(versions, ciphers []string) string {
	var offered []string
	for _, version := range versions {
		offered = append(offered, TLSCiphers[version]...)
	}
	for _, cipher := range ciphers {
		if !slices.Contains(offered, cipher) {
			return cipher
		}
	}
	return ""
}

// TLSCipherPoliciesByRegion finds policies by account and region.
var TLSCipherPoliciesByRegion = TLSCipherPolicies.Index("region", func(p *TLSCipherPolicy) [][]string {
	return state.Key(p.AccountID, p.RegionID)
})

// ownTLSCipherPolicy returns the id of a listener's policy if it is the account's own, or "".
func ownTLSCipherPolicy(l *Listener) string {
	if strings.HasPrefix(l.TLSCipherPolicy, tlsCipherPolicyPrefix) {
		return l.TLSCipherPolicy
	}
	return ""
}

var _ = Listeners.With(state.Refers(TLSCipherPolicies, ownTLSCipherPolicy))

// ListenersByTLSCipherPolicy finds listeners by an account's own policy.
var ListenersByTLSCipherPolicy = Listeners.Index("tlscipherpolicy", func(l *Listener) [][]string {
	return state.Key(ownTLSCipherPolicy(l))
})

// StageTLSCipherPolicyConfiguring is while a change of a policy takes effect. How
// long that takes is not published: CLB-0500.
var StageTLSCipherPolicyConfiguring = TLSCipherPolicies.Stage("tlscipherpolicy.configuring", state.Busy, state.Idle, time.Second)

// The quotas of a region, and of a policy. How many are not published: CLB-0181.
var (
	QuotaTLSCipherPolicies        = state.NewQuota(Schema, "slb_quota_tls_cipher_policies_num", 50, state.InRegion(TLSCipherPolicies))
	QuotaTLSCipherPolicyListeners = state.NewQuota(Schema, "slb_quota_tls_cipher_policy_attached_num", 50,
		state.Of(Listeners, func(l *Listener, add func(string, int)) {
			if id := ownTLSCipherPolicy(l); id != "" {
				add(id, 1)
			}
		}))
)
