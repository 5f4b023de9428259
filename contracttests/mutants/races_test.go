package mutants_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/mutants"
)

var plant = flag.Bool("races", false, "plant the races, and run what must find them")

// races returns the planted races.
func races(t *testing.T) (all []*mutants.Mutant) {
	t.Helper()
	text, err := os.ReadFile("races.yaml")
	if err != nil {
		t.Fatal(err)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRaces proves that each lock that is to be taken away is there, and that make test runs its
// folder with the race detector. With -races it takes each away, and wants the detector to find
// that; without a planted race it must find none.
func TestRaces(t *testing.T) {
	all := races(t)
	if _, err := mutants.Files(root, all); err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		underDetector(t, m.By[0])
	}
	if !*plant {
		return
	}
	folder := t.TempDir()
	overlay, err := mutants.Overlay(root, folder, all)
	if err != nil {
		t.Fatal(err)
	}
	binaries := make(map[string]string)
	for _, m := range all {
		of := m.By[0]
		if binaries[of] == "" {
			binaries[of] = filepath.Join(folder, strings.ReplaceAll(of, "/", "+")+".test")
			cmd := exec.Command("go", "test", "-c", "-race", "-vet=off", "-overlay="+overlay, "-o", binaries[of], ".")
			cmd.Dir, cmd.Env = filepath.Join(root, of), append(os.Environ(), "CGO_ENABLED=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("build the tests of %s: %v\n%s", of, err, out)
			}
			if out := detect(t, binaries[of], of, ""); strings.Contains(out, "DATA RACE") {
				t.Errorf("%s has a race that is not planted:\n%s", of, out)
			}
		}
		if out := detect(t, binaries[of], of, m.Name); !strings.Contains(out, "DATA RACE") {
			t.Errorf("%s: the tests of %s do not find the race:\n%.2000s", m.Name, of, out)
		} else {
			t.Logf("%s: found by %s", m.Name, of)
		}
	}
}

// detect runs what make test runs of a folder with the detector.
func detect(t *testing.T, binary, folder, race string) string {
	t.Helper()
	cmd := exec.Command(binary, "-test.short", "-test.timeout=10m", "-test.run="+underDetector(t, folder))
	cmd.Dir, cmd.Env = filepath.Join(root, folder), append(os.Environ(), "MUTANT="+race, "GORACE=halt_on_error=1")
	out, _ := cmd.CombinedOutput() // what it found says more than that it failed
	return string(out)
}

var (
	wholeWithRace = regexp.MustCompile(`(?m)^RACE = ((?:.*\\\n)*.*)$`)
	testNames     = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// underDetector matches the tests of a folder that make test runs with the race detector: all of
// a package in the Makefile's RACE, or else those of files that end in race_test.go.
func underDetector(t *testing.T, folder string) string {
	t.Helper()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := wholeWithRace.FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile has no RACE")
	}
	for name := range strings.FieldsSeq(string(found[1])) {
		if name == folder {
			return "."
		}
	}
	files, err := filepath.Glob(filepath.Join(root, folder, "*race_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("make test runs nothing of %s with the race detector: %v", folder, err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range testNames.FindAllSubmatch(text, -1) {
			names = append(names, string(name[1]))
		}
	}
	return "^(" + strings.Join(names, "|") + ")$"
}
