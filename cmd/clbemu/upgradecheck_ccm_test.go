package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator"
)

// script writes an executable shell script.
func script(t *testing.T, file, text string) string {
	t.Helper()
	writeFile(t, file, "#!/bin/sh\n"+text)
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDryRun proves what clbemu upgrade-check shows of the report of a controller's dry
// run, and that it refuses what is no dry run. The end-to-end tests prove it with a real
// controller.
func TestDryRun(t *testing.T) {
	s := binary.Serve(t, "--data-dir", t.TempDir())
	id := createLoadBalancer(t, s.Client())
	if reply, err := s.Client().Call(emulator.Version("Slb"), "TagResources", map[string]string{
		"ResourceType": "instance", "ResourceId.1": id, "Tag.1.Key": "ack.aliyun.com", "Tag.1.Value": "c1",
	}); err != nil || reply.Status != http.StatusOK {
		t.Fatalf("TagResources = %v, %v", reply, err)
	}
	dir := t.TempDir()
	event := filepath.Join(dir, "event.json")
	// The cluster has the Event that a controller writes.
	script(t, filepath.Join(dir, "kubectl"), `case "$*" in *no-rights*) echo forbidden >&2; exit 1;; *"get event"*) [ -e `+event+` ] && cat `+event+`;; esac; exit 0`)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	report := func(items string) string {
		message := `{\"State\":\"Success\",\"CheckResults\":[{\"Name\":\"ccmSLB\",\"instanceResults\":{` + items + `},\"FailedCount\":2}]}`
		return `cat > ` + event + ` <<'END'
{"metadata": {"resourceVersion": "` + t.Name() + `"}, "message": "` + message + `"}
END
`
	}
	const found = `\"default/web/80\":{\"Id\":\"lb-1\",\"MessageLevel\":\"error\",\"MessageCode\":\"CreateListener\"},` +
		`\"default/web\":{\"MessageLevel\":\"warn\",\"MessageCode\":\"TagSLB\",\"Message\":\"a\\u001bb\"},\"default/other\":{\"MessageLevel\":\"normal\"}`
	for name, test := range map[string]struct {
		program    string
		args       []string
		code       int
		out, error string
	}{
		"findings": {
			program: report(found), code: 1, error: "the controller would make 2 changes",
			out: "default/web\n  TagSLB\n    \"a\\x1bb\"\ndefault/web (lb-1)\n  create listener 80\n    do not change Services",
		},
		"nothing":        {program: report(""), code: 1, out: "2 findings that the controller counted and did not name"},
		"an old Event":   {program: "exit 0\n", code: 3, error: "it wrote no Event kube-system/CloudControllerManagerPrecheckResult"},
		"no report":      {program: `echo '{"metadata": {"resourceVersion": "9"}, "message": "hello"}' > ` + event, code: 3, error: "holds no report"},
		"a failed run":   {program: `echo '{"metadata": {"resourceVersion": "9"}, "message": "{\"State\":\"Fail\",\"Reason\":\"why\"}"}' > ` + event, code: 3, error: `the dry run ended as "Fail": why`},
		"an old version": {program: "echo unknown flag: --dry-run >&2; exit 2\n", code: 3, error: "ended with status 2. It last wrote:\n  unknown flag: --dry-run"},
		"not a dry run": {
			program: binary.Path + " call DeleteLoadBalancer LoadBalancerId=" + id + " --api $CLBEMU_API || exit 9\n" + report(""), code: 3,
			error: "made changes to the copy of the state, such as DeleteLoadBalancer: this version makes no dry run",
		},
		"never ends":      {program: "sleep 600 & wait\n", args: []string{"--timeout", "300ms"}, code: 3, error: "did not end within 300ms"},
		"another cluster": {program: `grep -q '"clusterID":"c2"' "${3#--cloud-config=}" || exit 9` + "\n" + report(found), args: []string{"--cluster-id", "c2"}, code: 1},
		"own arguments":   {program: `[ "$#" = 9 ] && [ "$9" = --v=4 ] || exit 9` + "\n" + report(found), args: []string{"--", "--v=4"}, code: 1},
		"no rights":       {program: report(found), args: []string{"--kubeconfig", "no-rights"}, code: 3, error: "list the Services of the cluster of no-rights: kubectl get: exit status 1: forbidden"},
		"no program":      {args: []string{"--ccm", "no-such-program"}, code: 2, error: "--ccm: exec: \"no-such-program\""},
		"an empty file":   {args: []string{"--ccm", writeFile(t, filepath.Join(dir, "empty"), "")}, code: 2, error: "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(event); err != nil {
				t.Fatal(err)
			}
			ccm := script(t, filepath.Join(t.TempDir(), "ccm"), test.program)
			args := append([]string{"upgrade-check", "--server", s.Control, "--ccm", ccm, "--kubeconfig", "k"}, test.args...)
			r := binary.Run(t, args...)
			if r.Code != test.code || !strings.Contains(r.Stdout, test.out) || !strings.Contains(r.Stderr, test.error) {
				t.Errorf("%+v, want %d, %q and %q", r, test.code, test.out, test.error)
			}
		})
	}
	mustDescribe(t, s.Client(), id) // not even a program that is no dry run changes the state
}
