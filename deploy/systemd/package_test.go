// Package systemd has what the packages of a release add to its programs: the service with
// its settings, and what a package's installation does. Its tests make a release.
package systemd

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// all is for the release that a tag makes, which takes minutes.
var all = flag.Bool("all", false, "make the release for all platforms, not for this machine's alone")

// tools is where make release-tools puts goreleaser and what it calls.
const tools = "../../bin/tools"

// in runs a program in a folder, and wants it to end well.
func in(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
	return string(out)
}

// skip skips a test for what it lacks, unless it must run.
func skip(t *testing.T, lacks string) {
	t.Helper()
	if os.Getenv("CLBEMU_RELEASE") == "required" {
		t.Fatal(lacks)
	}
	t.Skipf("NOT TESTED: %s", lacks)
}

// release makes the release of a tag in a clone, without what is not committed, and
// returns its folder.
func release(t *testing.T, clone, tag string, more ...string) string {
	t.Helper()
	in(t, clone, "git", "tag", tag)
	text, err := os.ReadFile(filepath.Join(clone, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if !*all {
		text = regexp.MustCompile(`(?m)^    goos: .*$`).ReplaceAll(text, []byte("    goos: [linux]"))
		text = regexp.MustCompile(`(?m)^    goarch: .*$`).ReplaceAll(text, []byte("    goarch: ["+runtime.GOARCH+"]"))
	}
	config := filepath.Join(t.TempDir(), "goreleaser.yaml")
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	in(t, clone, append([]string{"goreleaser", "release", "--clean", "--skip=publish,announce", "--config=" + config}, more...)...)
	return filepath.Join(clone, "bin", "dist")
}

// TestRelease proves that goreleaser takes its file, that two clones give the same files, byte
// for byte, in whatever order their parts are built, and that the packages install, serve as their user, upgrade, and are removed.
func TestRelease(t *testing.T) {
	path, err := filepath.Abs(tools)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, tool := range []string{"git", "goreleaser", "cyclonedx-gomod"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, "there is no "+tool+": make release-tools")
		}
	}
	t.Setenv("GIT_COMMITTER_DATE", "2024-02-03T04:05:06Z") // what is made later has this date all the same
	repository := strings.TrimSpace(in(t, ".", "git", "rev-parse", "--show-toplevel"))
	var clones, checksums [2]string
	for i := range clones {
		clones[i] = filepath.Join(t.TempDir(), "clone")
		in(t, ".", "git", "clone", "--quiet", repository, clones[i])
		in(t, clones[i], "git", "-c", "user.name=t", "-c", "user.email=t@t", "commit", "--quiet", "--amend", "--no-edit", "--no-verify")
		text, err := os.ReadFile(filepath.Join(release(t, clones[i], "v0.0.1", fmt.Sprint("--parallelism=", 1+3*i)), "checksums.txt"))
		if err != nil {
			t.Fatal(err)
		}
		checksums[i] = string(text)
	}
	in(t, clones[0], "goreleaser", "check")
	checkFiles(t, checksums[0])
	archive := filepath.Join(clones[0], "bin", "dist", "clbemu_0.0.1_linux_"+runtime.GOARCH+".tar.gz")
	checkArchive(t, archive)
	if page := in(t, ".", "tar", "--extract", "--to-stdout", "--file", archive, "man/clbemu.1"); !strings.Contains(page, `"Feb 2024"`) {
		t.Errorf("a manual page has another date than the commit: %.200s", page)
	}
	if checksums[0] != checksums[1] {
		t.Errorf("two clones give\n%s\nand\n%s", checksums[0], checksums[1])
	}
	t.Run("packages", func(t *testing.T) { testPackages(t, clones[0], clones[1]) })
}

// checkFiles wants the files for this machine in the list of checksums.
func checkFiles(t *testing.T, checksums string) {
	t.Helper()
	var names []string
	for line := range strings.Lines(checksums) {
		names = append(names, strings.Fields(line)[1])
	}
	for _, want := range []string{
		"clbemu_0.0.1_linux_ARCH.tar.gz", "clbemu_0.0.1_linux_ARCH.deb", "clbemu_0.0.1_linux_ARCH.rpm",
		"clbemu_0.0.1_linux_ARCH.cdx.json", "clbemu-replica_0.0.1_linux_ARCH.cdx.json",
	} {
		if want = strings.ReplaceAll(want, "ARCH", runtime.GOARCH); !slices.Contains(names, want) {
			t.Errorf("the release has %q, and no %s", names, want)
		}
	}
}

// checkArchive wants the programs and what belongs to them in the archive.
func checkArchive(t *testing.T, path string) {
	t.Helper()
	listed := in(t, ".", "tar", "--list", "--verbose", "--file", path)
	for _, want := range []string{
		`-rwxr-xr-x root/root .* clbemu\n`, `-rwxr-xr-x root/root .* clbemu-replica\n`, `-rw-r--r-- root/root .* LICENSE\n`,
		` man/clbemu-serve\.1\n`, ` completions/clbemu\.zsh\n`,
	} {
		if !regexp.MustCompile(want).MatchString(listed) {
			t.Errorf("the archive has\n%s\nand no %s", listed, want)
		}
	}
}

// testPackages tries the packages of one clone, and of a later version in the other one.
func testPackages(t *testing.T, first, second string) {
	if os.Geteuid() != 0 {
		skip(t, "only root installs packages")
	}
	for _, tool := range []string{"dpkg", "rpm", "unshare", "setpriv", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, "there is no "+tool)
		}
	}
	dist := map[string]string{"first": filepath.Join(first, "bin", "dist"), "second": release(t, second, "v0.0.2", "--skip=before,archive,sbom,homebrew")}
	folder := t.TempDir()
	for name, dir := range dist {
		for _, kind := range []string{".deb", ".rpm"} {
			found, err := filepath.Glob(filepath.Join(dir, "*_"+runtime.GOARCH+kind))
			if err != nil || len(found) != 1 {
				t.Fatalf("in %s are %q, %v", dir, found, err)
			}
			copied(t, found[0], filepath.Join(folder, name+kind))
		}
	}
	t.Log(in(t, "testdata", "bash", "packages.sh", folder))
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	if _, err := io.Copy(target, source); err != nil {
		t.Fatal(err)
	}
}
