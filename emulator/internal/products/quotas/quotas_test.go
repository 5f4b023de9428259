package quotas_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
	"github.com/clbemu/clbemu/emulator/internal/kinds"
	"github.com/clbemu/clbemu/emulator/internal/products/clb"
	"github.com/clbemu/clbemu/emulator/internal/products/quotas"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/emulator/world/conditions"
	"github.com/clbemu/clbemu/state"
)

type params = gatewaytest.Params

const (
	instances = "slb_quota_instances_num"
	account   = "1234567890123456"
)

func application(desired string) params {
	return params{"ProductCode": "slb", "QuotaActionCode": instances, "DesireValue": desired, "Reason": "more Services"}
}

// set plants conditions on top of the default world.
func set(settings ...conditions.Setting) func(*state.Tx) error {
	return func(tx *state.Tx) error { return conditions.Set(tx, state.Owner{}, settings) }
}

// The action tables match the API, with known exceptions.
func TestActions(t *testing.T) {
	exceptions := map[string]string{}
	except := func(why string, before []string, fields ...string) {
		for _, b := range before {
			for _, f := range fields {
				exceptions[b+f] = why
			}
		}
	}
	quota := []string{"GetProductQuota->Quota.", "ListProductQuotas->Quotas[]."}
	application := []string{"GetQuotaApplication->QuotaApplication.", "ListQuotaApplications->QuotaApplications[].", "CreateQuotaApplication->"}
	except("what a console says of its own user", []string{"GetProductQuota.", "ListProductQuotas.", "ListProducts.", "ListQuotaApplications.", "GetQuotaApplication."}, "OriginalContext")
	except("quotas of whitelists are not emulated", append(quota, application...), "ExpireTime")
	except("quotas of whitelists are not emulated", quota, "EffectiveTime")
	except("no description is published with the names of the quotas", append(quota, application...), "QuotaDescription")
	except("limits of call rates are not emulated", append(quota, application[1]), "Period.PeriodUnit", "Period.PeriodValue")
	except("no quota here is of a special kind", quota, "ApplyReasonTips", "SupportedRange[]", "QuotaItems[].Quota", "QuotaItems[].QuotaUnit", "QuotaItems[].Type",
		"QuotaItems[].Usage", "UsageMetric.MetricDimensions", "UsageMetric.MetricName", "UsageMetric.MetricNamespace")
	except("nobody comments on an application", application[1:2], "Comment")
	except("the console's groups of products", []string{"ListProducts->ProductInfo[]."}, "SecondCategoryId", "SecondCategoryName", "SecondCategoryNameEn")
	gatewaytest.MatchActions(t, quotas.Product(gateway.Deps{}), "testdata/actions.json", exceptions)
}

// No fact of the package leaves as an InternalError.
func TestTagsNameRefusals(t *testing.T) { gatewaytest.MatchTags(t, quotas.Product(gateway.Deps{})) }

// Every refusal has a call that triggers it.
func TestErrors(t *testing.T) {
	good := application("100")
	gatewaytest.MatchErrors(t, quotas.Product(gateway.Deps{}), world.Default().Plant, []gatewaytest.ErrorCase{
		{Name: "NoProduct", Action: "ListProductQuotas", Params: params{}, Status: 400, Code: "MissingProductCode"},
		{Name: "UnknownProduct", Action: "ListProductQuotas", Params: params{"ProductCode": "ecs"}, Status: 400, Code: "PARAMETER.ILLEGALL"},
		{Name: "Category", Action: "ListProductQuotas", Params: params{"ProductCode": "slb", "QuotaCategory": "FlowControl"}, Status: 400, Code: "CATEGORY.NOT.SUPPORTED"},
		{Name: "Token", Action: "ListProductQuotas", Params: params{"ProductCode": "slb", "NextToken": "mine"}, Status: 400, Code: "PARAMETER.ILLEGALL"},
		{Name: "Dimension", Action: "GetProductQuota", Params: params{"ProductCode": "slb", "QuotaActionCode": instances, "Dimensions.1.Key": "colour"}, Status: 400, Code: "QUOTA.DIMENSION.UNSUPPORT"},
		{Name: "Region", Action: "GetProductQuota", Params: params{"ProductCode": "slb", "QuotaActionCode": instances, "Dimensions.1.Key": "regionId", "Dimensions.1.Value": "mars"}, Status: 400, Code: "QUOTA.DIMENSION.VALUE.UNSUPPORT"},
		{Name: "OtherProduct", Action: "GetProductQuota", Params: params{"ProductCode": "nlb", "QuotaActionCode": instances}, Status: 400, Code: "QUOTA.NOT.FOUND"},
		{Name: "UnknownQuota", Action: "CreateQuotaApplication", Params: good.With(params{"QuotaActionCode": "q_none"}), Status: 400, Code: "QUOTA.NOT.FOUND"},
		{Name: "NotHigher", Action: "CreateQuotaApplication", Params: application("60"), Status: 400, Code: "QUOTA.DESIREVALUE.ILLEGAL"},
		{Name: "Half", Action: "CreateQuotaApplication", Params: application("60.5"), Status: 400, Code: "QUOTA.DESIREVALUE.ILLEGAL"},
		{Name: "Endless", Action: "CreateQuotaApplication", Params: application("Inf"), Status: 400, Code: "QUOTA.DESIREVALUE.ILLEGAL"},
		{Name: "Unadjustable", Action: "CreateQuotaApplication", Params: good.With(params{"QuotaActionCode": "slb_quota_rules_num"}), Status: 400, Code: "QUOTA.DESIREVALUE.ILLEGAL"},
		{Name: "Ceiling", Action: "CreateQuotaApplication", Params: application("11").With(params{"QuotaActionCode": "slb_quota_domain_extensions_num"}), Status: 400, Code: "QUOTA.DESIREVALUE.ILLEGAL"},
		{Name: "NoReason", Action: "CreateQuotaApplication", Params: good.With(params{"Reason": ""}), Status: 400, Code: "MissingReason"},
		{Name: "Unknown", Action: "GetQuotaApplication", Params: params{"ApplicationId": "none"}, Status: 400, Code: "APPLICATION.NOT.FOUND"},
	})
}

