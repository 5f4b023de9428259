// Package apiclient calls the cloud's API as its RPC-style SDKs do: POST,
// everything in the query, signed by HMAC-SHA1. It owns the client's side of the
// protocol, for scenarios and tests; it must not know any action.
package apiclient

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The access key of the default world.
const (
	AccessKeyID     = "testid"
	AccessKeySecret = "testsecret"
)

// Client calls an API at a URL.
type Client struct {
	URL string
	// HTTP is http.DefaultClient when nil.
	HTTP *http.Client
	// AccessKeyID and AccessKeySecret are the default world's when empty.
	AccessKeyID, AccessKeySecret string
	// SecurityToken belongs to a temporary access key.
	SecurityToken string
	UserAgent     string
}

// maxAnswer is more than any answer has, in bytes.
const maxAnswer = 16 << 20

// Reply is an answer in JSON.
type Reply struct {
	Status int
	Body   map[string]any
	// Faults are the fault rules of an emulator that struck the call.
	Faults []string
}

// Text returns a field of the answer, or "" if it is absent or not a string.
func (r Reply) Text(name string) string {
	text, _ := r.Body[name].(string)
	return text
}

// Check returns an error if one of the parameters belongs to the protocol, which the client
// sets itself: with another Action or AccessKeyId, the call would not be the one that was
// asked for. The API compares letter case, and Check does not.
func (*Client) Check(params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		switch lower := strings.ToLower(strings.TrimSpace(name)); {
		case lower == "action", lower == "version", lower == "format", lower == "timestamp", lower == "securitytoken",
			lower == "accesskeyid", lower == "access_key_id", strings.HasPrefix(lower, "signature"):
			return fmt.Errorf("%q is a parameter of the protocol, which clbemu sets itself: leave it out", name)
		}
	}
	return nil
}

// Call sends one call in cn-hangzhou unless the parameters name another region.
// An error means that no answer came, or that Check rejects the parameters; a refusal is a
// Reply. An answer that can't be read is an error, and the Reply has its status and faults.
func (c *Client) Call(version, action string, params map[string]string) (Reply, error) {
	return c.CallContext(context.Background(), version, action, params)
}

// CallContext is like Call, but gives up when ctx ends.
func (c *Client) CallContext(ctx context.Context, version, action string, params map[string]string) (Reply, error) {
	if err := c.Check(params); err != nil {
		return Reply{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+"/?"+c.Sign(version, action, params), nil)
	if err != nil {
		return Reply{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if c.UserAgent != "" {
		request.Header.Set("User-Agent", c.UserAgent)
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	reply := Reply{Status: response.StatusCode, Faults: response.Header.Values("X-Clbemu-Fault")}
	if err := json.NewDecoder(http.MaxBytesReader(nil, response.Body, maxAnswer)).Decode(&reply.Body); err != nil {
		return reply, fmt.Errorf("%s answers no JSON: %w", action, err)
	}
	return reply, nil
}

// Sign returns the query of a POST with its signature. It does not Check the parameters.
func (c *Client) Sign(version, action string, params map[string]string) string {
	query := url.Values{
		"Version": {version}, "Action": {action}, "Format": {"JSON"}, "RegionId": {"cn-hangzhou"},
		"AccessKeyId": {cmp.Or(c.AccessKeyID, AccessKeyID)}, "SignatureMethod": {"HMAC-SHA1"}, "SignatureVersion": {"1.0"},
		"SignatureNonce": {rand.Text()}, "Timestamp": {time.Now().UTC().Format("2006-01-02T15:04:05Z")},
	}
	if c.SecurityToken != "" {
		query.Set("SecurityToken", c.SecurityToken)
	}
	for name, value := range params {
		query.Set(name, value)
	}
	mac := hmac.New(sha1.New, []byte(cmp.Or(c.AccessKeySecret, AccessKeySecret)+"&"))
	canonical := strings.ReplaceAll(query.Encode(), "+", "%20")
	mac.Write([]byte("POST&%2F&" + url.QueryEscape(canonical)))
	query.Set("Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return query.Encode()
}
