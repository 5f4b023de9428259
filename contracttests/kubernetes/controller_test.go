package kubernetes_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cluster"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/process"
)

// ccmBinary returns the real cloud controller manager to test with, or "".
func ccmBinary() string { return os.Getenv("CCM_BIN") }

// requireCCM skips what the reference driver does not do.
func requireCCM(t *testing.T, why string) {
	t.Helper()
	if ccmBinary() == "" {
		t.Skipf("%s: only a real cloud controller manager does that, and CCM_BIN names none", why)
	}
}

// startController starts the real CCM if there is one, else the driver, which takes the same
// flags and the same environment.
func (f *fixture) startController() {
	f.Helper()
	var err error
	if f.controller, err = process.Start(f.controllerCommand()); err != nil {
		f.Fatal(err)
	}
}

// controllerBinary returns the real CCM if there is one, else the driver.
func controllerBinary() string { return cmp.Or(ccmBinary(), shared.driver) }

// ccmUser is the service account of a CCM in a kind cluster.
const ccmUser = "system:serviceaccount:kube-system:cloud-controller-manager"

// controllerCommand points a controller at the cloud by its environment alone.
func (f *fixture) controllerCommand() process.Command {
	f.Helper()
	kubeconfig := filepath.Join(f.dir, "ccm.kubeconfig")
	if err := f.cluster.WriteKubeconfig(kubeconfig, ccmUser); err != nil {
		f.Fatal(err)
	}
	file := f.writeCloudConfig()
	if isFirstGeneration(f.T) {
		return f.firstGeneration(kubeconfig, file)
	}
	args := []string{
		"--kubeconfig", kubeconfig, "--cloud-config", file, "--controllers=node,service,route" + f.controllers,
		"--configure-cloud-routes=true", "--allocate-node-cidrs", "--cluster-cidr=" + cluster.PodCIDR, "--network=",
		"--leader-elect=false", "--metrics-bind-addr=127.0.0.1:0", "--health-probe-bind-addr=127.0.0.1:0", "-v=4",
	}
	if ccmBinary() != "" && knows(f.T, "pprof-bind-addr") { // since v2.8.0
		args = append(args, "--pprof-bind-addr=0")
	}
	return process.Command{Dir: f.dir, Name: "controller", Path: controllerBinary(), Env: f.environment(), Args: args}
}

// environment points a controller at the cloud, as clbemu env does, with --proxy where it
// needs that.
func (f *fixture) environment() []string {
	if needsProxy(f.T) {
		proxy := "http://" + f.cloud.Endpoint
		return []string{"HTTP_PROXY=" + proxy, "HTTPS_PROXY=" + proxy, "NO_PROXY=127.0.0.1", "SSL_CERT_FILE=" + filepath.Join(f.dir, "data", "ca.pem")}
	}
	env := []string{cloud.Mutant(f.T), "ALICLOUD_CLIENT_SCHEME=HTTP", "METADATA_ENDPOINT=http://" + f.cloud.Endpoint}
	for _, product := range []string{"SLB", "VPC", "ECS", "NLB", "EFLO_CONTROLLER"} {
		env = append(env, product+"_ENDPOINT="+f.cloud.Endpoint)
	}
	return env
}

// isFirstGeneration reports whether the CCM is one of 2018 to 2020, before v2: it has
// the SDK aliyungo, and flags of Kubernetes 1.9 to 1.12.
func isFirstGeneration(t *testing.T) bool { return ccmBinary() != "" && knows(t, "LOCATION_ENDPOINT") }

// needsProxy reports whether the CCM takes the addresses of some products alone from its
// environment: the cloud is its proxy.
func needsProxy(t *testing.T) bool { return ccmBinary() != "" && !knows(t, "NLB_ENDPOINT") }

// firstGeneration points such a CCM at the cloud, and at a Kubernetes of its time.
func (f *fixture) firstGeneration(kubeconfig, file string) process.Command {
	env := append(f.environment(), "CUSTOMIZED_ENDPOINT=true")
	links, err := cluster.SelfLinks(kubeconfig)
	if err != nil {
		f.Fatal(err)
	}
	kubernetes := httptest.NewServer(links)
	f.Cleanup(kubernetes.CloseClientConnections)
	return process.Command{Dir: f.dir, Name: "controller", Path: ccmBinary(), Env: env, Args: []string{
		"--master", kubernetes.URL, "--kube-api-content-type=application/json", "--cloud-config", file, "--cloud-provider=alicloud", "--allow-untagged-cloud", "--leader-elect=false",
		"--address=127.0.0.1", "--port=0", "--configure-cloud-routes=true", "--allocate-node-cidrs", "--cluster-cidr=" + cluster.PodCIDR,
		"--logtostderr", "-v=4",
	}}
}

// writeCloudConfig writes the file that tells a CCM where it is. Without a key its
// credentials returns the credentials of the instance's RAM role, from the metadata
// service.
func (f *fixture) writeCloudConfig() (file string) {
	f.Helper()
	global := map[string]any{
		"clusterID": f.clusterID, "region": cloud.Region, "vpcid": cloud.VPC, "zoneId": "cn-hangzhou-h",
		"vswitchid":     "cn-hangzhou-h:" + cloud.VSwitch + ",cn-hangzhou-i:" + cloud.VSwitch2,
		"routeTableIDs": cloud.RouteTable, "kubernetesClusterTag": f.clusterID,
	}
	if readsEndpointSlices() { // by default since v2.9.1
		global["featureGates"] = "EndpointSlice=true"
	}
	if f.accessKey || ccmBinary() == "" { // the driver asks no metadata service
		global["accessKeyID"] = base64.StdEncoding.EncodeToString([]byte(cloud.AccessKeyID))
		global["accessKeySecret"] = base64.StdEncoding.EncodeToString([]byte(cloud.AccessKeySecret))
	}
	config, err := json.Marshal(map[string]any{"Global": global})
	if err != nil {
		f.Fatal(err)
	}
	file = filepath.Join(f.dir, "cloud-config.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		f.Fatal(err)
	}
	return file
}
