package contracttests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/record"
	"github.com/clbemu/clbemu/emulator/annotations"
)

// versionsPage is written from what the end-to-end tests recorded of versions of the CCM.
const (
	versionsPage    = "ccm-versions.md"
	versionsSummary = "../docs/ccm-versions.md"
)

// outcome is what a version of the CCM did in the kubernetes part of a scenario.
type outcome struct {
	Verdict, Why string
	Events       []string
}

// ccmVersions are the outcomes by version and scenario.
type ccmVersions map[string]map[string]outcome

func readCCMVersions(t *testing.T) ccmVersions {
	t.Helper()
	return record.Read[ccmVersions](t, "testdata/ccm_versions.json")
}

// inOrder lists the versions, the oldest first.
func (all ccmVersions) inOrder() []string {
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		switch {
		case annotations.Before(a, b):
			return -1
		case annotations.Before(b, a):
			return 1
		}
		return 0
	})
}

// tally counts the scenarios with a verdict.
func (all ccmVersions) tally(version, verdict string) (n int) {
	for _, o := range all[version] {
		if o.Verdict == verdict {
			n++
		}
	}
	return n
}

// differ reports whether the versions that ran a scenario differ in what they did.
func (all ccmVersions) differ(scenario string) bool {
	verdicts := make(map[string]bool)
	for _, outcomes := range all {
		verdicts[outcomes[scenario].Verdict] = true
	}
	return verdicts["passes"] && verdicts["fails"]
}

// causes say why versions differ in a scenario, as their source has it.
var causes = map[string]string{
	"bad-target-port":            "from v2.12.4 on, endpoints without the port are left out; before, they are sent with the port 0, which the cloud refuses",
	"cert-id-removed":            "v2.4.0 and v2.5.1 send the listener without a certificate, and the cloud keeps what it has; the others look the certificate up first",
	"domain-certificate-changed": "from v2.13.0 on, the annotation domain-extensions is read",
	"eni-not-found":              "from v2.13.0 on, pods without a network interface are skipped; before, the Service fails as a whole",
	"group-read-throttled":       "from v2.11.2 on, server groups are read side by side, and the errors are dropped; before, the reconciliation ends with the error, and an Event says so",
	"halted-sales":               "from v2.12.4 on, a Service without annotations gets a load balancer that is PayByCLCU; before, one of slb.s1.small that is PayBySpec",
	"nlb-job-endless":            "as `nlb-job-fails`",
	"nlb-job-fails":              "from v2.11.2 on, the job of CreateListener is awaited",
	"nlb-permission-missing":     "from v2.12.4 on, jobs are awaited by ListAsynJobs, for which the permission is missing here",
	"nlb-port-range":             "from v2.11.2 on, the annotation listener-port-range is read, and from v2.12.4 on the server group of a range of ports is found again",
	"nlb-preserved-port-removed": "as `type-change`",
	"nlb-ranges-throttled":       "as `nlb-source-ranges`",
	"nlb-source-ranges":          "from v2.14.0 on, spec.loadBalancerSourceRanges of an NLB is read",
	"nlb-tls":                    "from v2.13.0 on, the annotation additional-cert-ids is read",
	"paybyclcu-bandwidth":        "as `halted-sales`: the load balancer is PayBySpec, and takes the annotation",
	"paybyclcu-to-spec":          "as `halted-sales`: the load balancer is PayBySpec, and takes the annotation",
	"preserved-keeps-tag":        "from v2.12.4 on, the server groups of a preserved load balancer are deleted too; before, there is nothing to try again",
	"route-permission-missing":   "from v2.11.2 on, routes are created together by CreateRouteEntries; before, each by a CreateRouteEntry",
	"slow-answers":               "before v2.9.1, each attempt to create a load balancer has another ClientToken; where the second comes before the first load balancer can be seen, two are created, and the CCM gives up with `find multiple loadbalances by name`. In other runs, the versions before v2.9.1 may pass or fail",
	"stale-reads":                "from v2.9.1 on, each attempt to create a load balancer has the same ClientToken; before, each has another one, and two are created",
	"type-change":                "from v2.10.0 on, the annotation preserve-lb-on-delete is read",
	"vgroup-read-throttled":      "from v2.12.4 on, the errors of several ports are collected and then dropped; before, the reconciliation ends with the first, and an Event says so",
	"vswitch-exhausted-fallback": "from v2.13.0 on, another vSwitch with free addresses is looked for",
}

