package target_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/apiclient"
	"github.com/clbemu/clbemu/emulator/target/private"
	"github.com/clbemu/clbemu/faults"
	"github.com/clbemu/clbemu/scenarios"
)

// TestMain is also the programs that these tests run: this binary, told by its
// environment what to do.
func TestMain(m *testing.M) {
	switch os.Getenv("CLBEMU_TEST_PROGRAM") {
	case "":
		os.Exit(m.Run())
	case "create":
		os.Exit(createUntilDone())
	case "sleep":
		fmt.Println("asleep")
		time.Sleep(time.Hour)
	case "leave":
		leave()
	case "fail":
		fmt.Fprintln(os.Stderr, "it is broken")
		os.Exit(3)
	}
}

// leave starts a program in a session of its own, where there are such.
var leave = func() {}

// createUntilDone returns a client that makes a load balancer and tries again.
func createUntilDone() int {
	client := apiclient.Client{
		URL:         strings.ToLower(os.Getenv("ALICLOUD_CLIENT_SCHEME")) + "://" + os.Getenv("SLB_ENDPOINT"),
		AccessKeyID: os.Getenv("ACCESS_KEY_ID"), AccessKeySecret: os.Getenv("ACCESS_KEY_SECRET"), UserAgent: "program",
	}
	if file := os.Getenv("SSL_CERT_FILE"); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			fmt.Println(err)
			return 1
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(text)
		client.HTTP = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	}
	for deadline := time.Now().Add(await.Patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		reply, err := client.Call(emulator.Version("Slb"), "CreateLoadBalancer", map[string]string{"InstanceChargeType": "PayByCLCU", "ClientToken": os.Getenv("TOKEN")})
		if err == nil && reply.Status == 200 {
			fmt.Println("made", reply.Text("LoadBalancerId"))
			return 0
		}
		fmt.Println("try again:", err, reply.Body)
	}
	return 1
}

// program returns this binary in a role.
func program(role string) scenarios.Program {
	return scenarios.Program{Command: []string{os.Args[0]}, Env: map[string]string{"CLBEMU_TEST_PROGRAM": role, "TOKEN": "once"}}
}

func newOpen(t *testing.T, secure bool) *private.Emulator {
	t.Helper()
	local, err := private.NewOpen(t.Context(), secure)
	do(t, err)
	t.Cleanup(func() { do(t, local.Close(context.Background())) })
	return local
}

// end waits for a program's end.
func end(t *testing.T, running scenarios.Running) {
	t.Helper()
	if over, err := running.Wait(t.Context(), time.Minute); err != nil || !over {
		t.Fatalf("Wait = %v, %v, want the end", over, err)
	}
}

// TestProgram proves that a program finds the emulator by its environment alone,
// over HTTP and HTTPS, and that its exit status and output are reported.
func TestProgram(t *testing.T) {
	for _, secure := range []bool{false, true} {
		local := newOpen(t, secure)
		running, err := local.Start(t.Context(), program("create"))
		do(t, err)
		end(t, running)
		if running.Exit() != 0 || !strings.HasPrefix(running.Output(), "made lb-") || used(t, local) != 1 {
			t.Errorf("HTTPS %v: exit %d with %q and %d load balancers, want one made", secure, running.Exit(), running.Output(), used(t, local))
		}
	}
	local := newOpen(t, false)
	running, err := local.Start(t.Context(), program("fail"))
	do(t, err)
	end(t, running)
	if running.Exit() != 3 || running.Output() != "it is broken\n" {
		t.Errorf("exit %d with %q, want 3 and what it complains of", running.Exit(), running.Output())
	}
	if _, err := local.Start(t.Context(), scenarios.Program{Command: []string{filepath.Join(t.TempDir(), "none")}}); err == nil {
		t.Error("a program that there is not is started")
	}
}

// TestProgramOfRemote proves that a program finds a running emulator.
func TestProgramOfRemote(t *testing.T) {
	remote, _ := newRemote(t)
	running, err := remote.Start(t.Context(), program("create"))
	do(t, err)
	end(t, running)
	if running.Exit() != 0 || used(t, remote) != 1 {
		t.Errorf("exit %d with %q, want a load balancer made", running.Exit(), running.Output())
	}
}

// TestNoProgram proves that what does not start is an error, and nothing that could be stopped.
func TestNoProgram(t *testing.T) {
	local := newOpen(t, false)
	file := filepath.Join(t.TempDir(), "foreign")
	do(t, os.WriteFile(file, []byte("\x7fELF\x02\x01\x01 of another machine"), 0o700))
	for path, want := range map[string]string{file: "it is no program for this machine", file + "x": "no such file"} {
		if running, err := local.Start(t.Context(), scenarios.Program{Command: []string{path}}); running != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, want %q", running, err, want)
		}
	}
}

// TestCrashBesideProgram proves that an emulator that crashes in a call of a
// program is back at the same address with what it had acknowledged.
func TestCrashBesideProgram(t *testing.T) {
	local := newOpen(t, false)
	before := local.API
	do(t, local.AddFault(t.Context(), rule(t, "{name: f, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {crash: true}}")))
	running, err := local.Start(t.Context(), program("create"))
	do(t, err)
	end(t, running)
	if running.Exit() != 0 || !strings.Contains(running.Output(), "try again") || used(t, local) != 1 || local.API != before {
		t.Errorf("exit %d with %q at %s and %d load balancers, want one after a second try at %s", running.Exit(), running.Output(), local.API, used(t, local), before)
	}
}

// TestProgramParts plays the program parts of the library with a client that
// does as it should, those that a client that makes one load balancer can be
// judged by, and proves that they pass; and with one that does nothing, that they
// fail.
func TestProgramParts(t *testing.T) {
	judges := map[string]bool{"arrears": true, "insufficient-balance": true, "killed-in-mid-sync": true, "ram-permission-missing": true, "reply-lost-after-create": true}
	parts := 0
	for _, s := range loaded(t) {
		if s.Program == nil {
			continue
		}
		if parts++; !judges[s.Name] {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			for role, want := range map[string]scenarios.Status{"create": scenarios.Passed, "fail": scenarios.Failed} {
				local := newOpen(t, false)
				result := scenarios.Play(t.Context(), s, scenarios.ProgramPart, scenarios.Setup{Target: local, Programs: local, Program: program(role), For: time.Minute})
				if result.Status != want {
					t.Errorf("%s: %s, want %s: %s", role, result.Status, want, result.Failure)
				}
			}
		})
	}
	if parts < 11 {
		t.Errorf("%d scenarios judge programs, want 11 or more", parts)
	}
}

func rule(t *testing.T, text string) faults.Rule {
	t.Helper()
	rules, err := faults.Parse([]byte(text))
	do(t, err)
	return rules[0]
}
