package explain_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/annotations"
	"github.com/clbemu/clbemu/emulator/explain"
	"github.com/clbemu/clbemu/scenarios"
)

var built = sync.OnceValues(func() (*explain.Index, error) { return explain.NewIndex(emulator.Names()) })

func index(t *testing.T) *explain.Index {
	t.Helper()
	c, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// search searches for a text, and returns what it finds if that is earned.
func search(t *testing.T, text string) *explain.Found {
	t.Helper()
	found, earned := index(t).Search(text)
	if !earned {
		return nil
	}
	return &found
}

// filled puts ids and addresses, as a real cluster has them, into a recorded text or a page's.
func filled(text string) string {
	for pattern, with := range map[string]string{
		`<lb>|lb-x+|loadbalancer xxx`: "lb-2ze9q4t1c7fxrwq1mmbfi", `<nlb>`: "nlb-9bcgizd6r1pl5zqo7q", `<address>`: "47.96.12.231:443", `<endpoint>`: "slb.cn-beijing.aliyuncs.com",
		`<name>`: "a1b2c3d4e5f60718293a4b5c6d7e8f90", `<job>`: "fd4a1b1c-7c9a-4c0f-9a53-0d6a5f3f1e11", `vpc-xxxx`: "vpc-bp1aevy8sofi8mh1qc5cm", `xxx\.xxx\.xxx\.xxx|x\.x\.x\.x|192\.168\.0\.99`: "10.24.3.117",
		`Throttlingxxx`: "Throttling.User", `%s`: "lb-2ze9q4t1c7fxrwq1mmbfi",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllStringFunc(text, func(m string) string { return strings.Replace(with, "\x00", m, 1) })
	}
	return text
}

// events returns the Events that a CCM wrote, by scenario.
func events(t *testing.T) (recorded map[string]struct{ Events []string }) {
	t.Helper()
	text, err := os.ReadFile("../../contracttests/testdata/ccm_events.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	return recorded
}

// TestExplainEvents proves that the Events that a CCM wrote find what they are about: an
// answer with a cure and a scenario, most often the one that was played.
func TestExplainEvents(t *testing.T) {
	all, missed := 0, 0
	for name, played := range events(t) {
		for _, event := range played.Events {
			reason, message, _ := strings.Cut(filled(event), ": ")
			for _, text := range []string{event, message, "  Warning  " + reason + "  2m10s (x5 over 10m)  service-controller  " + message} {
				all++
				switch found := search(t, text); {
				case found == nil:
					missed++
					t.Logf("%s: nothing is found for %q", name, text)
				case len(found.Best.Cures) == 0 || !slices.Contains(found.Best.Scenarios, name):
					missed++
					t.Logf("%s: %q finds %q, cures %q, scenarios %q", name, text, found.Best.Message, found.Best.Cures, found.Best.Scenarios)
				}
			}
		}
	}
	t.Logf("%d of %d are found", all-missed, all)
	if missed*20 > all || all < 200 {
		t.Errorf("%d of %d are missed, want at most 5 %%", missed, all)
	}
}

// TestExplainMessages proves that each message of the documents finds itself, with cure,
// causes, scenario and documents, in three forms: as the page has it, with real ids, and in
// an Event.
func TestExplainMessages(t *testing.T) {
	messages, err := explain.Messages()
	if err != nil {
		t.Fatal(err)
	}
	documented := 0
	for _, m := range messages {
		if _, known := scenarios.LibraryText(m.Scenario); !known && m.Scenario != "" {
			t.Errorf("%q: there is no scenario %s", m.Texts[0], m.Scenario)
		}
		if slices.Contains(m.In, "troubleshooting") {
			documented++
		}
		for _, page := range m.Texts {
			event := "Error syncing load balancer [lb-2ze9q4t1c7fxrwq1mmbfi]: apply model error: update lb attribute error: alicloud: " + filled(page) + ", there are unprocessed listeners in reconcile]"
			for _, text := range []string{page, filled(page), event} {
				if m.Beside != nil && text != event {
					continue
				}
				found := search(t, text)
				if found == nil {
					t.Errorf("%q finds nothing", text)
					continue
				}
				a := found.Best
				if a.Happened != m.Happened || !slices.Equal(a.Cures, m.Cures) || a.PlayedBy != m.By || m.Scenario != "" && a.Scenarios[0] != m.Scenario {
					t.Errorf("%q finds %+v, want %+v", text, a, m)
				}
				if len(a.Causes) == 0 || a.Causes[0].About == "" || a.Causes[0].Begin == "" || a.Causes[0].End == "" || m.In != nil && len(a.Documented) < len(m.In) {
					t.Errorf("%q has no cause, begin, end or document: %+v", text, a)
				}
			}
		}
	}
	if documented != 18 {
		t.Errorf("%d messages are of the table of ACK's page, want 18", documented)
	}
}

// TestExplainForms proves that the forms in which tools show an error find it.
func TestExplainForms(t *testing.T) {
	for text, want := range map[string]string{
		"SDK.ServerError\nErrorCode: RspoolVipExist\nRecommend: https://next.api.aliyun.com/troubleshoot?q=RspoolVipExist&product=Slb\nRequestId: 0A1B2C3D-1111-2222-3333-444455556666\nMessage: there are vips associating with this vServer group.": "RspoolVipExist",
		`[SDKError] API: CreateLoadBalancer, ErrorCode: VSwitchAvailableIpNotExist, Recommend: https://help.aliyun.com, RequestId: 5E9A4F1C-0000-5555-9999-ABCDEF012345, Message: The specified VSwitch has no available ip.`:                         "VSwitchAvailableIpNotExist",
		"╷\n│ Error: [ERROR] terraform-provider-alicloud/alicloud/resource_alicloud_slb_load_balancer.go:327: Resource alicloud_slb_load_balancer CreateLoadBalancer Failed!!! [SDK alibaba-cloud-sdk-go ERROR]:\n│ SDKError:\n│    StatusCode: 400\n│    Code: ORDER.ARREARAGE\n│    Message: code: 400, The account is arrearage. request id: 7B1E0E6B-3C9B-5E7C-8F3A-1A2B3C4D5E6F\n│    Data: {\"Code\":\"ORDER.ARREARAGE\",\"HostId\":\"slb.aliyuncs.com\"}\n│ \n│   with alicloud_slb_load_balancer.web,\n│   on main.tf line 12, in resource \"alicloud_slb_load_balancer\" \"web\":\n│   12: resource \"alicloud_slb_load_balancer\" \"web\" {\n│ \n╵": "ORDER.ARREARAGE",
		"│ Error: [ERROR] resource_alicloud_nlb_load_balancer.go:201: Resource alicloud_nlb_load_balancer CreateLoadBalancer Failed!!! [SDK alibaba-cloud-sdk-go ERROR]:\n│ SDK.ServerError\n│ ErrorCode: OperationFailed.UnpaidBill\n│ RequestId: 7B1E0E6B-3C9B-5E7C-8F3A-1A2B3C4D5E6F":                                                                                                                                                                                                                                                                                                                                                                      "OperationFailed.UnpaidBill",
		"Error: The specified VSwitch has no available ip.  RequestId: 7B1E0E6B-3C9B-5E7C-8F3A-1A2B3C4D5E6F": "VSwitchAvailableIpNotExist",
		`E1126 06:31:35.123456       1 controller.go:324] "Reconciler error" err="[SDKError] API: CreateLoadBalancer, ErrorCode: PAY.INSUFFICIENT_BALANCE, Message: Your account does not have enough balance." controller="service-controller" namespace="default" name="web"`: "PAY.INSUFFICIENT_BALANCE",
		`{"level":"error","ts":"2025-11-26T06:31:35Z","msg":"Reconciler error","controller":"service-controller","name":"web","error":"Message: The share instance has been discontinued."}`:                                                                                    "ShareSlbHaltSales",
		`HTTP Status: 400 Error:Throttling.User Request was denied due to user flow control. RequestID: 7B1E0E6B-3C9B-5E7C-8F3A-1A2B3C4D5E6F`:                                                                                                                                   "Throttling.User",
		`{"RequestId":"7B1E0E6B-3C9B-5E7C-8F3A-1A2B3C4D5E6F","HostId":"slb.aliyuncs.com","Code":"NetworkConflict","Message":"there are network conflicts in specified parameter."}`:                                                                                             "NetworkConflict",
		"order.arrearage":                     "ORDER.ARREARAGE",
		"throttling.USER":                     "Throttling.User",
		"errorcode: rspoolvipexist":           "RspoolVipExist",
		"ErrorCode: MissingVSwitchId":         "MissingVSwitchId",
		"ErrorCode: OVERQUOTA":                "OverQuota",
		"ErrorCode: Throttlingxxx":            "Throttling.User",
		"we see RspoolVipExist when deleting": "RspoolVipExist",
		"vips associating with this vserver":  "RspoolVipExist",
		"vswitch ip exhaust":                  "VSwitchAvailableIpNotExist",
		"ErrorCode: InvalidParameter, Message: The specified ServerCertificate and PrivateKey fail to validate.": "InvalidParameter",
		"负载均衡后端服务器超过配额": "InstanceBackendServerNumberOverLimit",
		"账号欠费":                      "ORDER.ARREARAGE",
		"交换机没有可用 IP":                "VSwitchAvailableIpNotExist",
		"创建失败 ORDER.ARREARAGE 账号欠费": "ORDER.ARREARAGE",
		"後端":      "",
		"负载均衡被限流": "Throttling.User", "load balancer throttled": "Throttling.User", "my service is throttled": "Throttling.User",
		"欠费了怎么办": "ORDER.ARREARAGE", "后端服务器数量超过配额怎么办": "InstanceBackendServerNumberOverLimit",
		"后端服务器数量达到配额上限": "InstanceBackendServerNumberOverLimit",
		"签名错误": "SignatureDoesNotMatch", "AccessKey 不存在": "InvalidAccessKeyId.NotFound", "端口被占用": "ListenerAlreadyExists", "可用区资源不足": "OperationFailed.ZoneResourceLimit",
		"虚拟服务器组删除不了，被监听引用": "RspoolVipExist", "共享型 SLB 不能买了": "ShareSlbHaltSales", "专有网络不一致": "NetworkConflict", "按量付费改规格失败": "OperationDenied.PayByCLCU",
		"vswitch 的 IP 用完了": "VSwitchAvailableIpNotExist", "后端服务器数量超过限制": "InstanceBackendServerNumberOverLimit", "服务欠费停机": "ORDER.ARREARAGE",
		// Only the Warning of a list of Events says what is wrong.
		"Events:\n  Normal   AnnotationChanged       3m   service-controller  The service will be updated because the annotations has been changed.\n  Warning  SyncLoadBalancerFailed  2m   service-controller  Error syncing load balancer []: Message: The account is arrearage.": "ORDER.ARREARAGE",
		// Sentences of Chinese, of which a few words tell.
		"服务一直是 pending，控制台提示账号欠费": "ORDER.ARREARAGE", "昨天开始账号欠费了，负载均衡会被释放吗": "ORDER.ARREARAGE", "云账号欠费导致创建失败": "ORDER.ARREARAGE",
		"创建负载均衡时提示交换机可用 IP 不足怎么办": "VSwitchAvailableIpNotExist", "Ingress 的 LoadBalancer 起不来，说交换机没有空闲 IP 了": "VSwitchAvailableIpNotExist",
		"华东1 可用区 H 的实例售罄": "OperationFailed.ZoneResourceLimit", "为什么新建的 NLB 报可用区售罄": "ResourceNotEnough.Zone", "集群里的 Service 创建不出来，日志里是限流": "Throttling.User",
		"调用 API 过于频繁被流控": "Throttling.User", "账号余额不足，不能购买 SLB": "PAY.INSUFFICIENT_BALANCE",
		"nlb: no available ip in vswitch": "VSwitchAvailableIpNotExist", "证书不存在": "NotFound",
		// Codes that clbemu does not know.
		"ERROR [main] SlbService : [InvalidFutureThing.NotFound] not found, requestId=ABC":                                                                                                                              "InvalidFutureThing.NotFound",
		"ERROR: SDK.ServerError\nErrorCode: ResourceQuotaExceeded.FutureThing\nRecommend: https://x\nRequestId: 7B1E0E6B\nMessage: The quota of future things is exceeded.":                                             "ResourceQuotaExceeded.FutureThing",
		"│ Error: [ERROR] terraform-provider-alicloud/alicloud/x.go:1: Resource x Create Failed!!! [SDK alibaba-cloud-sdk-go ERROR]:\n│ SDKError:\n│    StatusCode: 400\n│    Code: OperationDenied.FutureRoleNotExist": "OperationDenied.FutureRoleNotExist",
		"{\"code\": \"FutureThing.NotFound\", \"message\": \"no such thing\"}":                                                                                                                                          "",
		strings.Repeat("nothing to see\n", 5000) + "Message: The account is arrearage.\n" + strings.Repeat("more\n", 5000):                                                                                              "ORDER.ARREARAGE",
	} {
		found := search(t, text)
		if found != nil && strings.Contains(text, "PrivateKey") && slices.Contains(found.Best.Scenarios, "bad-target-port") {
			t.Errorf("%q finds another message of its code: %+v", text, found.Best)
		}
		if got := found; (got == nil) != (want == "") || got != nil && got.Best.Code != want {
			t.Errorf("%.200q finds %+v, want %q", text, got, want)
		}
	}
}

// TestExplainForeign proves that a text about something else finds nothing.
func TestExplainForeign(t *testing.T) {
	for _, text := range []string{
		"0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
		"Back-off restarting failed container nginx in pod web-7d4b9c6f5-x2x8l_default(0b1d)",
		`Failed to pull image "nginx:nosuch": rpc error: code = NotFound desc = failed to pull and unpack image: not found`,
		"Readiness probe failed: HTTP probe failed with statuscode: 503",
		"pod has unbound immediate PersistentVolumeClaims",
		"Error from server (Forbidden): pods is forbidden: User \"alice\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
		"Error from server (NotFound): services \"web\" not found",
		"Error from server (InternalError): Internal error occurred: failed calling webhook \"validate.nginx.ingress.kubernetes.io\": context deadline exceeded",
		"Unable to connect to the server: dial tcp 10.0.0.1:6443: connect: connection refused",
		"An error occurred (AccessDenied) when calling the CreateLoadBalancer operation: User: arn:aws:iam::123:user/x is not authorized to perform: elasticloadbalancing:CreateLoadBalancer",
		"An error occurred (InvalidVpcID.NotFound) when calling the DescribeVpcs operation: The vpc ID 'vpc-1a2b3c4d' does not exist",
		"The specified bucket does not exist",
		"googleapi: Error 403: Quota 'CPUS' exceeded. Limit: 24.0 in region us-central1., quotaExceeded",
		"iptables: Bad rule (does a matching rule exist in that chain?).",
		"no space left on device",
		"fatal: unable to access 'https://github.com/x/y.git/': Could not resolve host: github.com",
		"panic: runtime error: invalid memory address or nil pointer dereference",
		"Liveness probe errored: context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
		"read tcp 10.0.0.5:51234->10.0.0.6:5432: read: connection reset by peer",
		"ERROR: duplicate key value violates unique constraint \"users_pkey\"",
		"Deployment web exceeded its progress deadline",
		"MountVolume.SetUp failed for volume \"config\": configmap \"web\" not found",
		"The quick brown fox jumps over the lazy dog",
		"How do I bake bread with whole wheat flour at home?",
		"Error: failed",
		"context deadline exceeded", "port range is invalid in docker-compose.yml", "docker: Error response from daemon: Conflict. The container name \"/x\" is already in use",
		"googleapi: Error 400: Invalid value for field 'resource.IPAddress': '35.1.2.3'. Specified IP address is in-use and would result in a conflict., invalid",
		"An error occurred (TooManyLoadBalancers) when calling the CreateLoadBalancer operation: Exceeded quota of account 123456789012, arn:aws:iam::1:user/x",
		"Error syncing load balancer: failed to ensure load balancer: could not find any suitable subnets for creating the ELB",
		"nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)",
		"Your account has been locked due to too many failed login attempts",
		"今天天气很好，我们去公园散步",
		"AWS 账号欠费了怎么办", "手机欠费停机怎么办", "命名空间 ResourceQuota 配额超限，Pod 起不来", "MySQL 实例被限流",
		`error: the server doesn't have a resource type "loadbalancers"`, `Error from server (NotFound): nodes "worker-3" not found`,
		`services "web" is forbidden: exceeded quota: compute-resources, requested: services.loadbalancers=1, used: services.loadbalancers=2, limited: services.loadbalancers=2`,
		"ZONE_RESOURCE_POOL_EXHAUSTED: The zone 'projects/p/zones/us-east1-b' does not have enough resources available to fulfill the request.",
		"DependencyViolation: resource sg-0a1b2c has a dependent object\n\tstatus code: 400, request id: 7b1e",
		"信用卡账单逾期怎么办", "火车票售罄怎么办", "节点磁盘压力 DiskPressure",
		"数据库连接池已满，请稍后再试",
		"容器镜像拉取超时",
		"",
		"lb-2ze9q4t1c7fxrwq1mmbfi 10.0.0.1:80",
	} {
		if found := search(t, text); found != nil {
			t.Errorf("%q finds %q %q", text, found.Best.Code, found.Best.Happened)
		}
	}
}

// TestExplainChinese proves that words of Chinese find what the English ones find, and that
// the scenarios are found by the same search.
func TestExplainChinese(t *testing.T) {
	for chinese, english := range map[string]string{"欠费": "arrears", "限流": "throttling", "交换机": "vswitch", "配额": "quota", "售罄": "sold out", "账号": "account", "交换机 IP": "vswitch ip"} {
		here, there := search(t, chinese), search(t, english)
		if here == nil || there == nil || here.Best.Happened != there.Best.Happened || len(here.Others) != len(there.Others) {
			t.Errorf("%s finds %+v, %s finds %+v", chinese, here, english, there)
		}
		list, same := index(t).Scenarios(chinese), index(t).Scenarios(english)
		if len(list) == 0 || !slices.Equal(list, same) {
			t.Errorf("%s finds the scenarios %q, %s finds %q", chinese, list, english, same)
		}
	}
	for text, want := range map[string]string{"Error syncing load balancer []: Message: The account is arrearage.": "arrears", "evict master": "no-available-pods", "Message: there are vips associating with this vServer group.": "rspool-vip-exist", "售罄": "zone-sold-out"} {
		if list := index(t).Scenarios(text); !slices.Contains(list, want) || len(list) > 30 {
			t.Errorf("%q finds the scenarios %q, want %s", text, list, want)
		}
	}
}

// row names what is found: the topic, or else the first scenario, or else the code.
func row(found *explain.Found) string {
	switch {
	case found == nil:
		return "none"
	case found.Best.Name != "":
		return found.Best.Name
	case len(found.Best.Scenarios) > 0:
		return found.Best.Scenarios[0]
	}
	return found.Best.Code
}

// asked reads a table of questions: the row that each must lead to, its language and its text.
func asked(t *testing.T, file string, each func(row, text string)) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("%s: %q has %d fields, want 3", file, line, len(fields))
		}
		each(fields[0], strings.ReplaceAll(fields[2], `\n`, "\n"))
	}
}

