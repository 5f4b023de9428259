package kind

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pods are those that answer where all is well, and clients whom they see: by the policy Local and by
// the interfaces of pods the client and clbemu, by the policy Cluster a node.
const (
	pods    = "ANSWERING=clbemu-e2e-a clbemu-e2e-b"
	clients = "CLIENTS=172.18.0.3:4321" + seen
	seen    = " 198.51.100.2:4321 172.18.0.5:4321 198.51.100.2:4321 172.18.0.5:4321"
)

// playE2E runs e2e.sh without a pause, and with one try for each check.
func playE2E(t *testing.T, env ...string) (calls []string, out string, err error) {
	t.Helper()
	return runScript(t, "e2e.sh", append(env, "TRIES=0", "PAUSE=0")...)
}

// TestE2E proves that each Service is asked for from everywhere, that the check of the state
// is the last word, and that a failure is not taken for a success and leaves something to look at.
func TestE2E(t *testing.T) {
	calls, out, err := playE2E(t, "CHECKS=services", pods, clients)
	asked := []string{"docker exec clbemu-client curl", "docker exec clbemu-worker2 curl", "curl --silent --show-error --max-time 5 http://172.18.255.9/hostname", "connect 172.18.255.9:80"}
	saw := "docker exec clbemu-client curl --silent --show-error --max-time 5 http://172.18.255.9/clientip"
	if err != nil || !before(calls, slices.Concat([]string{"delete services,deployments,secrets --selector test=clbemu-e2e", "fault delete --all", "uncordon clbemu-worker", "run --detach --name clbemu-client",
		"call CreateAccessControlList", "call UploadServerCertificate", "apply --filename - --filename nlb-service.yaml", "condition=Available deployments", "wait --for=jsonpath={.status.loadBalancer.ingress} services"},
		asked, asked, []string{saw}, asked, []string{saw, saw, "connect nlb-1.example:80", "url nlb-1", "exec clbemu-client curl --silent --show-error --max-time 5 http://172.18.255.7/hostname",
			"delete services,deployments,secrets", "call DeleteAccessControlList", "call DeleteServerCertificate", "state check"})...) || !strings.Contains(out, "passed") {
		t.Errorf("e2e.sh: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
	for _, step := range []string{"run --detach --name clbemu-client", "call UploadServerCertificate", "apply --filename -", "condition=Available", "url nlb-1", "delete services", "state check"} {
		calls, out, err := playE2E(t, "CHECKS=services", pods, clients, "FAIL="+step)
		if err == nil || !before(calls, step, "export logs", "get events", "state export") || strings.Contains(out, "passed") {
			t.Errorf("e2e.sh with a failing %s: %v, calls\n%s\n%s", step, err, strings.Join(calls, "\n"), out)
		}
	}
}

// TestE2EAnswers proves that an address where one of the pods answers, or nothing, or another
// server, is not enough, nor a server that sees another client.
func TestE2EAnswers(t *testing.T) {
	for _, env := range [][]string{{"ANSWERING=clbemu-e2e-a"}, {"ANSWERING="}, {pods, "FAIL=/clientip"}, {pods, "FAIL=agnhost connect"}, {pods, "CLIENTS=198.51.100.2:4321" + seen}} {
		_, out, err := playE2E(t, append([]string{"CHECKS=services", clients}, env...)...)
		if err == nil || !strings.Contains(out, "it does not happen") || strings.Contains(out, "passed") {
			t.Errorf("e2e.sh with %v: %v\n%s", env, err, out)
		}
	}
}

// TestE2EPorts proves that each node is asked by its port, from inside and from outside.
func TestE2EPorts(t *testing.T) {
	calls, out, err := playE2E(t, "CHECKS=ports", pods)
	if err != nil || !before(calls, "exec clbemu-worker2 curl", "agnhost connect", "connect clbemu-e2e.default.svc.cluster.local:80", "get node clbemu-control-plane", "get node clbemu-worker ",
		"exec clbemu-worker2 curl --silent --show-error --max-time 5 http://172.18.0.3:", "exec clbemu-network curl --silent --show-error --max-time 5 http://172.18.0.3:", "get node clbemu-worker2") {
		t.Errorf("e2e.sh: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
	if _, out, err = playE2E(t, "CHECKS=ports", "ANSWERING="); err == nil || !strings.Contains(out, "e2e.sh: ports: it does not happen: both_answer") {
		t.Errorf("e2e.sh where nothing answers: %v\n%s", err, out)
	}
}

// TestE2EChecks proves that each check fails where its symptom does not show, and where nothing
// helps against it.
func TestE2EChecks(t *testing.T) {
	for _, tt := range []struct{ check, well, ill string }{
		{"services", "it does not happen: seen_as from_here", "it does not happen: both_answer"},
		{"inside", "it does not happen: silent from_neighbor", "it does not happen: answers from_neighbor"},
		{"outside", "it does not happen: silent from_client", "it does not happen: answers from_client"},
		{"uneven", "it does not happen: share_is 6", "it does not happen: share_is 6"},
		{"updating", "no client sees the update", "it does not happen: answers from_client"},
		{"https", "it does not happen: status_is 400", "it does not happen: status_is 400"},
		{"stale", "it does not happen: silent from_client", "it does not happen: answers from_client"},
		{"probes", "it does not happen: restarted 2", "it does not happen: restarted 2"},
		{"grace", "the request ends", "it does not happen: answers from_client"},
		{"drained", "it does not happen: backs_not clbemu-worker clbemu-e2e-local", "it does not happen: backs clbemu-worker"},
		{"killed", "it does not happen: silent from_client", "it does not happen: answers from_client"},
	} {
		for world, want := range map[string]string{pods: tt.well, "ANSWERING=": tt.ill} {
			t.Run(tt.check+"/"+world, func(t *testing.T) {
				t.Parallel()
				_, out, err := playE2E(t, "CHECKS="+tt.check, world)
				if err == nil || !strings.Contains(out, "e2e.sh: "+tt.check+": "+want) {
					t.Errorf("%v, want %q\n%s", err, want, out)
				}
			})
		}
	}
}

// TestKeepsAnswering proves that servers which answer until a health check has failed are not taken
// for ones that pass it.
func TestKeepsAnswering(t *testing.T) {
	const script = `source ./asking.sh; cd "$1"; PAUSE=0
asker() { echo >>asked; [ "$(wc --lines <asked)" -gt "$ANSWERS" ] || echo clbemu-e2e-a; }
keeps_answering asker address`
	for answers, want := range map[string]bool{"2": false, "4": false, "5": true} {
		cmd := exec.Command("bash", "-c", script, "bash", t.TempDir())
		cmd.Env = append(cmd.Environ(), "ANSWERS="+answers)
		if out, err := cmd.CombinedOutput(); (err == nil) != want {
			t.Errorf("after %s answers: %v\n%s", answers, err, out)
		}
	}
}

// TestMutants proves that each mutant changes what it names, that the record of those that were
// played in kind has them all, and that one which nothing notices is a failure.
func TestMutants(t *testing.T) {
	_, out, err := runScript(t, "mutants.sh", "DRY=1")
	if err != nil {
		t.Fatalf("mutants.sh: %v\n%s", err, out)
	}
	run := make(map[string]int)
	for line := range strings.Lines(out) {
		check, _, _ := strings.Cut(line, ":")
		run[check]++
	}
	var recorded map[string]struct{ Run int }
	if err := json.Unmarshal([]byte(read(t, "../../contracttests/testdata/mutants/kind.json")), &recorded); err != nil {
		t.Fatal(err)
	}
	for check, r := range recorded {
		if run[check] != r.Run {
			t.Errorf("%s has %d mutants, and %d are recorded: play them in kind", check, run[check], r.Run)
		}
	}
	if len(recorded) != len(run) {
		t.Errorf("%d checks have mutants, and those of %d are recorded", len(run), len(recorded))
	}
	_, out, err = runScript(t, "mutants.sh", "CHECKS=https", "TRIES=0", "PAUSE=0", pods)
	if err != nil || strings.Contains(out, "SURVIVED") || strings.Count(out, "e2e.sh: https: it does not happen") != run["https"] {
		t.Errorf("mutants.sh where the check fails: %v\n%s", err, out)
	}
	_, out, err = runScript(t, "mutants.sh", "CHECKS=services", "TRIES=0", "PAUSE=0", pods, clients)
	if err == nil || strings.Count(out, "SURVIVED") != run["services"] {
		t.Errorf("mutants.sh where the check passes: %v\n%s", err, out)
	}
}
