package replicas_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// What users start has settings that clbemu knows, and replicas that differ in their names
// and addresses alone.
func TestManifests(t *testing.T) {
	help := binary.Run(t, "serve", "--help").Stdout
	for file, replicas := range map[string]int{"compose.yaml": 3, "kubernetes.yaml": 1} {
		text, err := os.ReadFile(filepath.Join("../../../deploy/replicas", file))
		if err != nil {
			t.Fatal(err)
		}
		for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var document map[string]any
			err := d.Decode(&document)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
		}
		found := regexp.MustCompile(`CLBEMU_[A-Z_]+`).FindAllString(string(text), -1)
		if len(found) < 6 {
			t.Errorf("%s sets %v alone", file, found)
		}
		for _, name := range found {
			flag := "--" + strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(name, "CLBEMU_")), "_", "-")
			if !strings.Contains(help, flag+" ") {
				t.Errorf("%s sets %s, and serve has no %s", file, name, flag)
			}
		}
		if got := strings.Count(string(text), "CLBEMU_ADVERTISE_CONTROL"); got != replicas {
			t.Errorf("%s advertises %d replicas, want %d", file, got, replicas)
		}
	}
}
