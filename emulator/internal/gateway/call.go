package gateway

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/clbemu/clbemu/state"
)

// MaxBody is the largest request body in bytes. The largest real one, a
// certificate chain with its key, is far below.
const MaxBody = 1 << 20

// Format is the format of an answer.
type Format string

// The formats.
const (
	JSON Format = "JSON"
	XML  Format = "XML"
)

// Call is one request on its way through the gateway.
type Call struct {
	RequestID   string
	Received    time.Time
	ActionName  string
	Version     string
	Format      Format
	Host        string
	UserAgent   string
	AccessKeyID string
	// Scope says who makes the call, and for which region.
	Scope state.Owner
	// Params holds the parameters of query and form, without the protocol's own.
	Params Params

	// Named lists the ids of resources in the call's parameters, and Made those in its answer of
	// the resources that it made.
	Named, Made []string
	// Faults are the names of the fault rules that struck the call.
	Faults []string

	traceID     string
	strict      bool                                   // what the signature doesn't cover is not read
	broken      func(http.ResponseWriter, reply) reply // what happens to the answer, if set
	delivered   string                                 // what the client gets of it then
	view        *state.View                            // that the steps from lookAtState to leaveState share
	staleBy     state.Past                             // what a read sees
	stageDelays map[state.Stage]time.Duration          // of what a write begins
	product     *Product
	elsewhere   string // the name of a product that is not emulated
	action      *Action
	request     *http.Request
	signed      Params // all parameters, for the signature
	sent        protocol
	underACS3   bool // signed by the newer scheme
	// keyPrefix is the part of the access key's id that names a cloud, such as "NAME.".
	keyPrefix string
	body      []byte
	// What the call takes of the budget for all.
	large, parameters share
}

// Headers returns the headers of the request, or nil if the call could not be read. The caller must
// not change them.
func (c *Call) Headers() http.Header {
	if c.request == nil {
		return nil
	}
	return c.request.Header
}

// Product returns the name of the called product, also of one that is not emulated, or "" if it is
// unknown.
func (c *Call) Product() string {
	if c.product == nil {
		return c.elsewhere
	}
	return c.product.Name
}

// Resource returns the id of the resource of the call, by the first of its product's parameters
// that names one, or "".
func (c *Call) Resource() string {
	_, id := c.about()
	return id
}

// about finds what the call is about by the first of the product's parameters
// that it has.
func (c *Call) about() (r Resource, id string) {
	if c.product == nil {
		return Resource{}, ""
	}
	for _, r := range c.product.Resources {
		if id := c.Params.Get(r.Parameter); id != "" {
			return r, id
		}
	}
	return Resource{}, ""
}

// Unread lists the parameters that no field of the action's request takes, but
// for RegionId, which the gateway reads itself.
func (c *Call) Unread() []string {
	if c.action == nil || c.action.request == nil {
		return nil
	}
	unread := c.action.request().unread(c.Params)
	return slices.DeleteFunc(unread, func(name string) bool { return name == "RegionId" })
}

// parse reads the request: query and form together, and the headers that the
// newer clients use in place of parameters.
func (c *Call) parse(budget *MemoryBudget, w http.ResponseWriter, r *http.Request) *Problem {
	c.request = r
	c.Host = hostname(r.Host)
	c.UserAgent = r.UserAgent()
	c.Format = JSON
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		c.Version = first(r.Header.Get("x-acs-version"), r.URL.Query().Get("Version"))
		return problemMethod
	}
	c.underACS3 = strings.HasPrefix(r.Header.Get("Authorization"), acs3)
	accept := r.Header.Get("Accept")
	unread := c.readBody(budget, w, r)
	if problem := c.parameters.acquire(r.Context(), budget.parameters, costOf(len(r.URL.RawQuery)+len(c.body))); problem != nil {
		return problem
	}
	params, err := appendQuery(nil, r.URL.RawQuery)
	if err != nil {
		return problemUnreadable
	}
	params.sort()
	if unread != nil || len(c.body) > 0 {
		// The format comes first, so that later refusals use it.
		c.Format = formatOf(params.Get("Format"), accept)
		if unread != nil {
			return unread
		}
		var problem *Problem
		if params, problem = c.appendBody(params, r); problem != nil {
			return problem
		}
		params.sort()
	}
	c.parameters.shrink(int64(len(r.URL.RawQuery) + len(c.body) + len(params)*paramCost))
	c.signed = params
	c.sent, c.Params = params.split()
	c.Format = formatOf(c.sent.format, accept)
	c.ActionName, c.Version = c.sent.action, c.sent.version
	if !c.strict || c.underACS3 {
		c.ActionName = first(c.ActionName, r.Header.Get("x-acs-action"))
		c.Version = first(c.Version, r.Header.Get("x-acs-version"))
	}
	c.AccessKeyID = c.sent.accessKeyID
	c.Scope.RegionID = c.Params.Get("RegionId")
	return params.check()
}

