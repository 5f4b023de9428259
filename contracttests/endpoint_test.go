package contracttests

import (
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/endpoints"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"

	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// An SDK is pointed at the emulator by its client, by the request, or by a map
// of endpoints.
func TestEndpointOverrides(t *testing.T) {
	host := emulatortest.Start(t).Host()
	const mapped = "cn-shanghai"
	if err := endpoints.AddEndpointMapping(mapped, "Slb", host); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ clientDomain, requestDomain, region string }{
		"client":  {host, "", region},
		"request": {"", host, region},
		"mapping": {"", "", mapped},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			client := newSDKClients(t, c.clientDomain).SLB
			r := slb.CreateDescribeRegionsRequest()
			r.Domain, r.RegionId = c.requestDomain, c.region
			if regions := call(t, client.DescribeRegions, r).Regions.Region; len(regions) < 10 {
				t.Errorf("regions: %v", regions)
			}
		})
	}
}
