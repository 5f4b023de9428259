package upgradecheck_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/clbemu/clbemu/cmd/internal/upgradecheck"
)

// TestReadCloud proves what clbemu derives from a state for a controller, and that it
// says what is missing.
func TestReadCloud(t *testing.T) {
	const instances = `"Instance": [{"AccountID": "1", "RegionID": "r", "VPCID": "vpc-1"}, {"AccountID": "2", "RegionID": "r", "VPCID": "vpc-2"}, {"AccountID": "2", "RegionID": "r", "VPCID": "vpc-3"}, {"AccountID": "2", "RegionID": "r", "VPCID": "vpc-3"}]`
	const balancers = `"LoadBalancer": [{"ID": "lb-1", "AccountID": "1", "RegionID": "r"}, {"ID": "lb-2", "AccountID": "2", "RegionID": "r"}]`
	const keys = `"AccessKey": [{"ID": "k1", "Secret": "s1", "AccountID": "1", "Status": "Active"}, {"ID": "k0", "AccountID": "2", "Status": "Inactive"}, {"ID": "k2", "Secret": "s2", "AccountID": "2", "Status": "Active"}]`
	const vSwitches = `"VSwitch": [{"ID": "vsw-1", "VPCID": "vpc-1", "ZoneID": "a"}, {"ID": "vsw-2", "VPCID": "vpc-3", "ZoneID": "a"}, {"ID": "vsw-3", "VPCID": "vpc-3", "ZoneID": "b"}]`
	tag := func(resource, cluster string) string {
		return `"Tag": [{"ResourceID": "` + resource + `", "Key": "ack.aliyun.com", "Value": "` + cluster + `"}]`
	}
	for name, test := range map[string]struct {
		tables            []string
		cluster           string
		key, vpc, problem string
	}{
		"the account of the tagged load balancer": {tables: []string{instances, balancers, keys, vSwitches, tag("lb-2", "c")}, key: "k2", vpc: "vpc-3"},
		"another account":                         {tables: []string{instances, balancers, keys, vSwitches, tag("lb-1", "c")}, key: "k1", vpc: "vpc-1"},
		"a named cluster":                         {tables: []string{instances, keys, vSwitches}, cluster: "c", key: "k1", vpc: "vpc-1"},
		"no tag":                                  {tables: []string{instances, balancers, keys}, problem: "no load balancer has the tag ack.aliyun.com of a cluster: give --cluster-id"},
		"two clusters":                            {tables: []string{`"Tag": [{"Key": "ack.aliyun.com", "Value": "b"}, {"Key": "ack.aliyun.com", "Value": "a"}]`}, problem: "load balancers belong to the clusters a, b: choose one with --cluster-id"},
		"no instance":                             {tables: []string{keys}, cluster: "c", problem: "the state has no instance that could be a node of the cluster: give --cloud-config"},
		"no key":                                  {tables: []string{instances}, cluster: "c", problem: "account 1 has no active access key: give --cloud-config"},
		"no JSON":                                 {tables: []string{"x"}, problem: "read the state: invalid character"},
	} {
		c, err := upgradecheck.ReadCloud(strings.NewReader(`{"Tables": {`+strings.Join(test.tables, ",")+`}}`), test.cluster)
		if test.problem != "" {
			if err == nil || !strings.HasPrefix(err.Error(), test.problem) {
				t.Errorf("%s: %v, want %q", name, err, test.problem)
			}
			continue
		}
		if err != nil || c.AccessKeyID != test.key || c.VPC != test.vpc || c.ClusterID != "c" || c.Region != "r" {
			t.Errorf("%s: %+v, %v, want %s and %s", name, c, err, test.key, test.vpc)
		}
	}
}

// TestConfig proves the form of the file that a controller reads.
func TestConfig(t *testing.T) {
	text, err := upgradecheck.Cloud{AccessKeyID: "k", AccessKeySecret: "s", ClusterID: "c", Region: "r", VPC: "v", VSwitches: []string{"a:1", "b:2"}}.Config()
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Global map[string]string }
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"accessKeyID": base64.StdEncoding.EncodeToString([]byte("k")), "clusterID": "c", "region": "r", "vpcid": "v", "vswitchid": "a:1,b:2",
	} {
		if got.Global[name] != want {
			t.Errorf("%s is %q, want %q", name, got.Global[name], want)
		}
	}
}

// FuzzReadReport proves that no report of a program, which may be any, makes clbemu
// panic, and that each finding has words.
func FuzzReadReport(f *testing.F) {
	f.Add(`{"State":"Success","CheckResults":[{"Name":"ccmSLB","instanceResults":{"a/b/80":{"Id":"lb-1","MessageLevel":"error","MessageCode":"CreateListener"}},"FailedCount":3}]}`)
	f.Add(`{"State":"Fail"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, message string) {
		report, err := upgradecheck.ReadReport(message)
		if err == nil && report.Findings == nil || report.Untold < 0 {
			t.Errorf("%+v", report)
		}
		for _, finding := range report.Findings {
			if finding.Change == "" {
				t.Errorf("%+v has no words", finding)
			}
		}
	})
}
