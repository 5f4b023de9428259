package main_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/world"
	"github.com/clbemu/clbemu/scenarios"
)

// The scenarios of these tests.
const (
	goodScenario = `about: good
values: {zone: cn-hangzhou-g}
given: {cluster: [{kind: Service, name: web}]}
client:
  steps:
    - set: {"stock.{{zone}}": soldout}
    - call:
        action: CreateLoadBalancer
        params: {AddressType: internet, InstanceChargeType: PayByCLCU, MasterZoneId: cn-hangzhou-g}
        expect: {code: OperationFailed.ZoneResourceLimit}
kubernetes:
  expect:
    - service: {name: web, fields: {status: {absent: true}}}
  steps:
    - set: {account.arrears: false}
`
	badScenario = `about: bad
values: {wanted: "1"}
client:
  steps:
    - call: {action: DescribeRegions}
    - call:
        action: DescribeLoadBalancers
        expect: {fields: {TotalCount: "{{wanted}}"}}
`
	leavesScenario = `about: leaves
client:
  steps:
    - call: {action: CreateLoadBalancer, params: {AddressType: internet, InstanceChargeType: PayByCLCU}}
  expect:
    - resource: {action: DescribeLoadBalancers, fields: {TotalCount: 1}}
`
	restartScenario = "about: restart\nclient:\n  steps:\n    - restart: true\n"
	wrongScenario   = "about: wrong\nclient:\n  steps:\n    - wait: {within: soon}\n"
)

func scenarioDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"good": goodScenario, "bad": badScenario, "restart": restartScenario} {
		writeFile(t, filepath.Join(dir, name+".yaml"), text)
	}
	return dir
}

