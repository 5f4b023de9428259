package contracttests

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	openapi "github.com/alibabacloud-go/darabonba-openapi/v2/client"
	"github.com/alibabacloud-go/tea/dara"
	"github.com/alibabacloud-go/tea/tea"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/auth/credentials"
	sdkerrors "github.com/aliyun/alibaba-cloud-sdk-go/sdk/errors"
	"github.com/aliyun/alibaba-cloud-sdk-go/sdk/requests"

	"github.com/clbemu/clbemu/contracttests/await"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// caller makes a call with some client and returns the answer as text, or the code of
// the refusal.
type caller func(product, action string, p params) (answer, code string, err error)

// family is a family of clients, with one of its ways to sign and to write.
type family struct {
	name    string
	connect func(t *testing.T, host, secret string) caller
}

// families returns all that are tried. Those of Node come with a process that they share.
func families(t *testing.T) []family {
	list := []family{
		{"alibaba-cloud-sdk-go/older signature/JSON", sdkGo("JSON")},
		{"alibaba-cloud-sdk-go/older signature/XML", sdkGo("XML")},
		{"darabonba/ACS3/query", darabonba("", false)},
		{"darabonba/ACS3/form", darabonba("", true)},
		{"darabonba/older signature/query", darabonba("v2", false)},
		{"darabonba/older signature/form", darabonba("v2", true)},
	}
	node := startNode(t)
	if node == nil {
		return list
	}
	return append(list,
		family{"Node openapi-client/ACS3/query", node.connect(map[string]string{"body": "query"})},
		family{"Node openapi-client/ACS3/form", node.connect(map[string]string{"body": "form"})},
		family{"Node openapi-client/ACS3/JSON", node.connect(map[string]string{"body": "json"})},
		family{"Node openapi-client/older signature/form", node.connect(map[string]string{"body": "form", "signature": "v2"})},
		family{"Node pop-core/older signature/query", node.connect(map[string]string{"client": "pop", "body": "query"})},
		family{"Node pop-core/older signature/form", node.connect(map[string]string{"client": "pop", "body": "form"})},
	)
}

// sdkGo is the SDK that a CCM is built with, by its common requests, which answer text
// in either format.
func sdkGo(format string) func(*testing.T, string, string) caller {
	return func(t *testing.T, host, secret string) caller {
		client, err := sdk.NewClientWithOptions(region, sdk.NewConfig().WithTimeout(await.Patience), credentials.NewAccessKeyCredential(emulatortest.AccessKeyID, secret))
		if err != nil {
			t.Fatal(err)
		}
		return func(product, action string, p params) (string, string, error) {
			request := requests.NewCommonRequest()
			request.Method, request.Scheme, request.Domain = "POST", "http", host
			request.Product, request.Version, request.ApiName = product, versions[product], action
			request.AcceptFormat = format
			request.QueryParams = p
			response, err := client.ProcessCommonRequest(request)
			var refusal *sdkerrors.ServerError
			if errors.As(err, &refusal) {
				// It reads codes out of JSON alone, and shows other text as it is.
				return "", cmp.Or(refusal.ErrorCode(), said(refusal.Message(), "Code")), nil
			}
			if err != nil {
				return "", "", err
			}
			return response.GetHttpContentString(), "", nil
		}
	}
}

