package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

var (
	clbemuCommand = regexp.MustCompile("(?:^|[\\s(;&|])clbemu ([^|;&)`#\n]*)")
	makeCommand   = regexp.MustCompile(`(?m)(?:^|[\s;&])make ([a-z0-9-]+)`)
	ourPath       = regexp.MustCompile(`(?m)(?:^|[\s=])(?:\./)?((?:cmd|contracttests|deploy|docs|emulator|examples|scenarios)/[\w./-]*\w)`)
	subcommand    = regexp.MustCompile(`^[a-z]+$`)
	longFlag      = regexp.MustCompile(`^--[a-z][a-z-]*`)
)

// helps holds the help texts of clbemu's commands.
var helps sync.Map

func helpOf(t *testing.T, command string) string {
	t.Helper()
	if text, ok := helps.Load(command); ok {
		return text.(string)
	}
	text := binary.Run(t, append(strings.Fields(command), "--help")...).Stdout
	helps.Store(command, text)
	return text
}

// misspelt lists the names in some code that do not exist: commands and flags of
// clbemu, targets of make, files of the repository.
func misspelt(t *testing.T, code string) (all []string) {
	t.Helper()
	code = strings.ReplaceAll(code, "\\\n", " ")
	for _, found := range clbemuCommand.FindAllStringSubmatch(code, -1) {
		all = append(all, misspeltCommand(t, strings.Fields(found[1]))...)
	}
	for _, found := range makeCommand.FindAllStringSubmatch(code, -1) {
		if !strings.Contains(makefile(), "\n"+found[1]+":") {
			all = append(all, "there is no target "+found[1])
		}
	}
	for _, found := range ourPath.FindAllStringSubmatch(code, -1) {
		if _, err := os.Stat(filepath.Join(root, found[1])); err != nil && !strings.Contains(found[1], "...") {
			all = append(all, "there is no "+found[1])
		}
	}
	return all
}

func misspeltCommand(t *testing.T, words []string) (all []string) {
	t.Helper()
	if len(words) == 0 || !subcommand.MatchString(words[0]) {
		return nil
	}
	command := words[0]
	help := helpOf(t, command)
	if !strings.Contains(help, "\n  clbemu "+command) {
		return []string{"there is no clbemu " + command}
	}
	if len(words) > 1 && subcommand.MatchString(words[1]) {
		longer := helpOf(t, command+" "+words[1])
		switch {
		case strings.Contains(longer, "\n  clbemu "+command+" "+words[1]):
			help = longer
		case strings.Contains(help, "\n  clbemu "+command+" [command]"):
			return []string{fmt.Sprintf("there is no clbemu %s %s", command, words[1])}
		}
	}
	for _, word := range words[1:] {
		if word == "--" {
			break
		}
		if name := longFlag.FindString(word); name != "" && !regexp.MustCompile(name+`[\s\n]`).MatchString(help) {
			all = append(all, fmt.Sprintf("clbemu %s has no %s", command, name))
		}
	}
	return all
}

var makefile = sync.OnceValue(func() string {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		panic(err)
	}
	return string(text)
})

// TestNames proves that the commands, flags, targets and files exist that pages name,
// in blocks of shell and in the prose, run or not.
func TestNames(t *testing.T) {
	for _, name := range names() {
		p := pages()[name]
		for _, b := range p.blocks {
			if b.lang != "sh" {
				continue
			}
			for _, what := range misspelt(t, b.text) {
				t.Errorf("%s:%d: %s", name, b.line, what)
			}
		}
		for _, c := range p.code {
			if name == "CHANGELOG.md" || !strings.HasPrefix(c.text, "clbemu ") && !strings.HasPrefix(c.text, "make ") {
				continue // what was so need not be so
			}
			for _, what := range misspelt(t, c.text) {
				t.Errorf("%s:%d: %s", name, c.line, what)
			}
		}
	}
}

// TestMisspelt proves that what is misspelt is found.
func TestMisspelt(t *testing.T) {
	for code, want := range map[string]string{
		"clbemu serve --tls": "", "clbemu scenario run x --json": "", "clbemu journal --counts": "", "clbemu journal mark before": "", "eval \"$(clbemu env --shell fish)\"": "",
		"clbemu scenario watch x --tls -- terraform --nothing": "", "make kind-up": "", "kubectl apply --filename deploy/kind/nlb-service.yaml": "", "go test ./examples/...": "",
		"clbemu srve": "there is no clbemu srve", "true && clbemu world sett a=b": "there is no clbemu world sett", "clbemu serve --tsl": "clbemu serve has no --tsl",
		"clbemu serve \\\n  --tsl": "clbemu serve has no --tsl", "eval \"$(clbemu evn)\"": "there is no clbemu evn", "echo x | clbemu fault ad -": "there is no clbemu fault ad",
		"make kindup": "there is no target kindup", "kubectl apply -f deploy/kind/nlb.yaml": "there is no deploy/kind/nlb.yaml",
	} {
		if got := strings.Join(misspelt(t, code), ", "); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// TestBlocks proves that every block has a language, that its mark is known, and that
// what is listed as not run is there.
func TestBlocks(t *testing.T) {
	listed := make(map[string]bool)
	for _, name := range names() {
		for _, b := range pages()[name].blocks {
			switch {
			case b.lang == "":
				t.Errorf("%s:%d: the block says no language: sh is run, text is what the block of sh before says", name, b.line)
			case slices.Contains([]string{serves, fails, alone, ""}, b.mark), b.lang != "sh":
			default:
				t.Errorf("%s:%d: there is no mark %q", name, b.line, b.mark)
			}
			if b.lang == "sh" && notRun[pages()[name].key(&b)] != "" {
				listed[pages()[name].key(&b)] = true
			}
		}
	}
	for key, reason := range notRun {
		if !listed[key] || reason == "" {
			t.Errorf("there is no block %q, which is listed as not run (%s)", key, reason)
		}
	}
}

// TestInstalled proves that packages put files where the page of the installation says.
func TestInstalled(t *testing.T) {
	settings, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range pages()["docs/install.md"].code {
		if strings.HasPrefix(c.text, "/usr/") || strings.HasPrefix(c.text, "/etc/") {
			if found++; !strings.Contains(string(settings), "dst: "+c.text+",") {
				t.Errorf("line %d: no package has %s", c.line, c.text)
			}
		}
	}
	if found < 5 {
		t.Errorf("the page names %d files", found)
	}
}
