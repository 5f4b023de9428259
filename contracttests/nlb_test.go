package contracttests

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	openapi "github.com/alibabacloud-go/darabonba-openapi/v2/client"
	"github.com/alibabacloud-go/tea/dara"
	"github.com/alibabacloud-go/tea/tea"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/products"
)

// untyped are the products whose answers no SDK that can be had has types for.
var untyped = []string{"Nlb", "cas"}

// untypedCall makes a call as a CCM does it, with the client that all newer SDKs are
// made around: without a RegionId unless there is one, tags in the query and the
// rest in the form.
func untypedCall(host, product, action string, p params) (any, error) {
	client, err := openapi.NewClient(&openapi.Config{
		AccessKeyId: dara.String(emulatortest.AccessKeyID), AccessKeySecret: dara.String(emulatortest.AccessKeySecret),
		Endpoint: dara.String(host), Protocol: dara.String("HTTP"),
	})
	if err != nil {
		return nil, err
	}
	query, form := map[string]*string{}, map[string]*string{}
	for name, value := range p {
		switch {
		case name == "RegionId" && value == region && action != "DescribeZones":
		case strings.HasPrefix(name, "Tag."):
			query[name] = dara.String(value)
		default:
			form[name] = dara.String(value)
		}
	}
	answer, err := client.CallApi(&openapi.Params{
		Action: dara.String(action), Version: dara.String(versions[product]), Protocol: dara.String("HTTP"),
		Pathname: dara.String("/"), Method: dara.String("POST"), AuthType: dara.String("AK"), Style: dara.String("RPC"),
		ReqBodyType: dara.String("formData"), BodyType: dara.String("json"),
	}, &openapi.OpenApiRequest{Query: query, Body: form}, &dara.RuntimeOptions{})
	if err != nil {
		return nil, err
	}
	return answer["body"], nil
}

// nlbCode returns the code of a refusal as the newer SDKs understand it.
func nlbCode(err error) (string, bool) {
	var refusal *tea.SDKError
	if !errors.As(err, &refusal) {
		return "", false
	}
	return tea.StringValue(refusal.Code), true
}

// untypedFields lists the fields that the answers of an action can hold: as the
// emulator declares them, since no SDK's type can be had.
func untypedFields(product string, a products.Action) []string {
	fields := []string{product + "." + a.Name + ".RequestId"}
	for _, path := range a.ResponseFields() {
		fields = append(fields, product+"."+a.Name+"."+strings.ReplaceAll(path, "[]", ""))
	}
	return fields
}

// filledJSON is filled for an answer without a type.
func filledJSON(v any, path string, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			filledJSON(value, path+"."+name, into)
		}
	case []any:
		for _, value := range v {
			filledJSON(value, path, into)
		}
	default:
		if v != nil && !reflect.ValueOf(v).IsZero() {
			into[path] = true
		}
	}
}

// nlbActions lists the actions that a CCM and Terraform call.
var nlbActions = strings.Fields(`
	CreateLoadBalancer GetLoadBalancerAttribute ListLoadBalancers UpdateLoadBalancerAttribute UpdateLoadBalancerAddressTypeConfig
	UpdateLoadBalancerZones EnableLoadBalancerIpv6Internet DisableLoadBalancerIpv6Internet UpdateLoadBalancerProtection
	LoadBalancerJoinSecurityGroup LoadBalancerLeaveSecurityGroup AttachCommonBandwidthPackageToLoadBalancer
	DetachCommonBandwidthPackageFromLoadBalancer DeleteLoadBalancer TagResources UntagResources ListTagResources
	CreateListener UpdateListenerAttribute DeleteListener StartListener ListListeners ListListenerCertificates
	AssociateAdditionalCertificatesWithListener DisassociateAdditionalCertificatesWithListener
	CreateServerGroup UpdateServerGroupAttribute DeleteServerGroup ListServerGroups AddServersToServerGroup
	UpdateServerGroupServersAttribute RemoveServersFromServerGroup ListServerGroupServers
	GetJobStatus ListAsynJobs DescribeRegions DescribeZones
	CancelShiftLoadBalancerZones CreateSecurityPolicy DeleteHdMonitorRegionConfig DeleteSecurityPolicy DescribeHdMonitorRegionConfig
	GetListenerAttribute GetListenerHealthStatus ListSecurityPolicy ListSystemSecurityPolicy MoveResourceGroup SetHdMonitorRegionConfig StartShiftLoadBalancerZones StopListener
	UpdateSecurityPolicyAttribute`)

