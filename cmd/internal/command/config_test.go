package command

import (
	"os"
	"path/filepath"
	"testing"
)

// TestConfigPrecedence proves that the command line wins over the environment,
// the environment over the file, and the file over the default.
func TestConfigPrecedence(t *testing.T) {
	tests := []struct {
		name, file, env string
		args            []string
		want            string
	}{
		{"default", "", "", nil, defaultDataDir},
		{"file", "data-dir: from-file\n", "", nil, "from-file"},
		{"environment", "data-dir: from-file\n", "from-env", nil, "from-env"},
		{"command line", "data-dir: from-file\n", "from-env", []string{"--data-dir", "from-flag"}, "from-flag"},
		{"command line with the default's value", "data-dir: from-file\n", "", []string{"--data-dir", defaultDataDir}, defaultDataDir},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.env != "" {
				t.Setenv("CLBEMU_DATA_DIR", test.env)
			}
			path := filepath.Join(t.TempDir(), "clbemu.yaml")
			if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("CLBEMU_CONFIG", path)
			cmd := newServe(nil)
			if err := cmd.ParseFlags(test.args); err != nil {
				t.Fatal(err)
			}
			if err := configure(cmd); err != nil {
				t.Fatalf("configure = %v", err)
			}
			if got, _ := cmd.Flags().GetString("data-dir"); got != test.want {
				t.Errorf("data-dir = %q, want %q", got, test.want)
			}
		})
	}
}

// TestConfigTypes proves that each sort of flag takes its value from the file.
func TestConfigTypes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clbemu.yaml")
	if err := os.WriteFile(path, []byte("tls: true\nseed: 18446744073709551615\nlisten: 127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := newServe(nil)
	if err := cmd.ParseFlags([]string{"--config", path}); err != nil {
		t.Fatal(err)
	}
	if err := configure(cmd); err != nil {
		t.Fatalf("configure = %v", err)
	}
	for name, want := range map[string]string{"tls": "true", "seed": "18446744073709551615", "listen": "127.0.0.1:1"} {
		if got := cmd.Flags().Lookup(name).Value.String(); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
}
