package main_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
	"github.com/clbemu/clbemu/emulator/journal"
)

// journalOf runs the journal command against a server.
func journalOf(t *testing.T, s *binary.Server, args ...string) binary.Result {
	t.Helper()
	return binary.Run(t, append(append([]string{"journal"}, args...), "--server", s.Control)...)
}

// call makes a call whatever its answer is.
func call(t *testing.T, s *binary.Server, action string, params map[string]string) {
	t.Helper()
	if _, err := s.Client().Call(emulatortest.Slb, action, params); err != nil {
		t.Fatal(err)
	}
}

// busyServer returns a server that has answered three calls, well, badly and by a fault rule, and
// one change.
func busyServer(t *testing.T) (s *binary.Server, id string) {
	t.Helper()
	s = binary.Serve(t, "--engine", "memory")
	id = createLoadBalancer(t, s.Client())
	call(t, s, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": "lb-none", "SourceIp": "1"})
	rule := writeFile(t, filepath.Join(t.TempDir(), "f.yaml"), "{name: busy, match: {action: DescribeRegions}, effect: {error: {code: ServiceUnavailable}}}")
	mustRun(t, "fault", "add", rule, "--server", s.Control)
	call(t, s, "DescribeRegions", nil)
	return s, id
}

// TestJournalLines proves that a line says what a call was and how it was
// answered, without escape sequences, and that what went wrong and what is a guess are marked.
func TestJournalLines(t *testing.T) {
	t.Parallel()
	s, _ := busyServer(t)
	call(t, s, "Evil\x1b[31m", nil)
	call(t, s, "DeleteServerCertificate", map[string]string{"ServerCertificateId": "none"})
	const when = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`
	want := regexp.MustCompile(`^  ` + when + `  CreateLoadBalancer +lb-[0-9a-z]+ +200 OK +\d+\.\d ms  by testid Go-http-client/1.1  VSwitchId=vsw-bp1clbemu000000000001
! ` + when + `  DeleteLoadBalancer +lb-none +404 InvalidLoadBalancerId.NotFound +\d+\.\d ms  by testid Go-http-client/1.1  unread=SourceIp  SourceIp=1
\* ` + when + `  fault: add fault rules  busy="name: busy\\nmatch:.*…"
! ` + when + `  DescribeRegions +503 ServiceUnavailable +\d+\.\d ms  by testid Go-http-client/1.1  fault=busy
! ` + when + `  "Evil\\x1b\[31m" +\d+ InvalidAction.NotEmulated +\d+\.\d ms  by testid Go-http-client/1.1
! ` + when + `  DeleteServerCertificate +none +404 ServerCertificateId.NotFound +\d+\.\d ms  by testid Go-http-client/1.1  guess=CLB-0203
$`)
	if r := journalOf(t, s); r.Code != 0 || !want.MatchString(r.Stdout) {
		t.Errorf("journal = %d, %s\n%s\nwant it to match\n%s", r.Code, r.Stderr, r.Stdout, want)
	}
}

// TestJournalTraffic proves that the journal has what passes listeners, if it is asked to,
// and what a fault rule strikes there.
func TestJournalTraffic(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory", "--access-log")
	id := createLoadBalancer(t, s.Client())
	call(t, s, "CreateLoadBalancerHTTPListener", map[string]string{"LoadBalancerId": id, "ListenerPort": "80", "BackendServerPort": "80", "Bandwidth": "-1",
		"StickySession": "off", "HealthCheck": "off"})
	call(t, s, "StartLoadBalancerListener", map[string]string{"LoadBalancerId": id, "ListenerPort": "80"})
	url := urlOf(t, s, id)
	for _, rule := range []string{"", "{name: broken, match: {loadBalancer: " + id + "}, at: connect, effect: {refuse: true}}"} {
		if rule != "" {
			mustRun(t, "fault", "add", writeFile(t, filepath.Join(t.TempDir(), "f.yaml"), rule), "--server", s.Control)
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		if response, err := client.Get(url + "/path"); err == nil {
			response.Body.Close()
		}
	}
	const when = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}`
	want := regexp.MustCompile(`^\+ ` + when + `  request  ` + id + `_http_80  503  \d+\.\d ms  client=127.0.0.1:\d+  reason=the server group has no backend server  request=GET 127.0.0.1/path
! ` + when + `  connect  ` + id + `_http_80  fault=broken  client=127.0.0.1:\d+
! ` + when + `  connection  ` + id + `_http_80  \d+\.\d ms  fault=broken  client=127.0.0.1:\d+
$`)
	if r := journalOf(t, s, "--where", "kind=traffic"); r.Code != 0 || !want.MatchString(r.Stdout) {
		t.Errorf("journal = %d, %s\n%s\nwant it to match\n%s", r.Code, r.Stderr, r.Stdout, want)
	}
}

// TestJournalQueries proves that each flag chooses what it says.
func TestJournalQueries(t *testing.T) {
	t.Parallel()
	s, id := busyServer(t)
	if r := journalOf(t, s, "mark", "m"); r.Code != 0 {
		t.Fatalf("journal mark = %+v", r)
	}
	call(t, s, "DescribeLoadBalancerAttribute", map[string]string{"LoadBalancerId": id})
	for query, want := range map[string]string{
		"":                                     "CreateLoadBalancer DeleteLoadBalancer add fault rules DescribeRegions m DescribeLoadBalancerAttribute",
		"--limit 1":                            "DescribeLoadBalancerAttribute",
		"--limit 0 --where status=503":         "DescribeRegions",
		"--action *LoadBalancer":               "CreateLoadBalancer DeleteLoadBalancer",
		"--code OK":                            "CreateLoadBalancer DescribeLoadBalancerAttribute",
		"--code ServiceUnavailable":            "DescribeRegions",
		"--key testid --since 3":               "DescribeRegions DescribeLoadBalancerAttribute",
		"--key other":                          "",
		"--since-mark m":                       "DescribeLoadBalancerAttribute",
		"--where resource=" + id:               "CreateLoadBalancer DescribeLoadBalancerAttribute",
		"--where fault=b* --where product=Slb": "DescribeRegions",
		"--where params.SourceIp=1":            "DeleteLoadBalancer",
	} {
		r := journalOf(t, s, append(strings.Fields(query), "--json")...)
		var got []string
		for line := range strings.Lines(r.Stdout) {
			var e journal.Entry
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("journal %s --json prints %q: %v", query, line, err)
			}
			got = append(got, e.Action)
		}
		if r.Code != 0 || strings.Join(got, " ") != want {
			t.Errorf("journal %s = %+v with %q, want %q", query, r, got, want)
		}
	}
	counts := "ACTION                         CODE                           CALLS\n" +
		"CreateLoadBalancer             OK                             1\n" +
		"DeleteLoadBalancer             InvalidLoadBalancerId.NotFound 1\n"
	if r := journalOf(t, s, "--counts", "--limit", "1", "--action", "*LoadBalancer"); strings.Join(strings.Fields(r.Stdout), " ") != strings.Join(strings.Fields(counts), " ") {
		t.Errorf("journal --counts = %+v, want\n%s", r, counts)
	}
	if r := journalOf(t, s, "--counts", "--json", "--code", "ServiceUnavailable"); strings.Join(strings.Fields(r.Stdout), "") != `{"counts":[{"action":"DescribeRegions","code":"ServiceUnavailable","calls":1}]}` {
		t.Errorf("journal --counts --json = %+v", r)
	}
	if r := journalOf(t, s, "marks"); !strings.Contains(r.Stdout, "\nm     5  ") {
		t.Errorf("journal marks = %+v, want m at 5", r)
	}
	if r := journalOf(t, s, "clear"); r.Code != 0 || journalOf(t, s).Stdout != "" {
		t.Errorf("journal clear = %+v, and then %+v, want nothing", r, journalOf(t, s))
	}
}

