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
	// Proxy lets clients that have no setting for endpoints call the cloud's own hosts, and
	// reach the API as their HTTP proxy, in place of Endpoints.
	Proxy bool
	// CAFile, if set, has the certificate that clients must trust.
	CAFile string
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
	vars := e.route()
	if e.CAFile != "" {
		for _, name := range trusting {
			vars = append(vars, [2]string{name, e.CAFile})
		}
	}
	id, secret := cmp.Or(e.AccessKeyID, apiclient.AccessKeyID), cmp.Or(e.AccessKeySecret, apiclient.AccessKeySecret)
	region := cmp.Or(e.Region, defaultRegion)
	return append(vars,
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

// trusting are the variables that name a file of authorities: of Go programs such as a
// CCM, Terraform and the aliyun CLI, of Python, of Node and of curl.
var trusting = []string{"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE"}

// direct are hosts that a controller in a cluster must reach without a proxy.
const direct = "localhost,127.0.0.1,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,.svc,.cluster.local"

// route lists the variables that bring calls to the API.
func (e Environment) route() (vars [][2]string) {
	if e.Proxy {
		for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
			vars = append(vars, [2]string{name, e.API.Scheme + "://" + e.API.Host})
		}
		return append(vars, [2]string{"NO_PROXY", direct}, [2]string{"no_proxy", direct})
	}
	for _, name := range e.Endpoints {
		vars = append(vars, [2]string{name, e.API.Host})
	}
	return append(vars,
		// A CCM calls it about Lingjun nodes, which are not emulated.
		[2]string{"EFLO_CONTROLLER_ENDPOINT", e.API.Host},
		[2]string{"ALICLOUD_CLIENT_SCHEME", strings.ToUpper(e.API.Scheme)},
		[2]string{"METADATA_ENDPOINT", e.API.Scheme + "://" + e.API.Host})
}
