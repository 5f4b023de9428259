package trail_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/trail"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/target/private"
)

const (
	created = `{"eventSource":"slb.aliyuncs.com","serviceName":"Slb","eventName":"CreateLoadBalancer","acsRegion":"cn-hangzhou",
		"requestParameters":{"AcsHost":"slb.aliyuncs.com","RequestId":"R","AddressType":"internet","InstanceChargeType":"PayByCLCU","DeleteProtection":"on"},
		"responseElements":{"RequestId":"R","LoadBalancerId":"lb-bp1b3iffgeccmaww3abcd","Address":"192.0.2.1"}}`
	refused = `{"eventSource":"slb-pop.aliyuncs.com","serviceName":"Slb","eventName":"DeleteLoadBalancer","errorCode":"OperationDenied.DeleteProtectionIsOn","errorMessage":"m",
		"requestParameterJson":"{\"LoadBalancerId\":\"lb-bp1b3iffgeccmaww3abcd\"}"}`
	foreign = `{"eventSource":"ec2.amazonaws.com","serviceName":"ec2","eventName":"RunInstances"}`
	logLine = "I1126 10:00:00.000000 1 x.go:1] RequestId: 51D55867-8194-5C55-8F33-4385D7C37D99, API: AddTags, lb\n"
	sdkLine = `E1126 10:00:00.000000 1 x.go:1] "err" [SDKError] API: CreateLoadBalancer, StatusCode: 400, ErrorCode: ShareSlbHaltSales, RequestId: R` + "\n"
)

// long is an event that is longer than those that are read.
var long = `{"serviceName":"Slb","eventName":"DeleteLoadBalancer","requestParameters":{"LoadBalancerId":"` + strings.Repeat("x", 5<<20) + `"}}`

func quoted(text string) string {
	quoted, _ := json.Marshal(text) // a text can be encoded
	return string(quoted)
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text) // a buffer takes all
	_ = w.Close()
	return b.String()
}

