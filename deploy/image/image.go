package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"io"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user that the image runs as, and that owns its data.
const nobody = 65532

// content is the content of one image: a program under the image's name.
type content struct {
	program  string
	data     bool // whether it has a folder for a state
	settings v1.Config
}

// contents are the images by name, with the settings of the Dockerfile. The image of clbemu has
// clbemu-replica, which can do all that clbemu can: both would double its size.
var contents = map[string]content{
	"clbemu": {program: "clbemu-replica", data: true, settings: v1.Config{
		User: "65532:65532",
		Env: []string{"CLBEMU_LISTEN=0.0.0.0:9600", "CLBEMU_CONTROL_LISTEN=0.0.0.0:9601", "CLBEMU_CONTROL_TOKEN_FILE=/data/control-token",
			"CLBEMU_DATA_DIR=/data"},
		Entrypoint:   []string{"/clbemu"},
		Cmd:          []string{"serve"},
		ExposedPorts: map[string]struct{}{"9600/tcp": {}, "9601/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/clbemu", "wait", "--for", "ready", "--timeout", "4s"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: 30 * time.Second},
		Labels: labels("clbemu", "A local emulator of Alibaba Cloud's load balancers, CLB and NLB"),
	}},
	"clbemu-worldwatch": {program: "clbemu-worldwatch", settings: v1.Config{
		User:       "65532:65532",
		Entrypoint: []string{"/clbemu-worldwatch"},
		Labels:     labels("clbemu-worldwatch", "Brings the nodes and pods of a cluster into clbemu"),
	}},
}

func labels(title, description string) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       title,
		"org.opencontainers.image.description": description,
		"org.opencontainers.image.source":      "https://github.com/clbemu/clbemu",
		"org.opencontainers.image.licenses":    "Apache-2.0",
	}
}

// labelled returns the settings with the version that the program carries.
func (c content) labelled(program []byte) v1.Config {
	with := *c.settings.DeepCopy()
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return with // of no Go program there is none
	}
	with.Labels["org.opencontainers.image.version"] = strings.Trim(info.Main.Version, "()")
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			with.Labels["org.opencontainers.image.revision"] = s.Value
		}
	}
	return with
}

// build returns the image for one architecture. It contains no time, so that the same
// program always gives the same image.
func (c content) build(name string, program []byte, arch string) (v1.Image, error) {
	files, err := c.rootFiles(name, program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression))
	if err != nil {
		return nil, err
	}
	image := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Config = "linux", arch, c.labelled(program)
	return mutate.ConfigFile(image, config)
}

// rootFiles returns the image's files: the program, and a folder for the state.
func (c content) rootFiles(name string, program []byte) ([]byte, error) {
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(program))}); err != nil {
		return nil, err
	}
	if _, err := w.Write(program); err != nil {
		return nil, err
	}
	if c.data {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o755, Uid: nobody, Gid: nobody}); err != nil {
			return nil, err
		}
	}
	return files.Bytes(), w.Close()
}