// TestGranted proves that an application raises the limit that the product's handlers
// enforce, and that the Quota Center shows that limit and their count.
func TestGranted(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant, set(conditions.Setting{Name: "quota." + instances, Value: "1"}))
	c, lb := gatewaytest.NewClient(t, store, quotas.Product(gateway.Deps{})), gatewaytest.NewClient(t, store, clb.Product(gateway.Deps{}))
	buy := params{"InstanceChargeType": "PayByCLCU"}
	lb.Do("CreateLoadBalancer", buy)
	if got := lb.Call("CreateLoadBalancer", buy); got.Status != 400 {
		t.Errorf("one more than the quota = %v, want a refusal", got.Body)
	}
	wantQuota := func(limit, usage string) {
		t.Helper()
		got := c.Do("GetProductQuota", params{"ProductCode": "slb", "QuotaActionCode": instances})
		if got.Text("Quota.TotalQuota") != limit || got.Text("Quota.TotalUsage") != usage {
			t.Errorf("quota = %v, want %s of %s", got.Body, usage, limit)
		}
	}
	wantQuota("1", "1")
	made := c.Do("CreateQuotaApplication", application("2.0"))
	if made.Text("Status") != "Agree" || made.Text("ApproveValue") != "2" || made.Text("EffectiveTime") == "" {
		t.Errorf("CreateQuotaApplication = %v, want it granted", made.Body)
	}
	wantQuota("2", "1")
	lb.Do("CreateLoadBalancer", buy)
	wantQuota("2", "2")
	if got := c.Do("GetQuotaApplication", params{"ApplicationId": made.Text("ApplicationId")}); got.Text("QuotaApplication.Reason") != "more Services" {
		t.Errorf("GetQuotaApplication = %v", got.Body)
	}
}

// TestRefused proves that an application is refused where the account was told to, and
// changes nothing.
func TestRefused(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant, set(conditions.Setting{Name: "account.refuseQuotaApplications", Value: "true"}))
	c := gatewaytest.NewClient(t, store, quotas.Product(gateway.Deps{}))
	if made := c.Do("CreateQuotaApplication", application("61")); made.Text("Status") != "Disagree" || made.Text("AuditReason") == "" || made.Text("ApproveValue") != "" {
		t.Errorf("CreateQuotaApplication = %v, want it refused", made.Body)
	}
	if got := c.Do("GetProductQuota", params{"ProductCode": "slb", "QuotaActionCode": instances}).Text("Quota.TotalQuota"); got != "60" {
		t.Errorf("TotalQuota = %s, want the usual 60", got)
	}
}