// TestEach proves that events are found in each form of a file, and what is no file of
// events is refused or counted.
func TestEach(t *testing.T) {
	const both = "CreateLoadBalancer DeleteLoadBalancer"
	for _, c := range []struct {
		name, text, actions string
		read                trail.Read
		err                 string
	}{
		{"lines", created + "\n" + refused, both, trail.Read{Events: 2}, ""},
		{"list", "[" + created + "," + refused + "," + foreign + "]", both, trail.Read{Events: 2, Elsewhere: 1}, ""},
		{"events", `{"NextToken":"n","Events":[` + created + "," + refused + `],"RequestId":"R"}`, both, trail.Read{Events: 2}, ""},
		{"byte order mark", "\ufeff[" + created + ",\r\n" + refused + "]", both, trail.Read{Events: 2}, ""},
		{"byte order mark of a log", "\ufeff" + logLine, "AddTags", trail.Read{Events: 1}, ""},
		{"gzip", zipped("\ufeff" + created + refused), both, trail.Read{Events: 2}, ""},
		{"journal", `{"entries":[{"product":"Slb","action":"DescribeRegions","kind":"call"},{"kind":"fault"}]}`, "DescribeRegions", trail.Read{Events: 1, Unread: 1}, ""},
		{"log", "begin\n" + logLine + sdkLine, "AddTags CreateLoadBalancer", trail.Read{Events: 2, Unread: 1}, ""},
		{"CCM's own names", strings.ReplaceAll(logLine, "AddTags", "DescribeLoadBalancer") + strings.ReplaceAll(sdkLine, "CreateLoadBalancer", "DeleteNLBListener") +
			strings.ReplaceAll(logLine, "AddTags", "DescribeEnsEipAddresses"), "DescribeLoadBalancerAttribute DeleteListener", trail.Read{Events: 2, Elsewhere: 1}, ""},
		{"long line", strings.Repeat("x", 100_000) + "\n" + logLine, "AddTags", trail.Read{Events: 1, Unread: 1}, ""},
		{"truncated", created + refused[:80], "CreateLoadBalancer", trail.Read{Events: 1}, "ends in the middle of an event"},
		{"truncated gzip", zipped(created)[:200], "", trail.Read{}, "in the middle of an event"},
		{"too long", long + "\n" + created + refused, both, trail.Read{Events: 2, Long: 1}, ""},
		{"too long in a list", "[" + created + "," + long + "," + refused + "]", both, trail.Read{Events: 2, Long: 1}, ""},
		{"too long in an object", `{"Records":[` + created + "," + long + "," + refused + `]}`, both, trail.Read{Events: 2, Long: 1}, ""},
		{"too long, zipped", zipped(long + created + refused), both, trail.Read{Events: 2, Long: 1}, ""},
		{"too long for a log", logLine + strings.Repeat("x", 5<<20) + "\n" + logLine, "AddTags AddTags", trail.Read{Events: 2, Unread: 1}, ""},
		{"too long and cut", created + long[:5<<20], "CreateLoadBalancer", trail.Read{Events: 1}, "ends in the middle of an event"},
		{"broken lines", created + "\n{\"eventName\":\"Cre\nno event\n{7}\n" + refused, "CreateLoadBalancer DeleteLoadBalancer", trail.Read{Events: 2, Unread: 3}, ""},
		{"broken element", "[\n" + created + ",\n{\"eventName\":\"Cre\n},\n" + refused + "\n]", both, trail.Read{Events: 2, Unread: 2}, ""},
		{"zipped parts", zipped(created) + zipped(refused), both, trail.Read{Events: 2}, ""},
		{"Log Service", `{"__topic__":"actiontrail_event","event":` + quoted(created) + `}{"event":` + refused + "}", both, trail.Read{Events: 2}, ""},
		{"EventBridge", `{"specversion":"1.0","type":"actiontrail:ActionTrail:ApiCall","data":` + created + `}`, "CreateLoadBalancer", trail.Read{Events: 1}, ""},
		{"no call", strings.ReplaceAll(created, `"eventName"`, `"eventType":"ConsoleOperation","eventName"`), "", trail.Read{Elsewhere: 1}, ""},
		{"log in JSON", `{"log":` + quoted(logLine) + `,"stream":"stderr"}` + "\n" + `{"ts":1,"msg":"m","err":` + quoted(sdkLine) + "}", "AddTags CreateLoadBalancer", trail.Read{Events: 2}, ""},
		{"log in another encoding", strings.Repeat("x", 4095) + "负\n" + "\xb8\xba\n" + logLine, "AddTags", trail.Read{Events: 1, Unread: 2}, ""},
		{"UTF-16", "\xff\xfe[\x00", "", trail.Read{}, "convert it to UTF-8"},
		{"deep", strings.Repeat("[", 20_000), "", trail.Read{}, "lists within each other"},
		{"empty", "", "", trail.Read{}, "the file is empty"},
		{"other JSON", `[7,"x",{"a":1}]`, "", trail.Read{Unread: 3}, ""},
		{"binary", "\x00\xff\xfe\n", "", trail.Read{}, "neither JSON, gzip nor a log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var actions []string
			read, err := trail.Each(strings.NewReader(c.text), func(e *trail.Event) bool { actions = append(actions, e.Action); return true })
			if read != c.read || strings.Join(actions, " ") != c.actions || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("Each = %+v %v, %v; want %+v %s, %s", read, actions, err, c.read, c.actions, c.err)
			}
		})
	}
}

