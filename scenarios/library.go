package scenarios

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed library/*.yaml
var library embed.FS

// LibraryNames lists the scenarios of the library in order.
func LibraryNames() []string {
	// The folder is a part of the program, so reading it can't fail.
	files, _ := fs.Glob(library, "library/*.yaml")
	for i, file := range files {
		files[i] = strings.TrimSuffix(path.Base(file), ".yaml")
	}
	slices.Sort(files) // "-" is before "." in the names of files
	return files
}

// LibraryHead is a scenario of the library with what it is about.
type LibraryHead struct {
	Name   string `yaml:"-"`
	Text   string `yaml:"-"`
	About  string `yaml:"about"`
	Advice string `yaml:"advice"`
}

// LibraryHeads lists the scenarios of the library in order.
func LibraryHeads() []LibraryHead { return heads() }

var heads = sync.OnceValue(func() (heads []LibraryHead) {
	for _, name := range LibraryNames() {
		text, _ := LibraryText(name)
		h := LibraryHead{Name: name, Text: string(text)}
		if err := yaml.Unmarshal(text, &h); err != nil {
			panic(name + ": " + err.Error()) // a part of the program
		}
		h.Advice = strings.TrimSpace(h.Advice)
		heads = append(heads, h)
	}
	return heads
})

// LibraryText returns a scenario of the library. ok is false if the library has none with the name.
func LibraryText(name string) (text []byte, ok bool) {
	text, err := library.ReadFile("library/" + name + ".yaml")
	return text, err == nil
}

// Schema is the JSON Schema of scenario files.
//
//go:embed schema.json
var Schema []byte
