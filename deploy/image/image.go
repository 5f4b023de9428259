package main

import (
	"archive/tar"
	"bytes"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user that the image runs as, and that owns its data.
const nobody = 65532

// settings are those of the Dockerfile.
var settings = v1.Config{
	User:         "65532:65532",
	Env:          []string{"CLBEMU_LISTEN=0.0.0.0:9600", "CLBEMU_DATA_DIR=/data"},
	Entrypoint:   []string{"/clbemu"},
	Cmd:          []string{"serve"},
	ExposedPorts: map[string]struct{}{"9600/tcp": {}},
	Volumes:      map[string]struct{}{"/data": {}},
}

// build makes the image. It holds no time, so that the same binary always gives
// the same image.
func build(program, watcher []byte, arch string) (v1.Image, error) {
	files, err := rootFiles(program, watcher)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files)), nil
	}, tarball.WithMediaType(types.OCILayer))
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
	config.OS, config.Architecture, config.Config = "linux", arch, settings
	return mutate.ConfigFile(image, config)
}

// rootFiles are the image's files: the binaries, and a folder for the state.
func rootFiles(program, watcher []byte) ([]byte, error) {
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	for _, file := range []struct {
		header  tar.Header
		content []byte
	}{
		{tar.Header{Typeflag: tar.TypeReg, Name: "clbemu", Mode: 0o755}, program},
		{tar.Header{Typeflag: tar.TypeReg, Name: "clbemu-worldwatch", Mode: 0o755}, watcher},
		{tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o755, Uid: nobody, Gid: nobody}, nil},
	} {
		file.header.Size = int64(len(file.content))
		if err := w.WriteHeader(&file.header); err != nil {
			return nil, err
		}
		if _, err := w.Write(file.content); err != nil {
			return nil, err
		}
	}
	return files.Bytes(), w.Close()
}