// judged returns what is found in a text, which is also played if it can be.
func judged(t *testing.T, text string, play bool) ([]trail.Finding, *trail.Player) {
	t.Helper()
	findings := trail.NewFindings(emulator.Names())
	forks, err := private.NewForks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := forks.Fork(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := forks.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	player := trail.NewPlayer(cloud, findings)
	if _, err := trail.Each(strings.NewReader(text), func(e *trail.Event) bool {
		here := findings.Judge(e)
		if here && play {
			if err := player.Play(t.Context(), e); err != nil {
				t.Error(err)
			}
		}
		return here
	}); err != nil {
		t.Fatal(err)
	}
	return findings.Sorted(), player
}

// TestLogNames proves that each name that a CCM's log has for an action is known, and that an
// unknown name of a log stands alone.
func TestLogNames(t *testing.T) {
	text := ""
	for _, name := range []string{"CreateLoadbalancer", "DescribeLoadBalancer", "DescribeAccessControlList", "ListNLBListeners", "DeleteNLBListener", "ListNLBServers",
		"UpdateNLBAddressType", "CreateRocket"} {
		text += strings.ReplaceAll(logLine, "AddTags", name)
	}
	got, _ := judged(t, text, false)
	want := []trail.Finding{{Kind: "action", Action: "CreateRocket", Times: 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("findings = %+v, want %+v", got, want)
	}
}

// TestFindings proves what is found in events, the most frequent first.
func TestFindings(t *testing.T) {
	unknown := `{"serviceName":"Slb","eventName":"CreateRocket"}`
	strange := `{"serviceName":"Slb","eventName":"DescribeRegions","requestParameters":{"AcceptLanguage":"zh","Rocket":"1"},"errorCode":"Rocket.Failed",
		"responseElements":{"Regions":{"Region":[{"RegionId":"a","Rocket":1}]}}}`
	got, _ := judged(t, unknown+strange+strange, false)
	want := []trail.Finding{
		{Kind: "code", Action: "Slb DescribeRegions", What: "Rocket.Failed", Times: 2},
		{Kind: "field", Action: "Slb DescribeRegions", What: "Regions.Region.Rocket", Times: 2},
		{Kind: "parameter", Action: "Slb DescribeRegions", What: "Rocket", Times: 2},
		{Kind: "action", Action: "Slb CreateRocket", Times: 1},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("findings = %+v, want %+v", got, want)
	}
	if known, _ := judged(t, created+refused, false); len(known) > 0 {
		t.Errorf("findings of what is known = %+v", known)
	}
}

// TestStatus proves that a code with another status than here is found, from a journal and
// from a log, and that one without a status is not.
func TestStatus(t *testing.T) {
	const entry = `{"kind":"call","product":"Slb","action":"DescribeLoadBalancerAttribute","status":%d,"code":%q}`
	for text, want := range map[string][]trail.Finding{
		fmt.Sprintf(entry, 404, "InvalidLoadBalancerId.NotFound"): nil,
		fmt.Sprintf(entry, 400, "MissingLoadBalancerId"):          nil,
		fmt.Sprintf(entry, 400, "Throttling.User"):                nil,
		sdkLine: nil,
		strings.Replace(sdkLine, "StatusCode: 400, ", "", 1):                                  nil,
		fmt.Sprintf(entry, 400, "InvalidLoadBalancerId.NotFound"):                             {{Kind: "status", Action: "Slb DescribeLoadBalancerAttribute", What: "InvalidLoadBalancerId.NotFound with 400", Times: 1}},
		strings.Replace(sdkLine, "400", "409", 1) + strings.Replace(sdkLine, "400", "409", 1): {{Kind: "status", Action: "Slb CreateLoadBalancer", What: "ShareSlbHaltSales with 409", Times: 2}},
	} {
		if got, _ := judged(t, text, false); len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
			t.Errorf("findings of %s = %+v, want %+v", text, got, want)
		}
	}
}

// TestPlay proves that calls are made again with the ids of the cloud that plays, that what
// the file does not make is left out, and that another answer is found.
func TestPlay(t *testing.T) {
	gone := strings.ReplaceAll(refused, "lb-bp1b3iffgeccmaww3abcd", "lb-bp1b3iffgeccmaww3wxyz")
	got, player := judged(t, created+refused+gone, true)
	if len(got) > 0 || player.Played != 2 || player.Skipped != 1 {
		t.Errorf("%d played, %d skipped, %+v; want 2, 1 and no finding", player.Played, player.Skipped, got)
	}
	other := strings.Replace(refused, "OperationDenied.DeleteProtectionIsOn", "InvalidLoadBalancerId.NotFound", 1)
	got, _ = judged(t, created+other, true)
	if len(got) != 1 || got[0].What != "there InvalidLoadBalancerId.NotFound, here OperationDenied.DeleteProtectionIsOn" {
		t.Errorf("findings = %+v, want the other answer", got)
	}
}

// TestPlayedValues proves that another value of an answer is found, unless each cloud has
// its own, and without the value; and that numbers and texts in place of objects are read.
func TestPlayedValues(t *testing.T) {
	there := strings.NewReplacer(`"Address":`, `"NetworkType":"rocket","LoadBalancerName":"auto_named_slb","OrderId":2,"Address":`, "192.0.2.1", "198.51.100.7").Replace(created)
	listener := `{"serviceName":"Slb","eventName":"CreateLoadBalancerTCPListener","requestParameters":` +
		quoted(`{"LoadBalancerId":"lb-bp1b3iffgeccmaww3abcd","ListenerPort":80,"BackendServerPort":"80","Bandwidth":-1,"AclId":""}`) + `,"responseElements":"{}"}`
	want := []trail.Finding{{Kind: "value", Action: "Slb CreateLoadBalancer", What: "NetworkType", Times: 1}}
	if got, player := judged(t, there+listener, true); !reflect.DeepEqual(got, want) || player.Played != 2 {
		t.Errorf("%d played, findings = %+v; want 2, %+v", player.Played, got, want)
	}
}

// TestNothingSecret proves that no value of a file is in the findings, also where it stands
// in place of a name.
func TestNothingSecret(t *testing.T) {
	for _, secret := range []string{"LTAI5tSecret123456", "LTAIofSecretKey", "STS.NSecretKey", "Tag.CAISecretToken", "lb-Secret", "Secret@example.com", "Secret name"} {
		testSecret(t, secret)
	}
}

func testSecret(t *testing.T, secret string) {
	t.Helper()
	text := fmt.Sprintf(`{"serviceName":"Slb","eventName":"DescribeRegions","requestParameters":{%[1]q:"x","Rocket":%[1]q},"errorCode":%[1]q,"errorMessage":%[1]q,"responseElements":{%[1]q:1}}
		{"serviceName":%[1]q,"eventName":%[1]q}{"serviceName":"Slb","eventName":%[1]q}`, secret)
	got, _ := judged(t, text, true)
	printed, err := json.Marshal(got)
	if err != nil || strings.Contains(string(printed), "Secret") || len(got) == 0 {
		t.Errorf("findings = %s, %v, want some without the secret", printed, err)
	}
}

// endless repeats a text.
type endless struct {
	text string
	left int
	at   io.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	for {
		if e.at != nil {
			if n, err := e.at.Read(p); err == nil {
				return n, nil
			}
		}
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left--
		e.at = strings.NewReader(strings.ReplaceAll(e.text, "Rocket", fmt.Sprintf("Rocket%c%c%c", 'a'+e.left%26, 'a'+e.left/26%26, 'a'+e.left/676%26)))
	}
}

// TestManyEvents proves that memory does not grow with a file in which each event has a
// name of its own.
func TestManyEvents(t *testing.T) {
	findings := trail.NewFindings(emulator.Names())
	var most uint64
	n := 0
	_, err := trail.Each(&endless{text: `{"serviceName":"Slb","eventName":"DescribeRegions","requestParameters":{"Rocket":"1"}}` + "\n", left: 60_000}, func(e *trail.Event) bool {
		if n++; n%20_000 == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		return findings.Judge(e)
	})
	if err != nil || n != 60_000 || findings.Dropped == 0 || most > 100<<20 {
		t.Errorf("%d events, %d dropped, %d MiB, %v", n, findings.Dropped, most>>20, err)
	}
}

// FuzzEach proves that no file makes the reader panic.
func FuzzEach(f *testing.F) {
	for _, text := range []string{created, "[" + refused + "]", logLine, zipped(created), `{"Events":[[{}]]}`} {
		f.Add([]byte(text))
	}
	known := emulator.Names()
	f.Fuzz(func(_ *testing.T, text []byte) {
		findings := trail.NewFindings(known)
		_, _ = trail.Each(bytes.NewReader(text), findings.Judge) // any error will do
	})
}
