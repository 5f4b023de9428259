package journal

import (
	"slices"
	"strings"
)

// Hidden stands for the value of a parameter that is secret.
const Hidden = "(hidden)"

// Whatever a name of letters, in any case and with anything between them, holds
// of the first or is of the second is secret. A certificate is here because its
// file often has the key too.
var (
	secretWords = []string{"signature", "privatekey", "secret", "password", "passphrase", "credential", "authorization", "token"}
	secretNames = []string{"servercertificate", "cacertificate"}
	// Tokens by which a client repeats a call or turns a page.
	openTokens = []string{"clienttoken", "nexttoken"}
	// secretKeys are the names that make a text with fields of its own secret.
	secretKeys = []string{"privatekey", "accesskeysecret", "securitytoken", "signaturenonce", "password"}
)

// isSecret tells whether a parameter must not be remembered: by its name, or
// because of what its value has in it.
func isSecret(name, value string) bool {
	word := letters(name)
	if slices.Contains(secretNames, word) || containsAny(word, secretWords) && !slices.Contains(openTokens, word) {
		return true
	}
	if strings.Contains(value, "PRIVATE KEY") {
		return true
	}
	return strings.ContainsAny(value, "{:=") && containsAny(letters(value), secretKeys)
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// letters are those of a text, in lower case, without what is between them.
func letters(text string) string {
	b := make([]byte, 0, len(text))
	for i := range len(text) {
		if c := text[i] | 0x20; 'a' <= c && c <= 'z' {
			b = append(b, c)
		}
	}
	return string(b)
}
