package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRehearseTrail plays an incident on a copy: who did what, and the account at a time.
func TestRehearseTrail(t *testing.T) {
	dir := t.TempDir()
	copied, lb := copiedAccount(t, dir)
	event := func(at, who, action, params, answer string) string {
		return fmt.Sprintf(`{"eventSource":"slb.aliyuncs.com","serviceName":"Slb","eventName":%q,"eventTime":"2030-01-01T%sZ","acsRegion":"cn-hangzhou",
			"userIdentity":{"type":"ram-user","userName":%q},"requestParameters":{%s},"responseElements":{%s}}`, action, at, who, params, answer)
	}
	// The newest first, as ActionTrail lists them.
	events := "[" + strings.Join([]string{
		event("03:30:00", "carol", "DeleteLoadBalancer", `"LoadBalancerId":"lb-bp1gone0000000000000"`, ""),
		event("03:12:00", "bob", "DeleteLoadBalancerListener", `"LoadBalancerId":"`+lb+`","ListenerPort":"80","ListenerProtocol":"tcp"`, ""),
		event("03:11:00", "alice", "SetVServerGroupAttribute", `"VServerGroupId":"rsp-theirs123456","VServerGroupName":"renamed"`, ""),
		event("03:10:30", "alice", "DescribeRegions", "", ""),
		event("03:10:00", "alice", "CreateVServerGroup", `"LoadBalancerId":"`+lb+`","VServerGroupName":"new"`, `"VServerGroupId":"rsp-theirs123456"`),
	}, ",") + "]"
	trail := filepath.Join(dir, "events.json")
	if err := os.WriteFile(trail, []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	then := filepath.Join(dir, "then")
	code, stdout, problems := executed(t, "rehearse", "--data-dir", copied, "--trail", trail, "--until", "2030-01-01T03:12:00Z", "--out", then)
	if code != exitOK || strings.Contains(stdout, "carol") || strings.Contains(stdout, "DescribeRegions") {
		t.Errorf("until 03:12 = %d, %s%s", code, stdout, problems)
	}
	order := []string{"03:10:00Z", "CreateVServerGroup", "03:11:00Z", "SetVServerGroupAttribute", "03:12:00Z", "bob", "DeleteLoadBalancerListener", lb}
	rest := stdout
	for _, word := range order {
		_, after, found := strings.Cut(rest, word)
		if !found {
			t.Fatalf("%s is not where it should be in\n%s", word, stdout)
		}
		rest = after
	}
	if count(t, then, "Listener") != 0 || count(t, copied, "Listener") != 1 || count(t, then, "VServerGroup") != 1 {
		t.Errorf("listeners then %d, want 0; in the copy %d, want 1; groups then %d, want 1", count(t, then, "Listener"), count(t, copied, "Listener"), count(t, then, "VServerGroup"))
	}
	rehearseBadly(t, dir, copied, trail, then)
}

// TestRehearseBadly gives a rehearsal of a CCM what it rejects.
func TestRehearseBadly(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ccm := file("ccm", "#!/bin/sh\n")
	file("kubectl", "#!/bin/sh\necho 'connection refused' >&2\nexit 1\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, name := range []string{"TEST_ASSET_ETCD", "TEST_ASSET_KUBE_APISERVER"} {
		t.Setenv(name, "")
	}
	t.Setenv("KUBEBUILDER_ASSETS", dir)
	services := file("services.json", `{"kind":"Service","metadata":{"name":"web","namespace":"shop"},"spec":{"type":"LoadBalancer"}}`)
	none := file("none.json", `{"kind":"Service","metadata":{"name":"web","namespace":"shop"},"spec":{"type":"ClusterIP"}}`)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "say which cluster", nil},
		{exitUsage, "executable file not found", []string{"--objects", services, "--ccm", "nosuch"}},
		{exitUsage, "executable file not found", []string{"--objects", services, "--old", "nosuch"}},
		{exitUsage, "none of the others can be", []string{"--objects", services, "--kubeconfig", "k"}},
		{exitUsage, "none of the others can be", []string{"--objects", services, "--old", ccm, "--apply", services}},
		{exitCannot, "read the cluster of k: kubectl get: exit status 1: connection refused", []string{"--kubeconfig", "k"}},
		{exitUsage, "the cluster has no Service of type LoadBalancer", []string{"--objects", none}},
		{exitUsage, "no such file", []string{"--objects", filepath.Join(dir, "nosuch")}},
		{exitUsage, "there is no object of Kubernetes", []string{"--objects", file("empty", "")}},
		{exitCannot, "let KUBEBUILDER_ASSETS name their folder", []string{"--objects", services}},
	} {
		code, stdout, problems := executed(t, append([]string{"rehearse", "--data-dir", dir, "--ccm", ccm}, c.args...)...)
		if code != c.code || !strings.Contains(stdout+problems, c.says) {
			t.Errorf("%q = %d, %s%s, want %d and %q", c.args, code, stdout, problems, c.code, c.says)
		}
	}
	file("etcd", "")
	file("kube-apiserver", "")
	unnamed := file("unnamed.yaml", "kind: Service\nspec: {type: LoadBalancer}\n")
	for args, says := range map[string]string{"--apply " + unnamed: "a Service has no metadata.name", "--report " + dir + "/no/report.md": "--report: open", "--report " + dir: "--report: open",
		"--out x": "none of the others can be", "--until x": "none of the others can be", "--apply " + none + "x": "no such file", "--data-dir " + dir + "x": "is it the right folder"} {
		code, stdout, problems := executed(t, append([]string{"rehearse", "--ccm", ccm, "--objects", services}, strings.Fields(args)...)...)
		if code != exitUsage || !strings.Contains(stdout+problems, says) {
			t.Errorf("%s = %d, %s%s, want %d and %q", args, code, stdout, problems, exitUsage, says)
		}
	}
}

