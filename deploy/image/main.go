// Command image puts a program of clbemu into an image as the Dockerfile does, and
// writes that as an archive without Docker: in the layout of OCI, and with the
// manifest.json that docker load and kind load image-archive look for.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func main() {
	name := flag.String("image", "clbemu", "image to build: "+strings.Join(slices.Sorted(maps.Keys(contents)), " or "))
	folder := flag.String("programs", "", "pattern of the folders with the static Linux programs, in which ARCH stands for their architecture")
	out := flag.String("out", "", "archive to write")
	tag := flag.String("tag", "", "name of the image in the archive (default: IMAGE:latest)")
	archs := flag.String("arch", runtime.GOARCH, "architectures of the image, separated by commas")
	flag.Parse()
	if *tag == "" {
		*tag = *name + ":latest"
	}
	if err := run(*name, *folder, *out, *tag, strings.Split(*archs, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(name, folder, out, tag string, archs []string) (err error) {
	c, found := contents[name]
	if !found {
		return fmt.Errorf("there is no image %q", name)
	}
	var images []v1.Image
	for _, arch := range archs {
		program, err := c.read(strings.ReplaceAll(folder, "ARCH", arch))
		if err != nil {
			return err
		}
		image, err := c.build(name, program, arch)
		if err != nil {
			return err
		}
		images = append(images, image)
	}
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() {
		if closed := file.Close(); err == nil {
			err = closed
		}
	}()
	return writeArchive(file, images, tag)
}

// read reads the program, which is in one of the folders.
func (c content) read(folder string) ([]byte, error) {
	found, err := filepath.Glob(filepath.Join(folder, c.program))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d files are %s, want one", len(found), filepath.Join(folder, c.program))
	}
	return os.ReadFile(found[0])
}
