package emulator_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/nlb/changes"
	"github.com/clbemu/clbemu/emulator/internal/topology"
	"github.com/clbemu/clbemu/emulator/products"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/state"
)

// A kind of resource and a product that no other file knows. What is true of them
// is what any other kind and product gets by being declared.

var toySchema = kinds.Schema.Extend()

type toy struct {
	state.Owner
	ID             string
	LoadBalancerID string
	Status         string
}

const tagToy state.TagResourceType = "toy"

var toys = state.NewTable(toySchema, "Toy", func(t *toy) string { return t.ID },
	state.IDForm("toy-", 10), state.Tagged(tagToy, "Toys", "toy"), state.Life(func(t *toy) *string { return &t.Status }),
	state.Shows(func(_ *state.View, t *toy) (topology.LoadBalancer, bool) {
		return topology.LoadBalancer{Owner: t.Owner, Product: "Toys", ID: t.ID, Status: t.Status, TagsOf: tagToy,
			Addresses: []topology.Address{{IP: "203.0.113.9"}}, DNSName: t.ID + "." + t.RegionID + ".toys.example",
			Reachable: []netip.Addr{netip.MustParseAddr("203.0.113.9")},
			Frontends: func(func(topology.Frontend) bool) {}, Groups: func(func(topology.Group) bool) {}}, true
	}))

var toysByLoadBalancer = toys.Index("loadbalancer", func(t *toy) [][]string { return state.Key(t.LoadBalancerID) })

var _ = kinds.LoadBalancers.With(state.OwnedBy(toysByLoadBalancer, kinds.LoadBalancers))

var stageToyMaking = toys.Stage("toy.making", "Making", "Made", time.Minute)

var quotaToys = state.NewQuota(toySchema, "toy_quota_toys_num", 3,
	state.Of(toys, func(t *toy, add func(string, int)) { add(t.LoadBalancerID, 1) }))

var toyRefusals gateway.Refusals

var errToyColour = toyRefusals.New("ToyColour", 400, "InvalidColour", "There is no colour %s.", "CLB-0200")

var (
	errToyBusy = toyRefusals.New("ToyBusy", 400, "ToyBusy", "%s is being changed.", "CLB-0200")
	errNoToy   = toyRefusals.New("NoToy", 404, "NoToy", "There is no toy %s.", "CLB-0200")
)

var toyChanges = &changes.Rules{
	Jobs: kinds.NewJobs(toySchema, "Toys", "ToyJob", "toy.job"), Locks: kinds.NewLocks(toySchema, "ToyLock", "toy.locked", toys),
	Locked: errToyBusy, Open: func(*state.View, string) error { return nil },
}

var taggableToys = tagging.NewTypes(toySchema, "Toys", errNoToy.Of)

type paintToyRequest struct {
	changes.Order
	ToyID string `rpc:"ToyId,required"`
}

func (r *paintToyRequest) LoadBalancerOf(v *state.View) (string, error) {
	_, err := toys.Get(v, r.ToyID)
	return r.ToyID, err
}

func paintToy(tx *state.Tx, req *paintToyRequest) (*changes.Work, error) {
	return &changes.Work{ResourceType: "toy", ResourceID: req.ToyID, Do: func() error {
		return taggableToys.Tag(tx, "toy", []string{req.ToyID}, []tagging.Tag{{Key: "painted", Value: "yes"}})
	}}, nil
}

type listToysRequest struct{ listing.ByToken }

type listToysResponse struct {
	Toys []tagging.Resource `rpc:"Toys"`
	listing.Paging
}

func listToys(v *state.View, req *listToysRequest) (*listToysResponse, error) {
	part, page, err := taggableToys.ListPart(v, "toy", nil, []tagging.Tag{{Key: "painted"}}, req.ByToken)
	return &listToysResponse{part, page}, err
}

type createToyRequest struct {
	gateway.Trial
	LoadBalancerID string        `rpc:"LoadBalancerId,required"`
	Colour         string        `rpc:"Colour"`
	ClientToken    string        `rpc:"ClientToken"`
	Tags           []tagging.Tag `rpc:"Tag"`
}

type toyResponse struct {
	ToyID string `rpc:"ToyId"`
}

