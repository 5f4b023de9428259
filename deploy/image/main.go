// Command image puts the binaries of clbemu and worldwatch into an image as the Dockerfile does, and
// writes that as an archive without Docker: in the layout of OCI, and with the
// manifest.json that docker load and kind load image-archive look for.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
)

func main() {
	binary := flag.String("binary", "", "static Linux binary of clbemu")
	worldwatch := flag.String("worldwatch", "", "static Linux binary of worldwatch")
	out := flag.String("out", "", "archive to write")
	tag := flag.String("tag", "clbemu:latest", "name of the image")
	arch := flag.String("arch", runtime.GOARCH, "architecture of the binary")
	flag.Parse()
	if err := run(*binary, *worldwatch, *out, *tag, *arch); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(binary, worldwatch, out, tag, arch string) (err error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	watcher, err := os.ReadFile(worldwatch)
	if err != nil {
		return err
	}
	image, err := build(program, watcher, arch)
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
