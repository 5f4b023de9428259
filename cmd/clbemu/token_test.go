package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// launched returns an emulator that other machines can reach, and what it says.
func launched(t *testing.T, flags ...string) (*binary.Server, string) {
	t.Helper()
	s, said := binary.Launch(t, exec.Command(binary.Path, append([]string{"serve", "--engine", "memory", "--listen", "127.0.0.1:0", "--control-listen", "0.0.0.0:0"}, flags...)...))
	if s.API == "" {
		t.Fatalf("serve ended: %s%s", said, s.Stderr.String())
	}
	return s, said
}

// TestControlTokenFile proves that serve makes a token where there is none, keeps it, and
// prints the address of the console with it; that commands read it; and that no token that
// the user chose is printed.
func TestControlTokenFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "made", "token")
	var tokens []string
	for range 2 {
		s, said := launched(t, "--control-token-file", file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file is %v, %v, want it for its owner alone", info.Mode(), err)
		}
		tokens = append(tokens, strings.TrimSpace(string(text)))
		if want := "/#token=" + tokens[0] + "\n"; !strings.Contains(said, want) {
			t.Errorf("serve says %s, want %s", said, want)
		}
		for flag, code := range map[string]int{"--control-token-file=" + file: 0, "--control-token=" + tokens[0]: 0, "--control-token=wrong": 3, "--control-token-file=" + file + "-none": 3, "--control-token-file=" + filepath.Dir(file): 2} {
			if r := binary.Run(t, "get", "zones", "--server", s.Control, flag); r.Code != code {
				t.Errorf("get %s = %+v, want %d", flag, r, code)
			}
		}
	}
	if tokens[0] != tokens[1] || len(tokens[0]) < 20 {
		t.Errorf("the tokens are %q, want one that can't be guessed", tokens)
	}
	if _, said := launched(t, "--control-token", "chosen", "--control-token-file", file); strings.Contains(said, "chosen") || strings.Contains(said, tokens[0]) {
		t.Errorf("serve says %s, with a token", said)
	}
	r := binary.Run(t, "serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0", "--engine", "memory", "--control-token-file", filepath.Dir(file))
	if r.Code != 3 || !strings.Contains(r.Stderr, "--control-token-file") {
		t.Errorf("a folder for the token = %+v", r)
	}
}
