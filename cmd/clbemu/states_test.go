package main_test

import (
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// recordState keeps a state as the version writes it that is about to be released.
var recordState = flag.String("record-state", "", "write the state that this version keeps into testdata/states/VERSION")

// stateCalls make a state that has something of most kinds, by commands of clbemu.
const stateCalls = `call CreateLoadBalancer LoadBalancerName=web AddressType=internet Tag.1.Key=team Tag.1.Value=shop
call CreateVServerGroup LoadBalancerId=$LB VServerGroupName=servers BackendServers=[{"ServerId":"i-bp1clbemu0000000001","Port":"8080","Weight":"60"}]
call CreateLoadBalancerTCPListener LoadBalancerId=$LB ListenerPort=80 Bandwidth=-1 BackendServerPort=8080
call StartLoadBalancerListener LoadBalancerId=$LB ListenerPort=80
call CreateAccessControlList AclName=office
call AllocateEipAddress --product Vpc
call CreateServerGroup --product Nlb ServerGroupName=nlb VpcId=vpc-bp1clbemu000000000001
world set quota.slb_quota_listeners_num=7
fault add $FAULTS
`

// TestReleasedStates proves that this version opens what each release has written, finds no
// fault in it, shows all of it, and writes to it: the folder of the state, and an export.
// What this version no longer emulates is not there, and is named: dropped.txt lists it.
func TestReleasedStates(t *testing.T) {
	t.Parallel()
	if *recordState != "" {
		writeState(t, filepath.Join("testdata", "states", *recordState))
	}
	releases, err := filepath.Glob("testdata/states/*")
	if err != nil || len(releases) == 0 {
		t.Fatalf("no release has a state: %v", err)
	}
	for _, release := range releases {
		t.Run(filepath.Base(release), func(t *testing.T) {
			dir := t.TempDir()
			unpack(t, filepath.Join(release, "clbemu.db.gz"), filepath.Join(dir, "clbemu.db"))
			r := binary.Run(t, "state", "check", "--data-dir", dir)
			if r.Code != 0 {
				t.Errorf("clbemu state check: %+v", r)
			}
			wantDropped(t, release, "clbemu state check", r.Stderr)
			served := binary.Serve(t, "--data-dir", dir, "--data-plane", "off")
			checkState(t, release, served)
			served.End(os.Interrupt)
			wantDropped(t, release, "the log", served.Stderr.String())
			exported := filepath.Join(dir, "state.json")
			unpack(t, filepath.Join(release, "state.json.gz"), exported)
			s := binary.Serve(t, "--engine", "memory", "--data-plane", "off")
			if r = binary.Run(t, "state", "import", exported, "--server", s.Control); r.Code != 0 {
				t.Fatalf("clbemu state import: %+v", r)
			}
			wantDropped(t, release, "clbemu state import", r.Stderr)
			checkState(t, release, s)
		})
	}
}

// wantDropped wants what this version no longer emulates named, each once.
func wantDropped(t *testing.T, release, where, said string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(release, "dropped.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`(\w+ [\w-]+) is dropped: this version does not emulate it`).FindAllStringSubmatch(said, -1)
	names := make([]string, len(got))
	for i, found := range got {
		names[i] = found[1] + "\n"
	}
	if slices.Sort(names); strings.Join(names, "") != string(want) {
		t.Errorf("%s names as dropped %q, want %q", where, names, want)
	}
}

// checkState wants what a release had, in a state that takes more.
func checkState(t *testing.T, release string, s *binary.Server) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(release, "names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, s); got != string(want) {
		t.Errorf("the state has\n%s\nwant\n%s", got, want)
	}
	if r := binary.Run(t, "call", "CreateLoadBalancer", "--server", s.Control); r.Code != 0 {
		t.Errorf("the state takes no load balancer: %+v", r)
	}
}

// names lists the ids of all resources, the fault rules and the quota that differs, a line each.
func names(t *testing.T, s *binary.Server) string {
	t.Helper()
	var all []string
	for command, name := range map[string]string{"get all": `\b[a-z]+-bp[0-9a-z]{10,}`, "fault list": `\bbusy\b`, "quota": `slb_quota_listeners_num +7\b`} {
		r := binary.Run(t, append(strings.Fields(command), "--server", s.Control)...)
		if r.Code != 0 {
			t.Fatalf("clbemu %s: %+v", command, r)
		}
		for _, found := range regexp.MustCompile(name).FindAllString(r.Stdout, -1) {
			all = append(all, strings.Join(strings.Fields(found), " "))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n") + "\n"
}

// writeState makes the files of a release.
func writeState(t *testing.T, folder string) {
	t.Helper()
	dir, balancer, faults := t.TempDir(), "", filepath.Join(t.TempDir(), "faults.yaml")
	if err := os.WriteFile(faults, []byte("{name: busy, match: {action: CreateRules}, effect: {error: {code: ServiceUnavailable}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := binary.Serve(t, "--data-dir", dir, "--data-plane", "off")
	for line := range strings.Lines(stateCalls) {
		args := append(strings.Fields(strings.NewReplacer("$LB", balancer, "$FAULTS", faults).Replace(line)), "--server", s.Control)
		r := binary.Run(t, args...)
		if r.Code != 0 {
			t.Fatalf("clbemu %s: %+v", line, r)
		}
		if _, after, made := strings.Cut(r.Stdout, `"LoadBalancerId": "`); made && balancer == "" {
			balancer, _, _ = strings.Cut(after, `"`)
		}
	}
	exported := binary.Run(t, "state", "export", "--server", s.Control)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "names.txt"), []byte(names(t, s)), 0o644); err != nil {
		t.Fatal(err)
	}
	s.End(os.Interrupt)
	database, err := os.ReadFile(filepath.Join(dir, "clbemu.db"))
	if err != nil {
		t.Fatal(err)
	}
	pack(t, filepath.Join(folder, "clbemu.db.gz"), database)
	pack(t, filepath.Join(folder, "state.json.gz"), []byte(exported.Stdout))
}

func pack(t *testing.T, path string, content []byte) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, path, to string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
