package scenarios

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/glob"
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
	slices.Sort(files) // "-" is before "." in the names of files
	return files
}

// LibraryWith lists the scenarios of the library whose name or text has all words, in
// any order. Case does not count.
func LibraryWith(words ...string) (names []string) {
	for _, name := range LibraryNames() {
		text, _ := LibraryText(name)
		if glob.HasWords(words, name, string(text)) {
			names = append(names, name)
		}
	}
	return names
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
