package examples_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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
		Steps []step
	}
}

type step struct {
	ID, If, Shell, Run, Uses string
	Env, With                map[string]string
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
	i := slices.IndexFunc(start.Runs.Steps, func(s step) bool { return s.ID == "start" })
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
	refused := exec.Command("bash", "-eo", "pipefail", "-c", start.Runs.Steps[i].Run)
	refused.Env = append(slices.Clone(environment), "ARGS=--engine paper")
	if text, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(text), "paper") {
		t.Errorf("an engine that is not there starts: %v, %s", err, text)
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

// TestActionInstalls proves that the action's first step downloads a release, and refuses
// an archive that is damaged.
func TestActionInstalls(t *testing.T) {
	needs(t, "bash", "curl", "tar")
	install := readAction(t, "../action.yml").Runs.Steps[0]
	temp := t.TempDir()
	file := fmt.Sprintf("clbemu_1.2.3_%s_%s.tar.gz", runtime.GOOS, runtime.GOARCH)
	program, err := os.ReadFile(binary.Path) // tar fails where another package's build touches it meanwhile
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(temp, "clbemu"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	must(t, exec.Command("tar", "-C", temp, "-czf", filepath.Join(temp, file), "clbemu"))
	archive, err := os.ReadFile(filepath.Join(temp, file))
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), file)
	releases := http.NewServeMux()
	releases.Handle("/latest", http.RedirectHandler("/tag/v1.2.3", http.StatusFound))
	releases.HandleFunc("/tag/v1.2.3", func(http.ResponseWriter, *http.Request) {})
	releases.HandleFunc("/download/v1.2.3/checksums.txt", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, sum) })
	releases.HandleFunc("/download/v1.2.3/"+file, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(archive) })
	server := httptest.NewServer(releases)
	t.Cleanup(server.Close)
	run := func(version string) (string, error) {
		cmd := exec.Command("bash", "-eo", "pipefail", "-c", install.Run)
		cmd.Env = append(os.Environ(), "VERSION="+version, "RELEASES="+server.URL, "RUNNER_TEMP="+temp, "GITHUB_PATH="+filepath.Join(temp, "path"))
		text, err := cmd.CombinedOutput()
		return string(text), err
	}
	for _, version := range []string{"latest", "v1.2.3", "1.2.3"} {
		if text, err := run(version); err != nil {
			t.Fatalf("%s: %v\n%s", version, err, text)
		}
	}
	if path, err := os.ReadFile(filepath.Join(temp, "path")); err != nil || !strings.Contains(string(path), "clbemu-bin") {
		t.Errorf("the path is %q, %v", path, err)
	}
	must(t, exec.Command(filepath.Join(temp, "clbemu-bin", "clbemu"), "version"))
	refused := func(version, want string) {
		t.Helper()
		if text, err := run(version); err == nil || !strings.Contains(text, "::error title=clbemu::") || !strings.Contains(text, want) {
			t.Errorf("%s: %v, %s, want %q", version, err, text, want)
		}
	}
	refused("v9.9.9", "the release v9.9.9 can't be downloaded: see which there are at "+server.URL)
	whole := archive
	archive = whole[:len(whole)/2]
	refused("v1.2.3", file+" does not have the digest")
	archive = append(archive, 'x')
	refused("v1.2.3", file+" does not have the digest")
	sum = strings.Replace(sum, file, "another.tar.gz", 1)
	refused("v1.2.3", "no digest of "+file)
	server.Close()
	refused("latest", "the newest release is not found")
}

// TestActionLints proves that the action shows what is wrong with a manifest where a pull
// request has it, and fails, by the version of the CCM that is given.
func TestActionLints(t *testing.T) {
	needs(t, "bash")
	steps := readAction(t, "../action.yml").Runs.Steps
	lint := steps[slices.IndexFunc(steps, func(s step) bool { return s.ID == "lint" })]
	dir := t.TempDir()
	manifest := func(name, annotation string) {
		text := "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  annotations:\n    service.beta.kubernetes.io/" + annotation + "\nspec:\n  type: LoadBalancer\n  ports: [{port: 80, protocol: TCP}]\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	manifest("right.yaml", `alibaba-cloud-loadbalancer-default-weight: "50"`)
	manifest("wrong.yaml", `alibaba-cloud-loadbalancer-adress-type: intranet`)
	for _, tt := range []struct {
		files, version, want string
		fails                bool
	}{
		{"right.yaml", "", "", false},
		{"right.yaml", "v2.9.1", "::warning file=right.yaml,line=6", true},
		{"right.yaml wrong.yaml", "", "::warning file=wrong.yaml,line=6", true},
		{".", "", "::warning file=wrong.yaml,line=6", true},
		{"none.yaml", "", "none.yaml", true},
	} {
		cmd := exec.Command("bash", "-eo", "pipefail", "-c", lint.Run)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Dir(binary.Path)+":"+os.Getenv("PATH"), "LINT="+tt.files, "CLBEMU_CCM_VERSION="+tt.version)
		text, err := cmd.CombinedOutput()
		if err != nil != tt.fails || !strings.Contains(string(text), tt.want) {
			t.Errorf("%s with %q: %v, %s, want %q", tt.files, tt.version, err, text, tt.want)
		}
	}
}

// TestActionArtifact proves that the verdicts of scenarios are uploaded only if there are
// any, and that the jobs of a matrix upload them by different names, as they must.
func TestActionArtifact(t *testing.T) {
	steps := readAction(t, "../action.yml").Runs.Steps
	upload := steps[len(steps)-1]
	if upload.If != "always() && steps.scenarios.outputs.junit != ''" || !strings.Contains(upload.With["name"], "${{ github.job }}-${{ strategy.job-index }}") {
		t.Errorf("the last step is %+v", upload)
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