// TestDocumentsAreFound proves that the titles, questions, findings and messages of the
// documents lead to their own rows with a cure, and none to another's.
func TestDocumentsAreFound(t *testing.T) {
	all, right := 0, 0
	asked(t, "testdata/documents.tsv", func(want, text string) {
		all++
		found := search(t, text)
		switch got := row(found); {
		case got != want && !(found != nil && slices.Contains(found.Best.Scenarios, want)):
			t.Logf("%q leads to %s, want %s", text, got, want)
			if got != "none" {
				t.Errorf("%q is answered wrongly with %s, want %s", text, got, want)
			}
		case found != nil && len(found.Best.Cures) == 0:
			t.Errorf("%q has no cure", text)
		default:
			right++
		}
	})
	t.Logf("%d of %d are right", right, all)
	if right*100 < all*95 || all < 180 {
		t.Errorf("%d of %d are right, want 95 %%", right, all)
	}
}

// TestQuestions proves that what people ask in other words leads to the same rows, and that
// what is about something else leads nowhere.
func TestQuestions(t *testing.T) {
	asked(t, "testdata/questions.tsv", func(want, text string) {
		found := search(t, text)
		if row(found) != want && !(found != nil && (found.Best.Code == want || slices.Contains(found.Best.Scenarios, want))) {
			t.Errorf("%q leads to %s, want %s", text, row(found), want)
		}
	})
}

