package upgradecheck_test

import (
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
)

// FuzzReadReport proves that no report of a program, which may be any, makes clbemu
// panic, and that each finding has words.
func FuzzReadReport(f *testing.F) {
	f.Add(`{"State":"Success","CheckResults":[{"Name":"ccmSLB","instanceResults":{"a/b/80":{"Id":"lb-1","MessageLevel":"error","MessageCode":"CreateListener"}},"FailedCount":3}]}`)
	f.Add(`{"State":"Fail"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, message string) {
		report, err := upgradecheck.ReadReport(message)
		if err == nil && report.Findings == nil || report.Untold < 0 {
			t.Errorf("%+v", report)
		}
		for _, finding := range report.Findings {
			if finding.Change == "" {
				t.Errorf("%+v has no words", finding)
			}
		}
	})
}
