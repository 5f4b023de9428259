package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

const (
	module = "github.com/clbemu/clbemu"
	tag    = "v0.0.1"
)

// tool runs a program in a folder, with more of an environment, and wants it to end
// well.
func tool(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tagged is a clone of the repository at a tag, without what is not committed.
func tagged(t *testing.T) string {
	t.Helper()
	top, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		t.Skipf("there is no git, or this is no clone: %v", err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	tool(t, ".", nil, "git", "clone", "--quiet", strings.TrimSpace(string(top)), clone)
	tool(t, clone, nil, "git", "tag", tag)
	return clone
}

// installed returns the version that a binary in a folder reports.
func installed(t *testing.T, bin, name string) (v controlapi.Version) {
	t.Helper()
	out := tool(t, bin, nil, filepath.Join(bin, name), "version", "--json")
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return v
}

// TestInstallTaggedClone proves that go install in a clone at a tag builds a binary
// that reports the tag, the commit and its date. It builds as make does, to share the
// build cache.
func TestInstallTaggedClone(t *testing.T) {
	clone, bin := tagged(t), t.TempDir()
	tool(t, clone, []string{"GOBIN=" + bin, "GOFLAGS=-trimpath", "CGO_ENABLED=0"}, "go", "install", "./cmd/clbemu")
	at, err := time.Parse(time.RFC3339, tool(t, clone, nil, "git", "log", "-1", "--format=%cI"))
	if err != nil {
		t.Fatal(err)
	}
	want := controlapi.Version{Version: tag, Commit: tool(t, clone, nil, "git", "rev-parse", "HEAD"), Date: at.UTC().Format(time.RFC3339)}
	if got := installed(t, bin, "clbemu"); got != want {
		t.Errorf("the binary is %+v, want %+v", got, want)
	}
}

// TestInstallVersion proves that go install of the module at a version works from what
// a module proxy has of it: the nested modules are not in there, and no replacement is
// needed. Such a binary knows its version alone.
func TestInstallVersion(t *testing.T) {
	clone, proxy, bin := tagged(t), t.TempDir(), t.TempDir()
	versions := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(clone, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": tag + "\n", tag + ".info": fmt.Sprintf(`{"Version": %q, "Time": "2026-01-01T00:00:00Z"}`, tag), tag + ".mod": string(mod),
	} {
		if err := os.WriteFile(filepath.Join(versions, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	archive := []string{"git", "archive", "--format=zip", "--prefix=" + module + "@" + tag + "/", "--output=" + filepath.Join(versions, tag+".zip"), tag, "."}
	for nested := range strings.FieldsSeq(tool(t, clone, nil, "git", "ls-files", "*/go.mod")) {
		archive = append(archive, ":!"+filepath.Dir(nested))
	}
	tool(t, clone, nil, archive...)

	// What is installed so must not stay in the cache of this user, whose downloads are
	// used all the same.
	cache := tool(t, clone, nil, "go", "env", "GOMODCACHE")
	upstream := tool(t, clone, nil, "go", "env", "GOPROXY")
	tool(t, t.TempDir(), []string{
		"GOBIN=" + bin, "GOFLAGS=-trimpath -modcacherw", "CGO_ENABLED=0", "GOMODCACHE=" + t.TempDir(), "GOSUMDB=off",
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(cache, "cache", "download") + "," + upstream,
	}, "go", "install", module+"/cmd/clbemu@"+tag)
	if got, want := installed(t, bin, "clbemu"), (controlapi.Version{Version: tag}); got != want {
		t.Errorf("the binary is %+v, want %+v", got, want)
	}
}

// TestReleaseNames proves that the file for goreleaser names folders, files and
// variables that there are, which goreleaser itself finds out when it builds.
func TestReleaseNames(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Before struct{ Hooks []string }
		Builds []struct {
			ID, Dir, Main string
			Ldflags       []string
		}
		Archives []struct{ IDs, Files []string }
		Dockers  []struct {
			Dockerfile string
			Goarch     string
			ExtraFiles []string `yaml:"extra_files"`
			Images     []string `yaml:"image_templates"`
			Flags      []string `yaml:"build_flag_templates"`
		}
		Manifests []struct {
			Images []string `yaml:"image_templates"`
		} `yaml:"docker_manifests"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Builds) != 2 || len(file.Archives) != 1 {
		t.Fatalf("the file has %+v", file)
	}
	var named []string
	for _, hook := range file.Before.Hooks {
		for _, found := range regexp.MustCompile(`go run (\S+)`).FindAllStringSubmatch(hook, -1) {
			named = append(named, found[1])
		}
	}
	for _, name := range file.Archives[0].Files {
		if !strings.HasPrefix(name, "bin/") { // which the hooks make
			named = append(named, name)
		}
	}
	var images []string
	for _, d := range file.Dockers {
		named, images = append(append(named, d.Dockerfile), d.ExtraFiles...), append(images, d.Images...)
		if !slices.Contains(d.Flags, "--platform=linux/"+d.Goarch) {
			t.Errorf("the image for %s is built by %q", d.Goarch, d.Flags)
		}
		inside(t, d.ExtraFiles)
	}
	for _, m := range file.Manifests {
		if !slices.Equal(m.Images, images) || len(images) != 2 {
			t.Errorf("a manifest has the images %q, and %q are built", m.Images, images)
		}
	}
	for _, name := range named {
		if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
			t.Error(err)
		}
	}
	bin := t.TempDir()
	for _, build := range file.Builds {
		if !slices.Contains(file.Archives[0].IDs, build.ID) {
			t.Errorf("the archive has no %s", build.ID)
		}
		flags := regexp.MustCompile(`\{\{\.(\w+)\}\}`).ReplaceAllString(strings.Join(build.Ldflags, " "), "of-$1")
		tool(t, filepath.Join("../..", build.Dir), []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-ldflags", flags, "-o", bin+"/", build.Main)
		if got, want := installed(t, bin, build.ID), (controlapi.Version{Version: "of-Version", Commit: "of-FullCommit", Date: "of-CommitDate"}); got != want {
			t.Errorf("a release of %s is %+v, want %+v", build.ID, got, want)
		}
	}
}

// inside wants all folders that the image's programs are built from.
func inside(t *testing.T, files []string) {
	t.Helper()
	for dir, program := range map[string]string{"../..": "./cmd/clbemu", "../../cmd/clbemu-replica": ".", "../../deploy": "./worldwatch"} {
		for line := range strings.Lines(tool(t, dir, nil, "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", program)) {
			if path, own := strings.CutPrefix(strings.TrimSpace(line), module+"/"); own && !slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(path+"/", f+"/") }) {
				t.Errorf("%s needs %s, which the image is built without", program, path)
			}
		}
	}
}

// TestReleaser proves that goreleaser takes its file, and builds with it.
func TestReleaser(t *testing.T) {
	if _, err := exec.LookPath("goreleaser"); err != nil {
		t.Skip("there is no goreleaser on the PATH: TestReleaseNames looks up what its file names")
	}
	clone := tagged(t)
	tool(t, clone, nil, "goreleaser", "check")
	tool(t, clone, nil, "goreleaser", "build", "--snapshot", "--clean", "--single-target")
}