// TestNLBActions proves that the emulator has the actions that a CCM and Terraform
// call, and no others.
func TestNLBActions(t *testing.T) {
	var has []string
	for p, a := range emulated {
		if p.Name == "Nlb" {
			has = append(has, a.Name)
		}
	}
	slices.Sort(has)
	want := slices.Sorted(slices.Values(nlbActions))
	if len(want) != 51 || !slices.Equal(has, want) {
		t.Errorf("NLB has %d actions %v, want the %d that clients call: %v", len(has), has, len(want), want)
	}
}

// A call without a RegionId is about the region of the host that it calls, and
// without one there about the account's own.
func TestRegionFromHost(t *testing.T) {
	c := newCloud(t)
	for host, want := range map[string]string{
		"nlb.cn-shanghai.aliyuncs.com": "cn-shanghai", "NLB.cn-shanghai.aliyuncs.com:80": "cn-shanghai",
		"nlb.mars-1.aliyuncs.com": region, "nlb.aliyuncs.com": region, "127.0.0.1:9600": region,
	} {
		query := "?Action=SetHdMonitorRegionConfig&Version=" + versions["Nlb"] + "&MetricStore=m&LogProject=p"
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/"+query, nil)
		r.Host = host
		c.api.ServeHTTP(w, r)
		var body struct {
			RegionID string `json:"RegionId"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.RegionID != want {
			t.Errorf("a call to %s is about %q (%s, %v), want %s", host, body.RegionID, w.Body, err, want)
		}
	}
}

// A fault rule makes the job of one call fail, so that it does nothing, and another's job
// never end; the jobs of later calls are as always.
func TestFaultsOfJobs(t *testing.T) {
	s := emulatortest.Start(t)
	s.Fault(t, `[
  {name: failing, match: {action: CreateServerGroup, params.ServerGroupName: first}, effect: {life: {nlb.job.failing: 1ms}}},
  {name: endless, match: {action: CreateServerGroup, params.ServerGroupName: second}, effect: {life: {nlb.job: 87600h}}}]`)
	call := func(action string, p map[string]string) apiclient.Reply {
		t.Helper()
		reply, err := s.Client().Call(emulator.Version("Nlb"), action, p)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	for _, c := range []struct {
		name, status string
		groups       int
	}{{"first", "Failed", 0}, {"second", "Processing", 1}, {"third", "Succeeded", 1}} {
		made := call("CreateServerGroup", map[string]string{"ServerGroupName": c.name, "VpcId": "vpc-bp1clbemu000000000001"})
		s.Advance(t, time.Hour)
		if status := call("GetJobStatus", map[string]string{"JobId": made.Text("JobId")}).Text("Status"); status != c.status {
			t.Errorf("the job of the %s call is %q, want %s", c.name, status, c.status)
		}
		groups, ok := call("ListServerGroups", map[string]string{"ServerGroupNames.1": c.name}).Body["ServerGroups"].([]any)
		if !ok || len(groups) != c.groups {
			t.Errorf("the %s call made the groups %v, want %d", c.name, groups, c.groups)
		}
	}
	for _, rule := range []string{"failing", "endless"} {
		if n := s.Hits(t, rule); n != 1 {
			t.Errorf("the rule %s struck %d times, want once", rule, n)
		}
	}
}
