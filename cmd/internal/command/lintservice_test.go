package command

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
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
	folder := filepath.Join(dir, "folder")
	for _, path := range []string{filepath.Join(folder, "apps"), filepath.Join(dir, "charts")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("folder/README.md", "kind: Service\n")
	write("folder/values.yaml", "replicas: 1\n")
	write("charts/values.yaml", "service: {annotations: {"+prefix+"adress-type: intranet}}\n")
	write("folder/apps/web.yaml", "kind: Service\nmetadata:\n  name: web\n  annotations:\n    "+prefix+"adress-type: intranet\nspec: {type: LoadBalancer}\n")
	reusing := func(name string) string {
		return "kind: Service\nmetadata: {name: " + name + ", annotations: {" + prefix + "id: lb-1, " + prefix + "force-override-listeners: \"true\"}}\nspec: {type: LoadBalancer, ports: [{port: 80}]}\n---\n"
	}
	shared := write("shared.yaml", reusing("a")+reusing("b"))
	write("kubectl", "#!/bin/sh\ncat "+listed+"\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for name, test := range map[string]struct {
		args []string
		code int
		out  string
	}{
		"right":                    {[]string{right}, 0, "1 Service, nothing is wrong\n"},
		"wrong":                    {[]string{wrong}, 1, wrong + ":6: prod/web: " + prefix + "spec: it takes no effect without " + prefix + "instance-charge-type: \"PayBySpec\"\n" + wrong + ":7: prod/web: " + prefix + "adress-type: no version of the controller reads it: do you mean " + prefix + "address-type?\nclbemu: 2 problems\n"},
		"breaks":                   {[]string{write("https.yaml", "kind: Service\nmetadata:\n  name: web\n  annotations:\n    "+prefix+"protocol-port: https:443\nspec: {type: LoadBalancer, ports: [{port: 443}]}\n")}, 1, "https.yaml:5: default/web: " + prefix + "protocol-port: the Service will not come up without " + prefix + "cert-id\n"},
		"ranges":                   {[]string{write("ranges.yaml", "kind: Service\nmetadata: {name: web}\nspec:\n  type: LoadBalancer\n  loadBalancerSourceRanges:\n  - 10.0.0.0/8\n")}, 1, "ranges.yaml:6: default/web: spec.loadBalancerSourceRanges: the controller ignores it for CLB"},
		"port":                     {[]string{write("port.yaml", "kind: Service\nmetadata: {name: web}\nspec:\n  type: LoadBalancer\n  ports:\n  - {name: a, port: <port>}\n  - {name: b, port: 80, nodePort: 30080}\n  - {name: c, port: 81, nodePort: null}\n")}, 1, "port.yaml:6: default/web: spec.ports: Kubernetes rejects the Service: port \"<port>\" is no number\n"},
		"boolean":                  {[]string{write("boolean.yaml", "kind: Service\nmetadata:\n  name: web\n  annotations:\n    "+prefix+"delete-protection: on\nspec: {type: LoadBalancer}\n")}, 1, "boolean.yaml:5: default/web: " + prefix + "delete-protection: Kubernetes rejects the Service: in YAML the value on is no text: write \"on\" in quotes"},
		"label":                    {[]string{write("label.yaml", "kind: Service\nmetadata:\n  name: web\n  labels:\n    "+prefix+"address-type: intranet\nspec: {type: LoadBalancer}\n")}, 1, "label.yaml:5: default/web: " + prefix + "address-type: it takes no effect in metadata.labels: move it to metadata.annotations"},
		"in spec":                  {[]string{write("inspec.yaml", "kind: Service\nmetadata: {name: web}\nspec:\n  type: LoadBalancer\n  annotations:\n    "+prefix+"address-type: intranet\n")}, 1, "inspec.yaml:6: default/web: " + prefix + "address-type: it takes no effect in spec.annotations"},
		"twice":                    {[]string{write("twice.yaml", "kind: Service\nmetadata: {name: a, name: b}\n")}, 3, `twice.yaml:2: "name" is there twice`},
		"list":                     {[]string{right, listed}, 1, listed + ":1: default/b: " + prefix + "cps: it is about NLB"},
		"cluster":                  {[]string{"--kubeconfig", "k"}, 1, "default/b: " + prefix + "cps: it is about NLB"},
		"note":                     {[]string{note}, 0, "default/a: " + prefix + "address-type: note: the controller rejects a change of it once there is a load balancer"},
		"version":                  {[]string{right, "--ccm-version", "newest"}, 2, `--ccm-version: "newest" is not a version, such as v2.9.1`},
		"nothing":                  {nil, 2, "give files with Services, or --kubeconfig"},
		"both":                     {[]string{right, "--kubeconfig", "k"}, 2, "give files with Services, or --kubeconfig"},
		"no file":                  {[]string{filepath.Join(dir, "none")}, 2, "no such file"},
		"no YAML":                  {[]string{write("bad.yaml", "a: 1\nb: [")}, 3, "bad.yaml:2: this is no YAML: did not find"},
		"later":                    {[]string{filepath.Join(dir, "none"), write("later.yaml", "a: ["), wrong}, 2, wrong + ":7: prod/web: " + prefix + "adress-type: no version"},
		"broken in GitHub":         {[]string{write("broken.yaml", "kind: Service\n---\na: ["), wrong, "-o", "github"}, 3, "line=7::prod/web: " + prefix + "adress-type: no version of the controller reads it: do you mean " + prefix + "address-type?\n::error file=" + filepath.Join(dir, "broken.yaml") + ",line=3::this is no YAML: did not find"},
		"broken in SARIF":          {[]string{write("broken.yaml", "kind: Service\n---\na: ["), "-o", "sarif"}, 3, `"executionSuccessful": false`},
		"control":                  {[]string{write("control.yaml", "kind: Service\nmetadata: {name: a, annotations: {\""+prefix+"\\e[31m\": a}}\nspec: {type: LoadBalancer}\n"), "-o", "sarif"}, 1, `"ruleId": "\"alibaba-cloud-loadbalancer-\\x1b[31m\""`},
		"upgrade of a broken file": {[]string{write("broken.yaml", "kind: Service\n---\na: ["), "--from", "v2.9.1", "--to", "v2.14.0"}, 3, "broken.yaml:3: this is no YAML"},
		"several inside":           {[]string{write("inside.yaml", "kind: ConfigMap\ndata:\n  all: |\n    kind: Service\n    ---\n    annotations:\n      "+prefix+"idd: lb-1\n")}, 1, "inside.yaml:7: ConfigMap: " + prefix + "idd: no version of the controller reads it"},
		"shape":                    {[]string{write("shape.yaml", "kind: Service\nmetadata: [1]\n")}, 3, "shape.yaml:2: this is not a part"},
		"script":                   {[]string{write("script.yaml", "\n# a comment\nset -e\n")}, 3, "script.yaml:3: this is not a part of a Kubernetes object"},
		"types":                    {[]string{write("types.yaml", "kind: Service\nmetadata:\n  name: web\n  annotations: {}\nspec: [1]\n")}, 3, "types.yaml:5: this is not a part"},
		"itself":                   {[]string{write("itself.yaml", "&a\nkind: List\nitems: [*a]\n")}, 3, "itself.yaml:3: write the object out in place of *a"},
		"alias":                    {[]string{write("alias.yaml", "x: &x {"+prefix+"cps: \"1\"}\nkind: Service\nmetadata: {name: b, annotations: *x}\nspec: {type: LoadBalancer}\n")}, 1, prefix + "cps: it is about NLB"},
		"values":                   {[]string{write("values.yaml", "service:\n  annotations:\n    "+prefix+"spec: slb.s1.small\n")}, 0, "values.yaml:3: values of a chart: " + prefix + "spec: note: it stands in no Service, so that only its name is checked: render the chart: helm template . | clbemu lint-service -"},
		"typo":                     {[]string{write("typo.yaml", "service:\n  annotations:\n    "+prefix+"adress-type: intranet\n")}, 1, "typo.yaml:3: values of a chart: " + prefix + "adress-type: no version of the controller reads it: do you mean " + prefix + "address-type?"},
		"gateway":                  {[]string{write("gateway.yaml", "kind: IstioGateway\nmetadata: {name: in, namespace: istio}\nspec: {serviceAnnotations: {"+prefix+"spec: slb.s1.small}}\n")}, 0, "gateway.yaml:3: IstioGateway istio/in: " + prefix + "spec: note: it stands in no Service, so that only its name is checked: check what it becomes"},
		"inner":                    {[]string{write("inner.yaml", "kind: HelmChart\nspec:\n  valuesContent: |-\n    service:\n      annotations:\n        "+prefix+"idd: lb-1\n")}, 1, "inner.yaml:6: HelmChart: " + prefix + "idd: no version of the controller reads it"},
		"empty":                    {[]string{write("empty.yaml", "kind: Pod\n")}, 0, "0 Services, nothing is wrong"},
		"ingress":                  {[]string{write("open.yaml", "kind: Service\nmetadata: {name: web}\nspec: {type: LoadBalancer, loadBalancerSourceRanges: [0.0.0.0/0]}\n")}, 0, "1 Service, nothing is wrong"},
		"chart":                    {[]string{write("chart.yaml", "kind: Service\nmetadata:\n  name: {{ .Release.Name }}\n")}, 3, "helm template . | clbemu lint-service -"},
		"newer":                    {[]string{right, "--ccm-version", "v9.9.9"}, 0, "warning: clbemu knows the CCM up to v2.15.0, and not what v9.9.9 changes"},
		"one end":                  {[]string{right, "--from", "v2.9.1"}, 2, "give both --from and --to"},
		"charts":                   {[]string{filepath.Join(dir, "charts")}, 1, filepath.Join("charts", "values.yaml") + ":1: values of a chart: " + prefix + "adress-type: no version"},
		"folder":                   {[]string{folder}, 1, filepath.Join("apps", "web.yaml") + ":5: default/web: " + prefix + "adress-type: no version"},
		"sarif":                    {[]string{wrong, "--output", "sarif"}, 1, `"startLine": 7`},
		"github":                   {[]string{wrong, "-o", "github"}, 1, "::warning file=" + wrong + ",line=7::prod/web: " + prefix + "adress-type: no version of the controller reads it"},
		"shared":                   {[]string{shared}, 1, "default/b: " + prefix + "id: default/a reuses lb-1 too, and both want its listener of port 80"},
		"upgrade": {[]string{write("upgrade.yaml", "kind: Service\nmetadata:\n  name: web\n  annotations:\n    "+prefix+"default-weight: \"50\"\n    "+prefix+"slb-network-type: vpc\n    "+prefix+"address-type: intranet\nspec: {type: LoadBalancer}\n"), "--from", "v2.9.1", "--to", "v2.14.0"}, 1,
			"stops: default/web: " + prefix + "slb-network-type: the controller no longer reads it from v2.12.4 on: use " + prefix + "network-type\nbegins: default/web: " + prefix + "default-weight: it takes effect with the new version"},
		"no upgrade": {[]string{right, "--from", "v2.13.0", "--to", "v2.14.0"}, 0, "1 Service, the upgrade from v2.13.0 to v2.14.0 changes nothing that is known"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := executed(t, append([]string{"lint-service"}, test.args...)...)
			if code != test.code || !strings.Contains(stdout+stderr, test.out) {
				t.Errorf("%d %q %q, want %d and %q", code, stdout, stderr, test.code, test.out)
			}
		})
	}
}

