package examples_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestAliyun proves that the aliyun CLI reaches each product by eval "$(clbemu env --proxy)",
// without a flag of its own, and that a product that is not emulated is refused here and not
// asked of the real cloud.
func TestAliyun(t *testing.T) {
	needs(t, "aliyun", "bash")
	s := binary.Serve(t, "--data-dir", t.TempDir(), "--proxy")
	for _, test := range []struct{ call, want string }{
		{"slb CreateLoadBalancer --AddressType internet --LoadBalancerName web", `"LoadBalancerName": "web"`},
		{"slb DescribeLoadBalancers", `"LoadBalancerName": "web"`},
		{"nlb ListLoadBalancers", `"TotalCount": 0`},
		{"vpc DescribeVSwitches", `"VSwitchId": "vsw-`},
		{"ecs DescribeInstances", `"Instances": {`},
		{"sts GetCallerIdentity", `"AccountId": "`},
		{"ram ListUsers", "NotEmulated"},
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-euc", `eval "$("$CLBEMU" env --proxy --server "$SERVER")"; aliyun `+test.call)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "CLBEMU="+binary.Path, "SERVER="+s.Control)
		if out, err := cmd.CombinedOutput(); !strings.Contains(string(out), test.want) || (err != nil) != (test.want == "NotEmulated") {
			t.Errorf("aliyun %s: %v, %s, want %s", test.call, err, out, test.want)
		}
	}
}
