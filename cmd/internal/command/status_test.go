package command

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestExitCodes proves that a mistake has one exit code, whichever command it is made
// with.
func TestExitCodes(t *testing.T) {
	server, dir := served(t), t.TempDir()
	wrong := filepath.Join(dir, "wrong.yaml")
	if err := os.WriteFile(wrong, []byte("nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mistake, test := range map[string]struct {
		code  int
		lines []string
	}{
		"a file that can't be read": {exitUsage, []string{
			"fault add FILE", "scenario lint FILE", "scenario run FILE", "scenario watch FILE -- true", "world validate FILE", "world import FILE", "state import FILE",
			"world set policy.key.testid=@FILE", "serve --world FILE", "serve --config FILE", "serve --tls-cert FILE --tls-key FILE", "state reset --data-dir DIR --world FILE",
		}},
		"a name that nothing has": {exitUsage, []string{
			"nosuch", "help nosuch", "completion ksh", "fault nosuch", "get nosuch", "get lb nosuch", "call NoSuch", "call DescribeRegions NoSuch=1", "explain NoSuch.Code",
			"world set account.arears=true", "world get nosuch", "scenario show nosuch", "scenario lint nosuch", "scenario list nosuchword", "fault delete nosuch",
			"world set account.balance=1 --account nosuch", "snapshot restore nosuch", "snapshot delete nosuch", "journal --action Crate*", "journal --since-mark nosuch", "wait --for nosuch=x", "get -o nosuch", "env --shell ksh", "quota --nosuch",
		}},
		"a value that is none": {exitUsage, []string{
			"clock advance 1day", "clock advance -1h", "clock scale fast", "clock scale -1", "wait --timeout soon", "world set account.arrears", "serve --auth maybe", "serve --listen nowhere", "scenario run --part other", "snapshot take ../up", "journal mark a/b",
		}},
		"something wrong, or refused": {exitFailed, []string{
			"fault add WRONG", "scenario lint WRONG", "world validate WRONG", "serve --world WRONG", "state reset --data-dir DIR --world WRONG", "world import WRONG", "state import WRONG",
			"world set account.arrears=maybe", "world set vswitch.vsw-nosuch.freeAddresses=1", "call DeleteVServerGroup VServerGroupId=rsp-nosuch", "wait --for lb=nosuch --timeout 1ms",
		}},
	} {
		for _, line := range test.lines {
			args := strings.Fields(strings.NewReplacer("FILE", filepath.Join(dir, "nosuch.yaml"), "WRONG", wrong, "DIR", filepath.Join(dir, "data")).Replace(line))
			if about, _, err := plain.newRoot().Find(args); err == nil && about.Flags().Lookup("server") != nil && about.Parent().Name() != "scenario" && !slices.Contains(args, "--data-dir") {
				args = append([]string{about.Name()}, append([]string{"--server", server}, args[depth(about):]...)...)
				if about.Parent().HasParent() {
					args = append([]string{about.Parent().Name()}, args...)
				}
			}
			if code, out, problems := executed(t, args...); code != test.code || problems == "" {
				t.Errorf("%s: %v = %d, %q%q, want %d", mistake, args, code, out, problems, test.code)
			}
		}
	}
}

// depth returns the number of words in a command's name.
func depth(cmd *cobra.Command) int { return len(strings.Fields(cmd.CommandPath())) - 1 }

// whatToType finds what to type.
var whatToType = regexp.MustCompile(`: type .*` + programName + ` `)

// TestArguments proves of every command that too few or too many arguments fail
// in words that say what to type.
func TestArguments(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if cmd.Args == nil || cmd.Parent().Name() == "completion" {
			return
		}
		for _, args := range [][]string{nil, slices.Repeat([]string{"1"}, 9)} {
			err := cmd.Args(cmd, args)
			if err == nil {
				continue
			}
			coded := (*exitError)(nil)
			if !errors.As(err, &coded) || coded.code != exitUsage || !whatToType.MatchString(err.Error()) && !strings.Contains(err.Error(), ": see "+programName) {
				t.Errorf("%q is answered with %#v, want what to type", args, err)
			}
		}
	})
}

// TestNoEmulator proves that every command that needs a running emulator says that none
// answers, with one exit code.
func TestNoEmulator(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"state.json", "world.yaml", "faults.yaml", "nodes.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tried := 0
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		name := strings.TrimPrefix(cmd.CommandPath(), programName+" ")
		if cmd.Flags().Lookup("server") == nil || cmd.Parent().Name() == "scenario" || slices.Contains([]string{"doctor", "wait", "upgradecheck", "mcp"}, name) {
			return
		}
		tried++
		args := append(strings.Fields(name), "--server", "127.0.0.1:1")
		for _, arg := range jsonArgs[name] {
			args = append(args, strings.ReplaceAll(arg, "FILE:", dir+"/"))
		}
		if code, _, problems := executed(t, args...); code != exitCannot || !strings.Contains(problems, "127.0.0.1:1") {
			t.Errorf("%v = %d, %q, want %d", args, code, problems, exitCannot)
		}
	})
	if tried < 20 {
		t.Errorf("%d commands were tried, want most", tried)
	}
}

// TestEnvIsQuiet proves that what a shell evaluates comes without notes next to it.
func TestEnvIsQuiet(t *testing.T) {
	if r := binary.Run(t, "env", "--api", "http://127.0.0.1:9600"); r.Code != 0 || r.Stderr != "" || !strings.Contains(r.Stdout, "export SLB_ENDPOINT=") {
		t.Errorf("env = %+v, want the variables alone", r)
	}
}
