package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// action is a composite action of GitHub.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Using string
		Steps []struct {
			ID, Shell, Run, Uses string
			Env                  map[string]string
		}
	}
}

func readAction(t *testing.T, file string) (a action) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &a); err != nil || a.Runs.Using != "composite" || len(a.Runs.Steps) == 0 {
		t.Fatalf("%s = %+v, %v", file, a, err)
	}
	return a
}

// TestAction proves that the action's step starts an emulator, waits for it and
// exports an environment with which clients find it, and that what is uploaded is
// made.
func TestAction(t *testing.T) {
	needs(t, "bash")
	temp := t.TempDir()
	start, upload := readAction(t, "../action.yml"), readAction(t, "../.github/actions/upload/action.yml")
	i := slices.IndexFunc(start.Runs.Steps, func(s struct {
		ID, Shell, Run, Uses string
		Env                  map[string]string
	}) bool {
		return s.ID == "start"
	})
	if i < 0 {
		t.Fatal("the action has no step start")
	}
	environment := append(os.Environ(), "PATH="+filepath.Dir(binary.Path)+":"+os.Getenv("PATH"), "RUNNER_TEMP="+temp,
		"GITHUB_ENV="+filepath.Join(temp, "env"), "GITHUB_OUTPUT="+filepath.Join(temp, "output"), "ARGS="+start.Inputs["args"].Default)
	bash := func(script string, more ...string) {
		t.Helper()
		cmd := exec.Command("bash", "-eo", "pipefail", "-c", script)
		cmd.Env = append(slices.Clone(environment), more...)
		must(t, cmd)
	}
	bash(start.Runs.Steps[i].Run + "\necho $! > \"$RUNNER_TEMP/pid\"")
	t.Cleanup(func() { bash(`kill "$(cat "$RUNNER_TEMP/pid")"`) })
	exported, err := os.ReadFile(filepath.Join(temp, "env"))
	if err != nil {
		t.Fatal(err)
	}
	variables := strings.Fields(string(exported))
	if !slices.ContainsFunc(variables, func(v string) bool { return strings.HasPrefix(v, "SLB_ENDPOINT=127.0.0.1:") }) {
		t.Errorf("the exported environment is %q", exported)
	}
	if output, err := os.ReadFile(filepath.Join(temp, "output")); err != nil || !strings.Contains(string(output), "control=http://127.0.0.1:") || !strings.Contains(string(output), "api=http://127.0.0.1:") {
		t.Errorf("the outputs are %q, %v", output, err)
	}
	bash("clbemu call DescribeRegions", variables...)
	bash(upload.Runs.Steps[0].Run, variables...)
	for _, file := range []string{"clbemu-journal.txt", "clbemu-journal.jsonl"} {
		if text, err := os.ReadFile(filepath.Join(temp, file)); err != nil || !strings.Contains(string(text), "DescribeRegions") {
			t.Errorf("%s = %s, %v", file, text, err)
		}
	}
}

// TestPinned proves that the workflows and actions use what others publish at a commit, which
// nobody can move, with the version that it is.
func TestPinned(t *testing.T) {
	used := regexp.MustCompile(`uses: (.*)`)
	pinned := regexp.MustCompile(`^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	seen := 0
	for _, pattern := range []string{"../action.yml", "../.github/workflows/*.yaml", "../.github/actions/*/action.yml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range used.FindAllStringSubmatch(string(text), -1) {
				if seen++; !pinned.MatchString(found[1]) {
					t.Errorf("%s uses %s, which is not pinned", file, found[1])
				}
			}
		}
	}
	if seen < 10 {
		t.Errorf("%d uses are seen", seen)
	}
}
