package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/clbemu/clbemu/cmd/internal/explore"
	"github.com/clbemu/clbemu/cmd/internal/exploring"
	"github.com/clbemu/clbemu/emulator/target"
	"github.com/clbemu/clbemu/scenarios"
)

// controlPlanes are control planes that explore starts, and ends with itself.
type controlPlanes struct {
	running []scenarios.Running
}

// printed finds in what a control plane's command prints the file that leads to it, and
// where kubectl is.
var (
	printedKubeconfig = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bKUBECONFIG=(\S+)`) })
	printedPath       = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bPATH=([^\s:]+):\$PATH`) })
)

// printout keeps what a command prints, and passes it on.
type printout struct {
	mu   sync.Mutex
	text strings.Builder
	also io.Writer
}

// maxSaid bounds the kept output; the build of a control plane prints some KiB.
const maxSaid = 1 << 20

func (s *printout) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.text.Len() < maxSaid {
		s.text.Write(p)
	}
	return s.also.Write(p)
}

// find returns what a pattern finds in a whole line.
func (s *printout) find(pattern *regexp.Regexp) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text.String()
	if found := pattern.FindStringSubmatch(text[:strings.LastIndex(text, "\n")+1]); found != nil {
		return found[1]
	}
	return ""
}

// lookForPlane is the pause between two looks at what a command printed.
const lookForPlane = 100 * time.Millisecond

// start runs a command so many times, and returns the kubeconfig of each once all are there.
// The first one may build what the others use.
func (c *controlPlanes) start(ctx context.Context, command string, n int, output io.Writer) (kubeconfigs []string, err error) {
	for range n {
		text := &printout{also: output}
		plane, err := (&target.Remote{}).Start(ctx, scenarios.Program{Command: strings.Fields(command), Output: text})
		if err != nil {
			return nil, fmt.Errorf("start a control plane: %w", err)
		}
		c.running = append(c.running, plane)
		for text.find(printedKubeconfig()) == "" {
			ended, err := plane.Wait(ctx, lookForPlane)
			if err != nil {
				return nil, err
			}
			if ended && text.find(printedKubeconfig()) == "" {
				return nil, fmt.Errorf("%s ended with status %d before it printed KUBECONFIG=FILE", command, plane.Exit())
			}
		}
		if dir := text.find(printedPath()); dir != "" {
			err = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		}
		if err != nil {
			return nil, err
		}
		kubeconfigs = append(kubeconfigs, text.find(printedKubeconfig()))
	}
	return kubeconfigs, nil
}

// stop ends them, all at a time.
func (c *controlPlanes) stop() {
	var stopping sync.WaitGroup
	for _, plane := range c.running {
		stopping.Go(plane.Stop)
	}
	stopping.Wait()
}

// checkPlanes refuses contradictory flags for control planes.
func (x *exploration) checkPlanes() error {
	switch {
	case x.controlPlanes == 0:
		return nil
	case x.controlPlanes < 0 || x.controlPlanes > 16:
		return usage(fmt.Errorf("--control-planes is 1 to 16, not %d", x.controlPlanes))
	case len(x.kubeconfigs) > 0:
		return usage(errors.New("give --control-planes or --kubeconfig, not both"))
	case strings.TrimSpace(x.controlPlane) == "":
		return usage(errors.New("--control-plane is the command that runs one, such as make control-plane in a clone of clbemu"))
	}
	return nil
}

// startPlanes starts the control planes that the command line asks for, once the scenario
// can be read.
func (x *exploration) startPlanes(ctx context.Context, c *explore.Config, problems io.Writer) error {
	if c.Part != scenarios.KubernetesPart {
		return nil
	}
	if x.controlPlanes > 0 {
		if _, err := c.Load(c.File, c.Text); err != nil {
			return usage(err)
		}
		var err error
		if x.kubeconfigs, err = x.planes.start(ctx, x.controlPlane, x.controlPlanes, problems); err != nil {
			return cannot(err)
		}
	}
	exploring.OnClusters(c, x.kubeconfigs)
	return nil
}
