package upgradecheck_test

import (
	"reflect"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
)

// TestReadReport proves that the findings of every check of a report are read, of products and with
// codes that no version had yet, and that those that are only counted are counted.
func TestReadReport(t *testing.T) {
	report, err := upgradecheck.ReadReport(`{"State":"Success","CheckResults":[
		{"Name":"ccmSLB","FailedCount":3,"instanceResults":{
			"shop/web/80":{"Id":"lb-1","MessageLevel":"error","MessageCode":"UpdateListener","Message":"Scheduler"},
			"shop/web":{"Id":"lb-1","MessageLevel":"normal","MessageCode":"SetSLBName"}}},
		{"Name":"ccmNLB","WarnCount":1,"instanceResults":{"shop/api/TCPSSL/443":{"Id":"nlb-1","MessageLevel":"warn","MessageCode":"UpdateNLBListener"}}}]}`)
	want := upgradecheck.Report{Findings: []upgradecheck.Finding{
		{Service: "shop/web", Item: "80", LoadBalancer: "lb-1", Change: "update listener", Code: "UpdateListener", Level: "error", Detail: "Scheduler",
			Advice: "do not change Services during the check; if a listener was edited by hand, restore it to what the Service says"},
		{Service: "shop/api", Item: "TCPSSL/443", LoadBalancer: "nlb-1", Change: "UpdateNLBListener", Code: "UpdateNLBListener", Level: "warn"},
	}, Untold: 2}
	if err != nil || !reflect.DeepEqual(report, want) {
		t.Errorf("%+v, %v, want %+v", report, err, want)
	}
}

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
