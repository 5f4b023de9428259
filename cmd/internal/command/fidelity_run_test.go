package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/emulator"
	"github.com/clbemu/clbemu/emulator/emulatortest"
)

// TestFidelityRun plays the command against an emulator that stands for the cloud, by TLS.
func TestFidelityRun(t *testing.T) {
	dir := t.TempDir()
	served, err := emulator.GenerateTLS(dir, []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	cloud := emulatortest.Start(t, emulatortest.WithConfig(func(c *emulator.Config) { c.TLS = served }))
	ledger, report, recording := filepath.Join(dir, "ledger"), filepath.Join(dir, "report"), filepath.Join(dir, "recording")
	at := "=https://" + cloud.Host()
	common := []string{"--region", "cn-hangzhou", "--ledger", ledger, "--ca", filepath.Join(dir, emulator.CAFile), "--endpoint", "clb" + at, "--endpoint", "Nlb" + at, "--endpoint", "Sts" + at}
	play := func(args ...string) (int, string) {
		t.Helper()
		code, stdout, stderr := executed(t, append(append([]string{"fidelity"}, args...), common...)...)
		if text := stdout + stderr; strings.Contains(text, emulatortest.AccessKeySecret) || strings.Contains(text, "Signature") {
			t.Errorf("%q prints the key or a signature: %s", args, text)
		}
		return code, stdout + stderr
	}
	for _, v := range []string{"ALIBABA_CLOUD_ACCESS_KEY_ID", "ALIBABA_CLOUD_ACCESS_KEY_SECRET", "ALIBABA_CLOUD_SECURITY_TOKEN", "ALICLOUD_ACCESS_KEY", "ALICLOUD_SECRET_KEY", "ACCESS_KEY_ID", "ACCESS_KEY_SECRET"} {
		t.Setenv(v, "")
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "--target cloud", []string{"run"}},
		{2, "set ALIBABA_CLOUD_ACCESS_KEY_ID", []string{"run", "--target", "cloud"}},
	} {
		if code, text := play(c.args...); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%q = %d, %s, want %d and %q", c.args, code, text, c.code, c.says)
		}
	}
	t.Setenv("ALIBABA_CLOUD_ACCESS_KEY_ID", emulatortest.AccessKeyID)
	t.Setenv("ALIBABA_CLOUD_ACCESS_KEY_SECRET", emulatortest.AccessKeySecret)
	const group = "Slb/CreateVServerGroup/answers-request-id"
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{0, "6 held, 0 failed", []string{"run", "--target", "cloud", "Slb/DescribeZones/answers-*", "Slb/DescribeZones/region-id-unknown", "--report", report, "--record", recording}},
		{2, "the file exists", []string{"run", "--target", "cloud", "Slb/DescribeZones/*", "--record", recording}},
		{2, "no such file", []string{"run", "--target", "cloud", "Slb/DescribeZones/*", "--report", filepath.Join(dir, "none", "report")}},
		{2, "no statement is called Slb/DescribeZoo/*", []string{"run", "--target", "cloud", "Slb/DescribeZoo/*"}},
		{2, "use https", []string{"run", "--target", "cloud", "--endpoint", "Vpc=http://example.com"}},
		{2, "--ledger", []string{"clean"}},
	} {
		if code, text := play(c.args...); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%q = %d, %s, want %d and %q", c.args, code, text, c.code, c.says)
		}
	}
	for _, v := range []string{"CLBEMU_YES", "CLBEMU_ALLOW_CHANGES"} {
		t.Run(v, func(t *testing.T) {
			t.Setenv(v, "true")
			if code, text := play("run", "--target", "cloud", group); code != 2 || !strings.Contains(text, "variables and files do not count") {
				t.Errorf("%d, %s", code, text)
			}
		})
	}
	if code, text := play("run", "--target", "cloud", "--allow-changes", group); code != 2 || !strings.Contains(text, "1  Slb CreateLoadBalancer") || !strings.Contains(text, "billed") || !strings.Contains(text, "give --yes") {
		t.Errorf("without --yes: %d, %s", code, text)
	}
	if made := cloud.Calls(t, "action=CreateLoadBalancer"); len(made) != 0 {
		t.Errorf("without --yes: %d load balancers, want none", len(made))
	}
	if code, text := play("run", "--target", "cloud", "--allow-changes", "--yes", group); code != 0 || !strings.Contains(text, "1 held") {
		t.Errorf("with --yes: %d, %s", code, text)
	}
	if removed := cloud.Calls(t, "action=DeleteLoadBalancer", "code=OK"); len(removed) != 1 {
		t.Errorf("with --yes: %d load balancers deleted, want one", len(removed))
	}
	if code, text := play("clean"); code != 0 || !strings.Contains(text, "0 things deleted, 0 left") {
		t.Errorf("clean = %d, %s", code, text)
	}
	cloud.Fault(t, "{name: over, match: {action: CreateLoadBalancer}, when: {times: 1}, effect: {error: {code: InvalidSecurityToken.Expired}}}")
	if code, text := play("run", "--target", "cloud", "--allow-changes", "--yes", group); code != 3 || !strings.Contains(text, "expired") {
		t.Errorf("an expired token = %d, %s", code, text)
	}
	cloud.Fault(t, "{name: kept, match: {action: CreateVServerGroup}, when: {times: 1}, effect: {error: {code: InvalidSecurityToken.Expired}}}")
	if code, text := play("run", "--target", "cloud", "--allow-changes", "--yes", group); code != 3 || !strings.Contains(text, "1 thing of "+ledger+" may still exist and be billed: set new credentials of the same account, and then use `clbemu fidelity clean --region cn-hangzhou") {
		t.Errorf("an expired token after a creation = %d, %s", code, text)
	}
	if code, text := play("clean"); code != 0 || !strings.Contains(text, "1 thing deleted, 0 left") {
		t.Errorf("clean after an expired token = %d, %s", code, text)
	}
	cloud.Fault(t, "{name: closed, match: {action: DescribeZones}, effect: {error: {code: RegionClosed, custom: true, httpStatus: 400, message: closed}}}")
	if code, text := play("run", "--target", "cloud", "Slb/DescribeZones/*"); code != 1 || !strings.Contains(text, "RegionClosed") {
		t.Errorf("a cloud that does otherwise = %d, %s", code, text)
	}
	for _, file := range []string{report, recording, ledger} {
		text, err := os.ReadFile(file)
		if err != nil || len(text) == 0 || strings.Contains(string(text), emulatortest.AccessKeySecret) || strings.Contains(string(text), `"`+emulatortest.AccessKeyID+`"`) {
			t.Errorf("%s has the key, or nothing: %v\n%s", file, err, text)
		}
	}
}
