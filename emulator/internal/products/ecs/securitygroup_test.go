package ecs_test

import (
	"fmt"
	"testing"

	"github.com/clbemu/clbemu/emulator/internal/gateway/gatewaytest"
)

// A group lives through its actions, with its tags and counts.
func TestSecurityGroupLife(t *testing.T) {
	c := newClient(t)
	request := with(newGroup, params{"Description": "for nodes", "Tag.1.Key": "team", "Tag.1.Value": "a", "ClientToken": "once"})
	id := c.Do("CreateSecurityGroup", request).Text("SecurityGroupId")
	if again := c.Do("CreateSecurityGroup", request).Text("SecurityGroupId"); again != id {
		t.Errorf("one token made %s and %s", id, again)
	}
	const first = "SecurityGroups.SecurityGroup.0."
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroups", params{"Tag.1.Key": "team"}), map[string]string{
		first + "SecurityGroupId": id, first + "SecurityGroupName": "new", first + "SecurityGroupType": "normal",
		first + "Tags.Tag.0.TagKey": "team", first + "EcsCount": "0", "RegionId": "cn-hangzhou",
	})
	c.Do("ModifySecurityGroupAttribute", params{"SecurityGroupId": id, "SecurityGroupName": "renamed"})
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroupAttribute", params{"SecurityGroupId": id}), map[string]string{
		"SecurityGroupName": "renamed", "Description": "for nodes", "InnerAccessPolicy": "Accept", "VpcId": vpcID,
	})
	c.Do("DeleteSecurityGroup", params{"SecurityGroupId": id})
	if left := c.Do("DescribeSecurityGroups", params{"SecurityGroupId": id}); left.Text("TotalCount") != "0" {
		t.Errorf("the group is still there: %v", left.Body)
	}
}

// The members of a new enterprise group do not reach each other; a group that
// rules name counts them.
func TestSecurityGroupKinds(t *testing.T) {
	c := newClient(t)
	id := c.Do("CreateSecurityGroup", with(newGroup, params{"SecurityGroupType": "enterprise", "ResourceGroupId": "rg-clbemu0second"})).Text("SecurityGroupId")
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroupAttribute", params{"SecurityGroupId": id}), map[string]string{"InnerAccessPolicy": "Drop"})
	c.Do("AuthorizeSecurityGroup", with(newRule, params{"SourceCidrIp": "", "SourceGroupId": "sg-second"}))
	c.Do("AuthorizeSecurityGroup", newRule)
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroups", group), map[string]string{
		"SecurityGroups.SecurityGroup.0.RuleCount": "2", "SecurityGroups.SecurityGroup.0.GroupToGroupRuleCount": "1",
	})
	gatewaytest.Expect(t, c.Do("DescribeSecurityGroups", params{"ResourceGroupId": "rg-clbemu0second"}), map[string]string{"SecurityGroups.SecurityGroup.0.SecurityGroupId": id})
}

// Each filter of DescribeSecurityGroups selects, and its pages follow each other.
func TestDescribeSecurityGroups(t *testing.T) {
	c := newClient(t)
	for _, f := range []struct {
		name   string
		params params
		want   int
	}{
		{"All", params{}, 4},
		{"IDs", params{"SecurityGroupIds": `["sg-other","sg-none"]`}, 1},
		{"ID", params{"SecurityGroupId": groupID}, 1},
		{"VPC", params{"VpcId": otherVPCID}, 1},
		{"Type", params{"SecurityGroupType": "enterprise"}, 1},
		{"Classic", params{"NetworkType": "classic"}, 0},
		{"Name", params{"SecurityGroupName": "sg-other"}, 1},
		{"ExactName", params{"SecurityGroupName": "sg-*"}, 0},
		{"FuzzyName", params{"SecurityGroupName": "sg-*", "FuzzyQuery": "true"}, 3},
		{"Tag", params{"Tag.1.Key": "none"}, 0},
		{"ServiceManaged", params{"ServiceManaged": "true"}, 0},
		{"SecondPage", params{"PageNumber": "2", "PageSize": "3"}, 1},
	} {
		c.Lists(t, f.name, "DescribeSecurityGroups", f.params, "SecurityGroups.SecurityGroup", f.want)
	}
	page := c.Do("DescribeSecurityGroups", params{"MaxResults": "3"})
	rest := c.Do("DescribeSecurityGroups", params{"MaxResults": "3", "NextToken": page.Text("NextToken")})
	if page.Text("NextToken") == "" || rest.Len("SecurityGroups.SecurityGroup") != 1 || rest.Text("NextToken") != "" {
		t.Errorf("4 groups by 3 = %v, then %v", page.Body, rest.Body)
	}
	counted := c.Do("DescribeSecurityGroups", params{"SecurityGroupId": groupID, "IsQueryEcsCount": "true"})
	gatewaytest.Expect(t, counted, map[string]string{"SecurityGroups.SecurityGroup.0.EcsCount": "3"})
}

