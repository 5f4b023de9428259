package mutants_test

import (
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/mutants"
	"github.com/clbemu/clbemu/contracttests/record"
)

var (
	which = flag.String("mutants", "", "run the mutants whose name, rule or file has this text, all for all, or open for the plays that are not recorded yet, against what must notice them, and record what does")
	where = flag.String("where", "", "of these, run the plays in folders that match this regular expression, or after a ! that do not")
)

var patience = flag.Duration("patience", 30*time.Second, "how long a play in a cluster waits; longer on a busy machine")

// recordFile has what each mutant was noticed by; contracttests/seeds.md shows it.
const recordFile = "../testdata/mutants/lines.json"

// clusterFolder has the tests that need a control plane, and kubernetes parts.
const clusterFolder = "contracttests/kubernetes"

// play is a test, or a part, and a mutant that it must notice.
type play struct {
	by     string
	mutant *mutants.Mutant // nil for none
}

// outcome is what a play says.
type outcome struct {
	verdict string // PASS, FAIL, SKIP, or "" where it said nothing
	out     string
	took    time.Duration
}

// TestMutants builds clbemu and the tests once with all mutants, and runs each against what
// must notice it, which passes without one.
func TestMutants(t *testing.T) {
	if *which == "" {
		return // on request
	}
	tests, err := mutants.Tests(root)
	if err != nil {
		t.Fatal(err)
	}
	all, plays, was := read(t), make(map[string][]play), record.Read[map[string]noted](t, recordFile)
	for _, m := range all {
		if text := m.Name + " " + m.Rule + " " + m.File; *which != "all" && *which != "open" && !strings.Contains(text, *which) {
			continue
		}
		for _, by := range m.By {
			if *which == "open" && (m.Survives[by] != "" || was[m.Name].Change == digest(m) && slices.Contains(was[m.Name].By, by)) {
				continue
			}
			pattern, not := strings.CutPrefix(*where, "!")
			if folder := folderOf(by, tests); regexp.MustCompile(pattern).MatchString(folder) != not {
				plays[folder] = append(plays[folder], play{by, m})
			}
		}
	}
	// The folder stays, so that what is built in it is built again only where something changed.
	folder, err := filepath.Abs(filepath.Join(root, "bin", "mutants"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	overlay, err := mutants.Overlay(root, folder, all)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", os.Getenv("GOFLAGS")+" -overlay="+overlay)
	r := &run{noticed: make(map[string][]string), passed: make(map[string][]string)}
	for _, of := range slices.Sorted(maps.Keys(plays)) {
		begun := time.Now()
		if binary := build(t, of, folder); of == clusterFolder {
			slices.SortStableFunc(plays[of], func(a, b play) int { return strings.Compare(a.by, b.by) })
			for some := range slices.Chunk(plays[of], 24) { // recorded as they end: all take hours
				r.inCluster(t, binary, some)
				keep(t, all, r)
			}
		} else {
			r.in(t, of, binary, plays[of])
		}
		t.Logf("%s: %d plays in %s", of, len(plays[of]), time.Since(begun).Round(time.Second))
	}
	t.Logf("%d mutants were noticed, %d survive a play", len(r.noticed), len(r.passed))
	keep(t, all, r)
}

// folderOf is the folder of what plays.
func folderOf(by string, tests map[string]string) string {
	switch part, ok := strings.CutPrefix(by, "scenario "); {
	case ok && strings.HasSuffix(part, "/kubernetes"):
		return clusterFolder
	case ok:
		return "contracttests/mutants"
	}
	return tests[test(by)]
}

// test returns the test of which a play may be a part.
func test(by string) string {
	name, _, _ := strings.Cut(by, "/")
	return name
}

// build builds the tests of a folder.
func build(t *testing.T, of, folder string) (binary string) {
	t.Helper()
	binary = filepath.Join(folder, strings.ReplaceAll(of, "/", "+")+".test")
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", binary, ".")
	cmd.Dir = filepath.Join(root, of)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the tests of %s with the mutants: %v\n%s", of, err, out)
	}
	return binary
}

// run collects what noticed which mutant.
type run struct {
	mu      sync.Mutex
	noticed map[string][]string // plays by mutants
	passed  map[string][]string // those that did not notice it
}

// in runs plays by a test binary, first without a mutant.
func (r *run) in(t *testing.T, folder, binary string, plays []play) {
	var mu sync.Mutex
	took := make(map[string]time.Duration)
	var alone []play
	for _, p := range plays {
		if !slices.ContainsFunc(alone, func(other play) bool { return other.by == p.by }) {
			alone = append(alone, play{by: p.by})
		}
	}
	sideBySide(alone, func(p play) {
		is := one(binary, folder, p, 5*time.Minute)
		if is.verdict != "PASS" {
			t.Errorf("%s says %q without a mutant:\n%s", p.by, is.verdict, is.out)
		}
		mu.Lock()
		defer mu.Unlock()
		took[p.by] = is.took
	})
	sideBySide(plays, func(p play) {
		r.judge(t, p, one(binary, folder, p, time.Minute+3*took[p.by]))
	})
}

// sideBySide plays as many at once as there are processors.
func sideBySide(plays []play, do func(play)) {
	next := make(chan play)
	var wait sync.WaitGroup
	for range runtime.NumCPU() {
		wait.Go(func() {
			for p := range next {
				do(p)
			}
		})
	}
	for _, p := range plays {
		next <- p
	}
	close(next)
	wait.Wait()
}

// one runs a test in a process of its own. One that takes longer than the limit fails.
func one(binary, folder string, p play, limit time.Duration) outcome {
	begun := time.Now()
	name, args := p.by[strings.LastIndex(p.by, ".")+1:], []string(nil)
	if part, ok := strings.CutPrefix(p.by, "scenario "); ok {
		name, args = "TestPart", []string{"-part", strings.TrimSuffix(part, "/client")}
	}
	pattern := "^" + strings.ReplaceAll(name, "/", "$/^") + "$"
	name = test(name)
	cmd := exec.Command(binary, append(args, "-test.run", pattern, "-test.v", "-test.timeout", limit.String())...)
	cmd.Dir = filepath.Join(root, folder)
	cmd.Env = os.Environ()
	if p.mutant != nil {
		cmd.Env = append(cmd.Env, "MUTANT="+p.mutant.Name)
	}
	out, err := cmd.CombinedOutput()
	is := outcome{out: string(out), took: time.Since(begun)}
	for _, verdict := range []string{"PASS", "FAIL", "SKIP"} {
		if strings.Contains(is.out, "--- "+verdict+": "+name+" (") {
			is.verdict = verdict
		}
	}
	if is.verdict == "" && err != nil { // it panicked, or was too slow
		is.verdict = "FAIL"
	}
	return is
}

// judge holds a play to notice its mutant.
func (r *run) judge(t *testing.T, p play, is outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch why := p.mutant.Survives[p.by]; {
	case is.verdict == "FAIL":
		r.noticed[p.mutant.Name] = append(r.noticed[p.mutant.Name], p.by)
		if why != "" {
			t.Errorf("%s: %s notices it now, though it says %q", p.mutant.Name, p.by, why)
		}
	case is.verdict == "PASS":
		r.passed[p.mutant.Name] = append(r.passed[p.mutant.Name], p.by)
		if why == "" {
			t.Errorf("%s: %s passes on it: %s: %s", p.mutant.Name, p.by, p.mutant.File, p.mutant.Becomes)
		}
	default:
		t.Errorf("%s: %s says %q:\n%s", p.mutant.Name, p.by, is.verdict, is.out)
	}
}

// inCluster runs plays that need a control plane in one process, several at once.
func (r *run) inCluster(t *testing.T, binary string, plays []play) {
	var names []string // NUMBER-PLAY=MUTANT
	for i, p := range plays {
		if without := "0-" + inClusterName(p.by) + "="; !slices.Contains(names, without) {
			names = append(names, without)
		}
		names = append(names, fmt.Sprintf("%d-%s=%s", i+1, inClusterName(p.by), p.mutant.Name))
	}
	cmd := exec.Command(binary, "-test.run", "^TestMutant$", "-test.v", "-test.timeout", "90m")
	cmd.Dir = filepath.Join(root, clusterFolder)
	cmd.Env = append(os.Environ(), "E2E_PATIENCE="+patience.String(), "PLAYS="+strings.Join(names, " "))
	out, err := cmd.CombinedOutput()
	verdicts := make(map[string]string)
	for _, m := range regexp.MustCompile(`--- (PASS|FAIL|SKIP): TestMutant/(\S+) \(`).FindAllStringSubmatch(string(out), -1) {
		verdicts[m[2]] = m[1]
	}
	if len(verdicts) == 0 {
		t.Fatalf("nothing was played in a cluster: %v\n%s", err, out)
	}
	for i, p := range plays {
		switch verdict := verdicts["0-"+inClusterName(p.by)]; verdict {
		case "SKIP": // it needs a CCM that is not here
		case "PASS":
			r.judge(t, p, outcome{verdict: verdicts[fmt.Sprintf("%d-%s", i+1, inClusterName(p.by))]})
		default:
			t.Errorf("%s says %q without a mutant", p.by, verdict)
		}
	}
}

// inClusterName is what plays, as the tests of the cluster name it.
func inClusterName(by string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(by, "kubernetes_test."), "scenario "), "/kubernetes")
}

