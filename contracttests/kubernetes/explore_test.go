package kubernetes_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clbemu/clbemu/contracttests/binary"
	"github.com/clbemu/clbemu/contracttests/kubernetes/internal/cloud"
)

// driven are the lives for clbemu explore that the driver can live.
var driven = []string{"clb", "eni", "https", "nlb", "node", "preserved", "settings", "shared"}

// TestLives proves that each life for clbemu explore can be played undisturbed, and that one
// of the plays that its command plans runs.
func TestLives(t *testing.T) {
	files, err := filepath.Glob("../../examples/explore/*.yaml")
	if err != nil || len(files) < len(driven) {
		t.Fatalf("lives: %q, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			if !slices.Contains(driven, name) {
				requireCCM(t, annotated)
			}
			t.Parallel()
			plane := <-shared.free
			t.Cleanup(func() { shared.free <- plane })
			f := &fixture{T: t, ctx: t.Context(), patience: 4 * time.Minute, dir: t.TempDir(), cluster: plane, cloud: &cloud.Cloud{}, accessKey: true}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(text), "\n")
			before, after, ok := strings.Cut(strings.TrimPrefix(line, "# clbemu "), " --control-planes 4 ")
			if !ok {
				t.Fatalf("%s does not begin with the command that plays it, but with %q", name, line)
			}
			options, _, _ := strings.Cut(after, "-- ")
			for _, port := range fixedPort.FindAllStringSubmatch(string(text), -1) {
				if n, err := strconv.Atoi(port[1]); err != nil || n < firstPort || n > lastStatic {
					t.Errorf("%s has the NodePort %s, want one of %d to %d, which Kubernetes gives no other Service", name, port[1], firstPort, lastStatic)
				}
			}
			play := func(arguments string) binary.Result {
				cmd := exec.Command("sh", "-c", fmt.Sprintf(`"$CLBEMU" %s --kubeconfig "$PLANE" %s --plays 1 --output json -- sh -c "$CONTROLLER"`, arguments, options))
				cmd.Dir = "../.."
				cmd.Env = append(os.Environ(), "CLBEMU="+binary.Path, "PLANE="+plane.Kubeconfig, "CONTROLLER="+f.explored(),
					"PATH="+filepath.Dir(plane.Kubectl())+":"+os.Getenv("PATH"))
				return binary.Finish(t, cmd)
			}
			r := play(before)
			if strings.Contains(r.Stdout+r.Stderr, portLeaked) {
				t.Logf("Kubernetes lost the release of a NodePort: %s is played with others", name)
				others := filepath.Join(f.dir, name+".yaml")
				if err := os.WriteFile(others, otherPorts(text), 0o600); err != nil {
					t.Fatal(err)
				}
				r = play(strings.Replace(before, "examples/explore/"+name+".yaml", others, 1))
			}
			var report struct {
				Planned  int
				Outcomes []struct{ ID, Verdict, Why string }
			}
			if err := json.Unmarshal([]byte(r.Stdout), &report); err != nil || report.Planned == 0 || len(report.Outcomes) != report.Planned {
				t.Fatalf("%v, %+v", err, r)
			}
			for _, o := range report.Outcomes {
				if o.Verdict == "broken" {
					t.Errorf("%s: %s", o.ID, o.Why)
				}
			}
		})
	}
}

// fixedPort matches the NodePorts of a life.
var fixedPort = regexp.MustCompile(`[nN]odePort: ([0-9]+)`)

// portLeaked is what Kubernetes says of a NodePort that is not free. Its log calls one of a
// play that is over leaked, minutes later: no Service has it then. Why is not known.
const portLeaked = "provided port is already allocated"

// Kubernetes gives Services that ask for no NodePort those above the first 86 of its range.
const (
	firstPort  = 30000
	lastStatic = 30085
)

// otherPorts gives the Services of a life NodePorts that no life has.
func otherPorts(text []byte) []byte {
	return fixedPort.ReplaceAllFunc(text, func(found []byte) []byte {
		name, port, _ := bytes.Cut(found, []byte(": "))
		n, _ := strconv.Atoi(string(port))
		return fmt.Appendf(nil, "%s: %d", name, n-20)
	})
}

// explored is the command that starts the controller of a life, with the cluster and the
// cloud of its environment.
func (f *fixture) explored() string {
	f.Helper()
	args := slices.DeleteFunc(f.controllerCommand().Args, func(arg string) bool {
		return strings.HasPrefix(arg, "--controllers=") || strings.HasPrefix(arg, "--configure-cloud-routes=")
	})
	return "exec '" + strings.Join(append([]string{controllerBinary()}, append(args, "--controllers=service,nlb", "--configure-cloud-routes=false")...), "' '") + "'"
}
