package emulator_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/clbemu/clbemu/"

// goList returns what the toolchain says of packages, run at the module's root.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return string(out)
}

// listed is a package with what it and its tests import.
type listed struct {
	ImportPath string
	Imports    []string
}

// ours returns what each package of the module imports of the module, by paths
// without the module's.
func ours(t *testing.T) map[string][]string {
	t.Helper()
	packages := make(map[string][]string)
	for d := json.NewDecoder(strings.NewReader(goList(t, "-json=ImportPath,Imports", "./..."))); ; {
		var p listed
		err := d.Decode(&p)
		if err == io.EOF {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		imports := []string{}
		for _, path := range p.Imports {
			if name, ok := strings.CutPrefix(path, module); ok {
				imports = append(imports, name)
			}
		}
		packages[strings.TrimPrefix(p.ImportPath, module)] = imports
	}
}

// mayImport says which packages of ours a package may import; a name stands for
// the packages under it too. What is not listed here is bound by no rule but
// the rule that no package imports what is for tests only.
var mayImport = map[string][]string{
	"state":             {"state/engine", "state/jsonstream"},
	"state/jsonstream":  {},
	"state/engine":      {"state/engine"},
	"faults":            {"faults", "emulator/yamlfile", "emulator/spelling", "emulator/glob"},
	"scenarios":         {"faults", "scenarios", "emulator/yamlfile", "emulator/spelling", "emulator/glob", "emulator/annotations"},
	"emulator/spelling": {},
	"emulator/glob":     {},
	"emulator/yamlfile": {"emulator/spelling"},
	"emulator/journal":  {"emulator/glob", "emulator/spelling"},
	// What the emulated cloud has, and what its products share.
	"emulator/internal/topology": {"state"},
	"emulator/internal/kinds":    {"state", "emulator/internal/topology"},
	"emulator/internal/gateway":  {"state", "faults", "emulator/internal/kinds", "emulator/internal/topology", "emulator/internal/gateway"},
	// It holds the refusals of the products' cases against the known codes.
	"emulator/internal/gateway/gatewaytest": {"state", "emulator/internal/kinds", "emulator/internal/gateway", "emulator/names", "emulator/fidelity"},
	"emulator/internal/products":            {"state", "emulator/internal/kinds", "emulator/internal/topology", "emulator/internal/gateway"},
	"emulator/internal/products/nlb":        {"state", "emulator/internal/kinds", "emulator/internal/topology", "emulator/internal/gateway", "emulator/internal/products/nlb/changes"},
	"emulator/internal/metadata":            {"state", "emulator/internal/kinds", "emulator/internal/gateway"},
	"emulator/internal/dns":                 {"state", "emulator/internal/listen", "emulator/internal/kinds", "emulator/internal/topology"},
	// The data plane knows no product, and what forwards knows no state.
	"emulator/internal/dataplane":         {"state", "emulator/internal/listen", "faults", "emulator/controlapi", "emulator/journal", "emulator/internal/kinds", "emulator/internal/topology", "emulator/internal/dataplane/forward"},
	"emulator/internal/dataplane/forward": {},
	"emulator/internal/listen":            {},
	// The parts of a world, which do not know each other.
	"emulator/world":                  {"state", "emulator/internal/kinds", "emulator/internal/pull", "emulator/yamlfile", "emulator/internal/resources", "emulator/internal/gateway", "emulator/products", "emulator/spelling"},
	"emulator/internal/resources":     {"state", "emulator/internal/kinds"},
	"emulator/world/conditions":       {"state", "emulator/internal/listen", "emulator/internal/kinds", "emulator/internal/topology", "emulator/internal/resources"},
	"emulator/internal/pull":          {"state", "emulator/internal/kinds", "emulator/products"},
	"emulator/internal/clusterimport": {"state", "emulator/internal/kinds", "emulator/controlapi", "emulator/internal/resources"},
	// The control API: handlers, and what they work on.
	"emulator/internal/control":   {"state", "faults", "scenarios", "emulator/internal/kinds", "emulator/internal/topology", "emulator/internal/gateway", "emulator/world", "emulator/internal/clusterimport", "emulator/internal/resources", "emulator/internal/rules", "emulator/internal/snapshots", "emulator/internal/metrics", "emulator/inventory", "emulator/explain", "emulator/controlapi", "emulator/internal/control/routes", "emulator/internal/console", "emulator/names", "emulator/journal", "emulator/spelling"},
	"emulator/internal/rules":     {"state", "faults", "emulator/internal/kinds", "emulator/internal/gateway", "emulator/controlapi", "emulator/names"},
	"emulator/internal/snapshots": {"state", "emulator/controlapi", "emulator/names", "emulator/spelling"},
	"emulator/internal/metrics":   {"state", "emulator/internal/gateway"},
	"emulator/internal/console":   {"emulator/internal/console/zh", "faults"}, // for the templates; its script is a client of the control API
	"emulator/fidelity":           {"scenarios", "emulator/yamlfile"},
	"emulator/explain":            {"emulator/annotations", "emulator/internal/console/zh", "emulator/spelling", "emulator/fidelity", "emulator/controlapi", "emulator/names", "emulator/internal/gateway", "scenarios"},
	"emulator/inventory":          {"state", "emulator/internal/kinds", "emulator/internal/topology", "emulator/controlapi", "emulator/internal/gateway", "emulator/glob", "emulator/spelling"},
	// One cloud knows no others, and those who hold many know nothing of what one consists of.
	"emulator/internal/cloud":  {"state", "faults", "emulator/controlapi", "emulator/internal/kinds", "emulator/internal/control", "emulator/internal/dataplane", "emulator/internal/dns", "emulator/internal/gateway", "emulator/internal/listen", "emulator/internal/metadata", "emulator/internal/metrics", "emulator/internal/resources", "emulator/internal/rules", "emulator/internal/snapshots", "emulator/internal/topology", "emulator/apiclient", "emulator/controlclient", "emulator/inventory", "emulator/journal", "emulator/names", "emulator/products", "emulator/target", "emulator/world"},
	"emulator/internal/clouds": {"state", "emulator/controlapi", "emulator/internal/kinds", "emulator/internal/control", "emulator/internal/gateway", "emulator/internal/listen", "emulator/internal/cloud", "emulator/names"},
	// It knows who leads, and not what a call asks for.
	"emulator/internal/replicas":       {"state", "emulator/controlapi", "emulator/internal/control/routes"},
	"emulator/internal/control/routes": {"emulator/controlapi", "emulator/journal", "scenarios"},
	"emulator/names":                   {"state", "emulator/controlapi", "faults", "emulator/internal/kinds", "emulator/internal/gateway", "emulator/world", "emulator/spelling", "emulator/glob"},
	// What goes over the wire, and who calls: neither knows who answers.
	"emulator/controlapi":    {"emulator/journal", "scenarios"},
	"emulator/controlclient": {"emulator/controlapi", "emulator/internal/control/routes", "emulator/journal", "scenarios"},
	"emulator/apiclient":     {},
	// Scenarios play by the two APIs; who starts an emulator is above.
	"emulator/target":         {"state", "emulator/internal/listen", "faults", "scenarios", "emulator/internal/kinds", "emulator/internal/gateway", "emulator/internal/topology", "emulator/inventory", "emulator/names", "emulator/journal", "emulator/apiclient", "emulator/controlapi", "emulator/controlclient"},
	"emulator/target/private": {"emulator", "emulator/internal/listen", "scenarios", "state"},
	// Exploring plays scenarios in places that it is given.
	"cmd/internal/explore": {"scenarios", "emulator/glob"},
	// This one only reads what the journal wrote.
	"cmd/internal/upgradecheck": {"emulator/journal"},
	// What a controller reads of a Service: no cloud.
	"emulator/annotations": {"emulator/spelling"},
}

// opensSockets lists the files that may open a socket for others to connect to, and why it
// need not be in the list of package listen, or how it gets there.
var opensSockets = map[string]string{
	"emulator/internal/listen/listen.go":           "opens and lists",
	"emulator/internal/dns/dns.go":                 "lists the one for UDP",
	"emulator/internal/dataplane/binding.go":       "lists those of listeners",
	"emulator/internal/dataplane/network_linux.go": "a lock, in no network",
	"emulator/target/private/private.go":           "lists its own",
	"scenarios/step_serve.go":                      "a server, which load balancers are to reach",
	"cmd/internal/command/serve.go":                "tries whether an address is free",
	"cmd/internal/cluster/plane.go":                "looks for ports that are free",
	"cmd/internal/rehearse/traffic.go":             "a server, which load balancers are to reach",
	"cmd/internal/command/doctor.go":               "tries whether an address is free",
}

// Load balancers must not connect to sockets at which this process answers, so each file
// that opens one says how package listen learns of it.
func TestSocketsAreListed(t *testing.T) {
	opens := regexp.MustCompile(`\bnet\.(Listen|ListenPacket|ListenUDP|ListenTCP|ListenConfig)[({]`)
	found := make(map[string]bool)
	for _, root := range []string{"cmd", "emulator", "faults", "scenarios", "state"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
			if found[name] = opens.Match(text); found[name] && opensSockets[name] == "" {
				t.Errorf("%s opens a socket: use listen.TCP, or add it to the list with the reason", name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range opensSockets {
		if !found[name] {
			t.Errorf("%s opens no socket any more: take it off the list", name)
		}
	}
}

func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// ruleFor finds the rule of the closest package that has one.
func ruleFor(path string) (allowed []string, bound bool) {
	closest := ""
	for root := range mayImport {
		if under(path, root) && len(root) > len(closest) {
			closest = root
		}
	}
	return mayImport[closest], closest != ""
}

// TestImports proves that no package knows more than its part of the design
// lets it, and fails when a package that a rule names is gone.
func TestImports(t *testing.T) {
	packages := ours(t)
	for root := range mayImport {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(packages)), func(path string) bool { return under(path, root) }) {
			t.Errorf("there is no package %s: the rule that names it guards nothing", root)
		}
	}
	for path, imports := range packages {
		if allowed, bound := ruleFor(path); bound {
			for _, imported := range imports {
				if !slices.ContainsFunc(allowed, func(a string) bool { return under(imported, a) }) {
					t.Errorf("%s imports %s, but may import only %v", path, imported, allowed)
				}
			}
		}
	}
	for path, imports := range packages {
		for _, imported := range imports {
			if under(imported, "contracttests") && !under(path, "contracttests") {
				t.Errorf("%s imports %s, which is for tests only", path, imported)
			}
		}
	}
}

// TestBinaryHasNoClient proves that the binary is built without the cloud's SDKs
// and without what only tests and replicas need.
func TestBinaryHasNoClient(t *testing.T) {
	deps := strings.Fields(goList(t, "-deps", "./cmd/clbemu"))
	if !slices.Contains(deps, module+"emulator") {
		t.Fatalf("the binary does not depend on the emulator: %v", deps)
	}
	for _, path := range deps {
		for _, forbidden := range []string{"github.com/aliyun/", "github.com/alibabacloud-go/", "github.com/alibabacloud/", "go.etcd.io/etcd", "google.golang.org/grpc", "go.uber.org/zap", "testing", module + "contracttests", module + "contracttests/binary", module + "emulator/emulatortest", module + "emulator/internal/gateway/gatewaytest"} {
			if strings.HasPrefix(path+"/", strings.TrimSuffix(forbidden, "/")+"/") {
				t.Errorf("the binary depends on %s", path)
			}
		}
	}
}

// TestClientLinksNoServer proves that who calls the control API links neither what
// answers it, nor its libraries, nor the store.
func TestClientLinksNoServer(t *testing.T) {
	linked := map[string][]string{
		"./emulator/controlclient": {"github.com/gorilla/mux", "github.com/prometheus", "go.etcd.io/bbolt", module + "state", module + "emulator/internal/gateway", module + "emulator/internal/control"},
		"./emulator/target":        {"github.com/gorilla/mux", "github.com/prometheus", "go.etcd.io/bbolt", module + "emulator/internal/control"},
	}
	for client, forbidden := range linked {
		deps := strings.Fields(goList(t, "-deps", client))
		if !slices.Contains(deps, module+"emulator/controlapi") {
			t.Errorf("%s does not know the API that it calls", client)
		}
		for _, path := range deps {
			if path == module+"emulator/internal/control/routes" {
				continue // the table of calls, which the client is bound to as well
			}
			if i := slices.IndexFunc(forbidden, func(f string) bool { return under(path, f) }); i >= 0 {
				t.Errorf("%s links %s", client, path)
			}
		}
	}
	server := strings.Fields(goList(t, "-deps", "./emulator/internal/control"))
	for _, library := range []string{"github.com/gorilla/mux", "github.com/prometheus/client_golang/prometheus"} {
		if !slices.Contains(server, library) {
			t.Errorf("the server does not link %s: that clients do not proves nothing", library)
		}
	}
}

var heldBy = regexp.MustCompile("`([a-z]+(?:_test)?)\\.(Test[A-Za-z]+)`")

// TestArchitecturePage proves that the tests which docs/architecture.md names for its
// answers exist.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := heldBy.FindAllStringSubmatch(string(page), -1)
	if len(named) < 5 {
		t.Errorf("the page names %d tests, want one an answer", len(named))
	}
	known := tests(t)
	for _, n := range named {
		if !known[n[1]+"."+n[2]] {
			t.Errorf("the page says that %s.%s holds an answer, and there is no such test", n[1], n[2])
		}
	}
}

// texts returns the files of a folder that match a pattern.
func texts(t *testing.T, dir, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found[file] = string(text)
	}
	return found
}

