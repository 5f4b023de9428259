package mutants_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	root = "../.."
	// record has what each run noticed; docs/seeds.md shows it.
	record = "../testdata/mutants/tests.json"
)

var of = flag.String("mutants", "", "run the mutants whose of has this text, and record what noticed them; all for all, those of ccm with CCM_BIN alone")

// mutant is a line of code that is changed, and the test that must notice it.
type mutant struct {
	Of, Test, File, Line, Becomes string
}

// outcome counts the mutants of something that were run, and has those that nothing noticed.
type outcome struct {
	Run      int      `json:"run"`
	Survived []string `json:"survived,omitempty"`
}

func mutants(t *testing.T) (all []mutant) {
	t.Helper()
	text, err := os.ReadFile("mutants.yaml")
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

// mutated is the mutant's file with the change.
func (m *mutant) mutated() (string, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Line); n != 1 {
		return "", fmt.Errorf("%s has %q %d times, want it once", m.File, m.Line, n)
	}
	return strings.Replace(string(text), m.Line, m.Becomes, 1), nil
}

// TestMutants proves that each line that a mutant changes is there. With -mutants it runs the
// tests on the changed code, which must fail.
func TestMutants(t *testing.T) {
	outcomes := make(map[string]outcome)
	for _, m := range mutants(t) {
		text, err := m.mutated()
		if err != nil {
			t.Errorf("%s: %v", m.Of, err)
			continue
		}
		needsCCM := strings.HasPrefix(m.Of, "ccm ") && os.Getenv("CCM_BIN") == ""
		if *of == "" || *of != "all" && !strings.Contains(m.Of, *of) || *of == "all" && needsCCM {
			continue
		}
		out, verdict := m.run(t, text)
		is := outcomes[m.Of]
		switch is.Run++; verdict {
		case "FAIL":
		case "PASS":
			is.Survived = append(is.Survived, fmt.Sprintf("%s: %s", m.File, m.Line))
		default:
			t.Errorf("%s did not run:\n%s", m.Of, out)
			continue
		}
		outcomes[m.Of] = is
	}
	if *of != "" {
		keep(t, outcomes)
	}
}

// keep adds outcomes to the record.
func keep(t *testing.T, outcomes map[string]outcome) {
	t.Helper()
	all := make(map[string]outcome)
	if text, err := os.ReadFile(record); err != nil || json.Unmarshal(text, &all) != nil {
		t.Fatalf("%s: %v", record, err)
	}
	maps.Copy(all, outcomes)
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(record, append(text, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run says what the test does on the changed code: FAIL, PASS, or nothing where it did not
// run. An overlay replaces the file, also where the test builds programs.
func (m *mutant) run(t *testing.T, text string) (out, verdict string) {
	t.Helper()
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, filepath.Base(m.File)), filepath.Join(dir, "overlay.json")
	file, err := filepath.Abs(filepath.Join(root, m.File))
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{changed: []byte(text), overlay: replace} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := strings.LastIndex(m.Test, ".")
	cmd := exec.Command("go", "test", "-vet=off", "-count=1", "-v", "-timeout", "5m", "-run", "^"+m.Test[at+1:]+"$", ".")
	cmd.Dir = filepath.Join(root, m.Test[:at])
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay, "E2E_PATIENCE=30s",
		"TMPDIR="+dir) // where a test that fails, as it must, leaves its logs and clusters
	all, _ := cmd.CombinedOutput() // the verdict is in what it says
	for _, verdict := range []string{"FAIL", "PASS"} {
		if strings.Contains(string(all), "--- "+verdict+": "+m.Test[at+1:]+" (") {
			return string(all), verdict
		}
	}
	return string(all), ""
}