func createToy(tx *state.Tx, req *createToyRequest) (*toyResponse, error) {
	if req.Colour != "" {
		return nil, errToyColour.Of(req.Colour)
	}
	id, err := state.Once(tx, "CreateToy", req.ClientToken, req, toys, func() (string, error) {
		lb, err := kinds.LoadBalancers.Get(tx.View, req.LoadBalancerID)
		if err != nil {
			return "", err
		}
		if err := tx.Use(quotaToys, lb.ID, 1); err != nil {
			return "", err
		}
		t := &toy{Owner: tx.Scope(), ID: tx.NewID(toys.Kind()), LoadBalancerID: lb.ID}
		toys.Put(tx, t)
		tagging.Set(tx, tagToy, t.ID, req.Tags)
		state.Enter(tx, stageToyMaking, t.ID)
		return t.ID, nil
	})
	return &toyResponse{id}, err
}

type describeToysRequest struct {
	PageNumber int           `rpc:"PageNumber,default=1,min=1"`
	Tags       []tagging.Tag `rpc:"Tag"`
}

type toyView struct {
	ToyID  string `rpc:"ToyId"`
	Status string `rpc:"Status"`
}

type describeToysResponse struct {
	Toys []toyView `rpc:"Toys>Toy"`
}

func describeToys(v *state.View, req *describeToysRequest) (*describeToysResponse, error) {
	tagged := tagging.Filter(v, tagToy, req.Tags)
	var found []toyView
	for t := range toys.All(v) {
		if tagged(t.ID) {
			found = append(found, toyView{t.ID, t.Status})
		}
	}
	return &describeToysResponse{listing.Page(found, req.PageNumber, 2)}, nil
}

const toyVersion = "2026-01-01"

func toyProduct(gateway.Deps) *gateway.Product {
	return &gateway.Product{
		Name: "Toys", Version: toyVersion, HostID: "toys.aliyuncs.com",
		Title: "Toy Balancer", ShortNames: []string{"toybox"}, Endpoint: "TOYS", DNSApex: "toys.example",
		Actions: append(toyChanges.JobActions(), gateway.Write("CreateToy", createToy), gateway.Read("DescribeToys", describeToys), gateway.NotEmulated("DeleteToy"),
			changes.ByJob(toyChanges, "PaintToy", paintToy, changes.OfJob), changes.AtOnce(toyChanges, "PaintToyNow", paintToy), gateway.Read("ListToys", listToys)),
		Errors: gateway.NewErrorTable(append(toyRefusals.Rows(),
			gateway.DryRunRow("CLB-0200"),
			gateway.ErrorRow{Fact: "Illegal", Status: 400, Code: "Illegal", Message: "%s."},
			gateway.ErrorRow{Fact: listing.BadToken, Status: 400, Code: "BadToken", Message: "%s."},
			gateway.ErrorRow{Fact: state.NotFound, Status: 404, Code: "NotFound", Message: "%s."},
			gateway.ErrorRow{Fact: state.QuotaExceeded, Status: 400, Code: "TooManyToys", Message: "%s."},
			gateway.ErrorRow{Fact: state.TokenConflict, Status: 400, Code: "TokenConflict", Message: "%s."})...),
		Resources: []gateway.Resource{{Parameter: "LoadBalancerId", Type: "loadbalancer", Kind: kinds.LoadBalancers.Kind()}},
	}
}