// darabonba is the client below all newer SDKs in Go.
func darabonba(signature string, inForm bool) func(*testing.T, string, string) caller {
	return func(t *testing.T, host, secret string) caller {
		config := &openapi.Config{AccessKeyId: dara.String(emulatortest.AccessKeyID), AccessKeySecret: dara.String(secret),
			Endpoint: dara.String(host), Protocol: dara.String("HTTP"), RegionId: dara.String(region),
			ReadTimeout: dara.Int(int(await.Patience.Milliseconds()))}
		if signature != "" {
			config.SignatureAlgorithm = dara.String(signature)
		}
		client, err := openapi.NewClient(config)
		if err != nil {
			t.Fatal(err)
		}
		return func(product, action string, p params) (string, string, error) {
			sent := make(map[string]*string)
			for name, value := range p {
				sent[name] = dara.String(value)
			}
			request := &openapi.OpenApiRequest{Query: sent}
			if inForm {
				request = &openapi.OpenApiRequest{Body: sent}
			}
			answer, err := client.CallApi(&openapi.Params{
				Action: dara.String(action), Version: dara.String(versions[product]), Protocol: dara.String("HTTP"), Pathname: dara.String("/"),
				Method: dara.String("POST"), AuthType: dara.String("AK"), Style: dara.String("RPC"),
				ReqBodyType: dara.String("formData"), BodyType: dara.String("json"),
			}, request, &dara.RuntimeOptions{})
			var refusal *tea.SDKError
			if errors.As(err, &refusal) {
				return "", tea.StringValue(refusal.Code), nil
			}
			if err != nil {
				return "", "", err
			}
			text, err := json.Marshal(answer["body"])
			return string(text), "", err
		}
	}
}

// nodeProcess makes calls with clients for Node.
type nodeProcess struct {
	in  io.Writer
	out *bufio.Scanner
}

// nodeWanted is the variable with which Node is tried, and with the value required must be there.
const nodeWanted = "CLBEMU_NODE"

// startPiped starts a process that its standard input and output talk to.
func startPiped(t *testing.T, cmd *exec.Cmd) (in io.WriteCloser, out io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// startNode starts the process, or skips its families and says so.
func startNode(t *testing.T) *nodeProcess {
	t.Helper()
	dir, err := nodeFolder(t)
	if err != nil {
		if os.Getenv(nodeWanted) == "required" {
			t.Fatalf("%s is set, and Node's clients can't be tried: %v", nodeWanted, err)
		}
		t.Run("Node", func(t *testing.T) { t.Skipf("Node's clients are not tried: %v", err) })
		return nil
	}
	cmd := exec.Command("node", "client.js")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	in, out := startPiped(t, cmd)
	t.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			t.Errorf("node: %v", err)
		}
	})
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<20)
	return &nodeProcess{in, scanner}
}

