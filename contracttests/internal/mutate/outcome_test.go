package mutate

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestIsAbsence proves which expectations other names meet as well.
func TestIsAbsence(t *testing.T) {
	for text, want := range map[string]bool{
		"loadBalancer: {name: a, absent: true}":                                             true,
		"loadBalancer: {name: a}":                                                           false,
		"calls: {action: CreateLoadBalancer, none: true}":                                   true,
		"calls: {action: CreateLoadBalancer, atMost: 2}":                                    true,
		"calls: {action: CreateLoadBalancer, atLeast: 2}":                                   false,
		"calls: {action: CreateLoadBalancer, code: Throttling.User, exactly: 1}":            false,
		"resource: {action: DescribeZones, fields: {Zones: {count: 0}}}":                    true,
		"resource: {action: DescribeZones, fields: {Zones: {count: 1}}}":                    false,
		"resource: {action: DescribeVServerGroupAttribute, code: {matches: .}}":             true,
		"event: {object: Service/a, reason: SyncLoadBalancerFailed, message: {matches: a}}": false,
	} {
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(err)
		}
		if got := IsAbsence(document.Content[0]); got != want {
			t.Errorf("IsAbsence(%s) = %v, want %v", text, got, want)
		}
	}
}
