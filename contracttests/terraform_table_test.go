package contracttests

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// playedWith is the provider that the configurations were last played with, notPlayed the one
// that it could not be built for.
const (
	playedWith = "the provider's revision 81c43b6, on 28 November 2026"
	notPlayed  = "vpc-ipv6-gateway"
)

// usedByTerraform matches a resource or a data source of a configuration.
var usedByTerraform = regexp.MustCompile(`(?m)^(resource|data) "(alicloud_[a-z0-9_]+)"`)

// TestTable proves that the table of resources and data sources is that of the configurations.
// With -update it writes it.
func TestTerraformTable(t *testing.T) {
	files, err := filepath.Glob("terraform/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	in := make(map[string][]string)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(file, notPlayed) {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, f := range archive.Files {
			for _, found := range usedByTerraform.FindAllSubmatch(f.Data, -1) {
				what := "`" + string(found[2]) + "`"
				if string(found[1]) == "data" {
					what = "data " + what
				}
				if !slices.Contains(in[what], name) {
					in[what] = append(in[what], name)
				}
			}
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- written by go test ./contracttests -run TerraformTable -update -->\n# Resources of Terraform\n\n"+
		"Each was applied, changed in place, imported and destroyed, and a plan showed no difference in between. Played with\n%s.\nThe configurations are in [testdata](terraform/testdata); %s was not played with it.\n\n| resource or data source | configurations |\n|---|---|\n", playedWith, notPlayed)
	for _, what := range slices.Sorted(maps.Keys(in)) {
		fmt.Fprintf(&b, "| %s | %s |\n", what, strings.Join(in[what], ", "))
	}
	const page = "terraform.md"
	if *update {
		if err := os.WriteFile(page, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(page); !bytes.Equal(kept, b.Bytes()) {
		t.Errorf("%s is not that of the configurations (%v): run go test ./contracttests -run TerraformTable -update", page, err)
	}
}