// TestReview proves that a review takes the time of its stage, and that the lower of two
// applications does not take back what the higher one got.
func TestReview(t *testing.T) {
	clock := state.NewManualClock(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	store := gatewaytest.StoreAt(t, clock, world.Default().Plant, set(conditions.Setting{Name: "life.quota.review", Value: "1h"}))
	c := gatewaytest.NewClient(t, store, quotas.Product(gateway.Deps{}))
	for _, desired := range []string{"90", "80"} {
		if made := c.Do("CreateQuotaApplication", application(desired)); made.Text("Status") != "Process" {
			t.Errorf("CreateQuotaApplication = %v, want it in review", made.Body)
		}
	}
	count := func(p params, want string) {
		t.Helper()
		if got := c.Do("ListQuotaApplications", p).Text("TotalCount"); got != want {
			t.Errorf("%v found %s, want %s", p, got, want)
		}
	}
	count(params{"Status": "Process"}, "2")
	clock.Advance(time.Hour)
	count(params{"Status": "Process"}, "0")
	count(params{"Status": "Agree", "ProductCode": "slb"}, "2")
	count(params{"ProductCode": "nlb"}, "0")
	count(params{"KeyWord": "listeners"}, "0")
	if got := c.Do("GetProductQuota", params{"ProductCode": "slb", "QuotaActionCode": instances}).Text("Quota.TotalQuota"); got != "90" {
		t.Errorf("TotalQuota = %s, want 90", got)
	}
}

// TestList proves that lists have each product's quotas, to the last page, and that every
// quota is one of a product's.
func TestList(t *testing.T) {
	c := gatewaytest.NewClient(t, gatewaytest.Store(t, world.Default().Plant), quotas.Product(gateway.Deps{}))
	listed := 0
	for i := range 9 {
		code := c.Do("ListProducts", params{}).Text("ProductInfo." + strconv.Itoa(i) + ".ProductCode")
		if code == "" {
			break
		}
		for token := ""; ; listed++ {
			got := c.Do("ListProductQuotas", params{"ProductCode": code, "MaxResults": "1", "NextToken": token})
			if got.Text("Quotas.0.QuotaActionCode") == "" || got.Text("Quotas.1.QuotaActionCode") != "" {
				t.Errorf("a page of %s = %v, want one quota", code, got.Body)
			}
			if token = got.Text("NextToken"); token == "" {
				listed++
				break
			}
		}
	}
	if want := len(kinds.Schema.QuotaNames()); listed != want {
		t.Errorf("%d quotas are listed, want all %d", listed, want)
	}
	if got := c.Do("ListProductQuotas", params{"ProductCode": "slb", "KeyWord": "rules"}); got.Text("Quotas.0.Adjustable") != "false" || got.Text("TotalCount") != "1" {
		t.Errorf("the quota of rules = %v, want one that is not adjustable", got.Body)
	}
}

// TestNotAdjustable holds the quotas against what the pages of both products say of them.
func TestNotAdjustable(t *testing.T) {
	c := gatewaytest.NewClient(t, gatewaytest.Store(t, world.Default().Plant), quotas.Product(gateway.Deps{}))
	for code, fixed := range map[string][]string{
		"slb": {"slb_quota_rules_num"},
		"nlb": {"nlb_quota_loadbalancer_eci_servers_num", "nlb_quota_loadbalancer_securitygroups_num", "nlb_quota_securitypolicies_num",
			"nlb_quota_servergroup_eci_servers_num", "nlb_quota_servergroups_num"},
	} {
		listed := c.Do("ListProductQuotas", params{"ProductCode": code, "MaxResults": "100"})
		var got []string
		for _, q := range listed.Body["Quotas"].([]any) {
			if shown := q.(map[string]any); shown["Adjustable"] == false {
				got = append(got, shown["QuotaActionCode"].(string))
			}
		}
		if !slices.Equal(got, fixed) {
			t.Errorf("of %s, %v are not adjustable, want %v", code, got, fixed)
		}
	}
}

// TestOfRegion proves that the use of a quota of regions is the use in the region that the
// dimensions name, else of the one that uses the most.
func TestOfRegion(t *testing.T) {
	c := gatewaytest.NewClient(t, gatewaytest.Store(t, world.Default().Plant, func(tx *state.Tx) error {
		for i, region := range []string{"cn-hangzhou", "cn-hangzhou", "cn-shanghai"} {
			owner := state.Owner{AccountID: account, RegionID: region}
			kinds.ServerCertificates.Put(tx.In(owner), &kinds.ServerCertificate{Owner: owner, ID: strconv.Itoa(i)})
		}
		return nil
	}), quotas.Product(gateway.Deps{}))
	for region, want := range map[string]string{"": "2", "cn-hangzhou": "2", "cn-shanghai": "1"} {
		p := params{"ProductCode": "slb", "QuotaActionCode": "slb_quota_certs_num"}
		if region != "" {
			p = p.With(params{"Dimensions.1.Key": "regionId", "Dimensions.1.Value": region})
		}
		if got := c.Do("GetProductQuota", p); got.Text("Quota.TotalUsage") != want || got.Text("Quota.Dimensions.regionId") != region {
			t.Errorf("in %q: %v, want %s used", region, got.Body, want)
		}
	}
}

// TestManyApplications proves that an account keeps a bounded number of applications.
func TestManyApplications(t *testing.T) {
	store := gatewaytest.Store(t, world.Default().Plant)
	var first string
	if err := store.Update(state.Owner{AccountID: account}, func(tx *state.Tx) error {
		for i := range 1001 {
			a := &kinds.QuotaApplication{AccountID: account, Quota: instances, Desired: 100 + i}
			if kinds.ApplyForQuota(tx, a); i == 0 {
				first = a.ID
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	c := gatewaytest.NewClient(t, store, quotas.Product(gateway.Deps{}))
	if got := c.Do("ListQuotaApplications", params{}).Text("TotalCount"); got != "1000" {
		t.Errorf("TotalCount = %s, want 1000", got)
	}
	if got := c.Call("GetQuotaApplication", params{"ApplicationId": first}); got.Status != 400 {
		t.Errorf("the oldest = %v, want it forgotten", got.Body)
	}
}
