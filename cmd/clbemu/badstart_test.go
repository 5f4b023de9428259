package main_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBadStarts proves that an error that keeps the server from starting is one
// line that names the cause, with the exit code of its sort.
func TestBadStarts(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	tests := []struct {
		name string
		// prepare returns the arguments behind serve; dir is a fresh folder.
		prepare func(t *testing.T, dir string) []string
		code    int
		want    string
	}{
		{"unknown flag", func(*testing.T, string) []string { return []string{"--nope"} }, 2, "unknown flag: --nope"},
		{"misspelt flag", func(*testing.T, string) []string { return []string{"--data-dri", "x"} }, 2, "unknown flag: --data-dri: do you mean --data-dir?"},
		{"wrong value of a flag", func(*testing.T, string) []string { return []string{"--seed", "many"} }, 2, `--seed: want a whole number from 0, not "many"`},
		{"unknown argument", func(*testing.T, string) []string { return []string{"now"} }, 2, `"now"`},
		{"bad engine", func(*testing.T, string) []string { return []string{"--engine", "sqlite"} }, 2, "--engine is bbolt, memory or etcd"},
		{"etcd", func(*testing.T, string) []string { return []string{"--engine", "etcd"} }, 2, "--engine etcd needs clbemu-replica: type clbemu-replica serve with the same flags"},
		{"address of etcd", func(*testing.T, string) []string { return []string{"--etcd-endpoints", "http://127.0.0.1:2379"} }, 2,
			"--etcd-endpoints needs clbemu-replica: type clbemu-replica serve --engine etcd with the same flags"},
		{"name of a replica", func(*testing.T, string) []string { return []string{"--replica", "r1"} }, 2, "--replica needs clbemu-replica: type clbemu-replica serve"},
		{"bad read", func(*testing.T, string) []string { return []string{"--read", "anywhere"} }, 2, "--read is leader or local"},
		{"bad auth", func(*testing.T, string) []string { return []string{"--auth", "maybe"} }, 2, "--auth is strict or off"},
		{"bad data plane", func(*testing.T, string) []string { return []string{"--data-plane", "ipvs"} }, 2, `--data-plane is ports, addresses or off, not "ipvs"`},
		{"bad source", func(*testing.T, string) []string {
			return []string{"--data-plane", "addresses", "--data-plane-source", "dsr"}
		}, 2, `--data-plane-source is own, transparent or CIDR blocks of clients, not "dsr"`},
		{"source of ports", func(*testing.T, string) []string { return []string{"--data-plane-source", "transparent"} }, 2, "needs --data-plane addresses"},
		{"too many listeners", func(*testing.T, string) []string { return []string{"--data-plane-max-listeners", "10001"} }, 2, "--data-plane-max-listeners is 1 to 10000"},
		{"host with a port", func(*testing.T, string) []string { return []string{"--allowed-host", "a.test,b.test:80"} }, 2, `--allowed-host: "b.test:80"`},
		{"unsigned calls of other machines", func(*testing.T, string) []string {
			return []string{"--auth", "off", "--listen", "0.0.0.0:0"}
		}, 3, "--unsigned-remote"},
		{"bad address", func(*testing.T, string) []string { return []string{"--listen", "9600"} }, 2, "--listen is host:port"},
		{"bad log level", func(*testing.T, string) []string { return []string{"--log-level", "loud"} }, 2, "--log-level"},
		{"bad log format", func(*testing.T, string) []string { return []string{"--log-format", "xml"} }, 2, "--log-format"},
		{"certificate without key", func(*testing.T, string) []string { return []string{"--tls-cert", "c.pem"} }, 2, "--tls-cert and --tls-key go together"},
		{"a token in a device", func(*testing.T, string) []string { return []string{"--control-token-file", os.DevNull} }, 3, "is no regular file, and the token is to be kept in one"},
		{"a world without end", func(*testing.T, string) []string { return []string{"--world", "/dev/zero"} }, 1, "/dev/zero has more than 64 MiB"},
		{"faults without end", func(*testing.T, string) []string { return []string{"--faults", "/dev/zero"} }, 1, "/dev/zero has more than 64 MiB"},
		{"a configuration without end", func(*testing.T, string) []string { return []string{"--config", "/dev/zero"} }, 2, "/dev/zero has more than 64 MiB"},
		{"no configuration file", func(_ *testing.T, dir string) []string {
			return []string{"--config", filepath.Join(dir, "none.yaml")}
		}, 2, "none.yaml"},
		{"unknown key in the configuration", func(t *testing.T, dir string) []string {
			return []string{"--config", writeFile(t, filepath.Join(dir, "c.yaml"), "data_dir: x\n")}
		}, 2, "c.yaml:1:1: data_dir: there is no such setting: do you mean data-dir?"},
		{"mapping in the configuration", func(t *testing.T, dir string) []string {
			return []string{"--config", writeFile(t, filepath.Join(dir, "c.yaml"), "listen: [a]\n")}
		}, 2, "c.yaml:1:9: listen: want a text"},
		{"bad value in the configuration", func(t *testing.T, dir string) []string {
			return []string{"--config", writeFile(t, filepath.Join(dir, "c.yaml"), "tls: true\nseed: many\n")}
		}, 2, `c.yaml:2: seed: want a whole number from 0, not "many"`},
		{"words in the configuration", func(t *testing.T, dir string) []string {
			return []string{"--config", writeFile(t, filepath.Join(dir, "c.yaml"), "just words\n")}
		}, 2, "c.yaml:1:1: want settings by name\n"},
		{"missing certificate", func(_ *testing.T, dir string) []string {
			return []string{"--tls-cert", filepath.Join(dir, "c.pem"), "--tls-key", filepath.Join(dir, "k.pem")}
		}, 2, "c.pem"},
		{"bad world", func(t *testing.T, dir string) []string {
			return []string{"--world", writeFile(t, filepath.Join(dir, "w.yaml"), "accounts: []\nregions: []\nvpc: []\n")}
		}, 1, "w.yaml:3:1: vpc: there is no such field: do you mean vpcs?"},
		{"bad fault rule", func(t *testing.T, dir string) []string {
			return []string{"--faults", writeFile(t, filepath.Join(dir, "f.yaml"), "name: a\nmatch: {action: CreateLoadBalancr}\neffect: {reset: true}\n")}
		}, 1, "f.yaml:2:17: match.action: "},
		{"no fault rules", func(_ *testing.T, dir string) []string { return []string{"--faults", filepath.Join(dir, "none.yaml")} }, 2, "none.yaml"},
		{"port in use", func(*testing.T, string) []string { return []string{"--listen", taken.Addr().String()} }, 3, "is in use; choose another address with --listen"},
		{"control port in use", func(*testing.T, string) []string {
			return []string{"--control-listen", taken.Addr().String()}
		}, 3, "is in use; choose another address with --control-listen"},
		{"open control without a token", func(*testing.T, string) []string {
			return []string{"--control-listen", "0.0.0.0:0"}
		}, 3, "--control-token"},
		{"DNS port in use", func(*testing.T, string) []string {
			return []string{"--dns-listen", taken.Addr().String()}
		}, 3, "DNS listener: listen tcp"},
		{"DNS without a port", func(*testing.T, string) []string { return []string{"--dns-listen", "127.0.0.1"} }, 2, "--dns-listen is host:port"},
		{"debug port in use", func(*testing.T, string) []string {
			return []string{"--debug-listen", taken.Addr().String()}
		}, 3, "choose another address by --debug-listen"},
		{"debug for other machines", func(*testing.T, string) []string { return []string{"--debug-listen", "0.0.0.0:6060"} }, 2,
			`--debug-listen is a loopback address and a port, such as 127.0.0.1:6060, not "0.0.0.0:6060"`},
		{"debug without a host", func(*testing.T, string) []string { return []string{"--debug-listen", ":6060"} }, 2, "is a loopback address"},
		{"debug by a name", func(*testing.T, string) []string { return []string{"--debug-listen", "example.com:6060"} }, 2, "is a loopback address"},
		{"debug without a port", func(*testing.T, string) []string { return []string{"--debug-listen", "127.0.0.1"} }, 2, "is a loopback address"},
		{"folder is a file", func(t *testing.T, dir string) []string {
			return []string{"--data-dir", writeFile(t, filepath.Join(dir, "file"), "")}
		}, 3, "create the data folder"},
		{"folder is read-only", func(t *testing.T, _ string) []string {
			return []string{"--data-dir", readOnly(t)}
		}, 3, "clbemu: "},
		{"foreign file", func(t *testing.T, dir string) []string {
			writeFile(t, filepath.Join(dir, "clbemu.db"), strings.Repeat("hello\n", 10000))
			return []string{"--data-dir", dir}
		}, 3, "clbemu.db is not a clbemu database"},
		{"truncated database", func(t *testing.T, dir string) []string {
			s := binary.Serve(t, "--data-dir", dir)
			s.End(syscall.SIGTERM)
			if err := os.Truncate(filepath.Join(dir, "clbemu.db"), 20000); err != nil {
				t.Fatal(err)
			}
			return []string{"--data-dir", dir}
		}, 3, "clbemu.db"},
		{"second server", func(t *testing.T, dir string) []string {
			binary.Serve(t, "--data-dir", dir)
			return []string{"--data-dir", dir}
		}, 3, "in use by another process"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0",
				"--data-dir", filepath.Join(t.TempDir(), "data")}, test.prepare(t, t.TempDir())...)
			r := binary.Run(t, args...)
			if r.Code != test.code || !strings.Contains(r.Stderr, test.want) || strings.Count(r.Stderr, "\n") != 1 {
				t.Errorf("clbemu %v = %d, %q, want %d and one line with %q", args, r.Code, r.Stderr, test.code, test.want)
			}
			if r.Stdout != "" {
				t.Errorf("clbemu %v says %q, want nothing on standard output", args, r.Stdout)
			}
		})
	}
}