// copiedAccount returns a folder with a copy of an account that has a load balancer with a
// listener.
func copiedAccount(t *testing.T, dir string) (copied, lb string) {
	t.Helper()
	server := served(t)
	call := func(args ...string) map[string]any {
		t.Helper()
		code, stdout, problems := executed(t, append(append([]string{"call"}, args...), "--server", server, "--json")...)
		var answer map[string]any
		if err := json.Unmarshal([]byte(stdout), &answer); code != exitOK || err != nil {
			t.Fatalf("%v = %d, %s%s", args, code, stdout, problems)
		}
		return answer
	}
	lb = call("CreateLoadBalancer", "AddressType=internet")["LoadBalancerId"].(string)
	call("CreateLoadBalancerTCPListener", "LoadBalancerId="+lb, "ListenerPort=80", "Bandwidth=-1", "BackendServerPort=80")
	_, exported, _ := executed(t, "state", "export", "--server", server)
	file := filepath.Join(dir, "state.json")
	copied = filepath.Join(dir, "copy")
	if err := os.WriteFile(file, []byte(exported), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, problems := executed(t, "state", "import", "--data-dir", copied, file); code != exitOK {
		t.Fatal(problems)
	}
	return copied, lb
}

// rehearseBadly gives the command what it rejects.
func rehearseBadly(t *testing.T, dir, copied, trail, then string) {
	t.Helper()
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitFailed, "InvalidLoadBalancerId.NotFound", []string{"--trail", trail}},
		{exitUsage, "is not empty", []string{"--trail", trail, "--out", then}},
		{exitUsage, "give the events", nil},
		{exitUsage, "give a time such as", []string{"--trail", trail, "--until", "yesterday"}},
		{exitUsage, "no such file", []string{"--trail", filepath.Join(dir, "none")}},
		{exitUsage, "is it the right folder", []string{"--trail", trail, "--data-dir", filepath.Join(dir, "none")}},
	} {
		code, stdout, problems := executed(t, append([]string{"rehearse", "--data-dir", copied}, c.args...)...)
		if code != c.code || !strings.Contains(stdout+problems, c.says) {
			t.Errorf("%q = %d, %s%s, want %d and %q", c.args, code, stdout, problems, c.code, c.says)
		}
	}
}

// count returns the number of resources of a kind in the state in a folder.
func count(t *testing.T, dir, kind string) int {
	t.Helper()
	_, text, problems := executed(t, "state", "export", "--data-dir", dir)
	var document struct{ Tables map[string][]any }
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatalf("%s: %v", problems, err)
	}
	return len(document.Tables[kind])
}
