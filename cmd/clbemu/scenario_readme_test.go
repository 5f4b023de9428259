package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestScenarioPage proves that the commands of the page on scenarios work as they
// stand there, that the one that is to fail does, and with the output shown.
func TestScenarioPage(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)<!-- tested(: fails)? -->\n```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 4 {
		t.Fatalf("the page has %d tested blocks, want at least 4", len(blocks))
	}
	dir := t.TempDir()
	for _, block := range blocks {
		cmd := exec.Command("sh", "-euc", block[2])
		cmd.Dir = dir
		cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
			"PATH="+filepath.Dir(binary.Path)+":"+os.Getenv("PATH"))
		r := binary.Finish(t, cmd)
		want := 0
		if block[1] != "" {
			want = 1
			shown := regexp.MustCompile("(?s)```\n(  ok .*?)```").FindStringSubmatch(string(text))
			if shown == nil || !strings.Contains(r.Stdout, shown[1]) {
				t.Errorf("the page shows\n%s\nand the command prints\n%s", shown, r.Stdout)
			}
		}
		if r.Code != want {
			t.Errorf("%s\nexits with %d, want %d: %s%s", block[2], r.Code, want, r.Stdout, r.Stderr)
		}
	}
}

// TestScenarioPageIsWhole proves that the page tells of every step and every
// expectation that the schema has.
func TestScenarioPageIsWhole(t *testing.T) {
	text, err := os.ReadFile("../../scenarios/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"set", "fault", "clear", "call", "wait", "clock", "restart", "kill", "exec", "start", "kubectl", "repeat", "mark", "expect",
		"resource", "calls", "quota", "addresses", "service", "event", "finalizer"} {
		if !strings.Contains(string(text), "`"+word+":") {
			t.Errorf("the page does not tell of %s", word)
		}
	}
}