// TestJournalRefusals proves that what means nothing exits with the code of its
// sort.
func TestJournalRefusals(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--where", "nope=1"}, 2, "no field nope"}, {[]string{"--where", "nope"}, 2, "NAME=VALUE"}, {[]string{"--action", "["}, 2, "not a pattern"},
		{[]string{"--since-mark", "none"}, 2, "no mark"}, {[]string{"--limit", "-1"}, 2, "limit"}, {[]string{"--follow", "--counts"}, 2, "can't be used together"},
		{[]string{"--since", "1", "--since-mark", "none"}, 2, "mark"}, {[]string{"mark"}, 2, "the name of a mark"}, {[]string{"mark", "a b"}, 2, "letters, digits"}, {[]string{"show"}, 2, `"show"`},
	} {
		if r := journalOf(t, s, test.args...); r.Code != test.code || !strings.Contains(r.Stderr, test.want) {
			t.Errorf("journal %v = %+v, want %d and %q", test.args, r, test.code, test.want)
		}
	}
	for _, size := range []string{"0", "-1", "9999999999"} {
		if r := binary.Run(t, "serve", "--journal-size", size); r.Code != 2 || !strings.Contains(r.Stderr, "--journal-size") {
			t.Errorf("serve --journal-size %s = %+v, want 2", size, r)
		}
	}
}

