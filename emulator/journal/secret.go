package journal

import (
	"slices"
	"strings"
)

// Hidden stands for the value of a parameter that is secret.
const Hidden = "(hidden)"

// A parameter is secret if its name contains one of these words, in any case and with
// anything between the letters, or has one of these ends. A certificate is here
// because its file often has the key too.
var (
	secretWords = []string{"signature", "privatekey", "secret", "password", "passphrase", "credential", "authorization", "token"}
	// Whole names: a private key, in the certificate service.
	secretNames = []string{"key"}
	secretEnds  = []string{"servercertificate", "cacertificate"}
	// Tokens that repeat a call or turn a page, which are not secret.
	openTokens = []string{"clienttoken", "nexttoken"}
	// secretKeys are the names that make a text with fields of its own secret.
	secretKeys = []string{"privatekey", "accesskeysecret", "securitytoken", "signaturenonce", "password"}
	// secretFields are the names in an answer that make it secret.
	secretFields = []string{"privatekey", "accesskeysecret", "securitytoken", "password"}
)

// IsSecret reports whether a parameter's value must not be kept.
func IsSecret(name string) bool {
	word := letters(name)
	return slices.Contains(secretNames, word) || slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(word, end) }) ||
		containsAny(word, secretWords) && !slices.Contains(openTokens, word)
}

// isSecretValue reports whether a value is a private key, or has a secret among its
// fields.
func isSecretValue(value string) bool {
	return strings.Contains(value, "PRIVATE KEY") ||
		strings.ContainsAny(value, "{:=") && containsAny(letters(value), secretKeys)
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// letters returns the letters of a text, in lower case, and drops everything between
// them.
func letters(text string) string {
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i] | 0x20; 'a' <= c && c <= 'z' {
			b = append(b, c)
		}
	}
	return string(b)
}