// nodeFolder has the clients in it, fetched once, as the lock file says, into
// the user's cache.
func nodeFolder(t *testing.T) (string, error) {
	t.Helper()
	if os.Getenv(nodeWanted) == "" {
		return "", errors.New("make node tries it")
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", err
		}
	}
	lock, err := os.ReadFile("node/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "clbemu", fmt.Sprintf("node-%x", sha256.Sum256(lock))[:21])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, name := range []string{"package.json", "package-lock.json", "client.js"} {
		text, err := os.ReadFile(filepath.Join("node", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return "", err
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", ".package-lock.json")); err == nil {
		return dir, nil
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = dir
	if text, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w: %s", err, text)
	}
	return dir, nil
}

// connect calls with a client, signature and kind of body.
func (n *nodeProcess) connect(way map[string]string) func(*testing.T, string, string) caller {
	return func(_ *testing.T, host, secret string) caller {
		return func(product, action string, p params) (string, string, error) {
			call := map[string]any{"id": emulatortest.AccessKeyID, "secret": secret, "host": host, "region": region,
				"version": versions[product], "action": action, "params": p}
			for name, value := range way {
				call[name] = value
			}
			line, err := json.Marshal(call)
			if err != nil {
				return "", "", err
			}
			if _, err := fmt.Fprintf(n.in, "%s\n", line); err != nil {
				return "", "", err
			}
			if !n.out.Scan() {
				return "", "", fmt.Errorf("node ended: %w", n.out.Err())
			}
			var result struct {
				Body          json.RawMessage
				Code, Message string
			}
			if err := json.Unmarshal(n.out.Bytes(), &result); err != nil {
				return "", "", err
			}
			if result.Body == nil && result.Code == "" {
				return "", "", errors.New(result.Message)
			}
			return string(result.Body), result.Code, nil
		}
	}
}

// said finds a field in an answer of either format.
func said(answer, field string) string {
	if strings.HasPrefix(answer, "<") {
		decoder := xml.NewDecoder(strings.NewReader(answer))
		for {
			token, err := decoder.Token()
			if err != nil {
				return ""
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == field {
				var text string
				if err := decoder.DecodeElement(&text, &start); err != nil {
					return ""
				}
				return text
			}
		}
	}
	var body any
	if json.Unmarshal([]byte(answer), &body) != nil {
		return ""
	}
	for path, value := range leavesOf(body, "") {
		if strings.HasSuffix(path, "."+field) {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// difficult is text that each signature must escape in the same way on both sides.
const difficult = "a b*~é/组+%&='\"<>"

// TestClientFamilies has the same conversation with clients of three families, over
// both signatures, with parameters in the query, a form and JSON, and answers in JSON
// and, where the client can ask for it, XML. Node is tried by `make node`.
func TestClientFamilies(t *testing.T) {
	s := emulatortest.Start(t)
	for _, f := range families(t) {
		t.Run(f.name, func(t *testing.T) {
			call := f.connect(t, s.Host(), emulatortest.AccessKeySecret)
			does := func(product, action string, p params) string {
				t.Helper()
				p = more(p, "RegionId", region)
				answer, code, err := call(product, action, p)
				if err != nil || code != "" || said(answer, "RequestId") == "" {
					t.Fatalf("%s(%v) = %s, %q, %v, want success", action, p, answer, code, err)
				}
				return answer
			}
			lb := said(does("Slb", "CreateLoadBalancer", params{"AddressType": "internet", "InstanceChargeType": "PayByCLCU", "LoadBalancerName": "web"}), "LoadBalancerId")
			group := does("Slb", "CreateVServerGroup", params{"LoadBalancerId": lb, "VServerGroupName": "k8s/30080", "BackendServers": servers(server(node1, 30080, 100))})
			if got := said(group, "ServerId"); got != node1 {
				t.Errorf("the group has the server %q, want %s", got, node1)
			}
			does("Slb", "TagResources", params{"ResourceType": "instance", "ResourceId.1": lb, "Tag.1.Key": "first", "Tag.1.Value": difficult, "Tag.2.Key": "second", "Tag.2.Value": "2"})
			if got := said(does("Slb", "ListTagResources", params{"ResourceType": "instance", "ResourceId.1": lb, "Tag.1.Key": "first"}), "TagValue"); got != difficult {
				t.Errorf("the tag is %q, want %q", got, difficult)
			}
			if got := said(does("Sts", "GetCallerIdentity", params{}), "AccountId"); got != account {
				t.Errorf("the caller has the account %q", got)
			}
			for _, r := range []struct{ product, action, code string }{
				{"Slb", "DescribeLoadBalancerAttribute", "InvalidLoadBalancerId.NotFound"},
				{"Slb", "CreateRocket", "InvalidAction.NotEmulated"},
				{"Vpc", "CreateVpnGateway", "InvalidAction.NotEmulated"},
			} {
				if answer, code, err := call(r.product, r.action, params{"RegionId": region, "LoadBalancerId": unknownLB}); code != r.code {
					t.Errorf("%s = %s, %q, %v, want %s", r.action, answer, code, err, r.code)
				}
			}
			does("Slb", "DeleteLoadBalancer", params{"LoadBalancerId": lb})
			_, code, err := f.connect(t, s.Host(), "wrong")("Slb", "DescribeRegions", params{"RegionId": region})
			if code != "SignatureDoesNotMatch" && code != "InvalidAccessKeySecret" { // the first SDK tells a wrong secret by itself
				t.Errorf("with a wrong secret: %q, %v", code, err)
			}
		})
	}
}
