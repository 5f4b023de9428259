package kubernetes_test

import (
	"debug/buildinfo"
	"flag"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clbemu/clbemu/contracttests/record"
)

// eventsFile has the Events of a CCM in each scenario; the page of refusals shows it.
const eventsFile = "../testdata/ccm_events.json"

var updateEvents = flag.Bool("update-events", false, "record the Events that the CCM of CCM_BIN writes in the scenarios")

// ccmEvents are the Events of Services in a scenario, without those that tell nothing
// of a refusal, and the CCM that wrote them.
type ccmEvents struct {
	CCM    string   `json:"ccm"`
	Events []string `json:"events"`
}

// forgetEvents lets the next scenario begin with none.
func (f *fixture) forgetEvents() {
	f.Helper()
	events := f.kubernetes.CoreV1().Events(metav1.NamespaceDefault)
	if err := events.DeleteCollection(f.ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		f.Fatal(err)
	}
}

// heard returns the Events of Services about trouble, each once.
func (f *fixture) heard() []string {
	f.Helper()
	events, err := f.kubernetes.CoreV1().Events(metav1.NamespaceDefault).List(f.ctx, metav1.ListOptions{})
	if err != nil {
		f.Fatal(err)
	}
	told := []string{}
	for _, event := range events.Items {
		if tellsOfRefusal(event) {
			told = append(told, event.Reason+": "+withoutIDs(event.Message))
		}
	}
	slices.Sort(told)
	return slices.Compact(told)
}

// tellsOfRefusal says whether an Event is the controller's own, at a Service, and
// of trouble. A Service that goes while its finalizer is added is none.
func tellsOfRefusal(event corev1.Event) bool {
	if !slices.Contains([]string{"service-controller", "nlb-controller"}, event.Source.Component) || event.InvolvedObject.Kind != "Service" || event.Reason == "FailedAddFinalizer" {
		return false
	}
	return event.Type == corev1.EventTypeWarning || event.Reason == "UnAvailableLoadBalancer"
}

var ids = []struct {
	pattern     *regexp.Regexp
	placeholder string
}{
	{regexp.MustCompile(`Post "http://[^"]*[?&]Action=(\w+)[^"]*"`), `Post "http://<endpoint>/?Action=$1…"`},
	{regexp.MustCompile(`nlb-[a-z0-9]{10,}`), "<nlb>"},
	{regexp.MustCompile(`\blb-[a-z0-9]{10,}`), "<lb>"},
	{regexp.MustCompile(`\brg-bp1[a-z0-9]+`), "<rg>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<job>"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<address>"},
	{regexp.MustCompile(`198\.1[89]\.\d+\.\d+`), "<address>"},
	{regexp.MustCompile(`\b172\.(1[6-9]|2\d|3[01])\.255\.\d+`), "<address>"}, // a network of kind
	{regexp.MustCompile(`\ba[0-9a-f]{31}(x?)\b`), "<name>$1"},                // x is a change of TestPartValues
}

// withoutIDs returns an Event's text with placeholders for what differs from run to run.
func withoutIDs(text string) string {
	for _, id := range ids {
		text = id.pattern.ReplaceAllString(text, id.placeholder)
	}
	return strings.TrimSpace(text)
}

// recording is held by the one scenario that uses a record.
var recording sync.Mutex

// record compares the Events of a scenario with what is recorded of the
// same CCM, or records it when that is asked for.
func (f *fixture) record(scenario string) {
	f.Helper()
	told := f.heard()
	f.Logf("Events: %q", told)
	if ccmBinary() == "" || f.Failed() {
		return
	}
	ccm := ccmVersion(f.T)
	recording.Lock()
	defer recording.Unlock()
	all := record.Read[map[string]ccmEvents](f.T, eventsFile)
	if *updateEvents {
		all[scenario] = ccmEvents{ccm, told}
		record.Write(f.T, eventsFile, all, 1)
		return
	}
	if was := all[scenario]; was.CCM == ccm {
		for _, text := range was.Events {
			if !dependsOnTime(text) && !slices.ContainsFunc(told, func(now string) bool { return core(now) == core(text) }) {
				f.Errorf("the same CCM once wrote the Event %q", text)
			}
		}
	}
}

// core returns an Event's text without what depends on the task that fails first.
func core(text string) string {
	text, _, _ = strings.Cut(text, ", there are unprocessed listeners")
	return strings.TrimRight(text, " ,.]")
}

// dependsOnTime reports whether an Event is about a connection, or about one of many calls
// that a limit refuses: how it ends, and which call that is, depend on when.
func dependsOnTime(text string) bool {
	return strings.Contains(text, `[Post "`) || strings.Contains(text, "denied due to request throttling")
}

// TestWithoutIDs proves that an Event reads the same in each run.
func TestWithoutIDs(t *testing.T) {
	text := `job 8bd1bdcf-09b4-3961-c3c3-d947cf421781 of [nlb-bp1rrwxou2t2tp7pcl]: Error syncing load balancer [lb-bp1wdku7f1w8iqh90aknz]: Post "http://127.0.0.1:34079/?AccessKeyId=x&Action=CreateLoadBalancer&Format=JSON": read tcp 127.0.0.1:1->127.0.0.1:2: read: connection reset by peer `
	want := `job <job> of [<nlb>]: Error syncing load balancer [<lb>]: Post "http://<endpoint>/?Action=CreateLoadBalancer…": read tcp <address>-><address>: read: connection reset by peer`
	if got := withoutIDs(text); got != want {
		t.Errorf("withoutIDs = %q, want %q", got, want)
	}
}

// ccmVersion returns the module of the CCM with its version.
func ccmVersion(t *testing.T) string {
	t.Helper()
	build, err := buildinfo.ReadFile(ccmBinary())
	if err != nil {
		t.Fatal(err)
	}
	return build.Main.Path + " " + build.Main.Version
}