// TestScenarioResetOfCluster proves that a reset leaves a cluster's nodes their instances,
// and that a part is not played without them.
func TestScenarioResetOfCluster(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	scenario := writeFile(t, filepath.Join(t.TempDir(), "nodes.yaml"), `about: nodes
kubernetes:
  steps:
    - call: {product: Ecs, action: DescribeInstances, params: {InstanceIds: ["i-bp1ofcluster000001"]}, expect: {fields: {TotalCount: 1}}}
`)
	for nodes, want := range map[string]string{
		`{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a"}, "spec": {"providerID": "cn-hangzhou.i-bp1ofcluster000001"},
			"status": {"addresses": [{"type": "InternalIP", "address": "192.168.0.77"}]}}]}`: "passed: nodes, kubernetes",
		`{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a"}}]}`: "can't import the cluster's nodes as instances: ",
	} {
		bin := t.TempDir()
		kubectl := writeFile(t, filepath.Join(bin, "kubectl"), "#!/bin/sh\ncase \"$*\" in *'get nodes --output json') echo '"+nodes+"';; esac\n")
		if err := os.Chmod(kubectl, 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(binary.Path, "scenario", "run", scenario, "--reset", "--server", s.Control, "--api", s.API, "--kubeconfig", "k")
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		if r := binary.Finish(t, cmd); !strings.Contains(r.Stdout, want) {
			t.Errorf("with the nodes %s = %+v, want %q", nodes, r, want)
		}
	}
}

// TestScenarioRun proves the exit code of each sort of run, and that its output
// says why.
func TestScenarioRun(t *testing.T) {
	t.Parallel()
	dir := scenarioDir(t)
	good, bad, restart := filepath.Join(dir, "good.yaml"), filepath.Join(dir, "bad.yaml"), filepath.Join(dir, "restart.yaml")
	wrong := writeFile(t, filepath.Join(t.TempDir(), "wrong.yaml"), wrongScenario)
	leaves := writeFile(t, filepath.Join(t.TempDir(), "leaves.yaml"), leavesScenario)
	s := binary.Serve(t, "--engine", "memory")
	remote := []string{"--server", s.Control, "--api", s.API}
	tests := []struct {
		name string
		args []string
		code int
		want string // on stdout or stderr
	}{
		{"passed", []string{good}, 0, "passed: good, client\nskipped: good, kubernetes (there is no cluster: name one with --kubeconfig)\n1 passed, 0 failed, 0 could not run, 1 skipped\n"},
		{"by name", []string{"arrears"}, 0, "passed: arrears, client"},
		{"failed", []string{bad}, 1, bad + ":6: call DescribeLoadBalancers\n  expected  TotalCount \"1\"\n  saw       TotalCount \"0\"\n  calls     since the beginning:\n            Slb DescribeRegions RegionId=cn-hangzhou → 200\n            Slb DescribeLoadBalancers"},
		{"stops at the first", []string{bad, good, "--fail-fast"}, 1, "0 passed, 1 failed, 0 could not run, 0 skipped"},
		{"keeps going", []string{bad, good}, 1, "1 passed, 1 failed, 0 could not run, 1 skipped\n  failed: bad, client\n2 client parts run"},
		{"folder", []string{dir}, 1, "2 passed, 1 failed, 0 could not run, 1 skipped"},
		{"value", []string{good, "--set", "zone=cn-hangzhou-k"}, 1, "expected  code \"OperationFailed.ZoneResourceLimit\""},
		{"remote", append([]string{good}, remote...), 0, "passed: good, client"},
		{"leaves a load balancer", append([]string{leaves}, remote...), 0, "passed: leaves, client"},
		{"finds it", append([]string{leaves}, remote...), 1, `TotalCount "2"`},
		{"and knows why", append([]string{leaves}, remote...), 1, "note:     it passes on a new emulator, so the state of this one makes it fail (it held before: 2 used of slb_quota_instances_num); --reset deletes everything in it first"},
		{"fails anywhere", append([]string{bad, "--set", "wanted=9"}, remote...), 1, "0 skipped\n1 client part run"},
		{"reset", append([]string{leaves, "--reset"}, remote...), 0, "passed: leaves, client"},
		{"reset of nothing", []string{good, "--reset"}, 2, "--reset needs --server"},
		{"one part", []string{good, "--part", "client"}, 0, "1 passed, 0 failed"},
		{"one part, by the flag of 0.1.0", []string{good, "--half", "client"}, 0, "1 passed, 0 failed"},
		{"no part", []string{good, "--part", "none"}, 2, "--part none is none of client, kubernetes, program"},
		{"part of another command", []string{good, "--part", "program"}, 2, "nothing ran of 1 scenario"},
		{"restart of a running server", append([]string{restart}, remote...), 2, "restart.yaml:4: restart\n  reason    a running emulator is not ended"},
		{"nobody there", []string{good, "--server", "http://127.0.0.1:1"}, 2, "is clbemu running"},
		{"wrong file", []string{wrong, good}, 2, wrong + ":4:22: client.steps[0].wait.within: \"soon\" is not a duration"},
		{"no file", []string{"arears"}, 2, "do you mean arrears?"},
		{"value of nothing", []string{good, "--set", "zones=a"}, 2, "no scenario has a value of that name"},
		{"value without a text", []string{good, "--set", "zone"}, 2, "--set is NAME=VALUE"},
		{"cluster without a server", []string{good, "--kubeconfig", "k"}, 2, "--kubeconfig needs --server"},
		{"report that can't be written", []string{good, "--junit", filepath.Join(dir, "none", "r.xml")}, 2, "no such file"},
	}
	for _, test := range tests {
		r := binary.Run(t, append([]string{"scenario", "run"}, test.args...)...)
		if r.Code != test.code || !strings.Contains(r.Stdout+r.Stderr, test.want) {
			t.Errorf("%s: exit code %d, want %d and %q in\n%s%s", test.name, r.Code, test.code, test.want, r.Stdout, r.Stderr)
		}
		if test.name == "fails anywhere" && strings.Contains(r.Stdout, "--reset") {
			t.Errorf("--reset is offered to what fails on a new emulator: %s", r.Stdout)
		}
		if strings.Contains(r.Stdout, "\x1b") {
			t.Errorf("%s: there is colour outside a terminal: %q", test.name, r.Stdout)
		}
	}
}

// TestScenarioLeavesUsedEmulator proves that a scenario leaves the emulator alone that clbemu env
// points commands at, unless the command line names it.
func TestScenarioLeavesUsedEmulator(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	leaves := writeFile(t, filepath.Join(t.TempDir(), "leaves.yaml"), leavesScenario)
	entries := func() int {
		return strings.Count(binary.Run(t, "journal", "--server", s.Control, "--json").Stdout, "\n")
	}
	for _, test := range []struct {
		args []string
		code int
		more bool
	}{{[]string{"run", leaves}, 0, false}, {[]string{"watch", "reply-lost-after-create", "--", "true"}, 1, false}, {[]string{"run", leaves, "--server", s.Control}, 0, true}} {
		before := entries()
		cmd := exec.Command(binary.Path, append([]string{"scenario"}, test.args...)...)
		cmd.Env = append(os.Environ(), "CLBEMU_SERVER="+s.Control, "CLBEMU_API="+s.API, "CLBEMU_CLOUD=nowhere", "CLBEMU_ACCESS_KEY_ID=nobody")
		if test.more {
			cmd.Env = os.Environ()
		}
		r := binary.Finish(t, cmd)
		if r.Code != test.code || (entries() != before) != test.more {
			t.Errorf("scenario %q = %+v, and the journal has %d more entries, want some: %t", test.args, r, entries()-before, test.more)
		}
	}
}

// TestScenarioExec proves that a step runs a program where its calls are counted,
// with what clbemu env prints and the same commands of clbemu at hand.
func TestScenarioExec(t *testing.T) {
	t.Parallel()
	file := writeFile(t, filepath.Join(t.TempDir(), "exec.yaml"), `about: exec
client:
  steps:
    - exec:
        command: [sh, -c, 'test -n "$SLB_ENDPOINT" && "$CLBEMU" world set account.arrears=true >/dev/null && "$CLBEMU" world get account.arrears']
        env: {CLBEMU: "`+binary.Path+`"}
        output: account.arrears=true
    - exec: {command: [sh, -c, 'echo oops >&2; exit 3'], exit: 3}
    - exec: [sh, -c, 'echo oops >&2; exit 3']
`)
	r := binary.Run(t, "scenario", "run", file)
	for _, want := range []string{"ok        4  exec sh -c test -n", "failed    9  exec sh", "expected  exit status 0\n  saw       3\n", "  output    oops\n",
		"no client called this emulator: does the program take its endpoint", "1 client part run by programs of the scenario\n"} {
		if r.Code != 1 || !strings.Contains(r.Stdout, want) {
			t.Errorf("run = %d, %s%s, want 1 and %q", r.Code, r.Stdout, r.Stderr, want)
		}
	}
}

// TestScenarioWatch proves the exit code of each sort of watch, that the program's
// output is shown as it comes, and whose client was judged.
func TestScenarioWatch(t *testing.T) {
	t.Parallel()
	dir := scenarioDir(t)
	file := writeFile(t, filepath.Join(t.TempDir(), "p.yaml"), "about: p\nprogram:\n  expect:\n    - calls: {action: CreateLoadBalancer, none: true}\n")
	tests := []struct {
		args []string
		code int
		want string
	}{
		{[]string{file, "--", "echo", "here I am"}, 0, "  | here I am\n  ok        3  the program echo here I am\n"},
		{[]string{file, "--", "printf", `\033[31mred\033[0m \007`}, 0, "  | red \\u0007\n"},
		{[]string{file, "--", "echo"}, 0, "1 passed, 0 failed, 0 could not run, 0 skipped\n1 program part run by echo\n"},
		{[]string{file, "--", "false"}, 1, "expected  exit status 0\n  saw       1\n"},
		{[]string{file, "--for", "1s", "--", "sleep", "1000"}, 0, "passed: p, program"},
		{[]string{file, "--", filepath.Join(dir, "none")}, 2, "no such file"},
		{[]string{file}, 2, "give the command after --"},
		{[]string{file, "--"}, 2, "give the command after --"},
		{[]string{filepath.Join(dir, "good.yaml"), "--", "true"}, 2, "good has no program part: scenarios of the library that have one: arrears, "},
		{[]string{"arears", "--", "true"}, 2, "do you mean arrears?"},
		{[]string{file, "--reset", "--", "true"}, 2, "--reset needs --server"},
	}
	for _, test := range tests {
		r := binary.Run(t, append([]string{"scenario", "watch"}, test.args...)...)
		if r.Code != test.code || !strings.Contains(r.Stdout+r.Stderr, test.want) {
			t.Errorf("watch %q: exit code %d, want %d and %q in\n%s%s", test.args, r.Code, test.code, test.want, r.Stdout, r.Stderr)
		}
	}
}

// TestScenarioWaits proves that a wait shows on a terminal how far it is, on a line
// that goes away.
func TestScenarioWaits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("there is no script command to make a terminal")
	}
	file := writeFile(t, filepath.Join(t.TempDir(), "p.yaml"), "about: p\nprogram:\n  steps:\n    - start: true\n    - expect:\n        - calls: {action: CreateLoadBalancer, atLeast: 1}\n          within: 5s\n")
	cmd := exec.Command("script", "-qec", binary.Path+" scenario watch "+file+" -- sleep 100", "/dev/null")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR=")
	cmd.Stdin = io.MultiReader() // there is nothing to type
	r := binary.Finish(t, cmd)
	for _, want := range []string{` waiting [1-4]s of 5s: saw 0 of 1 call\r\x1b\[K`, `\x1b\[31mfailed\x1b\[m`} {
		if !regexp.MustCompile(want).MatchString(r.Stdout) {
			t.Errorf("the terminal shows %q, want %q", r.Stdout, want)
		}
	}
}