var declaredTest = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// tests returns the names of all tests of the module, as package.Test.
func tests(t *testing.T) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for dir := range strings.FieldsSeq(goList(t, "-f", "{{.Dir}}", "./...")) {
		for _, text := range texts(t, dir, "*_test.go") {
			_, after, _ := strings.Cut(text, "\npackage ")
			if rest, ok := strings.CutPrefix(text, "package "); ok {
				after = rest
			}
			name, _, _ := strings.Cut(after, "\n")
			for _, found := range declaredTest.FindAllStringSubmatch(text, -1) {
				names[name+"."+found[1]] = true
			}
		}
	}
	return names
}

// TestPatternsWait proves that no pattern is compiled before it is asked: every
// command would pay for it when it begins.
func TestPatternsWait(t *testing.T) {
	early := regexp.MustCompile(`(?m)^(var |\t)\w+ *= regexp\.(MustCompile|Compile)`)
	seen := 0
	for dir := range strings.FieldsSeq(goList(t, "-f", "{{.Dir}}", "./...")) {
		for file, text := range texts(t, dir, "*.go") {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			seen++
			for _, line := range early.FindAllString(text, -1) {
				t.Errorf("%s: %s: give it to sync.OnceValue", file, strings.TrimSpace(line))
			}
		}
	}
	if seen == 0 {
		t.Error("no file was looked at")
	}
}

