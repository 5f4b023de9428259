package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/contracttests/binary"
)

// TestUnsigned proves that a call by hand, without a signature, is refused with the
// one to type, that this one is answered, and that a client which signs, though badly,
// gets no word that is not the cloud's.
func TestUnsigned(t *testing.T) {
	t.Parallel()
	s := binary.Serve(t, "--engine", "memory")
	ask := func(query string) (status int, body map[string]any) {
		t.Helper()
		response, err := http.Get(s.API + "/?" + query)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || json.Unmarshal(text, &body) != nil {
			t.Fatalf("%s is answered %s (%v)", query, text, err)
		}
		return response.StatusCode, body
	}
	for query, want := range map[string]string{
		"": "clbemu call DescribeLoadBalancers",
		"Version=2014-05-15&Action=DescribeLoadBalancers&LoadBalancerName=it's+mine&PageSize=5": `clbemu call DescribeLoadBalancers 'LoadBalancerName=it'\''s mine' PageSize=5`,
		"Version=2022-04-30&Action=DescribeRegions":                                             "clbemu call DescribeRegions --product Nlb",
	} {
		status, body := ask(query)
		hint, _ := body["Hint"].(string)
		if status != 400 || body["Code"] != "MissingAccessKeyId" || !strings.Contains(hint, want) || !strings.HasSuffix(hint, "clbemu serve --auth off") {
			t.Errorf("%q = %d %v, want the refusal with %s", query, status, body, want)
			continue
		}
		_, command, _ := strings.Cut(hint, "The call with one: ")
		command, _, _ = strings.Cut(command, " - or start")
		cmd := exec.Command("sh", "-c", command)
		cmd.Env = []string{"PATH=" + filepath.Dir(binary.Path), "CLBEMU_SERVER=" + s.Control}
		if r := binary.Finish(t, cmd); r.Code != 0 || !strings.Contains(r.Stdout, "RequestId") {
			t.Errorf("%s = %+v", command, r)
		}
	}
	for _, query := range []string{"Version=2014-05-15&Action=DescribeRegions&AccessKeyId=testid", "Version=2014-05-15&Action=DescribeRegions&Signature=x"} {
		if _, body := ask(query); body["Hint"] != nil || body["Code"] == nil {
			t.Errorf("%s = %v, want the cloud's words alone", query, body)
		}
	}
}
