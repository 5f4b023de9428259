package contracttests

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// heardRefusal is a refusal of an action, as a client reads it.
type heardRefusal struct {
	action, code string
	status       int
	message      string
}

// heardRefusals keeps what a client is answered where its calls are refused.
type heardRefusals struct {
	http.RoundTripper

	mu   sync.Mutex
	seen map[heardRefusal]bool
	last map[string]string // code and message, by action
}

var _ http.RoundTripper = (*heardRefusals)(nil)

// RoundTrip implements http.RoundTripper.
func (r *heardRefusals) RoundTrip(request *http.Request) (*http.Response, error) {
	form := []byte{}
	if request.Body != nil {
		var err error
		if form, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		request.Body = io.NopCloser(bytes.NewReader(form))
	}
	response, err := r.RoundTripper.RoundTrip(request)
	if err != nil || response.StatusCode < 400 {
		return response, err
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	params, _ := url.ParseQuery(string(form))
	var answer struct{ Code, Message string }
	if action := params.Get("Action") + request.URL.Query().Get("Action"); json.Unmarshal(text, &answer) == nil && action != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen[heardRefusal{action, answer.Code, response.StatusCode, answer.Message}] = true
		r.last[action] = answer.Code + " " + answer.Message
	}
	return response, nil
}

// knownOtherwise are refusals that the tables of errors do not have so, by what they are
// known from.
var knownOtherwise = map[string]string{
	"AddBackendServers BackendServer.InvalidType":                        "AddVServerGroupBackendServers has the code, for the same cause",
	"AddVServerGroupBackendServers InvalidParameter":                     "the message is that of ModifyVServerGroupBackendServers, for the same cause",
	"CreateLoadBalancer InvalidParameter":                                "reports have the message of an address that is taken",
	"CreateLoadBalancer Operation.NotAllowed":                            "the announcement of the end of subscriptions is newer",
	"CreateLoadBalancer VSwitchAvailableIpNotExist":                      "the page of ACK has the message without the misprint",
	"CreateLoadBalancerTCPListener LbStatusNotSupport":                   "RemoveVServerGroupBackendServers has the code, for the same cause",
	"CreateRules RuleNameExist":                                          "the SDK has the rule without a code: CLB-0207",
	"CreateVServerGroup LbStatusNotSupport":                              "RemoveVServerGroupBackendServers has the code, for the same cause",
	"ModifyLoadBalancerInternetSpec InvalidParameter.Bandwidth":          "ModifyLoadBalancerInstanceSpec has the code, for the same cause",
	"ModifyLoadBalancerInternetSpec Operation.NotAllowed":                "the page of the action has the message, its metadata only that of the bandwidth",
	"ModifyLoadBalancerPayType Operation.NotAllowed":                     "the announcement of the end of subscriptions is newer",
	"ModifyVServerGroupBackendServers InvalidParameter":                  "AddVServerGroupBackendServers has the message, for the same cause",
	"RemoveTags MissingParameter.Tags":                                   "AddTags has the code, for the same cause",
	"SetLoadBalancerHTTPSListenerAttribute ServerCertificateId.NotFound": "a report of 2025 has it, with a RequestId",
}

// check wants each refusal to have a code that is published for the action, and its status
// and message, unless the message has another text in each answer. Codes about a parameter
// follow from its name.
func (r *heardRefusals) check(t *testing.T, product string) {
	t.Helper()
	text, err := os.ReadFile("../emulator/names/errors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	published := make(map[string][][]string)
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		published[fields[0]+" "+fields[2]] = append(published[fields[0]+" "+fields[2]], fields)
	}
	for s := range r.seen {
		named := !strings.Contains(s.code, ".") && (strings.HasPrefix(s.code, "Missing") || strings.HasPrefix(s.code, "Invalid"))
		rows, common := published[product+"/"+s.action+" "+s.code], len(published["* "+s.code]) > 0
		ok := knownOtherwise[s.action+" "+s.code] != "" || len(rows) == 0 && (named || common || product != "Slb")
		for _, row := range rows {
			ok = ok || row[1] == strconv.Itoa(s.status) && (row[3] == "" || strings.ContainsAny(row[3], "%{[<") || row[3] == s.message)
		}
		if !ok {
			t.Errorf("%s is refused with %d %s %q, published are %q", s.action, s.status, s.code, s.message, rows)
		}
	}
}
