package contracttests

import (
	"errors"
	"testing"

	sdkerrors "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// RAM refuses in each product's own words, with a detail that the SDK reads.
func TestRefusalsByPolicy(t *testing.T) {
	s := emulatortest.Start(t)
	s.World(t, "policy.key."+emulatortest.AccessKeyID, `{"Version":"1","Statement":[{"Effect":"Allow","Action":"slb:DescribeRegions","Resource":"*"}]}`)
	clients := newSDKClients(t, s.Host())
	cases := []struct{ product, action, code, authAction string }{
		{"Slb", "DescribeRegions", "", ""},
		{"Slb", "DescribeZones", "Forbidden", "slb:DescribeZones"},
		{"Vpc", "DescribeVpcs", "Forbidden.RAM", "vpc:DescribeVpcs"},
		{"Ecs", "DescribeInstances", "Forbidden.RAM", "ecs:DescribeInstances"},
	}
	for _, c := range cases {
		_, err := clients.call(c.product, c.action, nil)
		if got := codeOf(err); got != c.code {
			t.Errorf("%s = %q (%v), want %q", c.action, got, err, c.code)
		}
		var refusal *sdkerrors.ServerError
		if !errors.As(err, &refusal) {
			continue
		}
		if detail := refusal.AccessDeniedDetail(); refusal.HttpStatus() != 403 || detail["AuthAction"] != c.authAction {
			t.Errorf("%s: status %d, detail %v, want 403 and %s", c.action, refusal.HttpStatus(), detail, c.authAction)
		}
	}
}
