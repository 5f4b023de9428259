package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/cluster"
	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestStatePull copies an emulator that stands for the cloud, by TLS, and serves the copy.
func TestStatePull(t *testing.T) {
	clearKeys(t)
	dir := t.TempDir()
	served, err := emulator.GenerateTLS(dir, []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	cloud := emulatortest.Start(t, emulatortest.WithConfig(func(c *emulator.Config) { c.TLS, c.StrictAuth = served, true }))
	common := []string{"--ca", filepath.Join(dir, emulator.CAFile)}
	for _, product := range []string{"Slb", "Nlb", "Vpc", "Ecs", "Sts", "ResourceManager", "cas", "quotas"} {
		common = append(common, "--endpoint", product+"=https://"+cloud.Host())
	}
	pull := func(args ...string) (int, string) {
		t.Helper()
		code, stdout, stderr := executed(t, append(append([]string{"state", "pull"}, args...), common...)...)
		if text := stdout + stderr; strings.Contains(text, emulatortest.AccessKeySecret) || strings.Contains(text, "Signature=") {
			t.Errorf("%q prints the key or a signature: %s", args, text)
		}
		return code, stdout + stderr
	}
	copied := filepath.Join(dir, "copy")
	if code, text := pull("--region", "cn-hangzhou", copied); code != exitUsage || !strings.Contains(text, "set ALIBABA_CLOUD_ACCESS_KEY_ID") {
		t.Errorf("without credentials = %d, %s", code, text)
	}
	t.Setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", emulatortest.AccessKeyID)
	t.Setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", "wrong")
	if code, text := pull("--region", "cn-hangzhou", copied); code != exitCannot || !strings.Contains(text, "rejects the credentials") {
		t.Errorf("with a wrong secret = %d, %s", code, text)
	}
	t.Setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", emulatortest.AccessKeySecret)
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitUsage, "is no region", []string{copied}},
		{exitUsage, "name the folder", []string{"--region", "cn-hangzhou"}},
		{exitUsage, "give KEY=VALUE", []string{"--region", "cn-hangzhou", "--tag", "app", copied}},
		{exitUsage, "leave out --resume", []string{"--region", "cn-hangzhou", "--resume", copied}},
		{exitCannot, "InvalidRegionId.NotFound", []string{"--region", "cn-nowhere", copied}},
		{exitUsage, "is not empty", []string{"--region", "cn-hangzhou", dir}},
		{exitOK, `"slb:DescribeLoadBalancers"`, []string{"--policy"}},
	} {
		if code, text := pull(c.args...); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%q = %d, %s, want %d and %q", c.args, code, text, c.code, c.says)
		}
	}
	pullsInJSON(t, copied, common)
	if code, text := pull("--region", "cn-hangzhou", copied); code != exitUsage || !strings.Contains(text, "is not empty") {
		t.Errorf("into the copy = %d, %s", code, text)
	}
	cloud.World(t, "policy.key."+emulatortest.AccessKeyID, `{"Version":"1","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"slb:DescribeServerCertificates","Resource":"*"}]}`)
	partial := filepath.Join(dir, "partial")
	if code, text := pull("--region", "cn-hangzhou", partial); code != exitOK {
		t.Fatalf("without a permission = %d, %s", code, text)
	}
	for folder, notes := range map[string]int{copied: 0, partial: 1} {
		u := upgrade{dataDir: folder, copied: &cluster.Copy{}}
		u.lacks()
		if n := len(u.copied.Notes); n != notes || n > 0 && !strings.Contains(u.copied.Notes[0], "DescribeServerCertificates") {
			t.Errorf("a rehearsal with %s notes %q, want %d", folder, u.copied.Notes, notes)
		}
	}
}

// pullsInJSON copies the account, and checks the copy.
func pullsInJSON(t *testing.T, copied string, common []string) {
	t.Helper()
	_, stdout, _ := executed(t, append([]string{"state", "pull", "--region", "cn-hangzhou", "--json", copied}, common...)...)
	var report struct {
		Resources map[string]int
		Absent    []struct{ Kind, Field, Reason string }
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || report.Resources["Instance"] == 0 || len(report.Absent) == 0 {
		t.Errorf("the report in JSON is %s, %v", stdout, err)
	}
	if code, stdout, problems := executed(t, "state", "check", "--data-dir", copied); code != exitOK || !strings.Contains(stdout, "consistent") {
		t.Errorf("state check = %d, %s%s", code, stdout, problems)
	}
}

// clearKeys takes the credentials of the machine out of the environment.
func clearKeys(t *testing.T) {
	t.Helper()
	for _, v := range keyVariables {
		for _, name := range v {
			if name != "" {
				t.Setenv(name, "")
			}
		}
	}
}
