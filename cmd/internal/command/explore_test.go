package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/explore"
)

const explored = `about: A client creates a load balancer.
client:
  steps:
    - call: {action: CreateLoadBalancer, params: {LoadBalancerName: web, InstanceChargeType: PayByCLCU TOKEN}}
`

// writeScenario writes a file and returns its name.
func writeScenario(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestExplore proves that the command finds a violation, keeps it in files, and that
// the file of the violation fails for the same reason.
func TestExplore(t *testing.T) {
	out, junit := filepath.Join(t.TempDir(), "results"), filepath.Join(t.TempDir(), "junit.xml")
	file := writeScenario(t, strings.Replace(explored, " TOKEN", "", 1))
	code, stdout, problems := executed(t, "explore", file, "--out", out, "--junit", junit)
	if code != exitFailed || !strings.Contains(stdout, "violation of double: lost at CreateLoadBalancer") || !strings.Contains(problems, "1 violation") {
		t.Fatalf("= %d, %s\n%s", code, problems, stdout)
	}
	report, err := os.ReadFile(junit)
	if err != nil || !strings.Contains(string(report), `failures="1"`) {
		t.Errorf("the JUnit report is %s, %v", report, err)
	}
	code, stdout, _ = executed(t, "scenario", "run", filepath.Join(out, "01-double-lost-at-CreateLoadBalancer.yaml"))
	if code != exitFailed || !strings.Contains(stdout, "expect state") {
		t.Errorf("scenario run = %d\n%s", code, stdout)
	}
	// With the results so far, nothing plays again.
	code, stdout, _ = executed(t, "explore", file, "--out", out, "--resume", "-o", "json")
	var again explore.Report
	if err := json.Unmarshal([]byte(stdout), &again); err != nil || code != exitFailed || len(again.Findings) != 1 || len(again.Outcomes) != again.Planned {
		t.Errorf("--resume = %d, %v\n%s", code, err, stdout)
	}
	code, _, problems = executed(t, "explore", file, "--out", out, "--resume", "--depth", "2")
	if code != exitUsage || !strings.Contains(problems, "is of another scenario, program, depth or choice of plays") {
		t.Errorf("--resume of another depth = %d, %s", code, problems)
	}
	if code, _, problems = executed(t, "explore", writeScenario(t, strings.Replace(explored, " TOKEN", ", ClientToken: a", 1))); code != exitOK {
		t.Errorf("with a token = %d, %s", code, problems)
	}
}

// TestExploreRefuses proves that explore names what it can't explore.
func TestExploreRefuses(t *testing.T) {
	file := writeScenario(t, strings.Replace(explored, " TOKEN", "", 1))
	fails := writeScenario(t, "about: a\nclient: {steps: [{call: {action: DeleteLoadBalancer, params: {LoadBalancerId: lb-none}}}]}\n")
	cluster := writeScenario(t, "about: a\nkubernetes: {steps: [{rest: {quiet: 1s}}]}\n")
	for _, tt := range []struct {
		args []string
		code int
		says string
	}{
		{nil, exitUsage, "give a scenario, or a program after --"},
		{[]string{file, file}, exitUsage, "takes one scenario, not 2"},
		{[]string{file, "--depth", "3"}, exitUsage, "--depth is 1 or 2"},
		{[]string{file, "--parallel", "0"}, exitUsage, "--parallel is 1 to 64"},
		{[]string{file, "--plays", "-1"}, exitUsage, "--plays is 0 or more"},
		{[]string{file, "--calls", "Describe["}, exitUsage, `"Describe[" is no pattern`},
		{[]string{file, "--disturbances", "throtled"}, exitUsage, "there is no disturbance throtled: do you mean throttled?"},
		{[]string{file, "--disturbances", "lost,by hand"}, exitUsage, "there is no disturbance by hand"},
		{[]string{file, "--disturbances", "killed before"}, exitCannot, "no call at which one of the chosen disturbances can be tried"},
		{[]string{file, "--resume"}, exitUsage, "--resume needs --out"},
		{[]string{file, "--part", "none"}, exitUsage, "--part is client, program or kubernetes"},
		{[]string{file, "--part", "program"}, exitCannot, "has no program part"},
		{[]string{"no-such-scenario"}, exitUsage, "there is no file and no scenario"},
		{[]string{fails}, exitUsage, "fails undisturbed: make it pass first"},
		{[]string{cluster, "--part", "kubernetes"}, exitUsage, "name it with --kubeconfig"},
		{[]string{cluster, "--kubeconfig", "none", "--", "true"}, exitCannot, "kubectl"},
		{[]string{file, "--out", file}, exitUsage, "not a directory"},
		{[]string{file, "--console", "http://127.0.0.1:1/x"}, exitUsage, "--console takes the address of the control API"},
		{[]string{file, "--console", "127.0.0.1:1"}, exitCannot, "nothing answers at http://127.0.0.1:1"},
		{[]string{"--", "no-such-program"}, exitUsage, "start no-such-program"},
		{[]string{"--", "false"}, exitUsage, "fails undisturbed"},
		{[]string{"--", "true"}, exitCannot, "the client makes no call"},
	} {
		if code, _, problems := executed(t, append([]string{"explore"}, tt.args...)...); code != tt.code || !strings.Contains(problems, tt.says) {
			t.Errorf("explore %q = %d, %s, want %d and %q", tt.args, code, problems, tt.code, tt.says)
		}
	}
}
