//go:build unix

package docs_test

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
)

var asTyped = flag.Bool("as-typed", false, "run the README on the default ports where they are free, as a reader does")

// TestCommands proves that the commands of every page work as they stand there, one
// after the other in one folder, and say what the page shows. Each page has an emulator
// on free ports, of its own blocks or else a usual one. A translation has the same
// blocks, which TestTranslations holds.
func TestCommands(t *testing.T) {
	ran := 0
	for _, name := range names() {
		p := pages()[name]
		if _, is := english(name); is || !p.runs() {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newSession(t, p, freePort(t), freePort(t)).play()
		})
	}
	if ran < 5 {
		t.Errorf("the commands of %d pages were run", ran)
	}
}

// TestAsTyped proves that what the README says can be typed as it is, on the ports on
// which clbemu listens, and in a fresh copy of the repository. It reports ports that are
// in use, and uses others.
func TestAsTyped(t *testing.T) {
	if !*asTyped {
		t.Skip("it listens on the default ports: -as-typed asks for it")
	}
	api, control := defaultAPI, defaultControl
	for _, address := range []string{api, control} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("not on the default ports: %v", err)
			api, control = freePort(t), freePort(t)
			break
		}
		l.Close()
	}
	newSession(t, pages()["README.md"], api, control).play()
}

const defaultAPI, defaultControl = "127.0.0.1:9600", "127.0.0.1:9601"

// runs reports whether a page has a block that is run.
func (p *page) runs() bool {
	return slices.ContainsFunc(p.blocks, func(b block) bool { return b.lang == "sh" && notRun[p.key(&b)] == "" })
}

// given has the ports that freePort gave away.
var given sync.Map

// freePort is an address at which nothing listens now, and none twice. It is below those that
// the data plane of any emulator, the end-to-end tests and systems give away on their own, as it
// stays free for as long as a build takes.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := 2000 + rand.IntN(7000)
		if _, twice := given.LoadOrStore(port, true); twice {
			continue
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}

// session is a reader's terminals with a page.
type session struct {
	t    *testing.T
	page *page
	// dir is the folder in which the reader starts. Kept is the folder and environment
	// that one block leaves to the next.
	dir, kept    string
	api, control string
	// elsewhere replaces the addresses of pages by ones at which nothing listens.
	elsewhere *strings.Replacer
	// group has the blocks, and what they leave in the background.
	group int
	// server is the terminal in which the emulator is.
	server *exec.Cmd
	ended  chan struct{}
	served func() string
}

func newSession(t *testing.T, p *page, api, control string) *session {
	t.Helper()
	s := &session{t: t, page: p, dir: filepath.Join(t.TempDir(), "clbemu"), kept: t.TempDir(), api: api, control: control, served: func() string { return "" }}
	s.elsewhere = strings.NewReplacer(defaultAPI, api, defaultControl, control, "127.0.0.1:18081", freePort(t), "127.0.0.1:18082", freePort(t))
	copyTree(t, s.dir)
	// The first of the group lives as long as the session, so that the group's number is
	// no other's when it is ended.
	first := exec.Command("cat")
	first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := first.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	s.group = first.Process.Pid
	t.Cleanup(func() {
		_ = syscall.Kill(-s.group, syscall.SIGTERM)
		_ = first.Wait() // it was killed
	})
	t.Cleanup(s.end)
	return s
}

