package replicas_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/mutants"
)

var stormMutants = flag.Duration("storm-mutants", 0, "how long a storm may take to find each mutant of the etcd engine (0: don't)")

// engineFolder has the engine that the storm's mutants change.
const engineFolder = "cmd/clbemu-replica/etcd/"

// unfenced commits whoever leads and whoever wrote last.
var unfenced = mutants.Mutant{File: engineFolder + "etcd.go",
	Line:    `done, err := e.transact(ctx, []clientv3.Cmp{term.leads(), clientv3.Compare(clientv3.ModRevision(revision), "=", fence)},`,
	Becomes: "_ = fence\n\tdone, err := e.transact(ctx, nil,"}

// TestStormFindsMutants proves that a storm finds an engine without the commit's fence, and one
// without the lease.
func TestStormFindsMutants(t *testing.T) {
	if *stormMutants == 0 {
		return // on request: make replicas-storm-mutants
	}
	for _, test := range []struct {
		name    string
		changes []mutants.Mutant
		disturb string
		by      string // what the storm says of it
	}{
		{"no lease", []mutants.Mutant{{File: engineFolder + "term.go", Line: "return time.Now().Before(*t.until.Load())", Becomes: "return true"}}, "", "is Illegal"},
		{"no fence", []mutants.Mutant{unfenced}, "", `another program changed|etcd lacks what clbemu has read|is Illegal`},
		// Without what else notices such a commit, the histories do.
		{"no fence, nor who notices it", []mutants.Mutant{unfenced,
			{File: engineFolder + "hand.go", Line: "case key == \"\" && (elects || h.stamped && !ours):", Becomes: "case key == \"\" && elects:"},
			{File: engineFolder + "seen.go", Line: "s.check(count < before.count)", Becomes: "s.check(false)"},
			{File: engineFolder + "sums.go", Line: `changed := ""`, Becomes: `changed, known := "", map[uint64]uint64(nil)`}}, "leader wakes", "is Illegal|there are two load balancers|have the address|lacks|was acknowledged and is gone|lists"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var all []*mutants.Mutant
			for _, m := range test.changes {
				m.Name = test.name
				all = append(all, &m)
			}
			root, err := filepath.Abs("../../..")
			if err != nil {
				t.Fatal(err)
			}
			overlay, err := mutants.Overlay(root, t.TempDir(), all)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run", "^TestStorm$", "-test.timeout", "0", "-storm", stormMutants.String(), "-disturb", test.disturb)
			cmd.Env = append(os.Environ(), "MUTANT="+test.name, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
			out, err := cmd.CombinedOutput()
			if found := regexp.MustCompile(`.*(?:`+test.by+`).*`).FindAll(out, 3); err == nil || len(found) == 0 {
				t.Errorf("a storm of %s does not find it: %v\n%s", *stormMutants, err, out)
			} else {
				t.Logf("found after: %s\n%s", regexp.MustCompile(`\d+ disturbances in.*|\d\d:\d\d:\d\d\.\d+ .*\n$`).FindAll(out, -1), found)
			}
		})
	}
}