// A Claim is the call that a request claims to be.
type Claim struct{ Version, Action, AccessKeyID string }

// ClaimOf returns the claim of a request as parse reads it, and whether it is known without
// the body, where parameters may be too.
func ClaimOf(r *http.Request) (claim Claim, known bool) {
	params, err := appendQuery(nil, r.URL.RawQuery)
	params.sort()
	if err != nil || params.check() != nil {
		return Claim{}, false
	}
	sent, _ := params.split()
	call := &Call{request: r, AccessKeyID: sent.accessKeyID, underACS3: strings.HasPrefix(r.Header.Get("Authorization"), acs3)}
	claim = Claim{Version: sent.version, Action: sent.action, AccessKeyID: call.claimedKey()}
	if r.ContentLength == 0 {
		claim.Version, claim.Action = first(claim.Version, r.Header.Get("x-acs-version")), first(claim.Action, r.Header.Get("x-acs-action"))
	}
	return claim, claim.Version != "" && claim.Action != "" && (r.ContentLength == 0 || claim.AccessKeyID != "")
}

// appendBody appends the parameters that are in the body.
func (c *Call) appendBody(params Params, r *http.Request) (Params, *Problem) {
	contentType := r.Header.Get("Content-Type")
	if isForm(contentType) {
		params, err := appendQuery(params, string(c.body))
		if err != nil {
			return nil, problemUnreadable
		}
		return params, nil
	}
	// The older signature is over parameters, and covers no JSON.
	if isJSON(contentType) && (!c.strict || c.underACS3) {
		return appendJSON(params, c.body)
	}
	return params, nil
}

func (c *Call) readBody(budget *MemoryBudget, w http.ResponseWriter, r *http.Request) *Problem {
	size := r.ContentLength // -1 if unknown
	switch {
	case size == 0:
		return nil
	case size > MaxBody:
		return problemTooLarge
	case size < 0 || size > smallBody:
		if problem := c.large.acquire(r.Context(), budget.bodies, MaxBody); problem != nil {
			return problem
		}
		defer limitBodyTime(w)()
	}
	var body bytes.Buffer
	body.Grow(int(max(size, 0)) + bytes.MinRead)
	_, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, MaxBody))
	if err == nil {
		c.body = body.Bytes()
		c.large.shrink(int64(len(c.body)))
		return nil
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return problemTooLarge
	}
	return problemUnreadable
}

// hostname returns the host without its port.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return hostport
}

func isForm(contentType string) bool {
	return contentType == "" || strings.HasPrefix(strings.ToLower(contentType), "application/x-www-form-urlencoded")
}

// formatOf chooses the answer's format: JSON unless the call asks for XML. The
// documentation disagrees about the default; evidence CLB-0003.
func formatOf(parameter, accept string) Format {
	if strings.EqualFold(parameter, string(XML)) {
		return XML
	}
	if parameter == "" && strings.Contains(accept, "/xml") && !strings.Contains(accept, "json") && !strings.Contains(accept, "html") {
		return XML
	}
	return JSON
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
)

// spellIDs spells 16 bytes as the cloud does: as an upper-case UUID, and as 32 hex
// digits.
func spellIDs(b [16]byte) (requestID, traceID string) {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	const uuid = 36
	text := make([]byte, 0, uuid+2*len(b))
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text = append(text, '-')
		}
		text = append(text, upperHex[c>>4], upperHex[c&15])
	}
	for _, c := range b {
		text = append(text, lowerHex[c>>4], lowerHex[c&15])
	}
	both := string(text)
	return both[:uuid], both[uuid:]
}
