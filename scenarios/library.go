package scenarios

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed library/*.yaml
var library embed.FS

// LibraryNames lists the scenarios of the library in order.
func LibraryNames() []string {
	// The folder is a part of the program, and so can be read.
	files, _ := fs.Glob(library, "library/*.yaml")
	for i, file := range files {
		files[i] = strings.TrimSuffix(path.Base(file), ".yaml")
	}
	return files
}

// LibraryText is a scenario of the library; ok is false when there is none of
// that name.
func LibraryText(name string) (text []byte, ok bool) {
	text, err := library.ReadFile("library/" + name + ".yaml")
	return text, err == nil
}

// Schema is the JSON Schema of scenario files.
//
//go:embed schema.json
var Schema []byte
