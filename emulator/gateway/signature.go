package gateway

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// signature is what a call presents to prove who sent it.
type signature struct {
	accessKeyID   string
	timestamp     string
	nonce         string
	securityToken string
	value         string
	stringToSign  []byte
	sign          func(secret string, stringToSign []byte) string
}

// readSignature finds out which of the two schemes the call uses and collects
// what it signs. Which parameter is missed first follows the order in which the
// gateway documents them.
func (c *Call) readSignature() (signature, *Problem) {
	authorization := c.request.Header.Get("Authorization")
	if c.underACS3() {
		return c.readACS3(authorization)
	}
	if algorithm, _, _ := strings.Cut(authorization, " "); strings.HasPrefix(algorithm, "ACS3-") {
		return signature{}, unsupportedAlgorithm(algorithm)
	}
	return c.readV1()
}

// underACS3 tells whether the call is signed by the newer scheme.
func (c *Call) underACS3() bool {
	return strings.HasPrefix(c.request.Header.Get("Authorization"), acs3)
}

// readV1 is HMAC-SHA1 over the parameters: CLB-0001. Some clients write TimeStamp:
// CLB-0014.
func (c *Call) readV1() (signature, *Problem) {
	s := signature{
		accessKeyID:   c.AccessKeyID,
		timestamp:     first(c.signed.Get("Timestamp"), c.signed.Get("TimeStamp")),
		nonce:         c.signed.Get("SignatureNonce"),
		securityToken: c.signed.Get("SecurityToken"),
		value:         c.signed.Get("Signature"),
		sign:          signV1,
	}
	switch {
	case s.accessKeyID == "":
		return s, Missing("AccessKeyId")
	case s.value == "":
		return s, Missing("Signature")
	case s.timestamp == "":
		return s, Missing("Timestamp")
	case s.nonce == "":
		return s, Missing("SignatureNonce")
	case c.signed.Get("SignatureMethod") != "HMAC-SHA1":
		return s, problemIncompleteSignature
	case c.signed.Get("SignatureVersion") != "1.0":
		return s, problemIncompleteSignature
	}
	s.stringToSign = stringToSignV1(c.request.Method, c.signed)
	return s, nil
}

func stringToSignV1(method string, params Params) []byte {
	var room [usualQuery]byte
	query := appendCanonicalQuery(room[:0], params, "Signature")
	b := make([]byte, 0, len(query)+len(query)/2+16)
	b = append(b, method...)
	b = append(b, "&%2F&"...)
	return appendEscaped(b, query)
}

// usualQuery is the length that most queries stay below; longer ones are signed as
// well, with memory of the heap.
const usualQuery = 2 << 10

func signV1(secret string, stringToSign []byte) string {
	mac := keyedV1(secret)
	defer keyed.Put(mac)
	mac.Write(stringToSign)
	var room [sha1.Size]byte
	return base64.StdEncoding.EncodeToString(mac.Sum(room[:0]))
}

// keyedHash is HMAC-SHA1 under a secret.
type keyedHash struct {
	secret string
	hash.Hash
}

// keyed are those that were used, since most calls come with the same secret.
var keyed sync.Pool

func keyedV1(secret string) *keyedHash {
	if mac, ok := keyed.Get().(*keyedHash); ok && mac.secret == secret {
		mac.Reset()
		return mac
	}
	return &keyedHash{secret, hmac.New(sha1.New, []byte(secret+"&"))}
}

// acs3 opens the Authorization header of the newer scheme.
const acs3 = "ACS3-HMAC-SHA256"

