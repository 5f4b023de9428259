package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// maxSize is what an image may have to be downloaded, in bytes.
const maxSize = 15_000_000

// archives builds the programs and the archives of their images.
func archives(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	for program, folder := range map[string]string{"clbemu-replica": "../../cmd/clbemu-replica", "clbemu-worldwatch": "../worldwatch"} {
		if err := binary.Release(folder, filepath.Join(dir, runtime.GOARCH, program), "GOOS=linux"); err != nil {
			t.Fatal(err)
		}
	}
	paths := make(map[string]string)
	for name := range contents {
		paths[name] = filepath.Join(dir, name+".tar")
		if err := run(name, filepath.Join(dir, "ARCH"), paths[name], name+":test", []string{runtime.GOARCH}); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestArchive proves that each archive is under 15 MB and holds one image that is
// whole, in both forms, with nothing but a binary that runs and a folder that
// their user may write to.
func TestArchive(t *testing.T) {
	for name, path := range archives(t) {
		if info, err := os.Stat(path); err != nil || info.Size() > maxSize {
			t.Errorf("the archive of %s: %v, %v, want at most %d bytes", name, info.Size(), err, maxSize)
		}
		docker, err := tarball.ImageFromPath(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		index, digest := ociLayout(t, path, name)
		oci, err := index.Image(digest)
		if err != nil {
			t.Fatal(err)
		}
		for form, image := range map[string]v1.Image{"docker": docker, "oci": oci} {
			if err := validate.Image(image); err != nil {
				t.Errorf("the %s image of %s is not whole: %v", form, name, err)
			}
			checkFiles(t, name, contents[name], image)
		}
	}
}

// TestArchitectures proves that an archive for two architectures is one image whose
// programs are those of each, that Docker's form is the first, and that the same programs
// give the same archive.
func TestArchitectures(t *testing.T) {
	dir := t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		folder := filepath.Join(dir, "of_"+arch)
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "clbemu-replica"), []byte("clbemu for "+arch), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var written [2][]byte
	for i := range written {
		path := filepath.Join(dir, "image.tar")
		if err := run("clbemu", filepath.Join(dir, "*_ARCH"), path, "clbemu:test", []string{"amd64", "arm64"}); err != nil {
			t.Fatal(err)
		}
		var err error
		if written[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(written[0], written[1]) {
		t.Error("the same programs give two archives")
	}
	for r := tar.NewReader(bytes.NewReader(written[0])); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.ModTime.Unix() != 0 || header.Uid != 0 || header.Uname != "" {
			t.Errorf("%s is of %v and %q, which is of the run that wrote it", header.Name, header.ModTime, header.Uname)
		}
	}
	top, digest := ociLayout(t, filepath.Join(dir, "image.tar"), "clbemu")
	index, err := top.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the image is not whole: %v", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, m := range manifest.Manifests {
		image, err := index.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, m.Platform.String()+" "+string(files(t, image)[0].content))
	}
	if want := []string{"linux/amd64 clbemu for amd64", "linux/arm64 clbemu for arm64"}; !slices.Equal(found, want) {
		t.Errorf("the image has %q, want %q", found, want)
	}
	docker, err := tarball.ImageFromPath(filepath.Join(dir, "image.tar"), nil)
	if err != nil || string(files(t, docker)[0].content) != "clbemu for amd64" {
		t.Errorf("Docker's form is not the first: %v", err)
	}
}

// TestMissing proves that what can't be packed is named.
func TestMissing(t *testing.T) {
	for name, want := range map[string]string{"clbemu": "0 files are " + filepath.Join("nowhere", "clbemu-replica"), "other": `there is no image "other"`} {
		if err := run(name, "nowhere", filepath.Join(t.TempDir(), "image.tar"), "clbemu:test", []string{"amd64"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// ociLayout reads the archive of an image as an OCI layout: its index, and what its one
// entry is.
func ociLayout(t *testing.T, path, name string) (v1.ImageIndex, v1.Hash) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xf", path, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("the index is %+v, %v, want one image", manifest, err)
	}
	if got := manifest.Manifests[0].Annotations["io.containerd.image.name"]; got != "docker.io/library/"+name+":test" {
		t.Errorf("containerd calls the image %q", got)
	}
	return index, manifest.Manifests[0].Digest
}

func checkFiles(t *testing.T, name string, want content, image v1.Image) {
	t.Helper()
	var names []string
	for _, f := range files(t, image) {
		names = append(names, f.Name)
		switch f.Name {
		case "clbemu":
			checkRuns(t, f.content, "version", "clbemu ")
			checkServes(t, f.content)
			if runtime.GOOS == "linux" && !bytes.Contains(f.content, []byte("go.etcd.io/etcd/client/v3")) {
				t.Error("the image's clbemu has no client of etcd")
			}
		case "clbemu-worldwatch":
			checkRuns(t, f.content, "-help", "Usage of ")
		case "data/":
			if f.Uid != nobody || f.Gid != nobody {
				t.Errorf("/data belongs to %d:%d, want %d", f.Uid, f.Gid, nobody)
			}
		}
	}
	expected := []string{name}
	if want.data {
		expected = append(expected, "data/")
	}
	if !slices.Equal(names, expected) {
		t.Errorf("the image has the files %v, want %v", names, expected)
	}
}

type file struct {
	*tar.Header
	content []byte
}

// files lists the files of the image's one layer.
func files(t *testing.T, image v1.Image) (all []file) {
	t.Helper()
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("the image has %d layers (%v), want one", len(layers), err)
	}
	layer, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer layer.Close()
	for reader := tar.NewReader(layer); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file{header, content})
	}
}

