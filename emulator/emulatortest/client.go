package emulatortest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The versions that choose a product.
const (
	Slb = "2014-05-15"
	Vpc = "2016-04-28"
	Ecs = "2014-05-26"
)

// Client calls the API over HTTP as the RPC-style SDKs do: POST, everything in
// the query, signed by HMAC-SHA1.
type Client struct {
	URL string
	// HTTP is http.DefaultClient when nil.
	HTTP *http.Client
}

// Client returns a client of the server.
func (s *Server) Client() *Client { return &Client{URL: s.URL()} }

// Reply is an answer in JSON.
type Reply struct {
	Status int
	Body   map[string]any
}

// Text is a field of the answer, "" when it is absent or no string.
func (r Reply) Text(name string) string {
	text, _ := r.Body[name].(string)
	return text
}

// Call sends one call in cn-hangzhou unless the parameters name another region.
// An error means that no answer came; a refusal is a Reply.
func (c *Client) Call(version, action string, params map[string]string) (Reply, error) {
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Post(c.URL+"/?"+Sign(version, action, params), "application/x-www-form-urlencoded", nil)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close()
	reply := Reply{Status: response.StatusCode}
	if err := json.NewDecoder(response.Body).Decode(&reply.Body); err != nil {
		return Reply{}, fmt.Errorf("%s answers no JSON: %w", action, err)
	}
	return reply, nil
}

// Sign returns the query of a POST, signed with the default world's key.
func Sign(version, action string, params map[string]string) string {
	query := url.Values{
		"Version": {version}, "Action": {action}, "Format": {"JSON"}, "RegionId": {"cn-hangzhou"},
		"AccessKeyId": {AccessKeyID}, "SignatureMethod": {"HMAC-SHA1"}, "SignatureVersion": {"1.0"},
		"SignatureNonce": {rand.Text()}, "Timestamp": {time.Now().UTC().Format("2006-01-02T15:04:05Z")},
	}
	for name, value := range params {
		query.Set(name, value)
	}
	mac := hmac.New(sha1.New, []byte(AccessKeySecret+"&"))
	canonical := strings.ReplaceAll(query.Encode(), "+", "%20")
	mac.Write([]byte("POST&%2F&" + url.QueryEscape(canonical)))
	query.Set("Signature", base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return query.Encode()
}
