package realcloud_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

const region = "cn-hangzhou"

// account is a second clbemu that stands for the real cloud, by TLS at the cloud's host names. Who
// waits moves its time.
type account struct {
	*emulatortest.Server

	clock *state.ManualClock
	ca    *x509.CertPool
	// sending, if set, sees each call before it is sent.
	sending func(action string)
}

func newAccount(t *testing.T) *account {
	t.Helper()
	dir := t.TempDir()
	served, err := emulator.GenerateTLS(dir, []string{"*." + region + ".aliyuncs.com", "*.aliyuncs.com"})
	if err != nil {
		t.Fatal(err)
	}
	authority, err := os.ReadFile(filepath.Join(dir, emulator.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	a := &account{clock: state.NewManualClock(time.Now()), ca: x509.NewCertPool()}
	a.ca.AppendCertsFromPEM(authority)
	a.Server = emulatortest.Start(t, emulatortest.WithClock(a.clock), emulatortest.WithConfig(func(c *emulator.Config) {
		c.TLS, c.AllowedHosts, c.StrictAuth = served, []string{"*.aliyuncs.com"}, true
	}))
	for _, name := range []string{"web", "api"} {
		a.call(t, "Slb", "CreateLoadBalancer", map[string]string{"AddressType": "internet", "LoadBalancerName": name})
	}
	return a
}

func (a *account) Now() time.Time { return a.clock.Now() }

func (a *account) Sleep(ctx context.Context, d time.Duration) error {
	a.clock.Advance(d)
	return ctx.Err()
}

// RoundTrip sends calls to the account by the names of the cloud's hosts.
func (a *account) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.sending != nil {
		a.sending(r.URL.Query().Get("Action"))
	}
	over := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: a.ca}, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if !strings.HasSuffix(address, ".aliyuncs.com:443") {
			return nil, errors.New("no host of the cloud: " + address)
		}
		return (&net.Dialer{}).DialContext(ctx, network, a.Host())
	}}
	return over.RoundTrip(r)
}

func (a *account) cloud(id, secret, token string) *realcloud.Cloud {
	return &realcloud.Cloud{Region: region, HTTP: &http.Client{Transport: a}, Clock: a, UserAgent: "test", Credentials: realcloud.Credentials{ID: id, Secret: secret, Token: token}}
}

func (a *account) call(t *testing.T, product, action string, params map[string]string) apiclient.Reply {
	t.Helper()
	client := apiclient.Client{URL: "https://slb." + region + ".aliyuncs.com", HTTP: &http.Client{Transport: a}}
	reply, err := client.Call(emulator.Version(product), action, params)
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("%s = %v, %v", action, reply, err)
	}
	return reply
}

// mutates lists the actions that change something.
func mutates() map[string]bool {
	writes := make(map[string]bool)
	for _, p := range products.All() {
		for i := range p.Actions {
			writes[p.Actions[i].Name] = writes[p.Actions[i].Name] || p.Actions[i].Mutates
		}
	}
	return writes
}

// A pull by the cloud's host names, under the cloud's limits, is never throttled, sends reads
// alone, and copies everything.
func TestPull(t *testing.T) {
	a := newAccount(t)
	a.World(t, "throttle.profile", "realistic")
	writes := mutates()
	a.sending = func(action string) {
		if writes[action] || action == "" {
			t.Errorf("%s was sent, which is no read", action)
		}
	}
	p := world.FromAccount(filepath.Join(t.TempDir(), "copy"))
	p.Region, p.Call, p.Pause = region, a.cloud(apiclient.AccessKeyID, apiclient.AccessKeySecret, "").Read, realcloud.Pause
	var calls int
	var wait time.Duration
	p.Estimated = func(n int, d time.Duration) { calls, wait = n, d }
	report, err := p.Pull(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Refused)+len(report.LeftOut) > 0 || report.Resources["LoadBalancer"] != 2 || report.Resources["VPC"] != 2 {
		t.Errorf("report = %+v", report)
	}
	if calls == 0 || wait == 0 || calls > report.Calls {
		t.Errorf("estimated %d calls in %s, sent %d in all", calls, wait, report.Calls)
	}
	for _, call := range a.Calls(t) {
		if strings.HasPrefix(call.Code, "Throttling") {
			t.Errorf("%s was throttled", call.Action)
		}
	}
}

// What is throttled is asked for again.
func TestPullThrottled(t *testing.T) {
	a := newAccount(t)
	a.Fault(t, `{name: busy, match: {action: DescribeLoadBalancers}, when: {times: 3}, effect: {error: {code: Throttling.User}}}`)
	p := world.FromAccount(filepath.Join(t.TempDir(), "copy"))
	p.Region, p.Call, p.Pause = region, a.cloud(apiclient.AccessKeyID, apiclient.AccessKeySecret, "").Read, realcloud.Pause
	if report, err := p.Pull(t.Context()); err != nil || report.Resources["LoadBalancer"] != 2 || len(report.Refused) > 0 {
		t.Errorf("report = %+v, %v", report, err)
	}
}

// A token that expires ends the pull, and another one goes on with it.
func TestPullExpiredToken(t *testing.T) {
	a := newAccount(t)
	taken := func() *realcloud.Cloud {
		role := a.call(t, "Sts", "AssumeRole", map[string]string{"RoleArn": "acs:ram::1234567890123456:role/tester", "RoleSessionName": "test", "DurationSeconds": "900"})
		given := role.Body["Credentials"].(map[string]any)
		return a.cloud(given["AccessKeyId"].(string), given["AccessKeySecret"].(string), given["SecurityToken"].(string))
	}
	dir := filepath.Join(t.TempDir(), "copy")
	p := world.FromAccount(dir)
	p.Region, p.Call, p.Pause = region, taken().Read, realcloud.Pause
	a.sending = func(action string) {
		if action == "DescribeLoadBalancerAttribute" {
			a.sending = nil
			a.clock.Advance(time.Hour)
		}
	}
	_, err := p.Pull(t.Context())
	if rejected := (*realcloud.Rejected)(nil); !errors.As(err, &rejected) || !rejected.Expired() {
		t.Fatalf("Pull = %v, want it expired", err)
	}
	if err := p.Unfinished(); err == nil {
		t.Error("the folder counts as finished")
	}
	if _, err := emulator.New(t.Context(), emulator.Config{DataDir: dir}); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("the folder is served: %v", err)
	}
	sent := 0
	a.sending = func(action string) {
		if action == "DescribeVpcs" {
			sent++
		}
	}
	p.Call, p.Resume = taken().Read, true
	report, err := p.Pull(t.Context())
	if err != nil || report.Resources["LoadBalancer"] != 2 || sent != 0 {
		t.Errorf("resumed: %+v, %v, asked %d times for what was known", report, err, sent)
	}
}

// What could change the account is not sent.
func TestReadRefusesWrites(t *testing.T) {
	a := newAccount(t)
	a.sending = func(action string) { t.Errorf("%s was sent", action) }
	cloud := a.cloud(apiclient.AccessKeyID, apiclient.AccessKeySecret, "")
	for _, action := range []string{"DeleteLoadBalancer", "NoSuchAction"} {
		if _, _, err := cloud.Read(t.Context(), "Slb", action, nil); err == nil {
			t.Errorf("Read of %s succeeded", action)
		}
	}
}
