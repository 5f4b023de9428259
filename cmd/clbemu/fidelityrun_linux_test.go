package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// account is an emulator that stands for the real cloud, and a ledger of what is created
// in it.
type account struct {
	*binary.Server
	ledger string
}

func newAccount(t *testing.T) *account {
	return &account{binary.Serve(t, "--engine", "memory"), filepath.Join(t.TempDir(), "ledger")}
}

// fidelity returns clbemu fidelity with the account's settings.
func (a *account) fidelity(args ...string) *exec.Cmd {
	args = append(append([]string{"fidelity"}, args...), "--region", "cn-hangzhou", "--ledger", a.ledger)
	for _, product := range []string{"Slb", "Nlb", "Sts"} {
		args = append(args, "--endpoint", product+"="+a.API)
	}
	cmd := exec.Command(binary.Path, args...)
	cmd.Env = append(os.Environ(), "ALIBABA_CLOUD_ACCESS_KEY_ID="+emulatortest.AccessKeyID, "ALIBABA_CLOUD_ACCESS_KEY_SECRET="+emulatortest.AccessKeySecret)
	return cmd
}

func (a *account) loadBalancers(t *testing.T) string {
	t.Helper()
	reply, err := a.Client().Call(emulatortest.Slb, "DescribeLoadBalancers", nil)
	if err != nil || reply.Status != http.StatusOK {
		t.Fatalf("DescribeLoadBalancers = %v, %v", reply, err)
	}
	return fmt.Sprint(reply.Body["TotalCount"])
}

// changing is a run of a case that creates a load balancer and a server group.
var changing = []string{"run", "--target", "cloud", "--allow-changes", "Slb/CreateVServerGroup/answers-request-id"}

// TestFidelityKilled proves that no other process opens the ledger of a run, and that what the run
// created before it was killed is deleted afterwards.
func TestFidelityKilled(t *testing.T) {
	t.Parallel()
	a := newAccount(t)
	rule := "name: f\nmatch: {action: CreateVServerGroup}\neffect: {hang: {}}\n"
	if status, answer, err := a.Ask("POST", "/v1/faults", []byte(rule)); err != nil || status != http.StatusOK {
		t.Fatalf("POST /v1/faults = %d %s, %v", status, answer, err)
	}
	cmd := a.fidelity(append(changing, "--yes")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitHit(t, a.Server)
	for _, other := range [][]string{{"clean"}, append(changing, "--yes")} {
		if r := binary.Finish(t, a.fidelity(other...)); r.Code != 2 || !strings.Contains(r.Stderr, "in use by another process") {
			t.Errorf("%s beside a run = %+v, want 2", other[0], r)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if n := a.loadBalancers(t); n != "1" {
		t.Fatalf("%s load balancers after the kill, want the one of the case", n)
	}
	if r := binary.Finish(t, a.fidelity("clean")); r.Code != 0 || !strings.Contains(r.Stdout, "1 thing deleted, 0 left") {
		t.Errorf("clean = %+v, want the load balancer deleted", r)
	}
	if n := a.loadBalancers(t); n != "0" {
		t.Errorf("%s load balancers are left", n)
	}
}

// TestFidelityConsent proves that a run asks a person at a terminal, and that only yes
// creates something.
func TestFidelityConsent(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{"yes": 0, "no": 2, "": 2, "YES": 2, "yes please": 2} {
		t.Run(answer, func(t *testing.T) {
			a := newAccount(t)
			person, terminal := newTerminal(t)
			cmd := a.fidelity(changing...)
			cmd.Stdin = terminal
			cmd.Stderr = terminal
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			terminal.Close()
			var seen bytes.Buffer
			for part := make([]byte, 4096); !strings.Contains(seen.String(), "Type yes to create them: "); {
				n, err := person.Read(part)
				seen.Write(part[:n])
				if err != nil {
					t.Fatalf("%v after %q, want a question", err, seen.String())
				}
			}
			for _, says := range []string{"1  Slb CreateLoadBalancer", "billed"} {
				if !strings.Contains(seen.String(), says) {
					t.Errorf("before the question: %q, want %q in it", seen.String(), says)
				}
			}
			fmt.Fprintln(person, answer)
			go func() { _, _ = seen.ReadFrom(person) }() // the terminal must not fill up
			_ = cmd.Wait()                               // the code says how
			created := a.loadBalancersCreated(t)
			if code := cmd.ProcessState.ExitCode(); code != want || created != (want == 0) {
				t.Errorf("exit code %d, created %t, want %d", code, created, want)
			}
		})
	}
}

// loadBalancersCreated reports whether a call created a load balancer.
func (a *account) loadBalancersCreated(t *testing.T) bool {
	t.Helper()
	status, answer, err := a.Ask("GET", "/v1/journal?action=CreateLoadBalancer", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("GET /v1/journal = %d, %v", status, err)
	}
	return bytes.Contains(answer, []byte("CreateLoadBalancer"))
}

// newTerminal returns the two ends of a terminal: a person's and a program's.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}
