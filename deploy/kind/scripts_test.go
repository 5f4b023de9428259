package kind

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/util/jsonpath"
)

// TestShellcheck proves that the scripts have none of the faults that shellcheck
// knows.
func TestShellcheck(t *testing.T) {
	shellcheck, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("shellcheck is not installed: the scripts are not checked by it")
	}
	var scripts []string
	for folder, want := range map[string]int{".": 9, "../systemd": 3, "../systemd/testdata": 1} {
		found, err := filepath.Glob(filepath.Join(folder, "*.sh"))
		if err != nil || len(found) != want {
			t.Fatalf("the scripts are %v, %v", found, err)
		}
		scripts = append(scripts, found...)
	}
	if out, err := exec.Command(shellcheck, scripts...).CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}

// stub replaces docker, kind, kubectl and curl: it records how it is called,
// fails where the call has the words of $FAIL, and answers what the scripts ask for: with
// $CLUSTERS, with two nodes, about CoreDNS with $COREFILE, as the pods of $ANSWERING, of which it
// says to be asked by $CLIENTS. Where no pod is answering, nothing does. What it is to put there it
// notes too. It shows no more than that a script makes its calls in their order.
const stub = `#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$FAIL" in ?*) case "$*" in *"$FAIL"*) exit 1;; esac;; esac
case "$(basename "$0") $*" in
"kind get clusters"*) echo "$CLUSTERS";;
"kind get nodes"*) echo clbemu-control-plane; echo clbemu-worker;;
*"get nodes --output jsonpath"*) echo "172.18.0.2 10.244.0.0/24"; echo "172.18.0.3 10.244.1.0/24";;
*"get configmap coredns"*) echo "$COREFILE";;
*"create configmap coredns"*) sed 's/^/Corefile: /' >> "$CALLS";;
*"apply --filename -"*) sed 's/^/applied: /' >> "$CALLS";;
*"docker inspect clbemu-network"*) echo 172.18.0.5;;
*"docker inspect clbemu-client "*) echo 198.51.100.2;;
*"docker inspect clbemu-control-plane"*) echo kindest/node:v1;;
*"docker network inspect kind"*) echo 172.18.0.0/16,;;
*"ip -oneline address show"*) echo "7: eth1    inet 198.51.100.1/24 scope global eth1";;
*"kustomize clbemu"*) cat clbemu/service.yaml;;
*"get pods --selector app=clbemu-e2e "*) echo clbemu-e2e-a; echo clbemu-e2e-b;;
*"get node clbemu-worker "*) echo 172.18.0.3;;
*"get backend --output wide"*) [ -z "$ANSWERING" ] || echo "rsp-1 i-1 172.18.0.3 30080 100 normal k8s/30080/clbemu-e2e/default/kind k8s/30080/clbemu-e2e-local/default/kind";;
*"get events --field-selector"*) echo "1s Warning SyncLoadBalancerFailed service/clbemu-e2e-one Request was denied due to user flow control.";;
*restartCount*) echo 0;;
*"get pods --selector app=clbemu-e2e-slow --output name"*) echo pod/clbemu-e2e-slow-a;;
*"clbemu url"*) echo tcp://172.18.255.7:80;;
*"get nlb --json"*) echo '"id": "nlb-1"';;
*"[0].ip}"*) case "$*" in *"get service"*) echo 172.18.255.9;; esac;;
*"[0].hostname}"*) case "$*" in *"get service"*) echo nlb-1.example;; esac;;
*"sh -c until"*) echo "  9 200";;
*http_code*) [ -n "$ANSWERING" ] || exit 7; printf 200;;
*/hostname) [ -n "$ANSWERING" ] || exit 7; set -- $ANSWERING; shift $(($(grep -c /hostname "$CALLS") % $#)); printf %s "$1";;
*/clientip) set -- ${CLIENTS:-198.51.100.2:4321}; shift $(($(grep -c /clientip "$CALLS") % $#)); printf %s "$1";;
esac
exit 0
`

