package metadata_test

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/metadata"
	"github.com/clbemu/clbemu/state"
)

// escape encodes as RFC 3986 says.
func escape(text string) string {
	return strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(url.QueryEscape(text))
}

// signed returns a call signed with HMAC-SHA1, as the SDKs sign it.
func signed(key, secret, token, nonce string) *http.Request {
	query := url.Values{
		"Action": {"Ping"}, "Version": {"1"}, "AccessKeyId": {key}, "SecurityToken": {token},
		"SignatureMethod": {"HMAC-SHA1"}, "SignatureVersion": {"1.0"}, "SignatureNonce": {nonce},
		"Timestamp": {gatewaytest.Start.Format(time.RFC3339)},
	}
	// Encode sorts by name; only its spelling of a few characters is another.
	canonical := strings.NewReplacer("+", "%20", "*", "%2A", "%7E", "~").Replace(query.Encode())
	mac := hmac.New(sha1.New, []byte(secret+"&"))
	mac.Write([]byte("GET&%2F&" + escape(canonical)))
	query.Set("Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return httptest.NewRequest(http.MethodGet, "/?"+query.Encode(), nil)
}

// The server takes the credentials of a role until they expire, and not without
// their token.
func TestGatewayTakesCredentials(t *testing.T) {
	s := newService(t, metadata.Config{})
	var c struct{ AccessKeyID, AccessKeySecret, SecurityToken string }
	if err := json.Unmarshal([]byte(s.get(t, rolePath)), &c); err != nil {
		t.Fatalf("credentials: %v", err)
	}
	ping := gateway.Read("Ping", func(*state.View, *gateway.Empty) (*gateway.Empty, error) { return &gateway.Empty{}, nil })
	server := gateway.NewServer(gateway.Config{
		Store: s.store, StrictAuth: true, Seed: 1, WallClock: func() time.Time { return gatewaytest.Start },
		Products: []*gateway.Product{{Name: "Test", Version: "1", Actions: []gateway.Action{ping}, Errors: gateway.NewErrorTable()}},
	})
	for _, step := range []struct {
		name, token string
		later       time.Duration
		status      int
	}{
		{"Good", c.SecurityToken, 0, http.StatusOK},
		{"WithoutToken", "", 0, http.StatusBadRequest},
		{"Expired", c.SecurityToken, 6 * time.Hour, http.StatusBadRequest},
	} {
		s.clock.Advance(step.later)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, signed(c.AccessKeyID, c.AccessKeySecret, step.token, step.name))
		if w.Code != step.status {
			t.Errorf("%s: the server answers %d %s, want %d", step.name, w.Code, w.Body, step.status)
		}
	}
}