// TestScenarioClients proves that the summary says whose client was judged.
func TestScenarioClients(t *testing.T) {
	t.Parallel()
	r := binary.Run(t, "scenario", "run")
	for _, want := range []string{fmt.Sprintf("%d client parts run by clbemu's own scripted client\n", len(clientParts(t))), "none of your own clients was tested: "} {
		if r.Code != 0 || !strings.Contains(r.Stdout, want) {
			t.Errorf("run = %d, want 0 and %q in\n%s", r.Code, want, r.Stdout)
		}
	}
}

// TestScenarioSkipped proves that a scenario of a cluster alone does not count as
// passed without one.
func TestScenarioSkipped(t *testing.T) {
	t.Parallel()
	file := writeFile(t, filepath.Join(t.TempDir(), "k.yaml"), "about: k\ngiven: {cluster: [{kind: Service, name: web}]}\nkubernetes:\n  steps:\n    - kubectl: {delete: {kind: Service, metadata: {name: web}}}\n")
	if r := binary.Run(t, "scenario", "run", file); r.Code != 2 || !strings.Contains(r.Stdout, "skipped: k, kubernetes") {
		t.Errorf("run = %+v, want 2 and the part skipped", r)
	}
}

// TestScenarioReports proves that the JUnit file and the JSON can be read, have
// the failure in them, and that nothing else is on standard output.
func TestScenarioReports(t *testing.T) {
	t.Parallel()
	dir := scenarioDir(t)
	report := filepath.Join(dir, "report.xml")
	r := binary.Run(t, "scenario", "run", dir, "--json", "--junit", report)
	var got struct {
		Summary map[string]int
		Results []scenarios.Result
	}
	if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || r.Code != 1 {
		t.Fatalf("run --json = %+v: %v", r, err)
	}
	if got.Summary["passed"] != 2 || got.Summary["failed"] != 1 || got.Summary["skipped"] != 1 || got.Results[0].Failure.Line != 6 {
		t.Errorf("the results are %+v", got)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Skipped *struct{} `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(text, &suites); err != nil || len(suites.Cases) != 4 || suites.Cases[0].Failure == nil || suites.Cases[2].Skipped == nil {
		t.Errorf("the report is %s (%v), want four cases with one failed and one skipped", text, err)
	}
}

// TestScenarioList proves that the library is listed and shown as it is, that it
// has nothing wrong, and that the schema is JSON.
func TestScenarioList(t *testing.T) {
	t.Parallel()
	list := binary.Run(t, "scenario", "list")
	for _, name := range scenarios.LibraryNames() {
		if !strings.Contains(list.Stdout, "\n"+name+" ") {
			t.Errorf("list does not have %s:\n%s", name, list.Stdout)
		}
	}
	if r := binary.Run(t, "scenario", "list", "vswitch", "EXHAUSTED"); !strings.Contains(r.Stdout, "\nvswitch-exhausted ") || strings.Contains(r.Stdout, "\nrebinding ") {
		t.Errorf("list vswitch EXHAUSTED = %+v, want those with both words", r)
	}
	// No word is in the scenario: it plays what a document, or an Event, has.
	for words, want := range map[string]string{"EVICT masters": "no-available-pods", "Message: there are vips associating with this vServer group.": "rspool-vip-exist", "售罄": "zone-sold-out"} {
		if r := binary.Run(t, "scenario", "list", words); r.Code != 0 || !strings.Contains(r.Stdout, "\n"+want+" ") || strings.Contains(r.Stdout, "\narrears ") {
			t.Errorf("list %s = %+v, want %s", words, r, want)
		}
	}
	if r := binary.Run(t, "scenario", "list", "zzz"); r.Code != 2 || !strings.Contains(r.Stderr, "no scenario of the library contains zzz") {
		t.Errorf("list zzz = %+v, want 2 and why", r)
	}
	if r := binary.Run(t, "scenario", "lint"); r.Code != 0 || !strings.Contains(r.Stdout, "nothing is wrong") {
		t.Errorf("lint = %+v, want nothing wrong", r)
	}
	if r := binary.Run(t, "scenario", "show", "arears"); r.Code != 2 || !strings.Contains(r.Stderr, "do you mean arrears?") {
		t.Errorf("show arears = %+v, want 2 and a suggestion", r)
	}
	if r := binary.Run(t, "scenario", "schema"); r.Code != 0 || !json.Valid([]byte(r.Stdout)) {
		t.Errorf("schema = %+v, want JSON", r)
	}
}

// TestScenarioLint proves that lint plays nothing and reports all problems of all
// files.
func TestScenarioLint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one := writeFile(t, filepath.Join(dir, "1.yaml"), wrongScenario)
	two := writeFile(t, filepath.Join(dir, "2.yml"), "about: a\nclient:\n  steps:\n    - fault: {name: f, match: {action: CreateLoadBalancr}, effect: {reset: true}}\n")
	writeFile(t, filepath.Join(dir, "notes.txt"), "no scenario")
	r := binary.Run(t, "scenario", "lint", dir)
	for _, want := range []string{one + ":4:22: client.steps[0].wait.within", one + ":4:13: client.steps[0].wait.call: it is missing",
		two + ":4:40: client.steps[0].fault.match.action: no emulated action is called CreateLoadBalancr: do you mean CreateLoadBalancer?"} {
		if !strings.Contains(r.Stderr, want) {
			t.Errorf("lint says %q, want %q", r.Stderr, want)
		}
	}
	if r.Code != 1 {
		t.Errorf("lint exits with %d, want 1", r.Code)
	}
	if r := binary.Run(t, "scenario", "lint", t.TempDir()); r.Code != 2 {
		t.Errorf("lint of an empty folder = %+v, want 2", r)
	}
}

// TestLintOfWorld proves that lint holds ids against the world of --world, and against the
// default one without.
func TestLintOfWorld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := writeFile(t, filepath.Join(dir, "world.yaml"), strings.ReplaceAll(string(world.DefaultText), "vsw-bp1clbemu000000000001", "vsw-own"))
	file := writeFile(t, filepath.Join(dir, "own.yaml"), "about: a\nclient:\n  steps:\n    - call: {action: CreateLoadBalancer, params: {AddressType: intranet, InstanceChargeType: PayByCLCU, VSwitchId: vsw-own}}\n")
	if r := binary.Run(t, "scenario", "lint", file); r.Code != 1 || !strings.Contains(r.Stderr, file+":4:116: client.steps[0].call.params.VSwitchId: the world has no vsw-own") {
		t.Errorf("lint = %+v, want vsw-own refused", r)
	}
	if r := binary.Run(t, "scenario", "lint", "--world", own, file); r.Code != 0 {
		t.Errorf("lint --world = %+v, want nothing wrong", r)
	}
	if r := binary.Run(t, "scenario", "lint", "--world", filepath.Join(dir, "nosuch.yaml"), file); r.Code != 2 || !strings.Contains(r.Stderr, "nosuch.yaml") {
		t.Errorf("lint of no world = %+v, want 2", r)
	}
}

// clientParts returns the scenarios of the library that clbemu's own client can play.
func clientParts(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range scenarios.LibraryNames() {
		text, _ := scenarios.LibraryText(name)
		scenario, err := scenarios.Load(name, text, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if scenario.Client != nil {
			names = append(names, name)
		}
	}
	return names
}

// TestOwnCommand proves that run and watch both wait for the program whose command stands in
// the part, and that watch says where there is none.
func TestOwnCommand(t *testing.T) {
	part := func(command string) string {
		return writeFile(t, filepath.Join(t.TempDir(), "own.yaml"), "about: A test.\nadvice: None.\nprogram:\n"+command+"  expect:\n  - calls: {action: DescribeRegions, exactly: 1}\n")
	}
	// It takes a moment to its first call.
	slow := fmt.Sprintf("  command: [sh, -c, 'sleep 0.3; %[1]s call DescribeRegions --api \"http://$SLB_ENDPOINT\"']\n", binary.Path)
	for _, verb := range []string{"run", "watch"} {
		r := binary.Run(t, "scenario", verb, part(slow))
		if r.Code != 0 {
			t.Errorf("scenario %s of a file with a command = %+v", verb, r)
		}
		endless := "  command: [sleep, '1000']\n"
		if r := binary.Run(t, "scenario", verb, "--for", "200ms", part(endless)); r.Code != 1 || !strings.Contains(r.Stdout+r.Stderr, "DescribeRegions") {
			t.Errorf("scenario %s of a program that does nothing = %+v", verb, r)
		}
	}
	other := fmt.Sprintf("  command: [sh, -c, '%[1]s call DescribeZones --api \"http://$SLB_ENDPOINT\"']\n", binary.Path)
	if r := binary.Run(t, "scenario", "run", part(other)); r.Code != 0 || !strings.Contains(oneLine(r.Stdout), "not applicable: own, program (the program never makes the call that it is about") || !strings.Contains(r.Stdout, "0 passed, 0 failed, 0 could not run, 0 skipped, 1 not applicable") {
		t.Errorf("scenario run of a program that never makes the call = %+v", r)
	}
	refused := fmt.Sprintf("  command: [sh, -c, '%[1]s call DeleteLoadBalancer LoadBalancerId=lb-none --api \"http://$SLB_ENDPOINT\"; exit 0']\n", binary.Path)
	if r := binary.Run(t, "scenario", "run", part(refused)); r.Code != 1 {
		t.Errorf("scenario run of a program that was refused something = %+v", r)
	}
	once := "  command: [sh, -c, 'test -e again || { touch again; exit 1; }; %[1]s call DescribeRegions --api \"http://$SLB_ENDPOINT\"']\n"
	t.Chdir(t.TempDir())
	if r := binary.Run(t, "scenario", "run", "--restarts", "1", part(fmt.Sprintf(once, binary.Path))); r.Code != 0 {
		t.Errorf("scenario run of a program that is started again = %+v", r)
	}
	if r := binary.Run(t, "scenario", "watch", part("")); r.Code != 2 || !strings.Contains(oneLine(r.Stderr), "the program part of own has no command: give the command after --") {
		t.Errorf("scenario watch of a file without a command = %+v", r)
	}
}