// copyTree makes what a fresh clone is, as far as a reader needs it.
func copyTree(t *testing.T, to string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(notOurs, entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, info.Mode())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// play runs the blocks of the page.
func (s *session) play() {
	said := ""
	for i := range s.page.blocks {
		b := &s.page.blocks[i]
		switch {
		case b.lang == "text":
			if missing := absent(b.text, said); missing != "" {
				s.t.Errorf("%s:%d: the commands do not say %q, but\n%s", s.page.name, b.line, missing, said)
			}
		case b.lang != "sh" || notRun[s.page.key(b)] != "":
			said = ""
		case b.mark == serves:
			said = s.serve(b.text)
		case b.mark == alone:
			s.end()
			said = s.run(b)
		default:
			if s.server == nil {
				s.serve("clbemu serve\n")
			}
			said = s.run(b)
		}
	}
}

// TestShown proves that what a page shows is looked for in order, and … is anything.
func TestShown(t *testing.T) {
	const said = "made lb-1\n  failed  12\n  saw 2\n"
	for shown, want := range map[string]string{
		"made lb-…\nsaw 2\n": "", "failed … 12\n": "", "made lb-2\n": "made lb-2", "saw 2\nfailed\n": "failed", "saw .\n": "saw .",
	} {
		if got := absent(shown, said); got != want {
			t.Errorf("%q lacks %q, want %q", shown, got, want)
		}
	}
}

// absent returns the first line of what a page shows that is not among what was said, in order; …
// stands for anything.
func absent(shown, said string) string {
	lines := strings.Split(said, "\n")
	for line := range strings.Lines(shown) {
		line = strings.TrimSpace(line)
		pattern := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
		i := slices.IndexFunc(lines, pattern.MatchString)
		if i < 0 {
			return line
		}
		lines = lines[i+1:]
	}
	return ""
}

// usual reports whether the emulator is where the page says.
func (s *session) usual() bool { return s.control == defaultControl }

// beginning returns what a shell runs before a block: it continues where the last one
// ended, and where the emulator is not on the ports of the page, it points commands
// there.
func (s *session) beginning() string {
	text := fmt.Sprintf("set -eu\nif [ -f %[1]s/env ]; then . %[1]s/env; cd \"$(cat %[1]s/dir)\"; fi\ncurl() { command curl -sSf \"$@\"; }\n", s.kept)
	if s.usual() {
		return text
	}
	// Scenarios have an emulator of their own unless one is named.
	return text + fmt.Sprintf("clbemu() { CLBEMU_SERVER=http://%s command clbemu \"$@\"; }\n", s.control)
}

// command returns a shell with a script, in a group of processes, and a file of what it says. The
// group 0 is one of its own.
func (s *session) command(group int, script string) (cmd *exec.Cmd, said func() string) {
	s.t.Helper()
	if !s.usual() {
		script = s.elsewhere.Replace(script)
	}
	cmd = exec.Command("sh", "-c", s.beginning()+script)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
		"PATH="+filepath.Dir(binary.Path)+":"+os.Getenv("PATH"), "HOME="+s.kept)
	cmd.Env = append(cmd.Env, goFolders()...)
	if !s.usual() {
		cmd.Env = append(cmd.Env, "CLBEMU_LISTEN="+s.api, "CLBEMU_CONTROL_LISTEN="+s.control)
	}
	// A pipe would be read until the last background job ends.
	file, err := os.CreateTemp(s.kept, "said")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { file.Close() })
	cmd.Stdout, cmd.Stderr = file, file
	return cmd, func() string {
		text, err := os.ReadFile(file.Name())
		if err != nil {
			s.t.Fatal(err)
		}
		return string(text)
	}
}

// goFolders are Go's caches in the environment: a reader has a home, and not that of who
// runs the tests.
var goFolders = sync.OnceValue(func() (list []string) {
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		folder, _ := exec.Command("go", "env", name).Output() // without Go, no block needs it
		list = append(list, name+"="+strings.TrimSpace(string(folder)))
	}
	return list
})

// patience limits how long a block may take, which may compile much on a busy machine.
const patience = 15 * time.Minute

// run runs a block to its end.
func (s *session) run(b *block) string {
	s.t.Helper()
	cmd, said := s.command(s.group, b.text+fmt.Sprintf("export -p > %[1]s/env; pwd > %[1]s/dir\n", s.kept))
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // the status says how it ended
	late.Stop()
	want := 0
	if b.mark == fails {
		want = 1
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		s.t.Fatalf("%s:%d:\n%sexits with %d, want %d:\n%sand the emulator says\n%s", s.page.name, b.line, b.text, code, want, said(), s.served())
	}
	return said()
}

// serve starts a server that goes on, replacing the previous one, and waits until the
// emulator is ready.
func (s *session) serve(script string) string {
	s.t.Helper()
	s.end()
	cmd, said := s.command(0, script)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	s.server, s.ended, s.served = cmd, ended, said
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if answer, err := http.Get("http://" + s.control + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return said()
			}
		}
		select {
		case <-ended:
			s.t.Fatalf("%s:\n%sended:\n%s", s.page.name, script, said())
		case <-time.After(20 * time.Millisecond): // between two looks
		}
	}
	s.t.Fatalf("%s:\n%sis not ready:\n%s", s.page.name, script, said())
	return ""
}

// end is Ctrl-C in the emulator's terminal.
func (s *session) end() {
	if s.server == nil {
		return
	}
	select {
	case <-s.ended:
		s.t.Errorf("%s: the emulator has ended by itself:\n%s", s.page.name, s.served())
	default:
		if err := syscall.Kill(-s.server.Process.Pid, syscall.SIGINT); err != nil {
			s.t.Error(err)
		}
		<-s.ended
	}
	s.server = nil
}
