package target

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/internal/gateway"
)

// Environment is the environment that points clients of the cloud at an emulator: names
// and values of variables.
type Environment struct {
	// API is the address of the cloud's API.
	API *url.URL
	// Endpoints are the variables for the addresses of products.
	Endpoints []string
	// AccessKeyID, AccessKeySecret and Region are the default world's when
	// empty.
	AccessKeyID, AccessKeySecret, Region string
}

// defaultRegion is the region of the default world.
const defaultRegion = "cn-hangzhou"

// Endpoints lists the names of the variables for the addresses of products.
func Endpoints(products []*gateway.Product) (names []string) {
	for _, p := range products {
		if p.Endpoint != "" {
			names = append(names, p.Endpoint+"_ENDPOINT")
		}
	}
	return names
}

// Variables lists names and values. The endpoints are host:port, as clients take
// the scheme from elsewhere; evidence CLB-0452 and CLB-0456.
func (e Environment) Variables() [][2]string {
	var vars [][2]string
	for _, name := range e.Endpoints {
		vars = append(vars, [2]string{name, e.API.Host})
	}
	// A CCM calls it about Lingjun nodes, which are not emulated.
	vars = append(vars, [2]string{"EFLO_CONTROLLER_ENDPOINT", e.API.Host})
	id, secret := cmp.Or(e.AccessKeyID, apiclient.AccessKeyID), cmp.Or(e.AccessKeySecret, apiclient.AccessKeySecret)
	region := cmp.Or(e.Region, defaultRegion)
	return append(vars,
		[2]string{"ALICLOUD_CLIENT_SCHEME", strings.ToUpper(e.API.Scheme)},
		[2]string{"METADATA_ENDPOINT", e.API.Scheme + "://" + e.API.Host},
		[2]string{"ACCESS_KEY_ID", id},
		[2]string{"ACCESS_KEY_SECRET", secret},
		[2]string{"ALIBABA_CLOUD_ACCESS_KEY_ID", id},
		[2]string{"ALIBABA_CLOUD_ACCESS_KEY_SECRET", secret},
		[2]string{"ALICLOUD_ACCESS_KEY", id},
		[2]string{"ALICLOUD_SECRET_KEY", secret},
		[2]string{"ALIBABA_CLOUD_REGION_ID", region},
		[2]string{"ALICLOUD_REGION", region},
		// Without it the Terraform provider asks the real billing service at each start.
		[2]string{"ALIBABA_CLOUD_ACCOUNT_TYPE", "Domestic"},
	)
}