// unbuilt are the tags that nothing is recorded of, with the reason.
var unbuilt = []struct{ versions, why string }{
	{"v1.9.3.316 to v2.1.0", "not built: they have no vendor folder, and need modules of Kubernetes from 2020 and 2021"},
}

// built are the tags that can be run; those that nothing is recorded of are listed.
var built = []string{"v1.9.3.101", "v1.9.3.239", "v2.2.0", "v2.3.0", "v2.4.0", "v2.4.4", "v2.5.1", "v2.6.0", "v2.7.0", "v2.8.0", "v2.9.1", "v2.10.0", "v2.11.2", "v2.12.4", "v2.13.0", "v2.14.0"}

// versionStatements are what the documents say of versions, with what is known of the versions here.
var versionStatements = []struct{ statement, here string }{
	{"Before v1.9.3.164 all nodes have the weight 100, then weights such as 16, 33 and 50, and from v1.9.3.276 on the number of their pods.",
		"v1.9.3.101 gives each node 100, and v1.9.3.239 its share of the pods in percent, such as 50, 25 and 25: `kubernetes_test.TestFirstWeights`. v2.5.1 to v2.11.2, v2.13.0 and v2.14.0 weigh by pods: `kubernetes_test.TestTrafficPolicy`."},
	{"A CCM writes Events about the synchronization from v1.9.3.276 on.", "v1.9.3.101 and %s write them; v1.9.3.239 does not."},
	{"A CCM lets Services reuse load balancers from v1.9.3.105 on.", "%s pass `reuse-without-listeners`, and v1.9.3.101 too."},
	{"Texts begin with `Code:`.", "%s"},
}

// generations splits the versions into those since v2, and the first ones, of 2018 to 2020.
func (all ccmVersions) generations() (today, first ccmVersions) {
	today, first = make(ccmVersions), make(ccmVersions)
	for v, outcomes := range all {
		if annotations.Before(v, "v2.0.0") {
			first[v] = outcomes
		} else {
			today[v] = outcomes
		}
	}
	return today, first
}

// firstText returns the part of the page about the first generation.
func firstText(first ccmVersions) string {
	var b strings.Builder
	b.WriteString(`
## The first generation

The documents of 2021 describe CCMs before v2. They carry their vendored packages, and build with today's Go in a GOPATH once the import
comments of those are removed; [their SDK takes URLs](../docs/connect.md#as-a-proxy). They know CLB alone. Their client can't name the object of an Event without
` + "`metadata.selfLink`" + `, which Kubernetes has not set since 1.20: on it they log ` + "`Could not construct reference`" + ` and write none. Here they got
the links from a proxy before the API server.

- v1.9.3.101 writes Events under other reasons than today, such as CreatingLoadBalancerFailed, with the texts that the documents quote:
  ` + "`Aliyun API Error: RequestId: … Status Code: 400 Code: ORDER.ARREARAGE Message: The account is arrearage.`" + `
- v1.9.3.239 writes none: its texts are in its log.
- v1.9.3.101 takes a listener without a description for one that an earlier CCM made, and deletes it: ` + "`kubernetes_test.TestFirstReuse`" + `. It leaves
  listeners with a description alone, such as those of ` + "`reuse-shared`" + `. v1.9.3.239 leaves both alone.
- v1.9.3.101 panics when a Service is deleted, or is no longer of type LoadBalancer, and leaves the load balancer.

| version | what it does | scenarios |
|---|---|---|
`)
	for _, v := range first.inOrder() {
		by := make(map[string][]string)
		for name, o := range first[v] {
			does := cmp.Or(o.Verdict, notRunYet)
			if o.Why != "" {
				does += ": " + o.Why
			}
			if strings.Contains(o.Why, "expect event") {
				does = "fails: it writes no such Event"
			}
			by[does] = append(by[does], "`"+name+"`")
		}
		for _, does := range slices.Sorted(maps.Keys(by)) {
			slices.Sort(by[does])
			fmt.Fprintf(&b, "| %s | %s | %s |\n", v, cell(html(does)), strings.Join(by[does], ", "))
		}
	}
	return b.String()
}

const notRunYet = "not run"

// versionsSummaryHead is the page in docs before its table.
const versionsSummaryHead = `<!-- written by make golden -->
# What each version of the CCM does

Real Cloud Controller Managers (CCM), each built from its tag of kubernetes/cloud-provider-alibaba-cloud, served the kubernetes
parts of the library. A part says what a good controller does with a failure: one that fails shows what a version does not do, or does in
other words. [The tables of all scenarios](../contracttests/ccm-versions.md) say which, with the step that failed, what changed between
versions, Events that differ, and what the first CCMs, of 2018 to 2020, do. [Findings](findings.md) covers the newest.

`