// readACS3 is HMAC-SHA256 over a canonical request: CLB-0002.
func (c *Call) readACS3(authorization string) (signature, *Problem) {
	h := c.request.Header
	s := signature{
		timestamp:     h.Get("x-acs-date"),
		nonce:         h.Get("x-acs-signature-nonce"),
		securityToken: h.Get("x-acs-security-token"),
		sign:          signACS3,
	}
	var signedHeaders string
	for part := range strings.SplitSeq(strings.TrimPrefix(authorization, acs3), ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "Credential":
			s.accessKeyID = value
		case "SignedHeaders":
			signedHeaders = value
		case "Signature":
			s.value = value
		}
	}
	switch {
	case s.accessKeyID == "":
		return s, Missing("AccessKeyId")
	case s.value == "" || signedHeaders == "":
		return s, problemIncompleteSignature
	case s.timestamp == "":
		return s, Missing("Timestamp")
	case s.nonce == "":
		return s, Missing("SignatureNonce")
	}
	names := strings.Split(strings.ToLower(signedHeaders), ";")
	// What the gateway reads must be under the signature.
	for _, name := range []string{"host", "x-acs-action", "x-acs-version", "x-acs-date", "x-acs-signature-nonce",
		"x-acs-security-token", "x-acs-content-sha256", "content-type"} {
		if (name == "host" || h.Get(name) != "") && !slices.Contains(names, name) {
			return s, problemIncompleteSignature
		}
	}
	bodyHash := sha256.Sum256(c.body)
	canonical := canonicalRequest(c.request, names, hex.EncodeToString(bodyHash[:]))
	hash := sha256.Sum256([]byte(canonical))
	s.stringToSign = []byte(acs3 + "\n" + hex.EncodeToString(hash[:]))
	if h.Get("x-acs-content-sha256") != hex.EncodeToString(bodyHash[:]) {
		return s, signatureMismatch(string(s.stringToSign))
	}
	return s, nil
}

func canonicalRequest(r *http.Request, signedHeaders []string, bodyHash string) string {
	// The query was read before, so it parses.
	query, _ := appendQuery(nil, r.URL.RawQuery)
	query.sort()
	slices.Sort(signedHeaders)
	var headers strings.Builder
	for _, name := range signedHeaders {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		headers.WriteString(name + ":" + strings.TrimSpace(value) + "\n")
	}
	return strings.Join([]string{
		r.Method, first(r.URL.EscapedPath(), "/"), string(appendCanonicalQuery(nil, query, "")),
		headers.String(), strings.Join(signedHeaders, ";"), bodyHash,
	}, "\n")
}

func signACS3(secret string, stringToSign []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(stringToSign)
	return hex.EncodeToString(mac.Sum(nil))
}

// appendCanonicalQuery appends the parameters in order of name, without one. Names
// are escaped under both schemes: CLB-0009.
func appendCanonicalQuery(b []byte, params Params, except string) []byte {
	start := len(b)
	for _, param := range params {
		if param.Name == except {
			continue
		}
		if len(b) > start {
			b = append(b, '&')
		}
		b = appendEscaped(b, param.Name)
		b = append(b, '=')
		b = appendEscaped(b, param.Value)
	}
	return b
}

// appendEscaped percent-encodes by RFC 3986: letters, digits and -_.~ stay.
func appendEscaped[T string | []byte](b []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; unreserved[c] {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b
}

// unreserved are the bytes that stay.
var unreserved = func() (stays [256]bool) {
	for c := range stays {
		stays[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.~", byte(c)) >= 0
	}
	return stays
}()

// timestampForm is the only form of time that a signature may carry: UTC,
// without a fraction.
const timestampForm = "2006-01-02T15:04:05Z"

// timestampWindow is how far a client's clock may be off, each way: CLB-0008.
const timestampWindow = 15 * time.Minute

func readTimestamp(text string, now time.Time) (time.Time, *Problem) {
	t, err := time.Parse(timestampForm, text)
	if err != nil {
		return t, problemTimestampFormat
	}
	if d := now.Sub(t); d > timestampWindow || d < -timestampWindow {
		return t, problemTimestampExpired
	}
	return t, nil
}

func (s signature) matches(secret string) bool {
	return hmac.Equal([]byte(s.sign(secret, s.stringToSign)), []byte(s.value))
}
