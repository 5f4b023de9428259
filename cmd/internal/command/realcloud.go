package command

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/realcloud"
)

// cloudFlags say which account of the real cloud a command is about.
type cloudFlags struct {
	region, ca string
	endpoints  []string
}

func (f *cloudFlags) define(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.region, "region", "", "region of the cloud, such as cn-hangzhou")
	flags.StringArrayVar(&f.endpoints, "endpoint", nil, "PRODUCT=URL: where a product answers, such as Slb=https://127.0.0.1:9600 (default: the cloud's own endpoints)")
	flags.StringVar(&f.ca, "ca", "", "file of certificates that endpoints may have in addition to those that this machine trusts")
}

// keyVariables are the environment variables of credentials, as SDKs, Terraform and a CCM
// read them: the first pair counts.
var keyVariables = [][3]string{
	{"ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "ALIBABA_CLOUD_SECURITY_TOKEN"},
	{"ALICLOUD_ACCESS_KEY", "ALICLOUD_SECRET_KEY", "ALICLOUD_SECURITY_TOKEN"},
	{"ACCESS_KEY_ID", "ACCESS_KEY_SECRET", ""},
}

// credentials reads the key from the environment, from nowhere else: a command line is seen
// by others.
func credentials() (realcloud.Credentials, error) {
	for _, v := range keyVariables {
		id, secret := os.Getenv(v[0]), os.Getenv(v[1])
		switch {
		case id == "" && secret == "":
			continue
		case id == "" || secret == "":
			return realcloud.Credentials{}, fmt.Errorf("%s and %s must both be set", v[0], v[1])
		}
		token := ""
		if v[2] != "" {
			token = os.Getenv(v[2])
		}
		return realcloud.Credentials{ID: id, Secret: secret, Token: token}, nil
	}
	return realcloud.Credentials{}, fmt.Errorf("no credentials: set %s, %s and, for a temporary key, %s in the environment", keyVariables[0][0], keyVariables[0][1], keyVariables[0][2])
}

// client returns a client of the account, which names its purpose to it.
func (f *cloudFlags) client(purpose string) (*realcloud.Cloud, error) {
	if err := realcloud.CheckRegion(f.region); err != nil {
		return nil, fmt.Errorf("--region: %w", err)
	}
	key, err := credentials()
	if err != nil {
		return nil, err
	}
	c := &realcloud.Cloud{Region: f.region, Endpoints: make(map[string]string), Credentials: key, Clock: realcloud.MachineClock{}, UserAgent: programName + "-" + purpose + "/" + version().Version}
	for _, e := range f.endpoints {
		product, at, _ := strings.Cut(e, "=")
		product = spelled(product)
		server, err := url.Parse(at)
		switch {
		case !slices.Contains(productNames(), product):
			return nil, fmt.Errorf("--endpoint %s: there is no product %s: there are %s", e, product, strings.Join(productNames(), ", "))
		case err != nil || server.Host == "" || strings.Trim(server.Path, "/") != "" || server.RawQuery != "" || server.User != nil:
			return nil, fmt.Errorf("--endpoint %s: give PRODUCT=https://HOST", e)
		case server.Scheme != "https" && !(server.Scheme == "http" && loopback(server.Hostname())):
			return nil, fmt.Errorf("--endpoint %s: use https: credentials go there", e)
		}
		c.Endpoints[product] = server.Scheme + "://" + server.Host
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSHandshakeTimeout: 10 * time.Second, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	if f.ca != "" {
		text, err := readPath(f.ca)
		if err != nil {
			return nil, fmt.Errorf("--ca: %w", err)
		}
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("--ca: %s has no certificate in PEM", f.ca)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	// A redirect would take a signed call elsewhere.
	c.HTTP = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