// versionsSums returns the table of the versions.
func versionsSums(all ccmVersions) string {
	var b strings.Builder
	b.WriteString("| version | passes | fails | not run |\n|---|---|---|---|\n")
	for _, v := range all.inOrder() {
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", v, all.tally(v, "passes"), all.tally(v, "fails"), all.tally(v, "not run"))
	}
	return b.String()
}

// versionsText returns the page of all scenarios.
func versionsText(recorded ccmVersions) string {
	all, first := recorded.generations()
	versions := all.inOrder()
	var b strings.Builder
	b.WriteString(`<!-- written by make golden -->
# What each version of the CCM does

Real Cloud Controller Managers (CCM), each built from its tag of kubernetes/cloud-provider-alibaba-cloud, served the kubernetes
parts of the library, on a control plane of Kubernetes 1.33 without Docker. A part says what a good controller does with a failure: one that
fails shows what a version does not do, or does in other words. [Findings](../docs/findings.md) covers the newest.

` + "`make ccm-version CCM_BIN=FILE VERSION=v2.9.1`" + ` in a clone plays the library with another version, and writes its column here. It
takes some 20 minutes on two cores.

`)
	b.WriteString(versionsSums(all))
	fmt.Fprintf(&b, "\n## Scenarios\n\n| scenario | %s |\n|---|%s\n", strings.Join(versions, " | "), strings.Repeat("---|", len(versions)))
	names := playedByControllers()
	for _, name := range names {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, v := range versions {
			verdict := cmp.Or(all[v][name].Verdict, "not run")
			if verdict == "fails" {
				verdict = "**fails**"
			}
			fmt.Fprintf(&b, " %s |", verdict)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n## What changed\n\n| scenario | versions that fail | because |\n|---|---|---|\n")
	for _, name := range names {
		if all.differ(name) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, all.spans(all.with(name, func(o outcome) bool { return o.Verdict == "fails" })), causes[name])
		}
	}
	b.WriteString("\n## What failed, and why some scenarios were not run\n\n| scenario | versions | the step that failed, or the reason |\n|---|---|---|\n")
	for _, name := range names {
		for _, why := range all.texts(name, func(o outcome) []string { return []string{o.Why} }) {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, all.spans(all.with(name, func(o outcome) bool { return o.Why == why })), cell(html(why)))
		}
	}
	b.WriteString("\n## Events that differ\n\nThe Events about trouble that some of the versions wrote, and others that ran the scenario did not. Where calls run side by side, the\nsame version may write other texts in another run.\n\n| scenario | versions | Event |\n|---|---|---|\n")
	for _, name := range names {
		ran := all.with(name, func(o outcome) bool { return o.Verdict == "passes" })
		for _, text := range all.texts(name, func(o outcome) []string { return o.Events }) {
			wrote := all.with(name, func(o outcome) bool { return o.Verdict == "passes" && slices.Contains(o.Events, text) })
			if len(wrote) > 0 && len(wrote) < len(ran) {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, all.spans(wrote), cell(html(text)))
			}
		}
	}
	b.WriteString(firstText(first))
	b.WriteString("\n## What the documents say of versions\n\n| statement | here |\n|---|---|\n")
	withEvents := slices.DeleteFunc(slices.Clone(versions), func(v string) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Values(all[v])), func(o outcome) bool { return len(o.Events) > 0 })
	})
	reuse := all.with("reuse-without-listeners", func(o outcome) bool { return o.Verdict == "passes" })
	code := "None of these versions begins the text of an Event so; they begin with `Message:`. Those of v1.9.3.101 have `Status Code: 400 Code:` in their middle."
	for v, outcomes := range all {
		for _, o := range outcomes {
			if slices.ContainsFunc(o.Events, func(text string) bool { return strings.Contains(text, "Code:") }) {
				code = "Version " + v + " writes such texts."
			}
		}
	}
	for _, s := range versionStatements {
		here := s.here
		switch {
		case strings.Contains(here, "write them"):
			here = fmt.Sprintf(here, all.spans(withEvents))
		case strings.Contains(here, "pass `"):
			here = fmt.Sprintf(here, all.spans(reuse))
		case here == "%s":
			here = code
		}
		fmt.Fprintf(&b, "| %s | %s |\n", s.statement, here)
	}
	b.WriteString("\n## Versions that were not run\n\n| tags | why |\n|---|---|\n")
	for _, u := range unbuilt {
		fmt.Fprintf(&b, "| %s | %s |\n", u.versions, u.why)
	}
	if waiting := slices.DeleteFunc(slices.Clone(built), func(v string) bool { return recorded[v] != nil }); len(waiting) > 0 {
		fmt.Fprintf(&b, "| %s | can be run as the others: `make ccm-version` |\n", strings.Join(waiting, ", "))
	}
	return b.String()
}