// toyShop returns an emulator with the toys, and a load balancer.
func toyShop(t *testing.T) (u unsigned, lb string, clock *state.ManualClock) {
	t.Helper()
	clock = state.NewManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	u = unsigned{t, mustNew(t, emulator.WithProducts(emulator.Config{Clock: clock, Seed: 1, DataDir: t.TempDir(), Schema: toySchema, Listen: "127.0.0.1:0", ControlListen: "127.0.0.1:0", DNSListen: "127.0.0.1:0"}, toyProduct))}
	t.Cleanup(func() {
		u.wantConsistent()
		if err := u.e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return u, u.make("LoadBalancerId", slbVersion, "CreateLoadBalancer", "InstanceChargeType=PayByCLCU"), clock
}

func (u unsigned) wantConsistent() {
	u.t.Helper()
	problems, err := u.e.Store().Check(context.Background())
	if err != nil || len(problems) > 0 {
		u.t.Errorf("Check = %q, %v", problems, err)
	}
}

// control calls the control API; want must be in the answer.
func (u unsigned) control(method, path, body string, code int, want string) {
	u.t.Helper()
	got, text := u.request(u.e.ControlHandler(), method, path, []byte(body))
	if got != code || !strings.Contains(text, want) {
		u.t.Errorf("%s %s = %d %s, want %d with %s", method, path, got, text, code, want)
	}
}

// want calls an action of the toys.
func (u unsigned) want(code int, contains, action string, parameters ...string) string {
	u.t.Helper()
	got, text := u.call(toyVersion, action, parameters...)
	if got != code || !strings.Contains(text, contains) {
		u.t.Errorf("%s(%v) = %d %s, want %d with %s", action, parameters, got, text, code, contains)
	}
	return text
}

func countToys(t *testing.T, text string) int {
	t.Helper()
	var answer struct{ Toys struct{ Toy []toyView } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	return len(answer.Toys.Toy)
}

// TestGrowth proves that a kind and a product need no more than to be declared:
// they are made once, listed by pages and tags, counted in a quota, staged,
// refused, checked, and removed with their owner.
func TestGrowth(t *testing.T) {
	u, lb, clock := toyShop(t)
	first := u.want(200, "toy-bp1", "CreateToy", "LoadBalancerId="+lb, "ClientToken=t", "Tag.1.Key=k", "Tag.1.Value=v")
	if again := u.want(200, "", "CreateToy", "LoadBalancerId="+lb, "ClientToken=t", "Tag.1.Key=k", "Tag.1.Value=v"); toyID(again) != toyID(first) {
		t.Errorf("the same token makes %s and %s", first, again)
	}
	u.want(400, "TokenConflict", "CreateToy", "LoadBalancerId="+lb, "ClientToken=t")
	u.control("PATCH", "/v1/world", `{"settings":[{"name":"life.toy.making","value":"1m"}]}`, 200, "")
	u.want(200, "", "CreateToy", "LoadBalancerId="+lb)
	u.want(200, "Making", "DescribeToys")
	clock.Advance(time.Minute)
	if text := u.want(200, "Made", "DescribeToys"); strings.Contains(text, "Making") {
		t.Errorf("after a minute: %s", text)
	}
	u.want(200, "", "CreateToy", "LoadBalancerId="+lb)
	u.want(400, "TooManyToys", "CreateToy", "LoadBalancerId="+lb)
	u.want(400, "There is no colour red.", "CreateToy", "LoadBalancerId="+lb, "Colour=red")
	u.want(404, "NotFound", "CreateToy", "LoadBalancerId=lb-none")
	u.want(400, gateway.NotEmulatedCode, "DeleteToy")
	for page, want := range map[string]int{"PageNumber=1": 2, "PageNumber=2": 1, "PageNumber=3": 0, "Tag.1.Key=k": 1, "Tag.1.Key=other": 0} {
		if n := countToys(t, u.want(200, "", "DescribeToys", page)); n != want {
			t.Errorf("DescribeToys(%s) lists %d, want %d", page, n, want)
		}
	}
	u.control("GET", "/v1/quotas", "", 200, `"toy_quota_toys_num"`)
	u.control("GET", "/metrics", "", 200, `clbemu_resources{kind="Toy"} 3`)
	u.wantConsistent()
	u.make("", slbVersion, "DeleteLoadBalancer", "LoadBalancerId="+lb)
	u.control("GET", "/metrics", "", 200, `clbemu_resources{kind="Toy"} 0`)
	u.control("GET", "/metrics", "", 200, `clbemu_resources{kind="Tag"} 0`)
}

func toyID(answer string) string { return after(answer, `"ToyId":"`) }

// after returns the text of an answer between a beginning and the next quote.
func after(answer, beginning string) string {
	_, rest, _ := strings.Cut(answer, beginning)
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

// TestGrowthIsSeen proves that a product that declares its names and how its kind shows
// is listed by get and the console, by its short name too, is found by DNS, and is
// known to scenarios, explanations and the environment of clients.
func TestGrowthIsSeen(t *testing.T) {
	u, lb, _ := toyShop(t)
	id := toyID(u.want(200, "", "CreateToy", "LoadBalancerId="+lb, "Tag.1.Key=k", "Tag.1.Value=v"))
	u.control("GET", "/v1/resources?kind=toybox", "", 200, `"productTitle":"Toy Balancer"`)
	if _, text := u.request(u.e.ControlHandler(), "GET", "/v1/resources?kind=toybox", nil); !strings.Contains(text, id) || strings.Contains(text, lb) {
		t.Errorf("kind=toybox lists %s, want %s alone", text, id)
	}
	u.control("GET", "/v1/resources?kind=toybocks", "", 422, "do you mean toybox?")
	u.control("GET", "/v1/loadbalancers/"+id, "", 200, `"tags":{"k":"v"}`)
	u.control("GET", "/v1/explanations/InvalidColour", "", 200, "There is no colour …")
	u.control("POST", "/v1/scenarios/run", "about: x.\nadvice: x.\nclient:\n  steps:\n  - call: {product: Toyz, action: CreateToy}\n", 422, "Toys")
	u.control("POST", "/v1/scenarios/run", "about: x.\nadvice: x.\nclient:\n  steps:\n  - call: {product: Toys, action: DescribeToys}\n", 200, `"status":"passed"`)
	products := []*gateway.Product{toyProduct(gateway.Deps{})}
	if got := target.Endpoints(products); !slices.Equal(got, []string{"TOYS_ENDPOINT"}) {
		t.Errorf("the endpoints are %v", got)
	}
	if err := u.e.Start(); err != nil {
		t.Fatal(err)
	}
	question := new(dns.Msg).SetQuestion(dns.Fqdn(id+".cn-hangzhou.toys.example"), dns.TypeA)
	answer, _, err := (&dns.Client{Timeout: await.Patience}).Exchange(question, u.e.DNSAddr())
	if err != nil || len(answer.Answer) != 1 || !strings.Contains(answer.Answer[0].String(), "203.0.113.9") {
		t.Errorf("DNS answers %v, %v", answer, err)
	}
}

// TestGrowthChanges proves that a product gets jobs, locks, dry runs, client tokens,
// tags and pages by declaring them.
func TestGrowthChanges(t *testing.T) {
	u, lb, clock := toyShop(t)
	u.want(400, "DryRunOperation", "CreateToy", "LoadBalancerId="+lb, "DryRun=true")
	u.want(200, `"Toys":{"Toy":[]}`, "DescribeToys")
	first, second := toyID(u.want(200, "", "CreateToy", "LoadBalancerId="+lb)), toyID(u.want(200, "", "CreateToy", "LoadBalancerId="+lb))
	u.control("PATCH", "/v1/world", `{"settings":[{"name":"life.toy.job","value":"1m"},{"name":"life.toy.locked","value":"1m"}]}`, 200, "")
	u.want(400, "DryRunOperation", "PaintToy", "ToyId="+first, "DryRun=true")
	u.want(200, `"TotalCount":0`, "ListToys")
	job := u.want(200, `"JobId"`, "PaintToy", "ToyId="+first, "ClientToken=t")
	if again := u.want(200, "", "PaintToy", "ToyId="+first, "ClientToken=t"); jobID(again) != jobID(job) {
		t.Errorf("the same token begins %s and %s", job, again)
	}
	u.want(400, "ToyBusy", "PaintToyNow", "ToyId="+first)
	u.want(200, "", "PaintToyNow", "ToyId="+second)
	u.want(200, "Processing", "GetJobStatus", "JobId="+jobID(job))
	u.want(200, `"TotalCount":"1"`, "ListAsynJobs", "ResourceIds.1="+first)
	clock.Advance(time.Minute)
	u.want(200, "Succeeded", "GetJobStatus", "JobId="+jobID(job))
	u.want(200, "", "PaintToyNow", "ToyId="+first)
	page := u.want(200, `"TotalCount":2`, "ListToys", "MaxResults=1")
	u.want(200, `"MaxResults":1`, "ListToys", "MaxResults=1", "NextToken="+after(page, `"NextToken":"`))
	u.want(400, "BadToken", "ListToys", "NextToken=x")
}

func jobID(answer string) string { return after(answer, `"JobId":"`) }

// TestGrowthIsNamed proves that commands, the console and completion get the names of a
// product from the control API, also of one that only this emulator has.
func TestGrowthIsNamed(t *testing.T) {
	u, _, _ := toyShop(t)
	for _, name := range []string{`"toy.making"`, `"toy.job"`, `"toy_quota_toys_num"`, `"PaintToy"`} {
		u.control("GET", "/v1/conditions", "", 200, name)
	}
	u.control("GET", "/v1/actions", "", 200, `"product":"Toys","version":"2026-01-01","action":"PaintToy"`)
	u.control("GET", "/v1/server", "", 200, `{"name":"Toys","version":"2026-01-01","title":"Toy Balancer","shortNames":["toybox"],"endpoint":"TOYS"}`)
	var described controlapi.Server
	if _, text := u.request(u.e.ControlHandler(), "GET", "/v1/server", nil); json.Unmarshal([]byte(text), &described) != nil || !slices.Contains(described.Endpoints(), "TOYS_ENDPOINT") {
		t.Errorf("the endpoints are %v", described.Endpoints())
	}
	u.control("GET", "/v1/explanations/PaintToy", "", 200, `"product":"Toys"`)
	u.control("GET", "/v1/quotas", "", 200, `"toy_quota_toys_num"`)
}

// TestGrowthIsInWorlds proves that a world file can have what a product creates, with an id
// of its choice.
func TestGrowthIsInWorlds(t *testing.T) {
	text := strings.Replace(string(world.DefaultText), "\ncalls: []", `
calls:
- {product: Slb, action: CreateLoadBalancer, id: lb-shop, parameters: {InstanceChargeType: PayByCLCU}}
- {product: Toys, action: CreateToy, id: toy-first, parameters: {LoadBalancerId: lb-shop, Tag.1.Key: k, Tag.1.Value: v}}
`, 1)
	w, err := world.ParseWith(toySchema, products.With(products.Deps{}, toyProduct), "toys.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := unsigned{t, mustNew(t, emulator.WithProducts(emulator.Config{World: w, Seed: 1, Schema: toySchema}, toyProduct))}
	u.want(200, "toy-first", "DescribeToys", "Tag.1.Key=k")
	if _, err := world.Parse("toys.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), "there is no product Toys") {
		t.Errorf("a cloud without toys reads them: %v", err)
	}
}

// TestGrowthIsChecked proves that a toy without its load balancer is found.
func TestGrowthIsChecked(t *testing.T) {
	u, lb, _ := toyShop(t)
	stray := &toy{Owner: scope, ID: "toy-stray", LoadBalancerID: "lb-none"}
	if err := u.e.Store().Update(scope, func(tx *state.Tx) error { toys.Put(tx, stray); return nil }); err != nil {
		t.Fatal(err)
	}
	u.control("POST", "/v1/state/check", "", 200, "Toy toy-stray refers to LoadBalancer lb-none, which does not exist")
	if err := u.e.Store().Update(scope, func(tx *state.Tx) error { toys.Remove(tx, stray.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	u.want(200, "", "CreateToy", "LoadBalancerId="+lb)
	_, exported := u.request(u.e.ControlHandler(), "GET", "/v1/state", nil)
	u.control("PUT", "/v1/state", strings.ReplaceAll(exported, `"LoadBalancerID":"`+lb, `"LoadBalancerID":"lb-none`), http.StatusUnprocessableEntity, "lb-none")
	u.control("PUT", "/v1/state", exported, 200, "imported")
}

// TestGrowthBreaks proves that calls of the toys are throttled, meet fault rules and
// are in the journal, by their names.
func TestGrowthBreaks(t *testing.T) {
	u, lb, _ := toyShop(t)
	u.control("POST", "/v1/faults", `{name: f, match: {action: CreateToyy}, effect: {error: {code: InvalidColour}}}`, 422, "do you mean CreateToy?")
	u.control("POST", "/v1/faults", `{name: f, match: {action: CreateToy}, when: {times: 1}, effect: {error: {code: InvalidColour}}}`, 200, "")
	u.want(400, "InvalidColour", "CreateToy", "LoadBalancerId="+lb)
	u.want(200, "", "CreateToy", "LoadBalancerId="+lb)
	u.control("GET", "/v1/journal?action=CreateToy", "", 200, `"faults":["f"]`)
	u.control("PATCH", "/v1/world", `{"settings":[{"name":"throttle.action.DescribeToys","value":"1/1"}]}`, 200, "")
	u.want(200, "", "DescribeToys")
	u.want(400, "Throttling", "DescribeToys")
}