func checkRuns(t *testing.T, program []byte, argument, says string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Log("the binary is for Linux, and not run here")
		return
	}
	if bytes.Contains(program, []byte("ld-linux")) {
		t.Error("the binary is not static")
	}
	path := filepath.Join(t.TempDir(), "clbemu")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(path, argument).CombinedOutput(); err != nil || !strings.HasPrefix(string(out), says) {
		t.Errorf("%s = %q, %v, want %q", argument, out, err, says)
	}
}

// TestSettingsAreTheDockerfiles proves that both ways to an image give it the
// same settings, and that it does not run as root.
func TestSettingsAreTheDockerfiles(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	stages := strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\nFROM ")
	if len(stages) != 4 {
		t.Fatalf("the Dockerfile has %d stages", len(stages)-1)
	}
	for name, start := range map[string]string{"clbemu-worldwatch": "scratch AS worldwatch\n", "clbemu": "scratch\n"} {
		stage := stages[len(stages)-1]
		if name != "clbemu" { // which is the last, that is built without --target
			stage = stages[len(stages)-2]
		}
		if !strings.HasPrefix(stage, start) {
			t.Errorf("the stage of %s begins with %.30q", name, stage)
		}
		checkStage(t, stage, name, contents[name])
	}
	if !strings.Contains(string(text), "FROM --platform=$BUILDPLATFORM ") || !strings.Contains(string(text), "GOARCH=$TARGETARCH") {
		t.Error("the Dockerfile compiles for the machine that builds it alone")
	}
}

// checkStage wants the settings of an image in the stage of the Dockerfile that is for it.
func checkStage(t *testing.T, stage, name string, c content) {
	t.Helper()
	list := func(words []string) string {
		if len(words) == 0 {
			return ""
		}
		text, err := json.Marshal(words)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), ",", ", ")
	}
	if copied := strings.Count(stage, "\nCOPY --from=build /"); copied != 1 {
		t.Errorf("the Dockerfile copies %d programs, want one", copied)
	}
	if !strings.Contains(stage, "COPY --from=build /"+c.program+" /"+name+"\n") {
		t.Errorf("the Dockerfile's image has no %s as %s", c.program, name)
	}
	healthcheck, exposed := "", []string{}
	if h := c.settings.Healthcheck; h != nil {
		healthcheck = fmt.Sprintf("--interval=%.0fs --timeout=%.0fs --start-period=%.0fs --start-interval=1s CMD %s", h.Interval.Seconds(), h.Timeout.Seconds(), h.StartPeriod.Seconds(), list(h.Test[1:]))
	}
	for port := range c.settings.ExposedPorts {
		exposed = append(exposed, strings.TrimSuffix(port, "/tcp"))
	}
	slices.Sort(exposed)
	for instruction, want := range map[string]string{
		"USER": c.settings.User, "ENV": strings.Join(c.settings.Env, " "), "EXPOSE": strings.Join(exposed, " "),
		"VOLUME":     strings.Join(slices.Collect(maps.Keys(c.settings.Volumes)), " "),
		"ENTRYPOINT": list(c.settings.Entrypoint), "CMD": list(c.settings.Cmd), "HEALTHCHECK": healthcheck,
	} {
		got := ""
		if found := regexp.MustCompile(`(?m)^` + instruction + ` (.*)$`).FindStringSubmatch(stage); found != nil {
			got = found[1]
		}
		if got != want {
			t.Errorf("the Dockerfile says %s %q, the archive %q", instruction, got, want)
		}
	}
	labels := make(map[string]string)
	for _, found := range regexp.MustCompile(`(org\.[a-z.]+)="([^"]*)"`).FindAllStringSubmatch(stage, -1) {
		labels[found[1]] = found[2]
	}
	for _, ofBuild := range []string{"version", "revision"} {
		if !strings.HasPrefix(labels["org.opencontainers.image."+ofBuild], "$") {
			t.Errorf("the Dockerfile has no %s of a build", ofBuild)
		}
		delete(labels, "org.opencontainers.image."+ofBuild)
	}
	if !maps.Equal(labels, c.settings.Labels) {
		t.Errorf("the Dockerfile has the labels %v, the archive %v", labels, c.settings.Labels)
	}
	if strings.HasPrefix(c.settings.User, "0") || c.settings.User == "" || c.settings.User == "root" {
		t.Errorf("the image runs as %q", c.settings.User)
	}
}

// checkServes runs the program as a container does, with the image's settings at other
// ports: its log has the address of the console with the token, with which the control API
// answers, and the health check passes.
func checkServes(t *testing.T, program []byte) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	dir, settings := t.TempDir(), contents["clbemu"].settings
	path := filepath.Join(dir, "clbemu")
	if err := os.WriteFile(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	environment := []string{"PATH=/"}
	for _, setting := range settings.Env {
		environment = append(environment, strings.NewReplacer("/data", filepath.Join(dir, "data"), ":9600", ":0", ":9601", ":0").Replace(setting))
	}
	serve := exec.Command(path, settings.Cmd...)
	serve.Env = environment
	_, log := binary.Launch(t, serve)
	found := regexp.MustCompile(`Console: (http://127\.0\.0\.1:\d+)/#token=(\w+)\n`).FindStringSubmatch(log)
	if found == nil {
		t.Fatalf("the log is %s", log)
	}
	for token, want := range map[string]int{found[2]: http.StatusOK, "wrong": http.StatusUnauthorized} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, found[1]+"/v1/server", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != want {
			t.Errorf("with the token %s the control API answers %s, want %d", token, answer.Status, want)
		}
	}
	for _, args := range [][]string{settings.Healthcheck.Test[2:], {"get", "zones"}} {
		check := exec.Command(path, append(slices.Clone(args), "--server", found[1])...)
		check.Env = environment
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%q in the container: %v\n%s", args, err, out)
		}
	}
}