// Clients add a rule once, and change, show and remove it by id and by effect.
func TestRules(t *testing.T) {
	c := newClient(t)
	show := func() gatewaytest.Reply { return c.Do("DescribeSecurityGroupAttribute", group) }
	both := params{"SecurityGroupId": groupID, "ClientToken": "once",
		"Permissions.1.IpProtocol": "tcp", "Permissions.1.PortRange": "80/443", "Permissions.1.SourceCidrIp": "10.0.0.0/8", "Permissions.1.Priority": "7",
		"Permissions.2.IpProtocol": "all", "Permissions.2.PortRange": "-1/-1", "Permissions.2.SourceGroupId": "sg-second", "Permissions.2.Policy": "DROP"}
	c.Do("AuthorizeSecurityGroup", both)
	c.Do("AuthorizeSecurityGroup", both)
	c.Do("AuthorizeSecurityGroup", with(newRule, params{"NicType": "internet"}))
	c.Do("AuthorizeSecurityGroup", newRule)
	got := show()
	if got.Len("Permissions.Permission") != 3 {
		t.Fatalf("rules = %v, want 3", got.Body)
	}
	ids := map[string]string{} // by port range
	for i := range 3 {
		at := fmt.Sprintf("Permissions.Permission.%d.", i)
		ids[got.Text(at+"PortRange")] = got.Text(at + "SecurityGroupRuleId")
		gatewaytest.Expect(t, got, map[string]string{at + "NicType": "intranet", at + "Direction": "ingress", at + "CreateTime": "2026-01-02T03:04:05Z"})
	}
	if egress := c.Do("DescribeSecurityGroupAttribute", with(group, params{"Direction": "egress"})); egress.Len("Permissions.Permission") != 0 {
		t.Errorf("egress rules = %v, want none", egress.Body)
	}

	c.Do("ModifySecurityGroupRule", params{"SecurityGroupId": groupID, "SecurityGroupRuleId": ids["80/443"], "PortRange": "8080/8080", "SourceCidrIp": "172.16.0.0/12"})
	c.Do("ModifySecurityGroupRule", with(newRule, params{"Description": "web"}))
	c.Do("RevokeSecurityGroup", with(group, params{"SecurityGroupRuleId.1": ids["-1/-1"]}))
	got = show()
	want := map[string]map[string]string{
		"8080/8080": {"SourceCidrIp": "172.16.0.0/12", "Priority": "7", "IpProtocol": "TCP", "Policy": "Accept"},
		"80/80":     {"SourceCidrIp": "10.0.0.0/8", "Priority": "1", "Description": "web"},
	}
	for i := range got.Len("Permissions.Permission") {
		at := fmt.Sprintf("Permissions.Permission.%d.", i)
		for field, value := range want[got.Text(at+"PortRange")] {
			gatewaytest.Expect(t, got, map[string]string{at + field: value})
		}
	}

	c.Do("RevokeSecurityGroup", newRule)
	c.Do("RevokeSecurityGroup", newRule)
	if left := show(); left.Len("Permissions.Permission") != 1 {
		t.Errorf("rules = %v, want one", left.Body)
	}
}

// A group with many rules has several pages.
func TestRulePages(t *testing.T) {
	c := newClient(t, inOwner(plantRules))
	page := c.Do("DescribeSecurityGroupAttribute", with(group, params{"MaxResults": "150"}))
	rest := c.Do("DescribeSecurityGroupAttribute", with(group, params{"MaxResults": "150", "NextToken": page.Text("NextToken")}))
	if page.Len("Permissions.Permission") != 150 || rest.Len("Permissions.Permission") != 50 || rest.Text("NextToken") != "" {
		t.Errorf("200 rules by 150 = %d, then %d and the token %q", page.Len("Permissions.Permission"), rest.Len("Permissions.Permission"), rest.Text("NextToken"))
	}
}