// implements matches a method whose comment says which interface it is of; proven, a type that the
// compiler holds against one.
var (
	implements = regexp.MustCompile(`(?m)^// \w+ implements \[?([\w.]*\w)\]?(?:(?:[.:,;]| by ).*)?(?:\n//.*)*\nfunc \((?:\w+ )?\*?(\w+)`)
	proven     = regexp.MustCompile(`(?m)^(?:var |\t)_ +([\w.]+)(?:\[.*\])? += (?:\(\*?|&)?(\w+)`)
)

// TestImplementsIsProven proves that the compiler checks that a type is of each interface that its
// comments name.
func TestImplementsIsProven(t *testing.T) {
	seen := 0
	for dir := range strings.FieldsSeq(goList(t, "-f", "{{.Dir}}", "./...")) {
		files := texts(t, dir, "*.go")
		known := make(map[string]bool)
		for _, text := range files {
			for _, found := range proven.FindAllStringSubmatch(text, -1) {
				known[found[2]+" is "+found[1]] = true
			}
		}
		for file, text := range files {
			for _, found := range implements.FindAllStringSubmatch(text, -1) {
				seen++
				if !known[found[2]+" is "+found[1]] {
					t.Errorf("%s: %s is said to implement %s: write var _ %[3]s = (*%[2]s)(nil)", file, found[2], found[1])
				}
			}
		}
	}
	if seen < 150 {
		t.Errorf("%d methods were looked at", seen)
	}
}

