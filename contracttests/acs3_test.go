package contracttests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	openapi "github.com/alibabacloud-go/darabonba-openapi/v2/client"
	"github.com/alibabacloud-go/tea/dara"
	"github.com/alibabacloud-go/tea/tea"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// credentials holds a client's credentials.
type accessCredentials struct {
	AccessKeyID     string `json:"AccessKeyId"`
	AccessKeySecret string
	SecurityToken   string
	Code            string
}

var permanent = accessCredentials{AccessKeyID: emulatortest.AccessKeyID, AccessKeySecret: emulatortest.AccessKeySecret}

// acs3Call makes a call in RPC style with the generic client of the newer SDKs,
// which signs by ACS3-HMAC-SHA256. The parameters travel in the query or in the
// form.
func acs3Call(host string, c accessCredentials, product, action string, p params, inForm bool) (map[string]any, error) {
	request := &openapi.OpenApiRequest{}
	sent := map[string]*string{"RegionId": dara.String(region)}
	for name, value := range p {
		sent[name] = dara.String(value)
	}
	if inForm {
		request.Body = sent
	} else {
		request.Query = sent
	}
	return acs3Send(host, c, product, action, "formData", request)
}

// acs3Send sends a request; its body, if any, has the given type.
func acs3Send(host string, c accessCredentials, product, action, bodyType string, request *openapi.OpenApiRequest) (map[string]any, error) {
	config := &openapi.Config{
		AccessKeyId: dara.String(c.AccessKeyID), AccessKeySecret: dara.String(c.AccessKeySecret),
		Endpoint: dara.String(host), Protocol: dara.String("HTTP"), RegionId: dara.String(region),
	}
	if c.SecurityToken != "" {
		config.SecurityToken = dara.String(c.SecurityToken)
		config.Type = dara.String("sts")
	}
	client, err := openapi.NewClient(config)
	if err != nil {
		return nil, err
	}
	answer, err := client.CallApi(&openapi.Params{
		Action: dara.String(action), Version: dara.String(versions[product]), Protocol: dara.String("HTTP"),
		Pathname: dara.String("/"), Method: dara.String("POST"), AuthType: dara.String("AK"), Style: dara.String("RPC"),
		ReqBodyType: dara.String(bodyType), BodyType: dara.String("json"),
	}, request, &dara.RuntimeOptions{})
	if err != nil {
		return nil, err
	}
	body, _ := answer["body"].(map[string]any)
	return body, nil
}

// The newer SDKs reach actions of all products, and find their way in refusals.
func TestACS3Client(t *testing.T) {
	s := emulatortest.Start(t)
	wrong := permanent
	wrong.AccessKeySecret = "wrong"
	nobody := permanent
	nobody.AccessKeyID = "nobody"
	cases := []struct {
		name            string
		credentials     accessCredentials
		product, action string
		params          params
		field, code     string
	}{
		{"create", permanent, "Slb", "CreateLoadBalancer", params{"AddressType": "internet", "InstanceChargeType": "PayByCLCU"}, "LoadBalancerId", ""},
		{"values to escape", permanent, "Slb", "CreateAccessControlList", params{"AclName": "office-1.a/b_c"}, "AclId", ""},
		{"list", permanent, "Slb", "DescribeLoadBalancers", params{"Tags": `[{"TagKey":"a b","TagValue":"*~é"}]`}, "TotalCount", ""},
		{"repeated parameter", permanent, "Ecs", "DescribeNetworkInterfaces", params{"PrivateIpAddress.1": "192.168.0.11", "VpcId": vpc1}, "NetworkInterfaceSets", ""},
		{"vpc", permanent, "Vpc", "DescribeVpcs", params{}, "Vpcs", ""},
		{"unknown load balancer", permanent, "Slb", "DescribeLoadBalancerAttribute", params{"LoadBalancerId": unknownLB}, "", "InvalidLoadBalancerId.NotFound"},
		{"unknown action", permanent, "Slb", "CreateRocket", params{}, "", "InvalidAction.NotEmulated"},
		{"not emulated", permanent, "Vpc", "CreateVpnGateway", params{}, "", "InvalidAction.NotEmulated"},
		{"wrong secret", wrong, "Slb", "DescribeRegions", params{}, "", "SignatureDoesNotMatch"},
		{"unknown key", nobody, "Slb", "DescribeRegions", params{}, "", "InvalidAccessKeyId.NotFound"},
	}
	for _, c := range cases {
		for _, inForm := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/form=%v", c.name, inForm), func(t *testing.T) {
				body, err := acs3Call(s.Host(), c.credentials, c.product, c.action, c.params, inForm)
				if c.code == "" {
					if err != nil || body[c.field] == nil || body["RequestId"] == nil {
						t.Errorf("%s = %v, %v, want %s", c.action, body, err, c.field)
					}
					return
				}
				checkACS3Refusal(t, err, c.code)
			})
		}
	}
}

