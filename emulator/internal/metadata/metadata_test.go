package metadata_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/metadata"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

const (
	instanceID = "i-bp1clbemu0000000001"
	accountID  = "1234567890123456"
	role       = "clbemu-node"
	rolePath   = "/latest/meta-data/ram/security-credentials/" + role
	headerTTL  = "X-aliyun-ecs-metadata-token-ttl-seconds"
	headerIMDS = "X-aliyun-ecs-metadata-token"
)

// service is the metadata service of the default world with its clock.
type service struct {
	http.Handler
	clock *state.ManualClock
	store *state.Store
}

func newService(t *testing.T, cfg metadata.Config, plants ...func(*state.Tx) error) *service {
	t.Helper()
	s := &service{clock: state.NewManualClock(gatewaytest.Start)}
	s.store = gatewaytest.StoreAt(t, s.clock, append([]func(*state.Tx) error{world.Default().Plant}, plants...)...)
	cfg.Store, cfg.Seed = s.store, 1
	s.Handler = metadata.New(cfg)
	return s
}

// call sends one request with headers given as name, value, name, value.
func (s *service) call(method, path string, headers ...string) (int, string) {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func (s *service) get(t *testing.T, path string) string {
	t.Helper()
	status, body := s.call(http.MethodGet, path)
	if status != http.StatusOK {
		t.Fatalf("GET %s = %d %s, want 200", path, status, body)
	}
	return body
}

func describeInstance(change func(*kinds.Instance)) func(*state.Tx) error {
	return func(tx *state.Tx) error {
		return kinds.Instances.Edit(tx, instanceID, func(i *kinds.Instance) error {
			change(i)
			return nil
		})
	}
}

func plantEIP(tx *state.Tx) error {
	owner := state.Owner{AccountID: accountID, RegionID: "cn-hangzhou"}
	ip, err := kinds.AllocateAddress(tx, kinds.PublicPool("cn-hangzhou"), "198.18.0.0/16", "198.18.0.9", kinds.EIPs.Kind(), "eip-1")
	if err != nil {
		return err
	}
	kinds.EIPs.Put(tx, &kinds.EIP{Owner: owner, ID: "eip-1", IPAddress: ip, Status: kinds.EIPInUse, InstanceType: "EcsInstance", InstanceID: instanceID})
	return nil
}

// Each path answers what the instance is, and each folder what is in it.
func TestPaths(t *testing.T) {
	s := newService(t, metadata.Config{}, plantEIP, describeInstance(func(i *kinds.Instance) { i.ImageID, i.SerialNumber = "aliyun_3_x64", "serial-1" }))
	for path, want := range map[string]string{
		"region-id":                 "cn-hangzhou",
		"zone-id":                   "cn-hangzhou-h",
		"vpc-id":                    "vpc-bp1clbemu000000000001",
		"vswitch-id":                "vsw-bp1clbemu000000000001",
		"instance-id":               instanceID,
		"hostname":                  "node-1",
		"image-id":                  "aliyun_3_x64",
		"network-type":              "vpc",
		"owner-account-id":          accountID,
		"private-ipv4":              "192.168.0.11",
		"serial-number":             "serial-1",
		"source-address":            "http://mirrors.cloud.aliyuncs.com",
		"vpc-cidr-block":            "192.168.0.0/16",
		"vswitch-cidr-block":        "192.168.0.0/24",
		"eipv4":                     "198.18.0.9",
		"dns-conf/nameservers":      "100.100.2.136\n100.100.2.138",
		"dns-conf/":                 "nameservers",
		"ntp-conf/ntp-servers":      "ntp1.aliyun.com\nntp2.aliyun.com\nntp3.aliyun.com",
		"ram/security-credentials/": role,
		"ram/security-credentials":  role,
		"ram/":                      "security-credentials/",
	} {
		if got := s.get(t, "/latest/meta-data/"+path); got != want {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
	if mac := s.get(t, "/latest/meta-data/mac"); len(strings.Split(mac, ":")) != 6 {
		t.Errorf("mac = %q, want six octets", mac)
	}
	if top := s.get(t, "/latest/"); top != "meta-data/" {
		t.Errorf("/latest/ = %q, want meta-data/", top)
	}
	list := strings.Split(s.get(t, "/latest/meta-data/"), "\n")
	if len(list) != 19 || list[0] != "dns-conf/" {
		t.Errorf("/latest/meta-data/ = %q, want 19 names in order", list)
	}
}

// What is not there is 404, and what may not be done is 405.
func TestAbsent(t *testing.T) {
	s := newService(t, metadata.Config{}, describeInstance(func(i *kinds.Instance) { i.RAMRoleName = "" }))
	for _, path := range []string{"/latest/meta-data/moon", "/latest/meta-data/eipv4", "/latest/moon", "/moon", rolePath, "/latest/meta-data/ram/"} {
		if status, _ := s.call(http.MethodGet, path); status != http.StatusNotFound {
			t.Errorf("GET %s = %d, want 404", path, status)
		}
	}
	if status, _ := s.call(http.MethodPost, "/latest/meta-data/zone-id"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST = %d, want 405", status)
	}
}

// The caller is the configured instance, or the first that runs.
func TestInstance(t *testing.T) {
	stopped := describeInstance(func(i *kinds.Instance) { i.Status = kinds.InstanceStopped })
	none := func(tx *state.Tx) error {
		for i := range kinds.Instances.All(tx.View) {
			changed := *i
			changed.Status = kinds.InstanceStopped
			kinds.Instances.Put(tx, &changed)
		}
		return nil
	}
	for name, c := range map[string]struct {
		id     string
		plant  func(*state.Tx) error
		status int
		want   string
	}{
		"First":      {"", func(*state.Tx) error { return nil }, http.StatusOK, instanceID},
		"Running":    {"", stopped, http.StatusOK, "i-bp1clbemu0000000002"},
		"Configured": {"i-bp1clbemu0000000004", stopped, http.StatusOK, "i-bp1clbemu0000000004"},
		"Unknown":    {"i-none", stopped, http.StatusNotFound, "NotFound Instance i-none\n"},
		"NoneRuns":   {"", none, http.StatusNotFound, "NotFound Instance running\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, metadata.Config{InstanceID: c.id}, c.plant)
			status, got := s.call(http.MethodGet, "/latest/meta-data/instance-id")
			if status != c.status || got != c.want {
				t.Errorf("instance-id = %d %q, want %d %q", status, got, c.status, c.want)
			}
		})
	}
}

// A token opens the second version until it expires on the emulated clock; a
// wrong one opens nothing.
func TestToken(t *testing.T) {
	s := newService(t, metadata.Config{})
	for _, ttl := range []string{"", "0", "21601", "x"} {
		if status, _ := s.call(http.MethodPut, "/latest/api/token", headerTTL, ttl); status != http.StatusBadRequest {
			t.Errorf("a token for %q seconds = %d, want 400", ttl, status)
		}
	}
	status, token := s.call(http.MethodPut, "/latest/api/token", headerTTL, "60")
	if status != http.StatusOK || token == "" {
		t.Fatalf("PUT token = %d %q, want a token", status, token)
	}
	read := func(token string) int {
		status, _ := s.call(http.MethodGet, "/latest/meta-data/zone-id", headerIMDS, token)
		return status
	}
	if got := read(token); got != http.StatusOK {
		t.Errorf("a read with the token = %d, want 200", got)
	}
	for _, wrong := range []string{"", "moon"} {
		if got := read(wrong); got != http.StatusUnauthorized {
			t.Errorf("a read with the token %q = %d, want 401", wrong, got)
		}
	}
	s.clock.Advance(time.Minute)
	if got := read(token); got != http.StatusUnauthorized {
		t.Errorf("a read with an expired token = %d, want 401", got)
	}
}

// The service forgets the oldest tokens, not the newest, when it has too many.
func TestTokensAreBounded(t *testing.T) {
	s := newService(t, metadata.Config{})
	var tokens []string
	for range 1025 {
		_, token := s.call(http.MethodPut, "/latest/api/token", headerTTL, "60")
		tokens = append(tokens, token)
	}
	for i, want := range map[int]int{0: http.StatusUnauthorized, 1: http.StatusOK, 1024: http.StatusOK} {
		if status, _ := s.call(http.MethodGet, "/latest/meta-data/zone-id", headerIMDS, tokens[i]); status != want {
			t.Errorf("a read with token %d of 1025 = %d, want %d", i, status, want)
		}
	}
	s.clock.Advance(time.Minute)
	_, fresh := s.call(http.MethodPut, "/latest/api/token", headerTTL, "60")
	if status, _ := s.call(http.MethodGet, "/latest/meta-data/zone-id", headerIMDS, fresh); status != http.StatusOK {
		t.Errorf("a read with a token that replaced expired ones = %d, want 200", status)
	}
}

type credentials struct {
	AccessKeyID   string `json:"AccessKeyId"`
	SecurityToken string
	Expiration    time.Time
	LastUpdated   time.Time
	Code          string
}

func (s *service) credentials(t *testing.T) credentials {
	t.Helper()
	var c credentials
	if err := json.Unmarshal([]byte(s.get(t, rolePath)), &c); err != nil {
		t.Fatalf("credentials: %v", err)
	}
	return c
}

// Credentials are a temporary key of the account that the gateway finds, answered
// again while it lives long enough, and then replaced; the dead are deleted.
func TestCredentials(t *testing.T) {
	s := newService(t, metadata.Config{})
	first := s.credentials(t)
	if first.Code != "Success" || !first.Expiration.Equal(gatewaytest.Start.Add(6*time.Hour)) || !first.LastUpdated.Equal(gatewaytest.Start) {
		t.Errorf("credentials = %+v, want six hours from %v", first, gatewaytest.Start)
	}
	key, ok := kinds.AccessKeys.Find(s.store.View(state.Owner{}), first.AccessKeyID)
	if !ok {
		t.Fatalf("the store has no key %s", first.AccessKeyID)
	}
	if key.AccountID != accountID || key.SecurityToken != first.SecurityToken || key.Status != kinds.AccessKeyActive || key.RoleName != role {
		t.Errorf("the key %+v is not the one of %+v", key, first)
	}
	s.clock.Advance(5*time.Hour + 29*time.Minute)
	if again := s.credentials(t); again.AccessKeyID != first.AccessKeyID {
		t.Error("a key with 31 minutes of life is replaced, want it again")
	}
	s.clock.Advance(time.Minute)
	second := s.credentials(t)
	if second.AccessKeyID == first.AccessKeyID {
		t.Error("a key with 30 minutes of life is answered again, want a new one")
	}
	s.clock.Advance(6 * time.Hour)
	third := s.credentials(t)
	if keys := s.roleKeys(t); len(keys) != 1 || keys[0] != third.AccessKeyID {
		t.Errorf("keys of the role = %v, want only %s", keys, third.AccessKeyID)
	}
}

func (s *service) roleKeys(t *testing.T) []string {
	t.Helper()
	var ids []string
	v := s.store.View(state.Owner{})
	for key := range kinds.AccessKeysByRole.List(v, accountID, role) {
		ids = append(ids, key.ID)
	}
	return ids
}

// A role that is not the instance's has no credentials.
func TestOtherRole(t *testing.T) {
	s := newService(t, metadata.Config{})
	if status, _ := s.call(http.MethodGet, rolePath+"x"); status != http.StatusNotFound {
		t.Errorf("credentials of another role = %d, want 404", status)
	}
	if keys := s.roleKeys(t); len(keys) != 0 {
		t.Errorf("keys of the role = %v, want none", keys)
	}
}
