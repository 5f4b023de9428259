// Command image puts the programs of clbemu into an image as the Dockerfile does, and
// writes that as an archive without Docker: in the layout of OCI, and with the
// manifest.json that docker load and kind load image-archive look for.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	folder := flag.String("programs", "", "folder with the static Linux binaries "+strings.Join(programs, ", "))
	out := flag.String("out", "", "archive to write")
	tag := flag.String("tag", "clbemu:latest", "name of the image")
	arch := flag.String("arch", runtime.GOARCH, "architecture of the binaries")
	flag.Parse()
	if err := run(*folder, *out, *tag, *arch); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(folder, out, tag, arch string) (err error) {
	contents := make(map[string][]byte)
	for _, name := range programs {
		if contents[name], err = os.ReadFile(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	image, err := build(contents, arch)
	if err != nil {
		return err
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
	return writeArchive(file, image, tag)
}