// TestSymptoms proves that the ways in which people name a symptom find it, and that an error
// with such a word in it is none.
func TestSymptoms(t *testing.T) {
	text, err := os.ReadFile("testdata/symptoms.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		want, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		got := ""
		if found := search(t, text); found != nil {
			got = found.Best.Name
		}
		if got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

// TestMessagesAreNoSymptoms proves that what the cloud and a CCM write is looked up as a message.
func TestMessagesAreNoSymptoms(t *testing.T) {
	texts := index(t).Refusals()
	for _, played := range events(t) {
		for _, event := range played.Events {
			texts = append(texts, filled(event))
		}
	}
	messages, err := explain.Messages()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if m.Beside == nil {
			texts = append(texts, m.Texts...)
		}
	}
	for _, text := range texts {
		if found := search(t, text); found != nil && found.Best.Name != "" && found.Best.Name != "permission" {
			t.Errorf("%q names the topic %s", text, found.Best.Name)
		}
	}
}

// TestExplainWhole proves of every seventeenth code that, if it is found, its answer says what happened, what
// cures it, how it begins and how it ends.
func TestExplainWhole(t *testing.T) {
	for i, code := range emulator.Names().AllCodes() {
		if i%17 != 0 || strings.Contains(code, "%") {
			continue
		}
		found := search(t, "ErrorCode: "+code)
		if found == nil {
			continue // of no message
		}
		a := found.Best
		if a.Happened == "" || len(a.Cures) == 0 || len(a.Causes) == 0 || a.Causes[0].Begin == "" || a.Causes[0].End == "" {
			t.Errorf("%s: %+v", code, a)
		}
	}
}

// TestExplainHostile proves that no text takes long.
func TestExplainHostile(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size = 1 << 16
	}
	for _, unit := range []string{"a", "\x00", "lb-1 ", "quota ", "ORDER.ARREARAGE ", "code: ", "[", "欠费", "the account is arrearage. "} {
		began := time.Now()
		search(t, strings.Repeat(unit, size/len(unit)))
		if took := time.Since(began); took > 2*time.Minute {
			t.Errorf("%d bytes of %q take %v", size, unit, took)
		}
	}
}