// with lists the versions for which something holds in a scenario.
func (all ccmVersions) with(scenario string, holds func(outcome) bool) []string {
	return slices.DeleteFunc(all.inOrder(), func(v string) bool { return !holds(all[v][scenario]) })
}

// spans names versions, three or more in a row by the first and the last one.
func (all ccmVersions) spans(list []string) string {
	versions, texts := all.inOrder(), []string{}
	for len(list) > 0 {
		at, n := slices.Index(versions, list[0]), 1
		for n < len(list) && versions[at+n] == list[n] {
			n++
		}
		if n > 2 {
			texts = append(texts, list[0]+" to "+list[n-1])
		} else {
			texts = append(texts, list[:n]...)
		}
		list = list[n:]
	}
	return strings.Join(texts, ", ")
}

// TestSpans proves that versions in a row are named by the first and the last one.
func TestSpans(t *testing.T) {
	all := ccmVersions{"v1.0.0": nil, "v1.1.0": nil, "v1.2.0": nil, "v1.10.0": nil, "v2.0.0": nil}
	for want, list := range map[string][]string{
		"": nil, "v1.1.0": {"v1.1.0"}, "v1.0.0, v1.1.0": {"v1.0.0", "v1.1.0"}, "v1.1.0 to v1.10.0": {"v1.1.0", "v1.2.0", "v1.10.0"},
		"v1.0.0 to v1.2.0, v2.0.0": {"v1.0.0", "v1.1.0", "v1.2.0", "v2.0.0"}, "v1.2.0 to v2.0.0": {"v1.2.0", "v1.10.0", "v2.0.0"},
	} {
		if got := all.spans(list); got != want {
			t.Errorf("spans(%q) = %q, want %q", list, got, want)
		}
	}
}

// texts lists what the versions have of a scenario, each text once.
func (all ccmVersions) texts(scenario string, of func(outcome) []string) (list []string) {
	for _, v := range all.inOrder() {
		for _, text := range of(all[v][scenario]) {
			if text != "" && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// TestCCMVersions proves that the versions ran scenarios of the library, each with a verdict
// and, where it has another one than other versions have, a cause.
func TestCCMVersions(t *testing.T) {
	all, played := readCCMVersions(t), playedByControllers()
	if len(all) == 0 {
		t.Fatal("nothing is recorded of any version")
	}
	for version, outcomes := range all {
		if !slices.Contains(built, version) {
			t.Errorf("%q is no version that is known to run", version)
		}
		for name, o := range outcomes {
			if !slices.Contains(played, name) {
				t.Errorf("%s: %s is no scenario with a kubernetes part", version, name)
			}
			if !slices.Contains([]string{"passes", "fails", "not run"}, o.Verdict) || (o.Why == "") != (o.Verdict == "passes") {
				t.Errorf("%s: %s has the verdict %q, and the reason %q", version, name, o.Verdict, o.Why)
			}
		}
		for _, name := range played {
			if outcomes[name].Verdict == "" {
				t.Errorf("%s did not run %s: make ccm-version VERSION=%[1]s", version, name)
			}
		}
	}
	all, _ = all.generations()
	for _, name := range played {
		if all.differ(name) != (causes[name] != "") {
			t.Errorf("versions differ in %s: %t, and the cause is %q", name, all.differ(name), causes[name])
		}
	}
	for name := range causes {
		if !slices.Contains(played, name) {
			t.Errorf("%s has a cause, and no version runs it", name)
		}
	}
}

// TestCCMVersionsPage proves that ccm-versions.md has what is recorded, and
// docs/ccm-versions.md its sums. With -update it writes both.
func TestCCMVersionsPage(t *testing.T) {
	recorded := readCCMVersions(t)
	today, _ := recorded.generations()
	keepPage(t, versionsPage, versionsText(recorded))
	keepPage(t, versionsSummary, versionsSummaryHead+versionsSums(today))
}
