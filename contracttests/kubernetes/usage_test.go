package kubernetes_test

import (
	"encoding/json"
	"flag"
	"strings"

	"github.com/clbemu/clbemu/contracttests/internal/usage"
	"github.com/clbemu/clbemu/emulator/journal"
)

var updateUsage = flag.Bool("update-usage", false, "record what the CCM of CCM_BIN sends in the tests that are played")

// used are the calls of the CCM in all tests.
var used usage.Calls

// recordUsage counts the calls of a test's cloud, if they are recorded.
func (f *fixture) recordUsage() {
	f.Helper()
	if !*updateUsage || f.Failed() {
		return
	}
	var entries []*journal.Entry
	for lines := json.NewDecoder(strings.NewReader(f.control("journal", "--json", "--limit", "0"))); lines.More(); {
		var e journal.Entry
		if err := lines.Decode(&e); err != nil {
			f.Errorf("the journal: %v", err)
			return
		}
		if strings.Contains(e.UserAgent, "ack.ccm/") {
			entries = append(entries, &e)
		}
	}
	used.Add(entries)
	if err := used.Write("../../emulator/fidelity/usage.tsv", "ccm"); err != nil {
		f.Error(err)
	}
}