// TestAnnotation proves that the key of an annotation, under either prefix and without its
// domain, leads to what it sets, and a misspelt one to the one that was meant.
func TestAnnotation(t *testing.T) {
	for _, key := range annotations.Keys() {
		a, _ := annotations.Find(key)
		asked := []string{key, "what is " + key}
		if strings.Contains(key, "-loadbalancer-") {
			asked = append(asked, strings.TrimPrefix(key, "service.beta.kubernetes.io/"))
		}
		for _, text := range asked {
			found, earned := index(t).Search(text)
			if best := found.Best; !earned || best.Title != key || !strings.EqualFold(best.Happened[:len(a.Help)], a.Help) || !strings.Contains(best.Note, a.Since) || strings.Contains(best.Happened, ": .") {
				t.Errorf("%s leads to %+v", text, best)
			}
		}
	}
	for misspelt, want := range map[string]string{
		"service.beta.kubernetes.io/alibaba-cloud-loadbalancer-adress-type": "Write service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type.",
		"alibaba-cloud-loadbalancer-sepc":                                   "Write service.beta.kubernetes.io/alibaba-cloud-loadbalancer-spec.",
	} {
		if found, earned := index(t).Search(misspelt); !earned || len(found.Best.Cures) != 1 || found.Best.Cures[0] != want {
			t.Errorf("%s leads to %+v", misspelt, found.Best)
		}
	}
	const p = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-"
	for text, want := range map[string]string{
		"can not reuse loadbalancer created by kubernetes. annotation " + p + "id":     "can not be reused",
		"alibaba-cloud-loadbalancer-cert-id expired":                                   "because it is expired",
		p + "protocol-port https:443 certificate not found":                            "describe new cert error",
		"Failed build vserver groups: " + p + "vgroup-port group not exist":            "can not find vgroupId",
		p + "zone-maps at least two zones required":                                    "ZoneMapping format error",
		"service.beta.kubernetes.io/class-foo":                                         "No CCM that clbemu knows reads",
		"alibaba-cloud-loadbalancer-zzzzzzzzzzzzzzz":                                   "No CCM that clbemu knows reads",
		"annotation service.beta.kubernetes.io/alicloud-loadbalancer-id ignored by it": "ID of an existing load balancer",
	} {
		found, earned := index(t).Search(text)
		if best := found.Best; !earned || !strings.Contains(best.Message+best.Title+best.Happened, want) || strings.Contains(want, "No CCM") && len(best.Cures) > 0 {
			t.Errorf("%s leads to %+v, want %s", text, best, want)
		}
	}
	for _, text := range []string{"k8s.io/alibaba-cloud-loadbalancer-spec", "xalibaba-cloud-loadbalancer-idx", "alibaba-cloud-loadbalancer-" + strings.Repeat("a-", 100000) + "b"} {
		if found, _ := index(t).Search(text); strings.Contains(found.Best.Title, "loadbalancer-") {
			t.Errorf("%.60s leads to %.200s", text, found.Best.Title)
		}
	}
}