// checkACS3Refusal looks at the error as a CCM does: at its code, and at its
// message for the RequestId.
func checkACS3Refusal(t *testing.T, err error, code string) {
	t.Helper()
	var refusal *tea.SDKError
	if !errors.As(err, &refusal) || tea.StringValue(refusal.Code) != code {
		t.Fatalf("error %v, want code %s", err, code)
	}
	_, id, _ := strings.Cut(tea.StringValue(refusal.Message), "request id: ")
	if len(id) != len("365F4154-92F6-4AE4-92F8-7FF34B540710") {
		t.Errorf("the message has no RequestId: %v", err)
	}
}

// roleCredentials fetches the credentials of the node's RAM role from the metadata
// service, with a session token.
func roleCredentials(t *testing.T, url string) (c accessCredentials) {
	t.Helper()
	token := fetch(t, http.MethodPut, url+"/latest/api/token", "X-aliyun-ecs-metadata-token-ttl-seconds", "21600")
	const path = "/latest/meta-data/ram/security-credentials/"
	role := fetch(t, http.MethodGet, url+path, "X-aliyun-ecs-metadata-token", token)
	text := fetch(t, http.MethodGet, url+path+role, "X-aliyun-ecs-metadata-token", token)
	if err := json.Unmarshal([]byte(text), &c); err != nil || c.Code != "Success" || c.SecurityToken == "" {
		t.Fatalf("credentials of role %s: %v, %s", role, err, text)
	}
	return c
}

func fetch(t *testing.T, method, url, header, value string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(header, value)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s = %d %s, %v", method, url, response.StatusCode, text, err)
	}
	return string(text)
}

// The temporary credentials that the metadata service gives out work in both
// SDKs, and not without their token.
func TestRoleCredentials(t *testing.T) {
	s := emulatortest.Start(t)
	c := roleCredentials(t, s.URL())
	if _, err := acs3Call(s.Host(), c, "Vpc", "DescribeVpcs", params{}, false); err != nil {
		t.Errorf("the generic client: %v", err)
	}
	if _, err := newSTSClient(t, s.Host(), c).call("Slb", "DescribeRegions", params{}); err != nil {
		t.Errorf("the SLB client: %v", err)
	}
	stolen := c
	stolen.SecurityToken = ""
	_, err := acs3Call(s.Host(), stolen, "Vpc", "DescribeVpcs", params{}, false)
	checkACS3Refusal(t, err, "MissingSecurityToken")
	forged := c
	forged.SecurityToken = "forged"
	_, err = newSTSClient(t, s.Host(), forged).call("Slb", "DescribeRegions", params{})
	if code := codeOf(err); code != "InvalidSecurityToken.Malformed" {
		t.Errorf("a forged token = %q (%v)", code, err)
	}
}

// A JSON body says what a form says: numbers, switches, and lists of objects.
func TestACS3JSONBody(t *testing.T) {
	f := newFurnishedSDK(t)
	host := strings.TrimPrefix(f.SLB.Domain, "http://")
	send := func(action string, body map[string]any) map[string]any {
		t.Helper()
		body["RegionId"] = region
		answer, err := acs3Send(host, permanent, "Slb", action, "json", &openapi.OpenApiRequest{Body: body})
		if err != nil {
			t.Fatalf("%s(%v): %v", action, body, err)
		}
		return answer
	}
	id := f.names.resolve(params{"id": "{lb}"})["id"]
	send("TagResources", map[string]any{"ResourceType": "instance", "ResourceId": []string{id},
		"Tag": []map[string]any{{"Key": "sent", "Value": "as JSON"}, {"Key": "count", "Value": 2}}})
	listed := send("ListTagResources", map[string]any{"ResourceType": "instance", "Tag": []map[string]any{{"Key": "sent"}}})
	if text := fmt.Sprint(listed); !strings.Contains(text, "as JSON") || !strings.Contains(text, "TagKey:count") || !strings.Contains(text, "TagValue:2") {
		t.Errorf("the tags are %v, want the two that were sent", listed)
	}
	page := send("DescribeLoadBalancers", map[string]any{"PageSize": 1, "PageNumber": 2})
	if fmt.Sprint(page["PageSize"]) != "1" || fmt.Sprint(page["PageNumber"]) != "2" {
		t.Errorf("page %v of size %v, want 2 of 1", page["PageNumber"], page["PageSize"])
	}
}
