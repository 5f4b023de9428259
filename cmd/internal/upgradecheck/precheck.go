package upgradecheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Finding is something that a Cloud Controller Manager would change, by its own dry run.
type Finding struct {
	// Service is namespace/name.
	Service string `json:"service"`
	// Item is the listener's port or the server group that the finding is about, empty for
	// the load balancer itself.
	Item string `json:"item,omitempty"`
	// LoadBalancer is an id, empty for one that the Service lacks.
	LoadBalancer string `json:"loadBalancer,omitempty"`
	// Change is the name of the change on ACK's page, or the code if the page has no words for it.
	Change string `json:"change"`
	Code   string `json:"code"`
	Level  string `json:"level"`
	Detail string `json:"detail,omitempty"`
	// Advice is the page's advice to the reader.
	Advice string `json:"advice,omitempty"`
}

// The page's advice, in short.
const (
	sameListener = "do not change Services during the check; if a listener was edited by hand, restore it to what the Service says"
	sameBackends = "do not change endpoints during the check; if backends were edited by hand, restore them"
)

// page has the words and the advice of ACK's page by the code in a CCM's report. The page
// also has "add backend servers" and "remove backend servers", which the CCM does not
// report since it uses server groups alone.
var page = map[string]struct{ words, advice string }{
	"CreateSLB":                            {"create a new load balancer", "check whether the Service is pending; if it has an address, check again"},
	"DeleteSLB":                            {"delete the load balancer", "the Service is gone: delete the load balancer by hand if it is no longer needed"},
	"ModifySLBSpec":                        {"modify the slb instance spec", "set the annotation spec to the load balancer's"},
	"ModifyInternetSpec":                   {"modify the slb internet spec", "set the annotations bandwidth and charge-type to the load balancer's"},
	"ModifyLoadBalancerInstanceChargeType": {"modify loadbalancer instance charge type", "if the load balancer was changed to PayByCLCU by hand, remove the annotation spec"},
	"StartListener":                        {"start listener", sameListener},
	"StopListener":                         {"stop listener", sameListener},
	"CreateListener":                       {"create listener", "do not change Services during the check; if a listener was deleted by hand, create it again"},
	"DeleteListener":                       {"delete listener", "do not change Services during the check; if a listener was added by hand, delete it"},
	"UpdateListener":                       {"update listener", sameListener},
	"CreateVgroup":                         {"create VServerGroup", sameBackends},
	"DeleteVgroup":                         {"delete VServerGroup", sameBackends},
	"AddVServerGroupBackendServers":        {"add VServerGroup backends", sameBackends},
	"RemoveVgroup":                         {"remove VServerGroup backends", sameBackends},
}

// Report is the outcome of a CCM's dry run.
type Report struct {
	Findings []Finding `json:"findings"`
	// Untold is the number of findings that the CCM counted and did not name: it names one
	// for each Service, listener and server group, and 20 of each product.
	Untold int `json:"untold,omitempty"`
}

// The Event in which a CCM reports its dry run.
const (
	ReportNamespace = "kube-system"
	ReportEvent     = "CloudControllerManagerPrecheckResult"
)

// ReadReport reads the message of the Event.
func ReadReport(message string) (Report, error) {
	var result struct {
		State, Reason string
		CheckResults  []struct {
			Name        string
			FailedCount int
			WarnCount   int
			Items       map[string]struct{ ID, MessageLevel, MessageCode, Message string } `json:"instanceResults"`
		}
	}
	if err := json.Unmarshal([]byte(message), &result); err != nil {
		return Report{}, fmt.Errorf("the Event %s/%s holds no report: %w", ReportNamespace, ReportEvent, err)
	}
	if result.State != "Success" {
		return Report{}, fmt.Errorf("the dry run ended as %q: %s", result.State, result.Reason)
	}
	report := Report{Findings: []Finding{}}
	for _, check := range result.CheckResults {
		named := 0
		for _, name := range slices.Sorted(maps.Keys(check.Items)) {
			item := check.Items[name]
			if item.MessageLevel == "normal" {
				continue
			}
			named++
			service, part := splitItem(name)
			report.Findings = append(report.Findings, Finding{
				Service: service, Item: part, LoadBalancer: item.ID, Code: item.MessageCode, Level: item.MessageLevel,
				Change: cmp.Or(page[item.MessageCode].words, item.MessageCode, "a change without a name"), Detail: item.Message, Advice: page[item.MessageCode].advice,
			})
		}
		report.Untold += max(0, check.FailedCount+check.WarnCount-named)
	}
	return report, nil
}

// splitItem splits namespace/name/part; the part may contain slashes.
func splitItem(name string) (service, part string) {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 {
		return name, ""
	}
	return parts[0] + "/" + parts[1], parts[2]
}
