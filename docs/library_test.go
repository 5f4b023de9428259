package docs_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/scenarios"
)

// chineseTexts is the file of the texts in Chinese.
const chineseTexts = "emulator/internal/console/zh/library.yaml"

// translated holds the Chinese texts of a scenario.
type translated struct {
	// Of is the digest of the English texts.
	Of            string
	About, Advice string
}

// LibraryHead begins the page of the library in Chinese.
const LibraryHead = `<!-- written by make golden -->
# 场景库

clbemu 自带的场景，每个都重现云端的一种故障，并说明控制器或运维人员应怎样处理。字段说明见[场景](../../scenarios/README.zh.md)。

运行一个场景，查看它的 YAML：

` + "```sh\nclbemu scenario run arrears\nclbemu scenario show arrears\n```" + `

| 场景 | 云端发生什么 | 建议 |
|---|---|---|
`

// TestChineseLibrary proves that the console's zh/library.yaml has the about and the advice
// of each scenario of the library in Chinese, that none has fallen behind, and that the
// page has them. With -update it writes the page.
func TestChineseLibrary(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, chineseTexts))
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]translated)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&texts); err != nil {
		t.Fatal(err)
	}
	page := LibraryHead
	for _, name := range slices.Sorted(slices.Values(scenarios.LibraryNames())) {
		source, _ := scenarios.LibraryText(name)
		s, err := scenarios.Load(name, source, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		is := texts[name]
		delete(texts, name)
		if is.About == "" || is.Advice == "" || strings.Contains(is.About+is.Advice, "|") {
			t.Errorf("%s has no about or no advice of %s", chineseTexts, name)
		}
		if of := digest(s.About + s.Advice); is.Of != of {
			t.Errorf("the Chinese texts of %s have fallen behind: look at what has changed, and let %s have of: %q", name, chineseTexts, of)
		}
		page += fmt.Sprintf("| `%s` | %s | %s |\n", name, is.About, is.Advice)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		t.Errorf("%s has %s, which is no scenario of the library", chineseTexts, name)
	}
	file := filepath.Join(root, "docs", "zh", "library.md")
	if *update {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if written, err := os.ReadFile(file); err != nil || string(written) != page {
		t.Errorf("%s is out of date (%v): run `make golden`", file, err)
	}
}
