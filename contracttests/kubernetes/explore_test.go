package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
			command := func() *exec.Cmd {
				cmd := exec.Command("sh", "-c", fmt.Sprintf(`"$CLBEMU" %s --kubeconfig "$PLANE" %s --plays 1 --output json -- sh -c "$CONTROLLER"`, before, options))
				cmd.Dir = "../.."
				cmd.Env = append(os.Environ(), "CLBEMU="+binary.Path, "PLANE="+plane.Kubeconfig, "CONTROLLER="+f.explored(),
					"PATH="+filepath.Dir(plane.Kubectl())+":"+os.Getenv("PATH"))
				return cmd
			}
			f.nodePortsFree()
			r := binary.Finish(t, command())
			if strings.Contains(r.Stdout+r.Stderr, portTaken) {
				f.nodePortsFree()
				r = binary.Finish(t, command())
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

// portTaken is what Kubernetes says of a NodePort that is not free. It leaks one when the
// connection of a client that removes a Service's last finalizer ends before the answer, as
// that of a controller that is killed: the Service is gone, and its NodePort taken.
const portTaken = "provided port is already allocated"

// nodePortsFree waits until the NodePorts of the lives are free. Kubernetes looks for those
// that leaked every three minutes, and frees them when it saw them three times.
func (f *fixture) nodePortsFree() {
	f.Helper()
	defer func(usual time.Duration) { f.patience = usual }(f.patience)
	f.patience = 15 * time.Minute
	for _, port := range []int32{31080, 31090} {
		f.eventually(fmt.Sprintf("NodePort %d", port), func() error {
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}},
			}}
			_, err := f.cluster.Client.CoreV1().Services(metav1.NamespaceDefault).Create(f.ctx, service, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err
		})
	}
}

// explored returns the command that starts the controller of a life, with the cluster and the cloud
// of its environment.
func (f *fixture) explored() string {
	f.Helper()
	args := slices.DeleteFunc(f.controllerCommand().Args, func(arg string) bool {
		return strings.HasPrefix(arg, "--controllers=") || strings.HasPrefix(arg, "--configure-cloud-routes=")
	})
	return "exec '" + strings.Join(append([]string{controllerBinary()}, append(args, "--controllers=service,nlb", "--configure-cloud-routes=false")...), "' '") + "'"
}
