package contracttests

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/aliyun/alibaba-cloud-sdk-go/sdk"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth/credentials"
	"github.com/aliyun/alibaba-cloud-sdk-go/services/slb"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestProxy proves that an SDK that is not pointed anywhere reaches the emulator as its
// proxy, under the cloud's own host names and by HTTPS, with signatures verified.
func TestProxy(t *testing.T) {
	dir := t.TempDir()
	certificate, err := emulator.GenerateTLS(dir, []string{"*.aliyuncs.com", "*." + region + ".aliyuncs.com"})
	if err != nil {
		t.Fatal(err)
	}
	server := emulatortest.Start(t, emulatortest.WithConfig(func(cfg *emulator.Config) { cfg.Proxy, cfg.StrictAuth = certificate, true }))
	authority, err := os.ReadFile(filepath.Join(dir, emulator.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trust}}
	t.Cleanup(transport.CloseIdleConnections)
	config := sdk.NewConfig().WithScheme("HTTPS").WithHttpTransport(transport).WithTimeout(await.Patience)
	client, err := slb.NewClientWithOptions(region, config, credentials.NewAccessKeyCredential(emulatortest.AccessKeyID, emulatortest.AccessKeySecret))
	if err != nil {
		t.Fatal(err)
	}
	client.SetHttpsProxy(server.URL())
	created := slb.CreateCreateLoadBalancerRequest()
	created.InstanceChargeType = "PayByCLCU"
	id := call(t, client.CreateLoadBalancer, created).LoadBalancerId
	if got := server.Calls(t, "action=CreateLoadBalancer"); len(got) != 1 || id == "" {
		t.Errorf("the journal has %d calls of CreateLoadBalancer, which answered %q", len(got), id)
	}
	remove := slb.CreateDeleteLoadBalancerRequest()
	remove.LoadBalancerId = id
	call(t, client.DeleteLoadBalancer, remove)
}