// readOnly is a folder that no user can write to: permissions do not hold
// back root, so it gets one of the kernel's.
func readOnly(t *testing.T) string {
	if os.Getuid() == 0 {
		return "/proc"
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	return dir
}

// limited returns a server whose files can't grow over some blocks of 512 bytes: a limit on the
// size of files stands in for a full disk.
func limited(blocks int, dir string) *exec.Cmd {
	return exec.Command("sh", "-c", fmt.Sprintf(
		`ulimit -f %d; exec "$0" serve --listen 127.0.0.1:0 --control-listen 127.0.0.1:0 --data-dir "$1"`, blocks), binary.Path, dir)
}

// TestFullDisk proves that a database that can't be made keeps the server from
// starting, with a message instead of a crash.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	r := binary.Finish(t, limited(8, t.TempDir()))
	if r.Code != 3 || !strings.Contains(r.Stderr, "file too large") || strings.Count(r.Stderr, "\n") != 1 {
		t.Errorf("serve with a limit of 4 KiB = %d, %q, want 3 and one line with the cause", r.Code, r.Stderr)
	}
}

// TestDiskFillsUp proves that a write that the disk does not take is refused,
// that reads go on, and that what was acknowledged is there after a restart.
func TestDiskFillsUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := binary.Await(t, limited(512, dir))
	call := func(action string, params map[string]string) emulatortest.Reply {
		t.Helper()
		reply, err := s.Client().Call(emulatortest.Slb, action, params)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	id := createLoadBalancer(t, s.Client())
	create := func(n int) emulatortest.Reply {
		return call("CreateVServerGroup", map[string]string{"LoadBalancerId": id, "VServerGroupName": fmt.Sprintf("group-%d", n)})
	}
	made, reply := 0, create(0)
	for ; reply.Status == http.StatusOK && made < 5000; reply = create(made) {
		made++
	}
	if reply.Text("Code") != "InternalError" {
		t.Fatalf("write number %d to a full disk = %v, want InternalError", made, reply)
	}
	count := func() int {
		return strings.Count(binary.Run(t, "state", "export", "--server", s.Control).Stdout, `"Name":"group-`)
	}
	if got := count(); got != made {
		t.Errorf("%d groups after the refused write, want the %d acknowledged ones", got, made)
	}
	unready := func() {
		t.Helper()
		if status, text, err := s.Ask("GET", "/readyz", nil); err != nil || status != http.StatusServiceUnavailable || !strings.Contains(string(text), "reads are served") {
			t.Errorf("/readyz on a full disk = %d %s, %v", status, text, err)
		}
	}
	unready()
	s.End(syscall.SIGTERM)
	s = binary.Await(t, limited(0, dir)) // which takes nothing
	if reply := call("DescribeVServerGroups", map[string]string{"LoadBalancerId": id}); reply.Status != http.StatusOK {
		t.Errorf("a read on a disk that is full at the start = %v", reply)
	}
	if reply := create(made); reply.Text("Code") != "InternalError" {
		t.Errorf("a write on a disk that is full at the start = %v", reply)
	}
	unready()
	s.End(syscall.SIGTERM)
	s = binary.Serve(t, "--data-dir", dir)
	if status, text, err := s.Ask("GET", "/readyz", nil); err != nil || status != http.StatusOK {
		t.Errorf("/readyz = %d %s, %v", status, text, err)
	}
	if got := count(); got != made {
		t.Errorf("%d groups after a restart, want the %d acknowledged ones", got, made)
	}
}