// runScript runs a script with stubs, in a copy of this folder, and returns the
// calls that it made.
func runScript(t *testing.T, script string, env ...string) (calls []string, out string, err error) {
	t.Helper()
	root := t.TempDir()
	folder := filepath.Join(root, "deploy", "kind")
	if err := os.CopyFS(folder, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(root, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"docker", "kind", "kubectl", "curl", "clbemu-image.tar", "clbemu-worldwatch-image.tar"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(stub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	record := filepath.Join(root, "calls")
	cmd := exec.Command("bash", filepath.Join(folder, script))
	cmd.Dir = root
	cmd.Env = append([]string{"PATH=" + bin + ":/usr/bin:/bin", "CALLS=" + record, "ARTIFACTS=" + filepath.Join(root, "artifacts")}, env...)
	said, err := cmd.CombinedOutput()
	text, readErr := os.ReadFile(record)
	if readErr != nil && !os.IsNotExist(readErr) {
		t.Fatal(readErr)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n"), string(said), err
}

// before reports whether calls with these words were made in this order.
func before(calls []string, words ...string) bool {
	for _, word := range words {
		i := slices.IndexFunc(calls, func(call string) bool { return strings.Contains(call, word) })
		if i < 0 {
			return false
		}
		calls = calls[i+1:]
	}
	return true
}

// TestUp proves that the nodes are instances before the CCM asks for them, that a
// missing image is reported before anything is created, and that a failure after
// that leaves its traces.
func TestUp(t *testing.T) {
	calls, out, err := runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1")
	if err != nil || !before(calls, "get clusters", "create cluster", "docker load", "load image-archive ../../bin/clbemu-worldwatch-image.tar", "load docker-image example/ccm:v1", "rm --force --volumes clbemu clbemu-network",
		"run --detach --name clbemu-network", "ip route replace 10.244.0.0/24 via 172.18.0.2", "ip route replace 10.244.1.0/24 via 172.18.0.3", "network connect clbemu-clients",
		"ip address add 198.51.100.254/32 dev eth1", "ip rule add iif eth0 to 198.51.100.0/24", "exec clbemu-worker ip route replace 198.51.100.0/24 via 172.18.0.5",
		"world show --network 172.18.0.0/16,", "run --detach --name clbemu --restart", "wait --for ready", "applied:   - addresses: [172.18.0.5]", "deployment/worldwatch", "world import", "apply --filename -", "rollout status deployment/cloud-controller-manager", "wait --for=jsonpath={.metadata.labels") {
		t.Errorf("up.sh: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
	calls, out, err = runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "FAIL=image inspect")
	if err != nil || before(calls, "load docker-image") || !before(calls, "apply --filename -") {
		t.Errorf("up.sh with an image that kind pulls: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
	// Docker leaves the router's address and the clients' addresses alone.
	calls, out, err = runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "FAIL=network inspect clbemu-clients")
	if err != nil || !before(calls, "network create --subnet 198.51.100.0/24 --gateway 198.51.100.254 --opt com.docker.network.bridge.inhibit_ipv4=true --opt com.docker.network.bridge.enable_ip_masquerade=false clbemu-clients", "network connect clbemu-clients") {
		t.Errorf("up.sh without the clients' network: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
	calls, out, err = runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "CLUSTERS=clbemu")
	if err != nil || before(calls, "create cluster") || !before(calls, "apply --filename -") {
		t.Errorf("up.sh with a cluster that is there: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
	calls, out, err = runScript(t, "up.sh")
	if err == nil || !strings.Contains(out, "CCM_IMAGE") || calls[0] != "" {
		t.Errorf("up.sh without an image: %v, %q, calls %v", err, out, calls)
	}
	calls, _, err = runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "FAIL=create cluster")
	if err == nil || len(calls) != 2 {
		t.Errorf("up.sh goes on after a cluster that is not made: %v, %v", err, calls)
	}
	calls, out, err = runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "FAIL=deployment/cloud-controller-manager")
	if err == nil || !before(calls, "deployment/cloud-controller-manager", "get pods --all-namespaces", "export logs", "get events", "state export") || strings.Contains(out, "get their addresses") {
		t.Errorf("up.sh with a CCM that does not start: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
}

// TestUpDNS proves that CoreDNS gets clbemu's zone once, before the CCM may start, and
// keeps its own configuration.
func TestUpDNS(t *testing.T) {
	const kinds = ".:53 {\n    forward . /etc/resolv.conf\n}"
	ours, err := os.ReadFile("Corefile")
	if err != nil {
		t.Fatal(err)
	}
	calls, out, err := runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "COREFILE="+kinds)
	for _, end := range []string{"create configmap coredns", "replace --filename -"} { // of a pipe
		if err != nil || !before(calls, "deployment/worldwatch", "get configmap coredns", end, "deployment/cloud-controller-manager") {
			t.Errorf("up.sh: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
		}
	}
	var told []string
	for _, call := range calls {
		if line, ok := strings.CutPrefix(call, "Corefile: "); ok {
			told = append(told, line)
		}
	}
	both := kinds + "\n" + strings.TrimSpace(string(ours))
	if strings.Join(told, "\n") != both {
		t.Errorf("CoreDNS got\n%s\nwant\n%s", strings.Join(told, "\n"), both)
	}
	if calls, out, err = runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "COREFILE="+both); err != nil || before(calls, "create configmap coredns") {
		t.Errorf("up.sh, run again: %v, calls\n%s\n%s", err, strings.Join(calls, "\n"), out)
	}
	if calls, _, err = runScript(t, "up.sh", "CCM_IMAGE=example/ccm:v1", "COREFILE="+kinds, "FAIL=replace --filename"); err == nil || before(calls, "deployment/cloud-controller-manager") {
		t.Errorf("up.sh goes on when CoreDNS can't be told: %v, %v", err, calls)
	}
}

// TestDown proves that it is up.sh's cluster that is deleted.
func TestDown(t *testing.T) {
	calls, _, err := runScript(t, "down.sh")
	if err != nil || !before(calls, "kind delete cluster --name "+config(t).Name, "rm --force --volumes clbemu clbemu-network", "volume rm --force clbemu-kind", "network rm clbemu-clients") {
		t.Errorf("down.sh: %v, calls %v", err, calls)
	}
}

// TestWaiting proves, with kubectl's own library, that the report of a failure names
// the containers that wait and no others.
func TestWaiting(t *testing.T) {
	script, err := os.ReadFile("cluster.sh")
	if err != nil {
		t.Fatal(err)
	}
	_, expression, _ := strings.Cut(string(script), "'jsonpath=")
	expression, _, _ = strings.Cut(expression, "'")
	path := jsonpath.New("pods").AllowMissingKeys(true)
	if err := path.Parse(expression); err != nil {
		t.Fatal(err)
	}
	var pods any
	if err := json.Unmarshal([]byte(`{"items": [
		{"metadata": {"namespace": "n", "name": "a"}, "status": {"containerStatuses": [
			{"state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}, {"state": {"running": {}}}]}},
		{"metadata": {"namespace": "n", "name": "b"}, "status": {"containerStatuses": [{"state": {"running": {}}}]}},
		{"metadata": {"namespace": "n", "name": "c"}}]}`), &pods); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := path.Execute(&out, pods); err != nil {
		t.Fatal(err)
	}
	if want := "n/a waits: ErrImagePull no such image\nn/b\nn/c\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