// noted is what the record has of a mutant.
type noted struct {
	Change string   `json:"change"` // a digest
	By     []string `json:"by"`
}

// digest changes with the mutant.
func digest(m *mutants.Mutant) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(m.File+"\n"+m.Line+"\n"+m.Becomes)))
}

// keep writes what was noticed into the record, with what it had of plays that were not run, and
// without what the table does not have any more.
func keep(t *testing.T, table []*mutants.Mutant, r *run) {
	t.Helper()
	was, is := record.Read[map[string]noted](t, recordFile), make(map[string]noted)
	for _, m := range table {
		old := was[m.Name]
		if old.Change != digest(m) {
			old = noted{}
		}
		var by []string
		for _, name := range m.By {
			if slices.Contains(r.noticed[m.Name], name) || slices.Contains(old.By, name) && !slices.Contains(r.passed[m.Name], name) {
				by = append(by, name)
			}
		}
		if by != nil {
			is[m.Name] = noted{digest(m), by}
		}
	}
	record.Write(t, recordFile, is, 1)
}

// TestRecord proves that each mutant was run as it is, and noticed by all that must notice it.
// What needs a control plane is recorded where there is one.
func TestRecord(t *testing.T) {
	tests, err := mutants.Tests(root)
	if err != nil {
		t.Fatal(err)
	}
	noted := record.Read[map[string]noted](t, recordFile)
	for _, m := range read(t) {
		is := noted[m.Name]
		if is.By != nil && is.Change != digest(m) {
			t.Errorf("%s changed after it was run", m.Name)
		}
		for _, by := range m.By {
			if m.Survives[by] == "" && folderOf(by, tests) != clusterFolder && !slices.Contains(is.By, by) {
				t.Errorf("%s was not run against %s: go test ./contracttests/mutants -run Mutants -mutants %s", m.Name, by, m.Name)
			}
		}
	}
}