// follower is a running clbemu journal --follow.
type follower struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func follow(t *testing.T, s *binary.Server, args ...string) *follower {
	t.Helper()
	cmd := exec.Command(binary.Path, append([]string{"journal", "--follow", "--server", s.Control}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return &follower{cmd, bufio.NewScanner(out)}
}

func (f *follower) want(t *testing.T, action string) {
	t.Helper()
	if !f.lines.Scan() || !strings.Contains(f.lines.Text(), action) {
		t.Fatalf("the next line = %q, %v, want %s", f.lines.Text(), f.lines.Err(), action)
	}
}

// TestJournalFollow proves that a call is shown when it is answered, that a query
// chooses, and that an interrupt and the end of the server are no failures.
func TestJournalFollow(t *testing.T) {
	t.Parallel()
	s, id := busyServer(t)
	interrupted, ended := follow(t, s, "--limit", "1"), follow(t, s, "--json", "--action", "Delete*")
	interrupted.want(t, "DescribeRegions")
	ended.want(t, `"action":"DeleteLoadBalancer"`)
	call(t, s, "DescribeZones", nil)
	interrupted.want(t, "DescribeZones")
	if err := interrupted.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := interrupted.cmd.Wait(); err != nil {
		t.Errorf("journal --follow after an interrupt: %v", err)
	}
	call(t, s, "DeleteLoadBalancer", map[string]string{"LoadBalancerId": id})
	ended.want(t, id)
	if code := s.End(syscall.SIGTERM); code != 0 {
		t.Errorf("a server that is followed ends with %d, want 0", code)
	}
	if err := ended.cmd.Wait(); err != nil {
		t.Errorf("journal --follow after the end of the server: %v", err)
	}
}

// TestJournalFile proves that the file has every call and change, that only its
// owner reads it, and that a restart adds to it.
func TestJournalFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "journal")
	for range 2 {
		s := binary.Serve(t, "--engine", "memory", "--journal-file", path, "--journal-size", "1")
		createLoadBalancer(t, s.Client())
		mustRun(t, "clock", "freeze", "--server", s.Control)
		s.End(syscall.SIGTERM)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for line := range strings.Lines(string(text)) {
		var e journal.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds = append(kinds, fmt.Sprint(e.Kind, " ", e.Action))
	}
	const once = "call CreateLoadBalancer, clock set the clock"
	if got := strings.Join(kinds, ", "); got != once+", "+once {
		t.Errorf("the file has %s, want twice %s", got, once)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("Stat = %v, %v, want mode 0600", info, err)
	}
}

// TestJournalFileFillsUp proves that a disk without room for the journal fails no
// call, keeps whole lines, and is reported once.
func TestJournalFileFillsUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	s := binary.Await(t, exec.Command("sh", "-c", `ulimit -f 8; exec "$0" "$@"`, binary.Path, // 4 or 8 KiB
		"serve", "--engine", "memory", "--journal-file", path, "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"))
	for range 100 {
		mustAnswer(t, s)
	}
	s.End(syscall.SIGTERM)
	if n := strings.Count(s.Stderr.String(), "can't be written"); n != 1 {
		t.Errorf("the log tells %d times of the file, want once: %s", n, s.Stderr.String())
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 || text[len(text)-1] != '\n' {
		t.Errorf("the file ends with %q, %v, want a whole line", text[max(len(text)-20, 0):], err)
	}
}

// mustAnswer makes a call that must be answered with success.
func mustAnswer(t *testing.T, s *binary.Server) {
	t.Helper()
	reply, err := s.Client().Call(emulatortest.Slb, "DescribeRegions", nil)
	if err != nil || reply.Status != 200 {
		t.Fatalf("a call with a full journal file = %v, %v, want success", reply, err)
	}
}

// TestJournalColour proves that colours are for a terminal, and not for one whose
// user wants none.
func TestJournalColour(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("there is no script command to make a terminal")
	}
	s, _ := busyServer(t)
	command := binary.Path + " journal --server " + s.Control
	onTerminal := func(env ...string) string {
		cmd := exec.Command("script", "-qec", command, "/dev/null")
		cmd.Env = append(append(os.Environ(), "TERM=xterm-256color"), env...)
		cmd.Stdin = io.MultiReader() // there is nothing to type
		return binary.Finish(t, cmd).Stdout
	}
	const red, yellow = "\x1b[31m", "\x1b[33m"
	text := onTerminal("NO_COLOR=")
	if !strings.Contains(text, red+"! ") || !strings.Contains(text, yellow+"! ") || strings.Count(text, "\x1b[m") != strings.Count(text, "\x1b[3") {
		t.Errorf("on a terminal the journal is %q, want the error, the fault and the change in colours", text)
	}
	if text := onTerminal("NO_COLOR=1"); strings.Contains(text, "\x1b") || !strings.Contains(text, "DescribeRegions") {
		t.Errorf("with NO_COLOR the journal is %q, want it plain", text)
	}
}
