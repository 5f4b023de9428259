package faults

import (
	"fmt"
	"testing"
	"time"
)

// Rules about other actions are not looked at, spent ones are dropped, and
// actions that no product has are forgotten.
func TestCandidates(t *testing.T) {
	var list []Status
	for n := range 1000 {
		rule := Rule{Name: fmt.Sprintf("r%d", n), Match: Match{Action: "Create*, DeleteVpc"}, Effect: Effect{Value: Reset(true)}}
		if n >= 990 {
			rule.Match.Action, rule.When.Times = "DescribeRegions", 1
		}
		list = append(list, Status{Rule: rule})
	}
	e := &Injector{}
	if err := e.Set(list); err != nil {
		t.Fatal(err)
	}
	now, point := time.Now(), list[0].Rule.Point()
	count := func(action string) int { return len(e.about(point, action)) }
	if a, b, c, d := count("CreateVpc"), count("DeleteVpc"), count("DescribeRegions"), count("DescribeVpcs"); a != 990 || b != 990 || c != 10 || d != 0 {
		t.Errorf("candidates are %d, %d, %d, %d", a, b, c, d)
	}
	for n := range 10 {
		if v, struck := e.At(point, Request{Action: "DescribeRegions"}, now); !struck || v.Rule != fmt.Sprintf("r%d", 990+n) {
			t.Errorf("call %d is struck by %q", n, v.Rule)
		}
	}
	if n := count("DescribeRegions"); n != 0 {
		t.Errorf("%d spent rules are looked at", n)
	}
	for n := range 10_000 {
		e.At(point, Request{Action: fmt.Sprint("Nonsense", n)}, now)
	}
	if n := len(e.candidates); n > maxCandidates {
		t.Errorf("%d actions are remembered", n)
	}
}