// concurrent matches code that starts something next to the test.
var concurrent = regexp.MustCompile(`\bgo func\b|\.Go\(|\bsync\.WaitGroup\b`)

// inProcess matches code that starts an emulator, or a part of one, in its own process.
var inProcess = regexp.MustCompile(`"` + module + `emulator"|\bemulatortest\.(Start|Fork)\(|\bprivate\.New|\bstate\.Open\(|\bgatewaytest\.|\bmustNew\(|\brunning\(|\bnewFixture\(`)

// TestRace proves that the packages which the Makefile tests with the race detector exist, and
// that all other tests in which goroutines meet, next to an emulator in their own process, are
// in a file that it tests so: race_test.go, or one that ends in _race_test.go.
func TestRace(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^RACE = ((?:.*\\\n)*.*)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile has no RACE")
	}
	whole := strings.Fields(strings.ReplaceAll(string(found[1]), "\\", " "))
	known, seen := ours(t), 0
	for _, name := range whole {
		if _, ok := known[name]; !ok {
			t.Errorf("RACE has %s, which is no package", name)
		}
	}
	for name := range known {
		if slices.Contains(whole, name) {
			continue
		}
		for file, text := range texts(t, filepath.Join("..", name), "*_test.go") {
			if strings.HasSuffix(file, "race_test.go") {
				seen++
				continue
			}
			for _, part := range strings.Split(text, "\nfunc ") {
				test, _, _ := strings.Cut(part, "(")
				if found := concurrent.FindString(part); strings.HasPrefix(test, "Test") && found != "" && inProcess.MatchString(text) && !startsProcesses[name] {
					t.Errorf("%s: %s has %s, and the file starts an emulator in its own process: move the test to a file that ends in _race_test.go", file, test, found)
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d files of tests with the race detector were seen", seen)
	}
}

// startsProcesses are packages whose goroutines wait for processes that the tests start.
var startsProcesses = map[string]bool{"cmd/clbemu": true, "contracttests/durability": true}

// runs finds what a line of the Makefile runs: in what folder, which tests.
var (
	runs       = regexp.MustCompile(`go test .*-run '?([^' ]+)'?|\$\(TEST\) .*-run '?([^' ]+)'?`)
	runsFolder = regexp.MustCompile(`^\tcd (\S+) `)
	runsIn     = regexp.MustCompile(` \./(\S+)`)
)

// TestMakefileNamesTests proves that all tests that the Makefile runs by their names are
// there: go test passes when none has the name.
func TestMakefileNamesTests(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(makefile)) {
		pattern := runs.FindStringSubmatch(line)
		if pattern == nil || strings.Contains(line, "-bench") || strings.Contains(line, "-fuzz") || strings.Contains(line, "$(RACE_TESTS)") {
			continue // the last names what files declare
		}
		folder := ""
		if in := runsFolder.FindStringSubmatch(line); in != nil {
			folder = in[1]
		} else if in := runsIn.FindStringSubmatch(line); in != nil {
			folder = in[1]
		}
		var tests []string
		for _, text := range texts(t, filepath.Join("..", folder), "*_test.go") {
			for _, test := range declaredTest.FindAllStringSubmatch(text, -1) {
				tests = append(tests, test[1])
			}
		}
		for name := range strings.SplitSeq(pattern[1]+pattern[2], "|") {
			name, _, _ = strings.Cut(name, "/") // of a part of the test
			name = strings.TrimRight(name, "$")
			found++
			if !slices.ContainsFunc(tests, func(test string) bool { return strings.Contains(test, name) }) {
				t.Errorf("the Makefile runs %q in %s, where no test has that name: %s", name, folder, strings.TrimSpace(line))
			}
		}
	}
	if found < 15 {
		t.Errorf("%d names were found in the Makefile, want all", found)
	}
}

// TestMakefileRunsBenchmarks proves that make bench runs the benchmarks of all packages, and
// that each package which it names has one.
func TestMakefileRunsBenchmarks(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	have := make(map[string]bool)
	err = filepath.WalkDir("..", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		if strings.Contains(string(text), "\nfunc Benchmark") {
			have[filepath.ToSlash(filepath.Dir(strings.TrimPrefix(file, ".."+string(filepath.Separator))))] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	run := make(map[string]bool)
	for line := range strings.Lines(string(makefile)) {
		_, packages, ok := strings.Cut(line, "go test -run '^$$' -bench ")
		if !ok {
			continue
		}
		folder := ""
		if in := runsFolder.FindStringSubmatch(line); in != nil {
			folder = in[1]
		}
		for name := range strings.FieldsSeq(packages) {
			below, all := strings.CutSuffix(path.Join(folder, name), "/...")
			found := false
			for of := range have {
				if is := of == below || all && strings.HasPrefix(of, below+"/"); is {
					run[of], found = true, true
				}
			}
			if !found && strings.Contains(name, "/") {
				t.Errorf("make bench names %s, where no benchmark is", name)
			}
		}
	}
	for of := range have {
		if !run[of] {
			t.Errorf("make bench leaves out %s", of)
		}
	}
	if len(have) < 5 {
		t.Errorf("benchmarks were found in %v", have)
	}
}

// TestWorkflowTestsEverything proves that the jobs of the workflow together test every
// package, and name no folder that is not there, for which go list lists nothing at all.
func TestWorkflowTestsEverything(t *testing.T) {
	workflow, err := os.ReadFile("../.github/workflows/check.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if regexp.MustCompile(`(?m)make test$`).Match(workflow) {
		return // make test without PACKAGES tests all
	}
	var tested []string
	for _, found := range regexp.MustCompile(`make test PACKAGES='([^']*)'`).FindAllSubmatch(workflow, -1) {
		for pattern := range strings.FieldsSeq(string(found[1])) {
			root := strings.TrimSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			if _, err := os.Stat(filepath.Join("..", root)); err != nil {
				t.Errorf("a job of check.yaml tests %s: %v", pattern, err)
			}
			tested = append(tested, root)
		}
	}
	for path := range ours(t) {
		if !slices.ContainsFunc(tested, func(root string) bool { return under(path, root) }) {
			t.Errorf("no job of check.yaml tests %s", path)
		}
	}
}
