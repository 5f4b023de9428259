package contracttests

import (
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth/credentials"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"

	"github.com/clbemu/clbemu/emulator/controlapi"
	"github.com/clbemu/clbemu/emulator/controlclient"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestClouds proves that the SDKs of both signatures reach a cloud by its access key, also
// with the temporary credentials that they get there, and that the default cloud sees
// nothing of it.
func TestClouds(t *testing.T) {
	s := emulatortest.Start(t)
	if _, err := (&controlclient.Client{URL: s.ControlURL()}).CreateCloud(t.Context(), "team-a", controlapi.NewCloud{}); err != nil {
		t.Fatal(err)
	}
	key := accessCredentials{AccessKeyID: "team-a." + emulatortest.AccessKeyID, AccessKeySecret: emulatortest.AccessKeySecret}
	answer, err := acs3Call(s.Host(), key, "Sts", "AssumeRole", params{"RoleArn": "acs:ram::1234567890123456:role/clbemu-node", "RoleSessionName": "test"}, false)
	if err != nil {
		t.Fatal(err)
	}
	assumed := answer["Credentials"].(map[string]any)
	temporary := accessCredentials{AccessKeyID: assumed["AccessKeyId"].(string), AccessKeySecret: assumed["AccessKeySecret"].(string), SecurityToken: assumed["SecurityToken"].(string)}
	older := sdkClientsWith(t, s.Host(), credentials.NewAccessKeyCredential(key.AccessKeyID, key.AccessKeySecret))
	create := slb.CreateCreateLoadBalancerRequest()
	create.InstanceChargeType = "PayByCLCU"
	if _, err := older.SLB.CreateLoadBalancer(create); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]accessCredentials{"its key": key, "temporary credentials": temporary} {
		if _, err := acs3Call(s.Host(), c, "Slb", "CreateLoadBalancer", params{"InstanceChargeType": "PayByCLCU"}, true); err != nil {
			t.Errorf("with %s: %v", name, err)
		}
	}
	for _, test := range []struct {
		clients *sdkClients
		want    int
	}{{older, 3}, {newSTSClient(t, s.Host(), temporary), 3}, {newSDKClients(t, s.Host()), 0}} {
		list, err := test.clients.SLB.DescribeLoadBalancers(slb.CreateDescribeLoadBalancersRequest())
		if err != nil || list.TotalCount != test.want {
			t.Errorf("there are %d load balancers, %v, want %d", list.TotalCount, err, test.want)
		}
	}
}
