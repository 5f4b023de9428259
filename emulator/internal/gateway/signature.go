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

// signature holds what a call presents to prove who sent it.
type signature struct {
	accessKeyID   string
	timestamp     string
	nonce         string
	securityToken string
	value         string
	// verify explains what the call should have signed, nil if it was signed with the
	// secret.
	verify func(c *Call, s *signature, secret string) *Problem
	// stringToSign belongs to the newer scheme.
	stringToSign string
}

// readSignature finds out which of the two schemes the call uses and collects
// what it signs. Which parameter is missed first follows the order in which the
// gateway documents them.
func (c *Call) readSignature() (signature, *Problem) {
	authorization := c.request.Header.Get("Authorization")
	if c.underACS3 {
		return c.readACS3(authorization)
	}
	if algorithm, _, _ := strings.Cut(authorization, " "); strings.HasPrefix(algorithm, "ACS3-") {
		return signature{}, unsupportedAlgorithm(algorithm)
	}
	return c.readV1()
}

// readV1 reads the signature of HMAC-SHA1 over the parameters: CLB-0001. Some clients write
// TimeStamp: CLB-0014.
func (c *Call) readV1() (signature, *Problem) {
	s := signature{
		accessKeyID:   c.AccessKeyID,
		timestamp:     first(c.sent.timestamp, c.sent.timeStamp),
		nonce:         c.sent.nonce,
		securityToken: c.sent.securityToken,
		value:         c.sent.signature,
		verify:        verifyV1,
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
	case c.sent.signatureMethod != "HMAC-SHA1", c.sent.signatureVersion != "1.0":
		return s, problemIncompleteSignature
	}
	return s, nil
}

func verifyV1(c *Call, s *signature, secret string) *Problem {
	k := keyedV1(secret)
	defer k.release()
	k.text = append(append(k.text[:0], c.request.Method...), "&%2F&"...)
	k.text = twice.appendQuery(k.text, c.signed, "Signature")
	k.mac.Write(k.text)
	k.sum = k.mac.Sum(k.sum[:0])
	k.spelled = base64.StdEncoding.AppendEncode(k.spelled[:0], k.sum)
	if !hmac.Equal(k.spelled, []byte(s.value)) {
		return signatureMismatch(string(k.text))
	}
	return nil
}

// keyedV1s keeps used MACs with their memory, since most calls come with the same
// secret.
var keyedV1s sync.Pool

// signingKey is HMAC-SHA1 under a secret, with what it is used on.
type signingKey struct {
	secret             string
	mac                hash.Hash
	text, sum, spelled []byte
}

func keyedV1(secret string) *signingKey {
	if k, ok := keyedV1s.Get().(*signingKey); ok && k.secret == secret {
		k.mac.Reset()
		return k
	}
	return &signingKey{secret: secret, mac: hmac.New(sha1.New, []byte(secret+"&"))}
}

// release keeps it for another call, but for the memory of the longest.
func (k *signingKey) release() {
	if cap(k.text) <= 64<<10 {
		keyedV1s.Put(k)
	}
}

// acs3 opens the Authorization header of the newer scheme.
const acs3 = "ACS3-HMAC-SHA256"

// acs3Credential holds the Authorization header of the newer scheme.
type acs3Credential struct{ accessKeyID, signedHeaders, signature string }

func parseACS3(authorization string) (c acs3Credential) {
	for part := range strings.SplitSeq(strings.TrimPrefix(authorization, acs3), ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch key {
		case "Credential":
			c.accessKeyID = value
		case "SignedHeaders":
			c.signedHeaders = value
		case "Signature":
			c.signature = value
		}
	}
	return c
}

// claimedKey returns the access key that a call names, or "" if none.
func (c *Call) claimedKey() string {
	if c.underACS3 {
		return parseACS3(c.request.Header.Get("Authorization")).accessKeyID
	}
	return c.AccessKeyID
}

// readACS3 reads the signature of HMAC-SHA256 over a canonical request: CLB-0002.
func (c *Call) readACS3(authorization string) (signature, *Problem) {
	h := c.request.Header
	s := signature{
		timestamp:     h.Get("x-acs-date"),
		nonce:         h.Get("x-acs-signature-nonce"),
		securityToken: h.Get("x-acs-security-token"),
		verify:        verifyACS3,
	}
	credential := parseACS3(authorization)
	s.accessKeyID, s.value = strings.TrimPrefix(credential.accessKeyID, c.keyPrefix), credential.signature
	signedHeaders := credential.signedHeaders
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
	s.stringToSign = acs3 + "\n" + hex.EncodeToString(hash[:])
	if h.Get("x-acs-content-sha256") != hex.EncodeToString(bodyHash[:]) {
		return s, signatureMismatch(s.stringToSign)
	}
	return s, nil
}

func canonicalRequest(r *http.Request, signedHeaders []string, bodyHash string) string {
	// The gateway read the query before, so it parses.
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
		r.Method, first(r.URL.EscapedPath(), "/"), string(once.appendQuery(nil, query, "")),
		headers.String(), strings.Join(signedHeaders, ";"), bodyHash,
	}, "\n")
}

func verifyACS3(_ *Call, s *signature, secret string) *Problem {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(s.stringToSign))
	if !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(s.value)) {
		return signatureMismatch(s.stringToSign)
	}
	return nil
}

// escaping is the spelling of a canonical query: the older scheme escapes it as a whole
// once more, which is the same as to escape its parts twice.
type escaping struct{ percent, equals, and string }

var (
	once  = escaping{"%", "=", "&"}
	twice = escaping{"%25", "%3D", "%26"}
)

// appendQuery appends the parameters in order of name, without one. Names are
// escaped under both schemes: CLB-0009.
func (e escaping) appendQuery(b []byte, params Params, except string) []byte {
	start := len(b)
	for _, param := range params {
		if param.Name == except {
			continue
		}
		if len(b) > start {
			b = append(b, e.and...)
		}
		b = e.appendEscaped(b, param.Name)
		b = append(b, e.equals...)
		b = e.appendEscaped(b, param.Value)
	}
	return b
}

// appendEscaped percent-encodes by RFC 3986: letters, digits and -_.~ stay.
func (e escaping) appendEscaped(b []byte, s string) []byte {
	start := 0
	for i := range len(s) {
		if c := s[i]; !unreserved[c] {
			b = append(append(b, s[start:i]...), e.percent...)
			b = append(b, upperHex[c>>4], upperHex[c&15])
			start = i + 1
		}
	}
	return append(b, s[start:]...)
}

// unreserved are the bytes that stay.
var unreserved = func() (stays [256]bool) {
	for c := range stays {
		stays[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.~", byte(c)) >= 0
	}
	return stays
}()

// timestampForm is the only form of time that a signature may carry: UTC,
// without a fraction. time.Parse reads RFC 3339, which has it, much faster.
const timestampForm = "2006-01-02T15:04:05Z"

// timestampWindow limits how far a client's clock may be off, each way: CLB-0008.
const timestampWindow = 15 * time.Minute

func readTimestamp(text string, now time.Time) (time.Time, *Problem) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || len(text) != len(timestampForm) || text[len(text)-1] != 'Z' {
		return t, problemTimestampFormat
	}
	if d := now.Sub(t); d > timestampWindow || d < -timestampWindow {
		return t, problemTimestampExpired
	}
	return t, nil
}