// TestLintText proves that agents get the problems of what can be read, with what can't.
func TestLintText(t *testing.T) {
	shown, err := lintText(t.Context(), "kind: Service\nmetadata: {name: a, annotations: {service.beta.kubernetes.io/alibaba-cloud-loadbalancer-idd: a}}\nspec: {type: LoadBalancer}\n---\na: [", "")
	answer := fmt.Sprintf("%+v", shown)
	if err != nil || !strings.Contains(answer, "no version of the controller reads it") || !strings.Contains(answer, "yaml:5: this is no YAML") {
		t.Errorf("%s, %v", answer, err)
	}
}

// TestLintServiceExamples proves that Services as people write them have nothing wrong, for
// the version of the CCM that a file names, or else for the newest.
func TestLintServiceExamples(t *testing.T) {
	files, err := filepath.Glob("../../../examples/services/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	services := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, version, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".yaml"), "ccm-")
		n, found, err := (&serviceLint{version: version}).checkText(t.Context(), file, text, &reused{})
		if err != nil || len(found) > 0 {
			t.Errorf("%s: %+v, %v", file, found, err)
		}
		services += n
	}
	if services < 40 {
		t.Errorf("there are %d Services, want 40", services)
	}
}

// TestLintServiceBounds proves that no small file makes it work long or remember much.
func TestLintServiceBounds(t *testing.T) {
	const prefix = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
	var unknown strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&unknown, ", %snosuch%d: a", prefix, i)
	}
	for name, text := range map[string]string{
		"one key often":       "kind: Service\nmetadata: {" + strings.Repeat("a: 1, ", 5000) + "}\n",
		"many times the same": "kind: List\nx: &x {a: b" + unknown.String() + "}\nitems:\n" + strings.Repeat("- {kind: Service, metadata: {annotations: *x}}\n", 500),
		"many in no Service":  "values: {a: b" + unknown.String() + strings.ReplaceAll(unknown.String(), "nosuch", "other") + "}\n",
		"many wrong types":    "kind: List\nitems:\n" + strings.Repeat("- {kind: [1], metadata: 1, spec: [], status: 1}\n", 5000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		_, found, err := (&serviceLint{}).checkText(t.Context(), "f", []byte(text), &reused{})
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; err == nil || len(err.Error()) > 1000 || len(found) > mostProblems || used > 200<<20 || took > time.Minute {
			t.Errorf("%s: %d problems, %.200v, %d MiB in %v", name, len(found), err, used>>20, took)
		}
	}
}

// FuzzLintService proves that no file, which may be any, makes it panic.
func FuzzLintService(f *testing.F) {
	f.Add([]byte("kind: Service\nmetadata: {name: a, annotations: {b: c}}\n"))
	f.Add([]byte("kind: List\nitems: [{kind: Service, metadata: {annotations: [1]}}]\n"))
	f.Add([]byte("&a\nkind: List\nitems: [*a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _, _ = (&serviceLint{}).checkText(t.Context(), "f", text, &reused{})
	})
}
