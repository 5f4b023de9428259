package kubernetes_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/clbemu/clbemu/contracttests/kubernetes/cloud"
	"github.com/clbemu/clbemu/contracttests/kubernetes/cluster"
	"github.com/clbemu/clbemu/contracttests/kubernetes/process"
)

const clusterID = "e2e"

// ccmBinary is the real cloud controller manager to test with, or empty.
func ccmBinary() string { return os.Getenv("CCM_BIN") }

// requireCCM skips what the reference driver does not do.
func requireCCM(t *testing.T, why string) {
	t.Helper()
	if ccmBinary() == "" {
		t.Skipf("%s: only a real cloud controller manager does that, and CCM_BIN names none", why)
	}
}

// startController starts the real CCM if there is one, else the driver.
func startController(t *testing.T, dir string, c *cloud.Cloud) *process.Process {
	t.Helper()
	command := process.Command{Dir: dir, Name: "driver", Path: shared.driver, Args: []string{
		"--kubeconfig", shared.cluster.Kubeconfig, "--endpoint", c.Endpoint, "--region", cloud.Region, "--cluster-id", clusterID,
	}, Env: []string{"ACCESS_KEY_ID=" + cloud.AccessKeyID, "ACCESS_KEY_SECRET=" + cloud.AccessKeySecret}}
	if binary := ccmBinary(); binary != "" {
		command = ccmCommand(t, dir, binary, c)
	}
	p, err := process.Start(command)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ccmCommand points a CCM at the cloud by its environment alone. Its credentials
// are those of the instance's RAM role, from the metadata service.
func ccmCommand(t *testing.T, dir, binary string, c *cloud.Cloud) process.Command {
	t.Helper()
	config, err := json.Marshal(map[string]any{"Global": map[string]any{
		"clusterID": clusterID, "region": cloud.Region, "vpcid": cloud.VPC, "zoneId": "cn-hangzhou-h",
		"vswitchid":     "cn-hangzhou-h:" + cloud.VSwitch + ",cn-hangzhou-i:" + cloud.VSwitch2,
		"routeTableIDs": cloud.RouteTable, "kubernetesClusterTag": clusterID,
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "cloud-config.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"ALICLOUD_CLIENT_SCHEME=HTTP", "METADATA_ENDPOINT=http://" + c.Endpoint}
	for _, product := range []string{"SLB", "VPC", "ECS", "NLB", "EFLO_CONTROLLER"} {
		env = append(env, product+"_ENDPOINT="+c.Endpoint)
	}
	return process.Command{Dir: dir, Name: "ccm", Path: binary, Env: env, Args: []string{
		"--kubeconfig", shared.cluster.Kubeconfig, "--cloud-config", file, "--controllers=node,service,route",
		"--configure-cloud-routes=true", "--allocate-node-cidrs", "--cluster-cidr=" + cluster.PodCIDR, "--network=",
		"--leader-elect=false", "--metrics-bind-addr=127.0.0.1:0", "--health-probe-bind-addr=127.0.0.1:0", "--pprof-bind-addr=0", "-v=4",
	}}
}
