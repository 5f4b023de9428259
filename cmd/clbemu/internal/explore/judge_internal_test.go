package explore

import "testing"

// TestRuleOfState proves of each kind of difference which rule it violates.
func TestRuleOfState(t *testing.T) {
	const web, stopped, group = `LoadBalancer web Status="active"`, `LoadBalancer web Status="inactive"`, `VServerGroup g LoadBalancerID="web"`
	for _, tt := range []struct {
		undisturbed, missing, extra []string
		want                        string
	}{
		{[]string{web}, nil, []string{web}, ruleDouble},
		{nil, nil, []string{web}, ruleLeft},
		{nil, nil, []string{group}, ruleLeft},
		{nil, []string{web}, []string{stopped}, ruleRuns}, // at a rest before the end
		{[]string{web}, []string{web}, []string{stopped}, ruleRuns},
		{[]string{web}, nil, []string{"- VPC a"}, ruleOthers},
		{[]string{web, group}, []string{group}, nil, ruleState},
		{[]string{web}, []string{web}, nil, ruleState},
		{nil, []string{web}, nil, ruleState},
	} {
		if got := ruleOfState(tt.undisturbed, tt.missing, tt.extra); got != tt.want {
			t.Errorf("missing %q and too much %q where %q is right: %s, want %s", tt.missing, tt.extra, tt.undisturbed, got, tt.want)
		}
	}
}

// TestDifference proves that the difference of two states names what differs.
func TestDifference(t *testing.T) {
	f := Finding{Rule: ruleState, Expected: `Listener LoadBalancerID="web" Port=80 Protocol="tcp" Status="running"` + "\n" + `VServerGroup g A=1 within 1m`,
		Seen: `Listener LoadBalancerID="web" Port=80 Protocol="tcp" Status="stopped"` + "\n- VPC a\nLoadBalancer two B=2"}
	got := f.Difference()
	want := []string{`Listener web:80:tcp: Status is "stopped", want "running"`, "missing: VServerGroup g", "gone: VPC a", "too much: LoadBalancer two"}
	if len(got) != len(want) {
		t.Fatalf("= %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d is %q, want %q", i, got[i], want[i])
		}
	}
}
