package main_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestMCPFindsOneLater proves that clbemu mcp starts where no emulator runs, says so when a
// tool needs one, and finds one that starts later.
func TestMCPFindsOneLater(t *testing.T) {
	t.Parallel()
	place := "127.0.0.1"
	if runtime.GOOS == "linux" {
		place = "127.78.0.1" // where no other test listens
	}
	gone := binary.Serve(t, "--engine", "memory", "--control-listen", place+":0")
	address := strings.TrimPrefix(gone.Control, "http://")
	gone.End(os.Interrupt)
	cmd := exec.Command(binary.Path, "mcp", "--server", address)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("mcp ends with %v", err)
		}
	})
	answers := bufio.NewReader(out)
	say := func(text, want string) {
		t.Helper()
		if _, err := io.WriteString(in, text+"\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := answers.ReadString('\n'); err != nil || !strings.Contains(answer, want) {
			t.Fatalf("%s is answered %s, %v, want %q", text, answer, err, want)
		}
	}
	say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`, `"serverInfo"`)
	if _, err := io.WriteString(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	say(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_clouds"}}`, "nothing answers at")
	await.Until(t, "no other process has the address", func() bool {
		later, _ := binary.Launch(t, binary.Command("--engine", "memory", "--control-listen", address))
		return later.API != ""
	})
	say(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_clouds"}}`, `found`)
	// The fork gets a load balancer, as a new version might make one.
	mustRun(t, "call", "--server", address, "CreateLoadBalancer", "LoadBalancerName=one", "InstanceChargeType=PayByCLCU")
	mustRun(t, "cloud", "create", "--server", address, "try")
	mustRun(t, "call", "--server", address, "--cloud", "try", "CreateLoadBalancer", "LoadBalancerName=two", "InstanceChargeType=PayByCLCU")
	say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"upgrade_check","arguments":{"cloud":"try"}}}`, `create a new load balancer`)
	say(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"upgrade_check","arguments":{"cloud":"none"}}}`, `there is no such cloud`)
	say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"lint_service","arguments":{"yaml":"kind: Service\nmetadata: {name: web, annotations: {service.beta.kubernetes.io/alibaba-cloud-loadbalancer-spek: x}}\nspec: {type: LoadBalancer}"}}}`, `spek`)
}
