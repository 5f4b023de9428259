package command

import (
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/cmd/internal/terminal"
	"github.com/clbemu/clbemu/emulator/controlapi"
)

// release, commit and date are set by the linker in released binaries.
var release, commit, date string

// version returns the version that the linker set, or else what the toolchain knows:
// the revision for a build in the repository, the module's version for one by go
// install.
func version() controlapi.Version {
	v := controlapi.Version{Version: "devel"}
	if info, ok := debug.ReadBuildInfo(); ok {
		v = versionOf(info)
	}
	if release != "" {
		v = controlapi.Version{Version: release, Commit: commit, Date: date}
	}
	return v
}

// pseudo is the version of a module without a tag: it ends with the time and the
// beginning of the name of its commit.
var pseudo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})$`) })

func versionOf(info *debug.BuildInfo) controlapi.Version {
	v := controlapi.Version{Version: strings.Trim(info.Main.Version, "()")}
	bare, _, _ := strings.Cut(v.Version, "+")
	if found := pseudo().FindStringSubmatch(bare); found != nil {
		v.Commit = found[2]
		if at, err := time.Parse("20060102150405", found[1]); err == nil {
			v.Date = at.Format(time.RFC3339)
		}
	}
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Date = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified && v.Commit != "" {
		v.Commit += " and changes"
	}
	return v
}

// versionPolicy is the page that says what a version keeps of those before it.
const versionPolicy = "https://github.com/clbemu/clbemu/blob/main/docs/versions.md"

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit and its date",
		Example: `  clbemu version
  clbemu version --json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := version()
			return printing(cmd).show(v, func(s *terminal.Screen) error {
				s.Printf("%s %s\n", cmd.Root().Name(), v.Version)
				if v.Commit != "" {
					s.Printf("  commit  %s\n", v.Commit)
				}
				if v.Date != "" {
					s.Printf("  date    %s\n", v.Date)
				}
				s.Printf("  keeps   what %s promises\n", versionPolicy)
				return nil
			})
		},
	}
}
