package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// tagged returns a clone of the repository at a tag, without what is not committed.
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
	t.Parallel()
	if testing.Short() {
		t.Skip("make versions builds it")
	}
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
	t.Parallel()
	if testing.Short() {
		t.Skip("make versions builds it")
	}
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

// TestReleaseVersion proves that the programs of a release say its version, commit and date,
// by the variables that goreleaser's file names. TestRelease in deploy/systemd runs goreleaser.
func TestReleaseVersion(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make versions builds it")
	}
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Builds []struct {
			ID, Dir, Main string
			Ldflags       []string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	bin, seen := t.TempDir(), 0
	for _, build := range file.Builds {
		if build.ID == "clbemu-worldwatch" {
			continue // it has no version of its own
		}
		seen++
		flags := regexp.MustCompile(`\{\{\.(\w+)\}\}`).ReplaceAllString(strings.Join(build.Ldflags, " "), "of-$1")
		tool(t, filepath.Join("../..", build.Dir), []string{"CGO_ENABLED=0"}, "go", "build", "-trimpath", "-ldflags", flags, "-o", bin+"/", build.Main)
		if got, want := installed(t, bin, build.ID), (controlapi.Version{Version: "vof-Version", Commit: "of-FullCommit", Date: "of-CommitDate"}); got != want {
			t.Errorf("a release of %s is %+v, want %+v", build.ID, got, want)
		}
	}
	if seen != 2 {
		t.Errorf("a release has %d programs with a version, want 2", seen)
	}
}
