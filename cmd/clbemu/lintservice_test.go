package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLintService proves what clbemu lint-service finds in files, lists and a cluster,
// where, and with which exit status.
func TestLintService(t *testing.T) {
	const prefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return file
	}
	right := write("right.yaml", "kind: Service\nmetadata: {name: a, annotations: {"+prefix+"address-type: intranet}}\nspec: {type: LoadBalancer}\n---\nkind: Pod\n")
	wrong := write("wrong.yaml", "kind: Service\nmetadata:\n  name: web\n  namespace: prod\n  annotations:\n    "+prefix+"spec: small\n    "+prefix+"adress-type: intranet\nspec: {type: LoadBalancer}\n")
	listed := write("list.json", `{"kind": "List", "items": [{"kind": "Service", "metadata": {"name": "b", "annotations": {"`+prefix+`cps": "1"}}, "spec": {"type": "LoadBalancer"}}]}`)
	note := write("note.yaml", "kind: Service\nmetadata: {name: a, annotations: {"+prefix+"address-type: intranet}}\nspec: {type: LoadBalancer}\nstatus: {loadBalancer: {ingress: [{ip: 192.0.2.1}]}}\n")
	write("kubectl", "#!/bin/sh\ncat "+listed+"\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, test := range map[string]struct {
		args []string
		code int
		out  string
	}{
		"right":   {[]string{right}, 0, "1 Service, nothing is wrong\n"},
		"wrong":   {[]string{wrong}, 1, wrong + ":6: prod/web: " + prefix + `spec: "small" is not of the form slb\..+` + "\n" + wrong + ":6: prod/web: " + prefix + "spec: it takes no effect without " + prefix + "instance-charge-type: \"PayBySpec\"\n" + wrong + ":7: prod/web: " + prefix + "adress-type: no version of the controller reads it: do you mean " + prefix + "address-type?\nclbemu: 3 problems\n"},
		"list":    {[]string{right, listed}, 1, listed + ":1: default/b: " + prefix + "cps: it is about NLB"},
		"cluster": {[]string{"--kubeconfig", "k"}, 1, "default/b: " + prefix + "cps: it is about NLB"},
		"note":    {[]string{note}, 0, "default/a: " + prefix + "address-type: note: the controller rejects a change of it once there is a load balancer"},
		"version": {[]string{right, "--ccm-version", "newest"}, 2, `--ccm-version: "newest" is not a version, such as v2.9.1`},
		"nothing": {nil, 2, "give files with Services, or --kubeconfig"},
		"both":    {[]string{right, "--kubeconfig", "k"}, 2, "give files with Services, or --kubeconfig"},
		"no file": {[]string{filepath.Join(dir, "none")}, 2, "no such file"},
		"no YAML": {[]string{write("bad.yaml", "a: [")}, 3, "bad.yaml: yaml:"},
		"shape":   {[]string{write("shape.yaml", "kind: Service\nmetadata: [1]\n")}, 3, "shape.yaml:2: this is not a part"},
		"script":  {[]string{write("script.yaml", "\n# a comment\nset -e\n")}, 3, "script.yaml:3: this is not a part of a Kubernetes object"},
		"types":   {[]string{write("types.yaml", "kind: Service\nmetadata:\n  name: web\n  annotations: {}\nspec: [1]\n")}, 3, "types.yaml:5: this is not a part"},
		"itself":  {[]string{write("itself.yaml", "&a\nkind: List\nitems: [*a]\n")}, 3, "itself.yaml:3: write the object out in place of *a"},
		"alias":   {[]string{write("alias.yaml", "x: &x {"+prefix+"cps: \"1\"}\nkind: Service\nmetadata: {name: b, annotations: *x}\nspec: {type: LoadBalancer}\n")}, 1, prefix + "cps: it is about NLB"},
		"empty":   {[]string{write("empty.yaml", "kind: Pod\n")}, 3, "there is no Service to check"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := executed(t, append([]string{"lint-service"}, test.args...)...)
			if code != test.code || !strings.Contains(stdout+stderr, test.out) {
				t.Errorf("%d %q %q, want %d and %q", code, stdout, stderr, test.code, test.out)
			}
		})
	}
}

// FuzzLintService proves that no file, which may be any, makes it panic.
func FuzzLintService(f *testing.F) {
	f.Add([]byte("kind: Service\nmetadata: {name: a, annotations: {b: c}}\n"))
	f.Add([]byte("kind: List\nitems: [{kind: Service, metadata: {annotations: [1]}}]\n"))
	f.Add([]byte("&a\nkind: List\nitems: [*a]\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _, _ = (&serviceLint{}).check("f", text)
	})
}
