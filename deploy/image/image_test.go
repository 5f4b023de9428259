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

// maxSize leaves room for clbemu-replica, and for worldwatch, which links a client of Kubernetes.
const maxSize = 44 << 20

// archive builds the binary and the archive of its image.
func archive(t *testing.T) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "image.tar")
	for program, folder := range map[string]string{"clbemu": "../../cmd/clbemu", "clbemu-replica": "../../cmd/clbemu-replica", "clbemu-worldwatch": "../worldwatch"} {
		if err := binary.Release(folder, filepath.Join(dir, program), "GOOS=linux"); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(dir, path, "clbemu:test", runtime.GOARCH); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestArchive proves that the archive is under 44 MiB and holds one image that is
// whole, in both forms, with nothing but binaries that run and a folder that
// their user may write to.
func TestArchive(t *testing.T) {
	path := archive(t)
	if info, err := os.Stat(path); err != nil || info.Size() > maxSize {
		t.Errorf("the archive: %v, %v, want at most %d bytes", info.Size(), err, maxSize)
	}
	docker, err := tarball.ImageFromPath(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for form, image := range map[string]v1.Image{"docker": docker, "oci": ociImage(t, path)} {
		if err := validate.Image(image); err != nil {
			t.Errorf("the %s image is not whole: %v", form, err)
		}
		checkFiles(t, image)
	}
}

// ociImage reads the archive as an OCI layout.
func ociImage(t *testing.T, path string) v1.Image {
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
	if name := manifest.Manifests[0].Annotations["io.containerd.image.name"]; name != "docker.io/library/clbemu:test" {
		t.Errorf("containerd calls the image %q", name)
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

func checkFiles(t *testing.T, image v1.Image) {
	t.Helper()
	var names []string
	for _, f := range files(t, image) {
		names = append(names, f.Name)
		switch f.Name {
		case "clbemu":
			checkRuns(t, f.content, "version", "clbemu ")
			checkServes(t, f.content)
		case "clbemu-replica":
			checkRuns(t, f.content, "version", "clbemu-replica ")
		case "clbemu-worldwatch":
			checkRuns(t, f.content, "-help", "Usage of ")
		case "data/":
			if f.Uid != nobody || f.Gid != nobody {
				t.Errorf("/data belongs to %d:%d, want %d", f.Uid, f.Gid, nobody)
			}
		}
	}
	if want := []string{"clbemu", "clbemu-replica", "clbemu-worldwatch", "data/"}; !slices.Equal(names, want) {
		t.Errorf("the image has the files %v, want %v", names, want)
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

// TestSettingsAreTheDockerfiles proves that both ways to the image give it the
// same settings, and that it does not run as root.
func TestSettingsAreTheDockerfiles(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, final, found := strings.Cut(string(text), "\nFROM scratch\n")
	if !found {
		t.Fatal("the Dockerfile's last stage is not FROM scratch")
	}
	final = strings.ReplaceAll(final, "\\\n", "")
	list := func(words []string) string {
		text, err := json.Marshal(words)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), ",", ", ")
	}
	for _, program := range programs {
		if !strings.Contains(final, "COPY --from=build /"+program+" /"+program+"\n") {
			t.Errorf("the Dockerfile's image has no %s", program)
		}
	}
	for instruction, want := range map[string]string{
		"USER": settings.User, "ENV": strings.Join(settings.Env, " "), "EXPOSE": "9600 9601", "VOLUME": "/data",
		"ENTRYPOINT": list(settings.Entrypoint), "CMD": list(settings.Cmd),
		"HEALTHCHECK": fmt.Sprintf("--interval=%.0fs --timeout=%.0fs --start-period=%.0fs --start-interval=1s CMD %s", settings.Healthcheck.Interval.Seconds(),
			settings.Healthcheck.Timeout.Seconds(), settings.Healthcheck.StartPeriod.Seconds(), list(settings.Healthcheck.Test[1:])),
	} {
		got := regexp.MustCompile(`(?m)^` + instruction + ` (.*)$`).FindStringSubmatch(final)
		if got == nil || got[1] != want {
			t.Errorf("the Dockerfile says %s %q, the archive %q", instruction, got, want)
		}
	}
	labels := make(map[string]string)
	for _, found := range regexp.MustCompile(`(org\.[a-z.]+)="([^"]*)"`).FindAllStringSubmatch(final, -1) {
		labels[found[1]] = found[2]
	}
	for _, ofBuild := range []string{"version", "revision"} {
		if !strings.HasPrefix(labels["org.opencontainers.image."+ofBuild], "$") {
			t.Errorf("the Dockerfile has no %s of a build", ofBuild)
		}
		delete(labels, "org.opencontainers.image."+ofBuild)
	}
	if !maps.Equal(labels, settings.Labels) {
		t.Errorf("the Dockerfile has the labels %v, the archive %v", labels, settings.Labels)
	}
	if !strings.Contains(string(text), "FROM --platform=$BUILDPLATFORM ") || !strings.Contains(string(text), "GOARCH=$TARGETARCH") {
		t.Error("the Dockerfile compiles for the machine that builds it alone")
	}
	if strings.HasPrefix(settings.User, "0") || settings.User == "" || settings.User == "root" {
		t.Errorf("the image runs as %q", settings.User)
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
	dir := t.TempDir()
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
