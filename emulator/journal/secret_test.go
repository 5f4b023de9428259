package journal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/journal"
)

// TestSecrets proves which parameters are hidden: by name in any spelling, and by
// what the value is.
func TestSecrets(t *testing.T) {
	const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"
	for _, test := range []struct {
		name, value string
		hidden      bool
	}{
		{"PrivateKey", "x", true}, {"privatekey", "x", true}, {"PRIVATE_KEY", "x", true}, {"Private-Key.1", "x", true},
		{"Key", "x", true}, {"EncryptPrivateKey", "x", true}, {"Tag.1.Key", "x", false}, {"TagKey.1", "x", false},
		{"Listener.1.PrivateKey", "x", true}, {"Private\u200bKey", "x", true},
		{"ServerCertificate", "x", true}, {"servercertificate", "x", true}, {"ServerCertificate.1", "x", true}, {"CACertificate", "x", true},
		{"Signature", "x", true}, {"signature", "x", true}, {"SignatureNonce", "x", true}, {"signature_nonce", "x", true},
		{"SecurityToken", "x", true}, {"securitytoken", "x", true}, {"security-token", "x", true}, {"x-acs-security-token", "x", true}, {"BearerToken", "x", true},
		{"AccessKeySecret", "x", true}, {"access_key_secret", "x", true}, {"Secret", "x", true}, {"Password", "x", true}, {"Authorization", "x", true}, {"Credentials", "x", true},
		{"Description", pem, true}, {"Description", "cert\n" + pem, true},
		{"Listeners", `[{"PrivateKey":"x"}]`, true}, {"Body", `{"security_token": "x"}`, true}, {"Query", "a=1&AccessKeySecret=x", true},
		{"ServerCertificateId", "x", false}, {"ServerCertificateName", "x", false}, {"CACertificateId", "x", false},
		{"ClientToken", "x", false}, {"NextToken", "x", false}, {"LoadBalancerId", "lb-1", false},
		{"Listener.1.ServerCertificate", "x", true}, {"Description", "the private key: ask Bob", true},
		{"BackendServers", `[{"ServerId":"i-1","Weight":"100"}]`, false},
	} {
		j := mustNew(t, journal.Config{})
		j.Record(call("UploadServerCertificate"), journal.Parameter{Name: test.name, Value: test.value})
		got := j.Query(journal.Query{}).Entries[0].Parameters.Get(test.name)
		if (got == journal.Hidden) != test.hidden {
			t.Errorf("%s=%q is kept as %q, want it hidden: %t", test.name, test.value, got, test.hidden)
		}
	}
}

// TestSecretsOfChanges proves that a condition is not taken for a parameter that
// it names, and that a rule with a secret in it is hidden.
func TestSecretsOfChanges(t *testing.T) {
	j := mustNew(t, journal.Config{})
	j.Record(journal.Entry{Kind: journal.KindWorld},
		journal.Parameter{Name: "a-rule", Value: "match:\n  params.PrivateKey: x\n"},
		journal.Parameter{Name: "throttle.action.UploadServerCertificate", Value: "1"})
	got := j.Query(journal.Query{}).Entries[0].Parameters
	if got.Get("throttle.action.UploadServerCertificate") != "1" || got.Get("a-rule") != journal.Hidden {
		t.Errorf("the change is kept as %v, want the condition shown and the rule hidden", got)
	}
}

// FuzzRecord proves that a secret does not get through by what is around it: no
// name that holds PrivateKey keeps its value, and every entry is valid JSON.
func FuzzRecord(f *testing.F) {
	f.Add("", "", "x")
	f.Add("Listener.1.", ".2", "y\xff")
	f.Fuzz(func(t *testing.T, before, after, value string) {
		const secret = "5ecr3t-5ecr3t"
		j := mustNew(t, journal.Config{})
		j.Record(call(before), journal.Parameter{Name: before + "PrivateKey" + after, Value: secret + value},
			journal.Parameter{Name: after, Value: value})
		text, err := json.Marshal(j.Query(journal.Query{}))
		if err != nil || !json.Valid(text) {
			t.Fatalf("the page is no JSON: %v", err)
		}
		if strings.Contains(string(text), secret) && !strings.Contains(before+after+value, secret) {
			t.Errorf("the journal keeps a private key: %s", text)
		}
	})
}
