package contracttests

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// goldenDir has an archive an action, in which each case has what it sends and what
// is answered in both formats.
const goldenDir = "testdata/golden"

// maxGoldenLine is the longest line of an archive, in bytes: what is longer can't be
// reviewed as a difference.
const maxGoldenLine = 1024

// alsoXML are the cases whose replies are kept in XML as well: of each product an object, a
// list, an empty list and a refusal, as far as it has them. One encoder writes the XML of all,
// from what it writes as JSON; its own tests are in the gateway.
var alsoXML = []string{
	"Slb/CreateLoadBalancer/internet", "Slb/CreateLoadBalancer/unknown-vswitch", "Slb/DescribeLoadBalancers/all", "Slb/DescribeLoadBalancers/none",
	"Slb/DescribeLoadBalancerAttribute/internet", "Slb/CreateRules/two", "Slb/DescribeHealthStatus/all", "Slb/ListTagResources/load-balancer",
	"Nlb/CreateServerGroup/same-name", "Nlb/CreateServerGroup/timeout-over-interval", "Nlb/ListLoadBalancers/first", "Nlb/GetLoadBalancerAttribute/full",
	"Vpc/CreateVSwitch/new", "Vpc/CreateVSwitch/overlapping", "Vpc/DescribeVpcs/second-page", "Vpc/DescribeRouteEntryList/custom",
	"Ecs/DescribeInstances/by-id", "Ecs/DescribeInstances/no-json", "Ecs/DescribeNetworkInterfaces/pods", "Ecs/DescribeSecurityGroupAttribute/one",
	"Sts/AssumeRole/role", "Sts/AssumeRole/unknown-account", "ResourceManager/ListResourceGroups/with-tags", "ResourceManager/ListResourceGroups/bad-page",
	"cas/ListUserCertificateOrder/uploaded", "cas/ListUserCertificateOrder/unknown-type", "quotas/ListProductQuotas/first-of-nlb", "quotas/ListProductQuotas/unknown-product",
}

// TestGolden compares the parameters of every case, and the bytes of its reply, with the
// golden archives, and knows every file in them. A refused call must change nothing. With
// -run it compares, or writes, the cases named alone.
func TestGolden(t *testing.T) {
	cases := apiCases()
	played := make([][]txtar.File, len(cases)) // nil where -run leaves a case out
	t.Cleanup(func() {                         // when all have been played
		if *update {
			writeGolden(t, goldenDir, cases, played)
		}
		compareGolden(t, cases, played)
	})
	for i, c := range cases {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			played[i] = c.play(t)
		})
	}
}

// TestAlsoXML proves that each product has a reply and a refusal in XML.
func TestAlsoXML(t *testing.T) {
	answered, refused := make(map[string]bool), make(map[string]bool)
	kept := slices.Clone(alsoXML)
	for _, c := range apiCases() {
		at := slices.Index(kept, c.String())
		if at < 0 {
			continue
		}
		kept = slices.Delete(kept, at, at+1)
		answered[c.product] = answered[c.product] || c.code == ""
		refused[c.product] = refused[c.product] || c.code != ""
	}
	for product := range versions {
		if !answered[product] || !refused[product] {
			t.Errorf("%s has a reply in XML: %t, a refusal: %t; want both", product, answered[product], refused[product])
		}
	}
	if len(kept) > 0 {
		t.Errorf("alsoXML has %v, which are no cases", kept)
	}
}

// play makes the call of a case, in each format on an emulator of its own: ids
// depend on no other case. What only one action needs belongs in the case's before, as
// a new step in fixtures draws the ids of all cases again.
func (c apiCase) play(t *testing.T) (files []txtar.File) {
	t.Helper()
	formats := []string{"JSON"}
	if slices.Contains(alsoXML, c.String()) {
		formats = append(formats, "XML")
	}
	for _, format := range formats {
		cloud := preparedCloud(t, c.before...)
		p := cloud.names.resolve(c.params)
		if format == "JSON" {
			files = append(files, c.file(t, "req", requestText(p)))
		}
		reply, digest := replyText(cloud.answer(c, format, p)), ""
		if format == "JSON" {
			reply, digest = cutReply(t, reply)
		}
		files = append(files, c.file(t, strings.ToLower(format), reply))
		if digest != "" {
			files = append(files, c.file(t, "whole", digest))
		}
	}
	return files
}

// A new case changes its own archive alone, wherever it is in the list.
func TestNewGoldenCase(t *testing.T) {
	cases := of("Slb", []apiCase{
		succeeds("CreateVServerGroup", "old", params{"LoadBalancerId": "{lb}", "VServerGroupName": "old"}),
		succeeds("CreateAccessControlList", "old", params{"AclName": "old"}),
	})
	added := of("Slb", []apiCase{
		succeeds("CreateVServerGroup", "new", params{"LoadBalancerId": "{lb}", "VServerGroupName": "new"}),
		succeeds("CreateLoadBalancer", "new", params{"AddressType": "internet", "InstanceChargeType": "PayByCLCU"}),
	})
	write := func(cases []apiCase) (dir string) {
		dir = t.TempDir()
		var played [][]txtar.File
		for _, c := range cases {
			played = append(played, c.play(t))
		}
		writeGolden(t, dir, cases, played)
		return dir
	}
	before, after := write(cases), write(append(added, cases...))
	for _, c := range cases {
		want := keptArchive(t, goldenArchive(before, c)).Files
		got := keptArchive(t, goldenArchive(after, c)).Files
		if got = got[len(got)-len(want):]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %s, want it as without the new cases: %s", c, got, want)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(after, "Slb")); err != nil || len(entries) != 3 {
		t.Errorf("archives = %v, %v, want one of each action", entries, err)
	}
}

