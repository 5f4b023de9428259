package main

import (
	"archive/tar"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// writeArchive writes a tar file of an OCI layout with one image, for one or more
// architectures. In it manifest.json names the blobs of the first for readers that know
// only Docker's form.
func writeArchive(w io.Writer, images []v1.Image, tag string) error {
	dir, err := os.MkdirTemp("", "clbemu-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := writeLayout(dir, images, tag); err != nil {
		return err
	}
	if err := writeDockerManifest(dir, images[0], tag); err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	if err := addFiles(archive, os.DirFS(dir)); err != nil {
		return err
	}
	return archive.Close()
}

// addFiles adds the files without their times and owners, which are those of this run.
func addFiles(archive *tar.Writer, files fs.FS) error {
	return fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		if entry.IsDir() {
			return archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path + "/", Mode: 0o755})
		}
		content, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err = archive.Write(content)
		return err
	})
}

func writeLayout(dir string, images []v1.Image, tag string) error {
	names, err := annotations(tag)
	if err != nil {
		return err
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if len(images) == 1 {
		return path.AppendImage(images[0], layout.WithAnnotations(names))
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, image := range images {
		config, err := image.ConfigFile()
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: config.Platform()}})
	}
	return path.AppendIndex(index, layout.WithAnnotations(names))
}

// annotations name an image in an OCI layout. The kubelet looks for what has no
// registry under docker.io, which is index.docker.io to the library.
func annotations(tag string) (map[string]string, error) {
	reference, err := name.NewTag(tag)
	if err != nil {
		return nil, err
	}
	full := strings.Replace(reference.Name(), name.DefaultRegistry+"/", "docker.io/", 1)
	return map[string]string{"io.containerd.image.name": full, "org.opencontainers.image.ref.name": reference.TagStr()}, nil
}

func writeDockerManifest(dir string, image v1.Image, tag string) error {
	config, err := image.ConfigName()
	if err != nil {
		return err
	}
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	var blobs []string
	for _, layer := range layers {
		digest, err := layer.Digest()
		if err != nil {
			return err
		}
		blobs = append(blobs, blob(digest))
	}
	manifest, err := json.Marshal([]map[string]any{{"Config": blob(config), "RepoTags": []string{tag}, "Layers": blobs}})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "manifest.json"), manifest, 0o644)
}

// blob returns the path in a layout of the blob with this digest.
func blob(digest v1.Hash) string {
	return strings.Join([]string{"blobs", digest.Algorithm, digest.Hex}, "/")
}
