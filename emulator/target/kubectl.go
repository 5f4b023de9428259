package target

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"github.com/clbemu/clbemu/scenarios"
)

// Kubectl is a cluster by the kubectl command. It implements scenarios.Cluster.
type Kubectl struct {
	// Kubeconfig is the file that says where the cluster is.
	Kubeconfig string
}

var _ scenarios.Cluster = Kubectl{}

// Kubectl implements scenarios.Cluster.
func (k Kubectl) Kubectl(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "kubectl", append([]string{"--kubeconfig", k.Kubeconfig}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", args[0], err, withoutLog(stderr.String()))
	}
	return out, nil
}

// logLine is a line of kubectl's log, which has the same several times before the error.
var logLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[IWEF][0-9]{4} [0-9:.]+ `) })

// withoutLog returns what kubectl says to people, or all if it says nothing else.
func withoutLog(stderr string) string {
	var said []string
	for line := range strings.Lines(stderr) {
		if !logLine().MatchString(line) {
			said = append(said, line)
		}
	}
	return cmp.Or(strings.TrimSpace(strings.Join(said, "")), strings.TrimSpace(stderr))
}