// goldenArchive returns the file of a folder that has a case.
func goldenArchive(dir string, c apiCase) string {
	return filepath.ToSlash(filepath.Join(dir, c.product, c.action+".txtar"))
}

// file returns one of the case's files in its archive.
func (c apiCase) file(t *testing.T, kind, text string) txtar.File {
	t.Helper()
	broken := breakLines.Replace(text)
	if joinLines(broken) != text {
		t.Fatalf("%s.%s begins a line with a space, as an archive does where it breaks one: %s", c, kind, text)
	}
	return txtar.File{Name: c.name + "." + kind, Data: []byte(broken)}
}

// breakLines breaks what is sent and answered into lines: after a comma before a name
// or an element, before an XML element, and after an escaped end of line.
var breakLines = strings.NewReplacer(`,"`, ",\n \"", "},{", "},\n {", "></", "></", "><", ">\n <", `\n`, `\n`+"\n ", "&#xA;", "&#xA;\n ")

// joinLines restores every byte that breakLines was given.
func joinLines(text string) string { return strings.ReplaceAll(text, "\n ", "") }

// writeGolden replaces the files of the cases that were played, and when all were, the
// whole folder.
func writeGolden(t *testing.T, dir string, cases []apiCase, played [][]txtar.File) {
	t.Helper()
	archives := make(map[string]*txtar.Archive)
	if whole(played) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range cases {
		path := goldenArchive(dir, c)
		if len(played[i]) == 0 {
			continue
		}
		if archives[path] == nil {
			archives[path] = keptArchive(t, path)
		}
		for _, f := range played[i] {
			replace(archives[path], f)
		}
	}
	for path, archive := range archives {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// whole reports whether every case was played.
func whole(played [][]txtar.File) bool {
	return !slices.ContainsFunc(played, func(files []txtar.File) bool { return files == nil })
}

// keptArchive returns an archive of the folder, or an empty one.
func keptArchive(t *testing.T, path string) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &txtar.Archive{}
	}
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// replace replaces the file of the same name, or appends the file.
func replace(archive *txtar.Archive, file txtar.File) {
	if i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == file.Name }); i >= 0 {
		archive.Files[i] = file
		return
	}
	archive.Files = append(archive.Files, file)
}

// compareGolden wants in the folder what was played, and nothing else when that is
// every case.
func compareGolden(t *testing.T, cases []apiCase, played [][]txtar.File) {
	t.Helper()
	kept := make(map[string]string)
	err := filepath.WalkDir(goldenDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		for _, f := range keptArchive(t, path).Files {
			name := filepath.ToSlash(path) + ": " + f.Name
			kept[name] = string(f.Data)
			for line := range strings.Lines(kept[name]) {
				if len(line) > maxGoldenLine {
					t.Errorf("%s has a line of %d bytes, want at most %d: %.60s…", name, len(line), maxGoldenLine, line)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		for _, f := range played[i] {
			name := goldenArchive(goldenDir, c) + ": " + f.Name
			want, found := kept[name]
			delete(kept, name)
			switch got := string(f.Data); {
			case !found:
				t.Errorf("%s is missing: write it by make golden CASE=%s", name, c)
			case got != want:
				t.Errorf("%s: %s", name, difference(got, want))
			}
		}
	}
	if !whole(played) {
		return
	}
	for name := range kept {
		t.Errorf("%s belongs to no case: make golden removes it", name)
	}
}

// answer makes the call of a case. A refused call must leave everything as it was.
func (c *fixedCloud) answer(of apiCase, format string, p params) *httptest.ResponseRecorder {
	c.t.Helper()
	if of.code == "" {
		return c.send(of.product, of.action, format, p)
	}
	before := resources(c.t, c)
	reply := c.send(of.product, of.action, format, p)
	if resources(c.t, c) != before {
		c.t.Error("the refused call changed the state")
	}
	return reply
}

// requestText writes parameters in order, one a line.
func requestText(p params) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p)) {
		value := p[name]
		if strings.ContainsAny(value, "\n\r\t") {
			value = strconv.Quote(value)
		}
		fmt.Fprintf(&b, "%s=%s\n", name, value)
	}
	return b.String()
}

// replyText returns the status, the type and the body of a reply.
func replyText(reply *httptest.ResponseRecorder) string {
	return fmt.Sprintf("%d %s\n%s\n", reply.Code, reply.Header().Get("Content-Type"), reply.Body)
}

// resources returns the state without the sequence of ids.
func resources(t testing.TB, c *fixedCloud) string {
	t.Helper()
	export, err := c.store.Export()
	if err != nil {
		t.Fatal(err)
	}
	delete(export.Tables, "Sequence")
	text, err := json.Marshal(export)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// difference shows where two texts part.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	around := func(text string) string { return text[max(0, at-60):min(len(text), at+60)] }
	return fmt.Sprintf("from byte %d on got\n%s, want\n%s", at, around(got), around(want))
}
