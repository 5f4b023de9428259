// Package realcloud calls the real cloud, more slowly than its published limits: it signs, finds
// the hosts, waits out throttling, and says which errors end a run. It must not know why it is
// called.
package realcloud

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/scenarios"
)

// Credentials are an access key, with the token of a temporary one.
type Credentials struct{ ID, Secret, Token string }

// Clock is the time of a run.
type Clock interface {
	Now() time.Time
	// Sleep waits until the time has passed, or ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// MachineClock is the machine's time.
type MachineClock struct{}

var _ Clock = MachineClock{}

// Now implements Clock.
func (MachineClock) Now() time.Time { return time.Now() }

// Sleep implements Clock.
func (MachineClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Cloud calls the cloud, more slowly than its published limits.
type Cloud struct {
	Region      string
	Endpoints   map[string]string // URLs by product, in place of the cloud's own
	HTTP        *http.Client
	Credentials Credentials
	Clock       Clock
	UserAgent   string

	next map[string]time.Time // when the next call of an action may go out
}

// regionForm is the form of regions, which become part of a host name.
var regionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z]{2}(-[a-z0-9]+)+$`) })

// CheckRegion refuses a text that is not a region.
func CheckRegion(region string) error {
	if !regionForm().MatchString(region) {
		return fmt.Errorf("%q is no region: give one such as cn-hangzhou", region)
	}
	return nil
}

// central are the products that answer at one host for all regions, as their pages on
// endpoints say (2026).
var central = []string{"ResourceManager", "cas", "quotas"}

// endpoint returns the URL of a product.
func (c *Cloud) endpoint(product string) string {
	if at := c.Endpoints[product]; at != "" {
		return at
	}
	if slices.Contains(central, product) {
		return "https://" + strings.ToLower(product) + ".aliyuncs.com"
	}
	return "https://" + strings.ToLower(product) + "." + c.Region + ".aliyuncs.com"
}

// The errors that end a run.
type (
	// Unreachable reports a call that did not go out.
	Unreachable struct {
		At  string
		Err error
	}
	// Rejected means that the cloud does not take the credentials, or no longer.
	Rejected struct{ Code, Message string }
)

func (e *Unreachable) Error() string { return fmt.Sprintf("can't reach %s: %v", e.At, e.Err) }

func (e *Unreachable) Unwrap() error { return e.Err }

// Expired reports whether new credentials will do.
func (e *Rejected) Expired() bool {
	return strings.HasSuffix(e.Code, ".Expired") || strings.Contains(e.Code, "TokenExpired")
}

func (e *Rejected) Error() string {
	if e.Expired() {
		return fmt.Sprintf("the security token has expired (%s)", e.Code)
	}
	return fmt.Sprintf("the cloud rejects the credentials: %s: %s", e.Code, e.Message)
}

// rejecting begins the codes that are about the credentials.
var rejecting = []string{"InvalidSecurityToken.", "SecurityTokenExpired", "InvalidAccessKeyId.", "SignatureDoesNotMatch", "IncompleteSignature", "InvalidAccessKeySecret", "MissingSecurityToken"}

// The bounds of patience.
const (
	callTimeout = 30 * time.Second
	mostTries   = 8
	firstPause  = time.Second
	longPause   = 30 * time.Second
	// unpublished is the pause between calls of an action without a published limit.
	unpublished = time.Second
)

// Spacing returns an action's version, the pause between two of its calls, which keeps them under
// half of its published rate, and whether it mutates.
func Spacing(product, action string) (version string, pause time.Duration, mutates bool) {
	for _, p := range products.All() {
		if p.Name != product {
			continue
		}
		version, pause, mutates = p.Version, unpublished, true
		for i := range p.Actions {
			if a := &p.Actions[i]; a.Name == action {
				mutates = a.Mutates
				if rate := p.RateLimits.Of(a); rate.PerSecond > 0 {
					pause = time.Duration(2.1 / rate.PerSecond * float64(time.Second))
				}
			}
		}
	}
	return version, pause, mutates
}

// Do makes a call. An answer that does not come is an Answer with Lost; what ends a run is
// an Unreachable, a Rejected or ctx's error. Throttled calls are made again, and so are reads
// that fail by chance. A change that was sent is waited for, though ctx ends.
func (c *Cloud) Do(ctx context.Context, product, action string, params map[string]string) (scenarios.Answer, error) {
	version, pause, mutates := Spacing(product, action)
	if version == "" {
		return scenarios.Answer{}, fmt.Errorf("no product is called %s", product)
	}
	wait := firstPause
	for try := 1; ; try++ {
		if err := c.awaitTurn(ctx, product+" "+action, pause); err != nil {
			return scenarios.Answer{}, err
		}
		answer, err := c.send(ctx, mutates, product, version, action, params)
		unreachable := (*Unreachable)(nil)
		again := Throttled(answer) || errors.As(err, &unreachable) && try < 3 || err == nil && !mutates && (answer.Lost != "" || answer.Status >= http.StatusInternalServerError) && try < 4
		if !again || try == mostTries {
			return answer, err
		}
		if err := c.Clock.Sleep(ctx, wait); err != nil {
			return scenarios.Answer{}, err
		}
		wait = min(2*wait, longPause)
	}
}

// awaitTurn waits until the next call of an action may go out.
func (c *Cloud) awaitTurn(ctx context.Context, action string, pause time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.next == nil {
		c.next = make(map[string]time.Time)
	}
	if early := c.next[action].Sub(c.Clock.Now()); early > 0 {
		if err := c.Clock.Sleep(ctx, early); err != nil {
			return err
		}
	}
	c.next[action] = c.Clock.Now().Add(pause)
	return nil
}

func (c *Cloud) send(ctx context.Context, mutates bool, product, version, action string, params map[string]string) (scenarios.Answer, error) {
	sent := map[string]string{"RegionId": c.Region}
	for name, value := range params {
		sent[name] = value
	}
	if err := new(apiclient.Client).Check(params); err != nil {
		return scenarios.Answer{}, err
	}
	over := ctx
	if mutates {
		over = context.WithoutCancel(ctx)
	}
	limited, cancel := context.WithTimeout(over, callTimeout)
	defer cancel()
	at := c.endpoint(product)
	client := apiclient.Client{URL: at, HTTP: c.HTTP, UserAgent: c.UserAgent,
		AccessKeyID: c.Credentials.ID, AccessKeySecret: c.Credentials.Secret, SecurityToken: c.Credentials.Token}
	reply, err := client.CallContext(limited, version, action, sent)
	if err != nil {
		return lostAnswer(ctx, mutates, at, err)
	}
	answer := scenarios.Answer{Status: reply.Status, Body: reply.Body}
	code := CodeOf(answer)
	if slices.ContainsFunc(rejecting, func(begin string) bool { return strings.HasPrefix(code, begin) }) {
		return answer, &Rejected{code, reply.Text("Message")}
	}
	return answer, nil
}

// lostAnswer returns the answer of a call that got none. It drops errors of package http, which
// have the whole signed call, and keeps what they wrap.
func lostAnswer(ctx context.Context, mutates bool, at string, err error) (scenarios.Answer, error) {
	if outer := (*url.Error)(nil); errors.As(err, &outer) {
		err = outer.Err
	}
	dial, certificate, dns := (*net.OpError)(nil), (*tls.CertificateVerificationError)(nil), (*net.DNSError)(nil)
	switch {
	case !mutates && ctx.Err() != nil:
		return scenarios.Answer{}, ctx.Err()
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &certificate), errors.As(err, &dns):
		return scenarios.Answer{}, &Unreachable{at, err}
	}
	return scenarios.Answer{Lost: err.Error()}, nil
}

// CodeOf returns the code of a refusal, or "" for any other answer.
func CodeOf(a scenarios.Answer) string {
	if a.Status < http.StatusMultipleChoices {
		return ""
	}
	code, _ := a.Body["Code"].(string)
	return code
}

// Throttled reports whether an answer refuses a call for its rate.
func Throttled(a scenarios.Answer) bool { return strings.HasPrefix(CodeOf(a), "Throttling") }

// Account returns the id of the account to which the credentials belong.
func (c *Cloud) Account(ctx context.Context) (string, error) {
	answer, err := c.Do(ctx, "Sts", "GetCallerIdentity", nil)
	if err != nil {
		return "", err
	}
	id, _ := answer.Body["AccountId"].(string)
	if id == "" {
		return "", fmt.Errorf("the cloud does not say whose credentials these are: GetCallerIdentity was answered with %d %s%s", answer.Status, CodeOf(answer), answer.Lost)
	}
	return id, nil
}

// Pause returns how long a call of an action waits for the one before it.
func Pause(product, action string) time.Duration {
	_, pause, _ := Spacing(product, action)
	return pause
}

// Read makes a call that changes nothing, and refuses any other. Its answer is the account's, also
// where that is a refusal; all else is an error.
func (c *Cloud) Read(ctx context.Context, product, action string, params map[string]string) (status int, answer map[string]any, err error) {
	if _, _, mutates := Spacing(product, action); mutates {
		return 0, nil, fmt.Errorf("%s %s could change the account: it was not sent", product, action)
	}
	got, err := c.Do(ctx, product, action, params)
	switch {
	case err != nil:
		return 0, nil, err
	case got.Lost != "":
		return 0, nil, fmt.Errorf("%s was not answered: %s", action, got.Lost)
	case got.Status >= http.StatusInternalServerError || Throttled(got):
		return 0, nil, fmt.Errorf("%s was answered with %d %s each time", action, got.Status, CodeOf(got))
	}
	return got.Status, got.Body, nil
}
