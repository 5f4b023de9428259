package command

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator/controlapi"
)

// TestVersionFlag proves that --version and -v print what other programs print for them.
func TestVersionFlag(t *testing.T) {
	for _, flag := range []string{"--version", "-v"} {
		if code, out, problems := executed(t, flag); code != exitOK || out != "clbemu version "+version().Version+"\n" || problems != "" {
			t.Errorf("clbemu %s = %d, %q, %q", flag, code, out, problems)
		}
	}
}

// TestVersionPolicy proves that the version comes with a link to a page that there is.
func TestVersionPolicy(t *testing.T) {
	code, out, _ := executed(t, "version")
	_, page, linked := strings.Cut(versionPolicy, "/blob/main/")
	if code != exitOK || !strings.Contains(out, versionPolicy) || !linked {
		t.Errorf("clbemu version = %d, %q", code, out)
	}
	if _, err := os.Stat(filepath.Join("../../..", page)); err != nil {
		t.Error(err)
	}
}

// TestVersion proves that the output has version, commit and date for a build in the
// repository, by go install of a tag, and of a commit without one.
func TestVersion(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-11-21T10:00:00Z"}}
	for name, test := range map[string]struct {
		main     string
		settings []debug.BuildSetting
		want     controlapi.Version
	}{
		"repository": {"v0.1.1-0.20261121100000-0123456789ab", vcs, controlapi.Version{Version: "v0.1.1-0.20261121100000-0123456789ab", Commit: "0123456789abcdef0123", Date: "2026-11-21T10:00:00Z"}},
		"changes": {"(devel)", append(vcs, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			controlapi.Version{Version: "devel", Commit: "0123456789abcdef0123 and changes", Date: "2026-11-21T10:00:00Z"}},
		"tag":    {"v1.2.3", nil, controlapi.Version{Version: "v1.2.3"}},
		"commit": {"v0.0.0-20261121100000-0123456789ab", nil, controlapi.Version{Version: "v0.0.0-20261121100000-0123456789ab", Commit: "0123456789ab", Date: "2026-11-21T10:00:00Z"}},
		"alone":  {"(devel)", nil, controlapi.Version{Version: "devel"}},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: test.main}, Settings: test.settings}
		if got := versionOf(info); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
	release, commit, date = "v9.9.9", "c", "d"
	defer func() { release, commit, date = "", "", "" }()
	if got := version(); got != (controlapi.Version{Version: "v9.9.9", Commit: "c", Date: "d"}) {
		t.Errorf("a release is %+v", got)
	}
}
